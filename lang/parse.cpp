// SPDX-License-Identifier: Apache-2.0
#include "lang/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "lang/base/visible.h"
#include "lang/build.h"
#include "lang/explain.h"
#include "lang/grammar_tree.h"
#include "lang/statements.h"
#include "lang/tree.h"

// One statement at a time: the grammar parses it whole or raises an error at a place, with a message of its own; then the
// driver goes on at the next statement word, so that one run reports every mistake.
namespace gexp::lang {
namespace {

namespace pegtl = tao::pegtl;

using grammar::Input;

constexpr int kMaxNesting = 200;
constexpr std::uint32_t kMaxWord = 200;

/// Where a text stops being UTF-8 without control characters; its length when it does not. Lines may end in \r\n.
std::size_t first_bad_byte(std::string_view text, std::size_t from) {
  auto at = find_control(text, from);
  while (at < text.size() && text[at] == '\r') at = find_control(text, at + 1);
  return at;
}

class Parser {
 public:
  Parser(const Source& source, Diagnostics& diagnostics, std::vector<Landmark>* landmarks)
      : text_(source.text()), diagnostics_(diagnostics), landmarks_(landmarks) {}

  File run() {
    File file;
    if (!acceptable()) return file;
    if (const auto* header = match<grammar::header>()) {
      build_header(*header, file, diagnostics_);
    } else {
      recover();
      if (std::string_view(text_).substr(at_).starts_with("experiment")) recover();  // part of the header, which was complained of
    }
    while (!diagnostics_.full()) {
      skip_space();
      if (at_ >= text_.size()) break;
      if (text_[at_] == '}') {
        if (!lost_braces_) complain("E0104", {at_, at_ + 1}, "this `}` closes nothing", "delete it, or look above for a `{` that is missing");
        failed_last_ = at_++;
        continue;
      }
      one_statement(file.statements, nullptr);
    }
    return file;
  }

 private:
  bool acceptable() {
    if (text_.size() > kMaxBytes) {
      complain("E0101", {0, 1}, fmt::format("the file is larger than {} bytes", kMaxBytes), "");
      return false;
    }
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // a byte order mark
    if (const auto bad = first_bad_byte(text_, at_); bad < text_.size()) {
      const auto at = static_cast<std::uint32_t>(bad);
      const auto control = control_at(text_, bad);
      complain("E0101", {at, at + static_cast<std::uint32_t>(control.bytes)},
               control.bytes > 1 ? fmt::format("the character {} belongs in no text: it controls a terminal", control.shown)
                                 : fmt::format("the byte 0x{:02x} belongs in no text", static_cast<unsigned char>(text_[bad])),
               control.bytes > 1 ? "take it out" : "a spec is UTF-8");
      return false;
    }
    int depth = 0;
    for (std::uint32_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (is_word(c)) {
        const auto begin = i;
        while (i + 1 < text_.size() && is_word(text_[i + 1])) ++i;
        if (i - begin >= kMaxWord) {
          complain("E0101", {begin, i + 1}, fmt::format("a word of more than {} characters", kMaxWord), "");
          return false;
        }
      } else if (c == '#') {
        while (i < text_.size() && text_[i] != '\n') ++i;
      } else if (c == '"') {
        const auto begin = i++;
        while (i < text_.size() && text_[i] != '"' && text_[i] != '\n') ++i;
        if (i >= text_.size() || text_[i] == '\n') i = std::max(begin, i - 1);  // unclosed: the grammar says so
      } else if (c == '(' || c == '[' || c == '{') {
        if (++depth > kMaxNesting) {
          complain("E0101", {i, i + 1}, fmt::format("more than {} levels of brackets", kMaxNesting), "");
          return false;
        }
      } else if (c == ')' || c == ']' || c == '}') {
        --depth;
      }
    }
    return true;
  }

  void complain(std::string code, Span span, std::string message, std::string hint) {
    diagnostics_.error(std::move(code), span, std::move(message), std::move(hint));
  }

  void skip_space() {
    Input in(text_.data() + at_, text_.data() + text_.size(), "");
    pegtl::parse<grammar::ws>(in);
    at_ = static_cast<std::uint32_t>(in.current() - text_.data());
  }

  /// Parses one rule here and moves on; null when it does not match or an error was reported (then `failed_at_` is set). The tree is there
  /// until the next rule is parsed.
  template <typename Rule> const Tree* match() {
    Input in(text_.data() + at_, text_.data() + text_.size(), "");
    failed_at_.reset();
    try {
      growth_.begin(text_.data());
      if (!pegtl::parse<Rule, pegtl::nothing, grammar::control>(in, growth_) || growth_.nodes.empty()) return nullptr;
      at_ = static_cast<std::uint32_t>(in.current() - text_.data());
      return growth_.nodes.front();
    } catch (const pegtl::parse_error& problem) {
      failed_at_ = at_ + static_cast<std::uint32_t>(problem.positions().front().byte);
      const std::string message(problem.message());
      if (!rest_of_failed_line(at_)) explain(text_, at_, *failed_at_, message, diagnostics_);
      lost_braces_ = lost_braces_ || message.starts_with("`{`") || text_.compare(*failed_at_, 1, "}") == 0;
      return nullptr;
    }
  }

  /// Whether what begins here is left of a line with a mistake before it: one mistake is one error.
  [[nodiscard]] bool rest_of_failed_line(std::uint32_t begin) const {
    return failed_last_ && *failed_last_ < begin && text_.find('\n', *failed_last_) > begin;
  }

  /// After a mistake: on to the next statement word outside the braces that the broken statement opened.
  void recover() {
    int depth = 0;
    std::uint32_t i = at_;
    const auto from = std::max(failed_at_.value_or(at_), at_);
    failed_last_ = from;
    // A reserved word where a name was wanted begins no statement: the next one stands on a line of its own.
    const bool same_line = text_.find('\n', at_) > from;
    bool first = true;
    while (i < text_.size()) {
      const char c = text_[i];
      if (c == '#') {
        while (i < text_.size() && text_[i] != '\n') ++i;
      } else if (c == '"') {
        ++i;
        while (i < text_.size() && text_[i] != '"' && text_[i] != '\n') ++i;
        ++i;
      } else if (c == '{') {
        ++depth, ++i;
      } else if (c == '}') {
        if (depth == 0) break;
        --depth, ++i;
      } else if (is_word_start(c)) {
        const auto begin = i;
        while (i < text_.size() && is_word(text_[i])) ++i;
        const auto word = std::string_view(text_).substr(begin, i - begin);
        const bool field = begin > 0 && text_[begin - 1] == '.';
        if (!first && !field && begin >= from && !(same_line && begin == from) && is_statement_word(word) && !(depth > 0 && is_operation_word(word))) {
          i = begin;
          break;
        }
      } else {
        ++i;
      }
      first = false;
    }
    lost_braces_ = lost_braces_ || depth != 0;
    at_ = std::min<std::uint32_t>(i, static_cast<std::uint32_t>(text_.size()));
  }

  /// What is open: a stage or an analysis.
  struct Block {
    std::string what;
    Word name;
    Level level;
  };

  void one_statement(std::vector<Statement>& into, const Block* open) {
    const auto begin = at_;
    const auto* tree = match<grammar::statement>();
    if (!tree) {
      if (!failed_at_ && !rest_of_failed_line(at_)) {
        explain_unknown_statement(text_, last_begin_, at_, last_statement_, open ? open->level : Level::File, diagnostics_);
      }
      recover();
      if (text_.substr(begin, 4) == "gexp" && std::string_view(text_).substr(at_).starts_with("experiment")) recover();
      if (at_ == begin) ++at_;  // whatever stands there, go on
      return;
    }
    last_statement_ = tree->kind;
    last_begin_ = begin;
    if (landmarks_) note(*tree);
    if (tree->kind == Kind::StageOpen || tree->kind == Kind::AnalysisOpen) {
      if (open) {
        not_closed(*open, tree->span, tree->kind == Kind::StageOpen ? " before this stage" : " before this analysis", "put a `}` before it");
        at_ = begin;
        unclosed_ = true;
        return;
      }
      into.push_back(block(*tree));
      return;
    }
    if (is_operation(tree->kind)) {
      if (lost_braces_) return;
      const auto word = text_.substr(begin, tree->span.end - begin);
      complain("E0108", tree->span, fmt::format("`{}` stands inside `warm {{ … }}` or `timed NAME each {{ … }}`", word.substr(0, word.find_first_of(" \t\n"))),
               "put it between the braces of a `warm` or a `timed`");
      return;
    }
    into.push_back(build_statement(*tree, diagnostics_));
  }

  void note(const Tree& tree) {
    const auto add = [&](Landmark::Kind kind, const Tree& at) { landmarks_->push_back({kind, at.span.begin}); };
    if (is_statement(tree.kind)) add(Landmark::Kind::Statement, tree);
    if (tree.kind == Kind::Callee || tree.kind == Kind::Entry) {
      const auto dot = tree.text.find('.');  // of `m.cost` the second word touches the `(`
      landmarks_->push_back({Landmark::Kind::Callee, tree.span.begin + static_cast<std::uint32_t>(dot == std::string::npos ? 0 : dot + 1)});
    }
    if (tree.kind == Kind::AnalysisOpen) add(Landmark::Kind::Callee, *tree.children[0]);
    if (tree.kind == Kind::TimesSign || tree.kind == Kind::PlusSign || tree.kind == Kind::ElseSign || tree.kind == Kind::CompareSign) {
      add(Landmark::Kind::Operator, tree);
    }
    if (tree.kind == Kind::Memory) add(Landmark::Kind::Element, *tree.children[1]);
    if (tree.kind == Kind::KernelArgument && tree.children[0]->kind == Kind::Name) add(Landmark::Kind::Element, *tree.children[0]);
    for (const auto& part : tree.children) note(*part);
  }

  Statement block(const Tree& open) {
    Statement statement = build_statement(open, diagnostics_);
    if (auto* stage = std::get_if<Stage>(&statement.node)) fill({"stage", stage->name, Level::Stage}, stage->items, stage->end);
    else if (auto* analysis = std::get_if<AnalysisDef>(&statement.node)) fill({"analysis", analysis->name, Level::Analysis}, analysis->items, analysis->end);
    return statement;
  }

  void not_closed(const Block& block, Span at, std::string_view where, const char* hint) {
    if (lost_braces_) return;
    auto& problem = diagnostics_.error("E0104", at, fmt::format("{} `{}` is not closed{}", block.what, block.name.text, where), hint);
    problem.notes.push_back({block.name.span, "it was opened here"});
  }

  void fill(const Block& block, std::vector<Statement>& items, std::uint32_t& end) {
    while (!diagnostics_.full()) {
      skip_space();
      if (at_ >= text_.size()) {
        const auto at_end = static_cast<std::uint32_t>(text_.size());
        not_closed(block, {at_end, at_end}, "", "put a `}` at its end");
        break;
      }
      if (text_[at_] == '}') {
        ++at_;
        break;
      }
      one_statement(items, &block);
      if (std::exchange(unclosed_, false)) break;
    }
    end = at_;
  }

  const std::string& text_;
  grammar::Growth growth_;
  Diagnostics& diagnostics_;
  std::vector<Landmark>* landmarks_;
  std::uint32_t at_ = 0;
  std::optional<std::uint32_t> failed_at_;
  Kind last_statement_ = Kind::None;
  std::uint32_t last_begin_ = 0;
  std::optional<std::uint32_t> failed_last_;  ///< the place of the last mistake
  bool lost_braces_ = false;  ///< a broken statement had braces that do not match: what others lack or have too many follows from it
  bool unclosed_ = false;
};

}  // namespace

File parse(const Source& source, Diagnostics& diagnostics, std::vector<Landmark>* landmarks) {
  return Parser(source, diagnostics, landmarks).run();
}

}  // namespace gexp::lang
