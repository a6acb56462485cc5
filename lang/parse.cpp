// SPDX-License-Identifier: Apache-2.0
#include "lang/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <tao/pegtl/contrib/parse_tree.hpp>

#include "lang/build.h"
#include "lang/explain.h"
#include "lang/grammar_messages.h"
#include "lang/tree.h"

// One statement at a time: the grammar parses it whole or raises an error at a place, with a message of its own; then the
// driver goes on at the next statement word, so that one run reports every mistake.
namespace gexp::lang {
namespace {

namespace pegtl = tao::pegtl;

/// PEGTL's node, with the kind that the selector gives it and spans as pointers into the text.
struct Node : pegtl::parse_tree::basic_node<Node> {
  Kind kind = Kind::None;
};

template <Kind K> struct keep : std::true_type {
  template <typename... States> static void transform(std::unique_ptr<Node>& node, States&&...) { node->kind = K; }
};
/// A chain of one is the thing itself.
template <Kind K> struct fold : std::true_type {
  template <typename... States> static void transform(std::unique_ptr<Node>& node, States&&...) {
    if (node->children.size() == 1) {
      node = std::move(node->children.front());
    } else {
      node->kind = K;
    }
  }
};

template <typename Rule> struct selector : std::false_type {};
#define GEXP_KEEP(rule, kind) template <> struct selector<grammar::rule> : keep<Kind::kind> {}
#define GEXP_FOLD(rule, kind) template <> struct selector<grammar::rule> : fold<Kind::kind> {}
GEXP_KEEP(name_text, Name); GEXP_KEEP(word_text, WordText); GEXP_KEEP(type_text, Type); GEXP_KEEP(instruction_text, Instruction);
GEXP_KEEP(string_text, String); GEXP_KEEP(label_text, Label); GEXP_KEEP(callee, Callee); GEXP_KEEP(reference, Reference);
GEXP_KEEP(field_text, Field); GEXP_KEEP(number_text, NumberText); GEXP_KEEP(unit_text, UnitText); GEXP_KEEP(negate, Negate);
GEXP_KEEP(not_word, NotWord); GEXP_KEEP(times_sign, TimesSign); GEXP_KEEP(plus_sign, PlusSign); GEXP_KEEP(else_sign, ElseSign);
GEXP_KEEP(compare_sign, CompareSign); GEXP_KEEP(log_word, LogWord); GEXP_KEEP(version_text, VersionText); GEXP_KEEP(seed_text, SeedText);
GEXP_KEEP(quantity, Quantity); GEXP_KEEP(text_value, TextValue); GEXP_KEEP(call, Call); GEXP_KEEP(list, List); GEXP_KEEP(group, Group);
GEXP_KEEP(path, Path);
GEXP_FOLD(unary, Unary); GEXP_FOLD(product, Product); GEXP_FOLD(sum, Sum); GEXP_FOLD(value, ValueChain);
GEXP_FOLD(comparison, Comparison); GEXP_FOLD(negation, Negation); GEXP_FOLD(conjunction, Conjunction); GEXP_FOLD(expression, Disjunction);
GEXP_KEEP(argument, Argument); GEXP_KEEP(over, Over); GEXP_KEEP(by, By); GEXP_KEEP(where, Where); GEXP_KEEP(for_clause, For);
GEXP_KEEP(within, Within); GEXP_KEEP(in_range, InRange);
GEXP_KEEP(doc, Doc); GEXP_KEEP(domain, Domain); GEXP_KEEP(step_by, StepBy); GEXP_KEEP(times_by, TimesBy); GEXP_KEEP(points_by, PointsBy);
GEXP_KEEP(refine, Refine); GEXP_KEEP(until_clause, Until); GEXP_KEEP(else_text, ElseText); GEXP_KEEP(budget_time, BudgetTime);
GEXP_KEEP(budget_memory, BudgetMemory); GEXP_KEEP(page_clause, PageClause); GEXP_KEEP(align_clause, AlignClause); GEXP_KEEP(sha256, Sha256);
GEXP_KEEP(grid, Grid); GEXP_KEEP(block, Block); GEXP_KEEP(cluster, Cluster); GEXP_KEEP(smem, Smem); GEXP_KEEP(persm, Persm);
GEXP_KEEP(carveout, Carveout); GEXP_KEEP(bank, Bank); GEXP_KEEP(place, Place); GEXP_KEEP(laps, Laps); GEXP_KEEP(steps, Steps);
GEXP_KEEP(as_clause, AsClause); GEXP_KEEP(via_clause, ViaClause); GEXP_KEEP(body, Body); GEXP_KEEP(need, Need);
GEXP_KEEP(on_clause, OnClause); GEXP_KEEP(from_clause, FromClause); GEXP_KEEP(xfail_clause, XfailClause); GEXP_KEEP(log_clause, LogClause);
GEXP_KEEP(header, Header); GEXP_KEEP(meta, Meta); GEXP_KEEP(use, Use); GEXP_KEEP(param, Param); GEXP_KEEP(let, Let);
GEXP_KEEP(require, Require); GEXP_KEEP(budget, Budget); GEXP_KEEP(seed, Seed); GEXP_KEEP(memory, Memory); GEXP_KEEP(pattern, Pattern);
GEXP_KEEP(stage_open, StageOpen); GEXP_KEEP(sweep, Sweep); GEXP_KEEP(skip, Skip); GEXP_KEEP(launch, Launch); GEXP_KEEP(flush, Flush);
GEXP_KEEP(warm, Warm); GEXP_KEEP(timed, Timed); GEXP_KEEP(chase, Chase); GEXP_KEEP(load, Load); GEXP_KEEP(store, Store);
GEXP_KEEP(alu, Alu); GEXP_KEEP(barrier, Barrier); GEXP_KEEP(branch, Branch); GEXP_KEEP(unroll, Unroll); GEXP_KEEP(loop, Loop);
GEXP_KEEP(repeat_until, RepeatUntil); GEXP_KEEP(record, Record); GEXP_KEEP(derive, Derive); GEXP_KEEP(find, Find);
GEXP_KEEP(expect, Expect); GEXP_KEEP(plot, Plot);
#undef GEXP_KEEP
#undef GEXP_FOLD

struct messages {
  template <typename Rule> static constexpr bool raise_on_failure = false;
  template <typename Rule> static constexpr auto message = grammar::message<Rule>;
};
template <typename Rule> using control = pegtl::must_if<messages>::control<Rule>;

using Input = pegtl::memory_input<pegtl::tracking_mode::lazy, pegtl::eol::lf_crlf, const char*>;

constexpr std::size_t kMaxBytes = 4u << 20;
constexpr int kMaxNesting = 200;
constexpr int kMaxErrors = 50;  // more say nothing new

/// Where a text stops being UTF-8 without control bytes; its length when it does not.
std::size_t first_bad_byte(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const auto length = utf8_length(first);
    const bool control = (first < 0x20 && first != '\t' && first != '\n' && first != '\r') || first == 0x7f;
    if (control || length == 0 || i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80) return i;
    }
    i += length;
  }
  return text.size();
}

class Parser {
 public:
  Parser(const Source& source, Diagnostics& diagnostics) : source_(source), text_(source.text()), diagnostics_(diagnostics) {}

  File run() {
    File file;
    if (!acceptable()) return file;
    if (auto header = match<grammar::header>()) {
      build_header(*header, file, diagnostics_);
    } else {
      recover();
    }
    while (errors_ < kMaxErrors) {
      skip_space();
      if (at_ >= text_.size()) break;
      if (text_[at_] == '}') {
        complain("E0104", {at_, at_ + 1}, "this `}` closes nothing", "");
        ++at_;
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
      complain("E0101", {at, at + 1}, fmt::format("the byte 0x{:02x} belongs in no text", static_cast<unsigned char>(text_[bad])), "a spec is UTF-8");
      return false;
    }
    int depth = 0;
    for (std::uint32_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '#') {
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
    ++errors_;
    diagnostics_.error(std::move(code), span, std::move(message), std::move(hint));
  }

  void skip_space() {
    Input in(text_.data() + at_, text_.data() + text_.size(), "");
    pegtl::parse<grammar::ws>(in);
    at_ = static_cast<std::uint32_t>(in.current() - text_.data());
  }

  std::unique_ptr<Tree> convert(const Node& node) const {
    auto tree = std::make_unique<Tree>();
    tree->kind = node.kind;
    if (node.has_content()) {
      const auto content = node.string_view();
      tree->span.begin = static_cast<std::uint32_t>(content.data() - text_.data());
      tree->span.end = tree->span.begin + static_cast<std::uint32_t>(content.size());
      if (node.children.empty()) tree->text = std::string(content);
    }
    for (const auto& child : node.children) tree->children.push_back(convert(*child));
    if (tree->kind > Kind::Path && !tree->children.empty()) {  // beyond its last part a node holds only space
      std::uint32_t end = tree->span.begin;
      for (const auto& child : tree->children) end = std::max(end, child->span.end);
      if (tree->kind != Kind::Body) tree->span.end = end;
    }
    return tree;
  }

  /// Parses one rule here and moves on; null when it does not match or an error was reported (then `failed_at_` is set).
  template <typename Rule> std::unique_ptr<Tree> match() {
    Input in(text_.data() + at_, text_.data() + text_.size(), "");
    failed_at_.reset();
    try {
      const auto root = pegtl::parse_tree::parse<Rule, Node, selector, pegtl::nothing, control>(in);
      if (!root || root->children.empty()) return nullptr;
      auto tree = convert(*root->children.front());
      at_ = static_cast<std::uint32_t>(in.current() - text_.data());
      return tree;
    } catch (const pegtl::parse_error& problem) {
      failed_at_ = at_ + static_cast<std::uint32_t>(problem.positions().front().byte);
      ++errors_;
      explain(text_, at_, *failed_at_, std::string(problem.message()), diagnostics_);
      return nullptr;
    }
  }

  /// After a mistake: on to the next statement word outside the braces that the broken statement opened.
  void recover() {
    int depth = 0;
    std::uint32_t i = at_;
    const auto from = std::max(failed_at_.value_or(at_), at_);
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
        if (!first && begin >= from && !(same_line && begin == from) && is_statement_word(word) && !(depth > 0 && is_operation_word(word))) {
          i = begin;
          break;
        }
      } else {
        ++i;
      }
      first = false;
    }
    at_ = std::min<std::uint32_t>(i, static_cast<std::uint32_t>(text_.size()));
  }

  void one_statement(std::vector<Statement>& into, const Stage* open) {
    const auto begin = at_;
    auto tree = match<grammar::statement>();
    if (!tree) {
      if (!failed_at_) {
        ++errors_;
        explain_unknown_statement(text_, at_, last_statement_, open != nullptr, diagnostics_);
      }
      recover();
      if (at_ == begin) ++at_;  // whatever stands there, go on
      return;
    }
    last_statement_ = tree->kind;
    if (tree->kind == Kind::StageOpen) {
      if (open) {
        auto& problem = diagnostics_.error("E0104", tree->span, fmt::format("stage `{}` is not closed before this stage", open->name.text),
                                           "put a `}` before it");
        problem.notes.push_back({open->name.span, "it was opened here"});
        ++errors_;
        at_ = begin;
        unclosed_ = true;
        return;
      }
      into.push_back(stage(*tree));
      return;
    }
    if (is_operation(tree->kind)) {
      const auto word = text_.substr(begin, tree->span.end - begin);
      complain("E0108", tree->span, fmt::format("`{}` stands inside `warm {{ … }}` or `timed NAME each {{ … }}`", word.substr(0, word.find_first_of(" \t\n"))),
               "put it between the braces of a `warm` or a `timed`");
      return;
    }
    into.push_back(build_statement(*tree, diagnostics_));
  }

  Statement stage(const Tree& open) {
    Statement statement = build_statement(open, diagnostics_);
    auto& stage = std::get<Stage>(statement.node);
    while (errors_ < kMaxErrors) {
      skip_space();
      if (at_ >= text_.size()) {
        auto& problem = diagnostics_.error("E0104", {static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(text_.size())},
                                           fmt::format("stage `{}` is not closed", stage.name.text), "put a `}` at its end");
        problem.notes.push_back({stage.name.span, "it was opened here"});
        ++errors_;
        break;
      }
      if (text_[at_] == '}') {
        ++at_;
        break;
      }
      one_statement(stage.items, &stage);
      if (std::exchange(unclosed_, false)) break;
    }
    return statement;
  }

  const Source& source_;
  const std::string& text_;
  Diagnostics& diagnostics_;
  std::uint32_t at_ = 0;
  std::optional<std::uint32_t> failed_at_;
  Kind last_statement_ = Kind::None;
  bool unclosed_ = false;
  int errors_ = 0;
};

}  // namespace

File parse(const Source& source, Diagnostics& diagnostics) { return Parser(source, diagnostics).run(); }

}  // namespace gexp::lang
