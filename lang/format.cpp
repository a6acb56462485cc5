// SPDX-License-Identifier: Apache-2.0
#include "lang/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lang/base/result.h"
#include "lang/parse.h"
#include "lang/tokens.h"

// Tokens are written one after the other; all that is decided is the gap before each: nothing, spaces, or a line end. So what a
// file says cannot change. A second formatting changes nothing because a gap depends on the tokens and on which gaps had line
// ends, and a gap that is given a line end keeps it the next time.
namespace gexp::lang {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kWidestBody = 100;  ///< the longest line, in characters, with operations between its braces

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) { return std::find(words.begin(), words.end(), text) != words.end(); }

bool is_minus_of_one(const Token& token) { return token.is("-") && token.role != Token::Role::Operator; }

/// Whether nothing stands between two tokens of one line.
bool touch(const Token& left, const Token& right) {
  if (one_of(right.text, {",", ":", ")", "]", "..", "."}) || one_of(left.text, {"(", "[", "..", "."})) return true;
  if (is_minus_of_one(left) || (left.is("{") && right.is("}"))) return true;
  if (left.role == Token::Role::Callee || left.role == Token::Role::Element) return true;
  const auto part_of_type = [](const Token& token) { return token.is("/") && token.role != Token::Role::Operator; };
  return part_of_type(left) || part_of_type(right);
}

/// Whether a line that the author ended inside a statement ends there.
bool may_break(const Token& left, const Token& right) {
  if (left.role == Token::Role::Statement || one_of(right.text, {"{", "="})) return false;
  return one_of(right.text, {")", "]"}) || one_of(left.text, {"(", "["}) || !touch(left, right);
}

class Writer {
 public:
  explicit Writer(const std::vector<Token>& tokens) : tokens_(tokens), between_(tokens.size()), leads_to_stage_(tokens.size()) {
    for (std::size_t i = tokens.size(); i-- > 0;) {
      const bool last = i + 1 == tokens.size();
      const bool comment = tokens[i].comment();
      between_[i] = begins_line(tokens[i]) || (comment && (last || between_[i + 1]));
      leads_to_stage_[i] = comment ? !last && tokens[i + 1].lines_above == 1 && leads_to_stage_[i + 1]
                                   : tokens[i].role == Token::Role::Statement && tokens[i].is("stage");
    }
  }

  std::string run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const auto& token = tokens_[i];
      const bool inside_line = blocks_.back().one_line;
      if (token.is("}")) blocks_.pop_back();
      if (i > 0) gap(i, inside_line);
      if (token.role == Token::Role::Statement) head_ = token.text;
      put(token.text);
      if (token.is("{")) blocks_.push_back({blocks_.back().indent + kIndent, inside_line || fits_line(i)});
      if (token.is("(") || token.is("[")) brackets_.push_back(line_indent_);
      if (token.is(")") || token.is("]")) brackets_.pop_back();
    }
    return std::move(out_) + "\n";
  }

 private:
  struct Block {
    std::size_t indent = 0;  ///< of the statements in it
    bool one_line = false;
  };

  static bool begins_line(const Token& token) { return token.role == Token::Role::Statement || token.is("}"); }

  void put(std::string_view text) {
    out_ += text;
    column_ += width(text);
  }

  void gap(std::size_t i, bool inside_line) {
    const auto& left = tokens_[i - 1];
    const auto& token = tokens_[i];
    if (token.comment() && token.lines_above == 0) return put("  ");
    const bool forced = left.comment() || token.comment() || (begins_line(token) && !inside_line);
    if (forced || (token.lines_above > 0 && !inside_line && may_break(left, token))) return new_line(i);
    if (!touch(left, token)) put(" ");
  }

  void new_line(std::size_t i) {
    if (blank_above(i)) out_ += '\n';
    line_indent_ = indent(i);
    out_ += '\n';
    out_.append(line_indent_, ' ');
    column_ = line_indent_;
  }

  [[nodiscard]] std::size_t indent(std::size_t i) const {
    const auto& token = tokens_[i];
    if (between_[i] || token.is("{")) return blocks_.back().indent;
    if (brackets_.empty()) return blocks_.back().indent + kIndent;
    return brackets_.back() + (token.is(")") || token.is("]") ? 0 : kIndent);
  }

  [[nodiscard]] bool blank_above(std::size_t i) const {
    const auto& above = tokens_[i - 1];
    if (!between_[i] || tokens_[i].is("}") || above.is("{")) return false;
    const bool below_own_comment = above.comment() && (i == 1 || above.lines_above > 0);
    return tokens_[i].lines_above > 1 || (leads_to_stage_[i] && !below_own_comment);
  }

  /// Whether the body that opens there stays on its line, as its author had it.
  [[nodiscard]] bool fits_line(std::size_t open) const {
    if (head_ == "stage") return false;
    auto column = column_;
    int depth = 1;
    for (auto i = open + 1; depth > 0; ++i) {
      const auto& token = tokens_[i];
      const bool empty = i == open + 1 && token.is("}");
      if (token.comment() || (token.lines_above > 0 && !empty)) return false;
      column += width(token.text) + (touch(tokens_[i - 1], token) ? 0 : 1);
      if (column > kWidestBody) return false;
      depth += token.is("{") ? 1 : token.is("}") ? -1 : 0;
    }
    return true;
  }

  const std::vector<Token>& tokens_;
  std::vector<bool> between_;         ///< stands between statements, not inside one: begins one, closes a block, or is a comment there
  std::vector<bool> leads_to_stage_;  ///< begins a stage, or is a comment right above one
  std::vector<Block> blocks_{1};
  std::vector<std::size_t> brackets_;  ///< of each open one the indentation of its line
  std::string_view head_;              ///< the first word of the statement under way
  std::string out_;
  std::size_t line_indent_ = 0, column_ = 0;
};

bool same(const Token& a, const Token& b) { return a.role == b.role && a.text == b.text; }

}  // namespace

std::optional<std::string> format(const Source& source, Diagnostics& diagnostics) {
  const auto tokens = read_tokens(source, diagnostics);
  if (!tokens) return std::nullopt;
  auto text = Writer(*tokens).run();
  if (text.size() > kMaxBytes) {
    diagnostics.error("E0101", {0, 1}, fmt::format("formatted, the file would be larger than {} bytes", kMaxBytes));
    return std::nullopt;
  }
  const Source written(source.path(), std::move(text));
  Diagnostics none;
  const auto again = read_tokens(written, none);
  GEXP_CHECK(again && std::equal(tokens->begin(), tokens->end(), again->begin(), again->end(), same));
  return written.text();
}

}  // namespace gexp::lang
