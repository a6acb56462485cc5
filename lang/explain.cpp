// SPDX-License-Identifier: Apache-2.0
#include "lang/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/base/units.h"

namespace gexp::lang {
namespace {

/// The clause words that may follow a statement, for hints.
std::vector<std::string_view> clauses_of(Kind kind) {
  switch (kind) {
    case Kind::Sweep: return {"in", "step", "times", "points", "log", "refine", "until"};
    case Kind::Param: return {"in", "doc", "step", "times"};
    case Kind::Memory: return {"in", "page", "align"};
    case Kind::Launch: return {"grid", "block", "cluster", "smem", "persm", "carveout", "bank", "place"};
    case Kind::Budget: return {"time", "memory"};
    case Kind::Require: return {"else"};
    case Kind::RepeatUntil: return {"until"};
    case Kind::Find: return {"need"};
    case Kind::Expect: return {"where", "on", "from", "xfail", "within"};
    case Kind::Plot: return {"vs", "by", "log"};
    case Kind::Chase: return {"laps", "steps", "as", "via"};
    default: return {};
  }
}

Span token_at(std::string_view text, std::uint32_t at) {
  if (at >= text.size()) return {static_cast<std::uint32_t>(text.size()), static_cast<std::uint32_t>(text.size())};
  std::uint32_t end = at;
  if (is_word(text[at])) {
    while (end < text.size() && is_word(text[end])) ++end;
  } else {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;  // the rest of a UTF-8 character
  }
  return {at, end};
}

std::string_view slice(std::string_view text, Span span) { return text.substr(span.begin, span.end - span.begin); }

/// The number that ends just before `at`, spaces between them or not; empty when something else stands there.
Span number_before(std::string_view text, std::uint32_t at) {
  std::uint32_t end = at;
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t')) --end;
  std::uint32_t begin = end;
  while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '.' || text[begin - 1] == '%')) --begin;
  if (begin == end || text[begin] < '0' || text[begin] > '9') return {};
  return {begin, end};
}

/// Mistakes around numbers that can be told from the text alone; true when one was reported.
bool explain_number(std::string_view text, std::uint32_t at, Diagnostics& diagnostics) {
  const auto number = number_before(text, at);
  if (number.empty()) return false;
  const auto token = token_at(text, at);
  const auto before = slice(text, number);
  const auto here = slice(text, token);
  if (before.back() == '%') {
    diagnostics.error("E0106", {number.end - 1, number.end}, "`%` is percent, it divides nothing",
                      fmt::format("write `{} mod {}`", before.substr(0, before.size() - 1), here));
    return true;
  }
  if (find_unit(here) && number.end < at) {
    diagnostics.error("E0105", cover(number, token), "a unit touches its number", fmt::format("write `{}{}`", before, here));
    return true;
  }
  return false;
}

/// The last `{` of the statement that is open at `at`; `at` when none is.
std::uint32_t open_brace(std::string_view text, std::uint32_t begin, std::uint32_t at) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = begin; i < at; ++i) {
    if (text[i] == '#') while (i < at && text[i] != '\n') ++i;
    if (i < at && text[i] == '{') open.push_back(i);
    if (i < at && text[i] == '}' && !open.empty()) open.pop_back();
  }
  return open.empty() ? at : open.back();
}

/// The `"` of the text that is open at the end of a line; `at` when none is.
std::uint32_t open_quote(std::string_view text, std::uint32_t begin, std::uint32_t at) {
  std::uint32_t quote = at;
  std::uint32_t line = at;
  while (line > begin && text[line - 1] != '\n') --line;
  for (std::uint32_t i = line; i < at && (text[i] != '#' || quote != at); ++i) {
    if (text[i] == '"') quote = quote == at ? i : at;
  }
  return quote;
}

std::string what_stands(std::string_view text, Span token) {
  if (token.begin >= text.size()) return "the end of the file";
  const auto here = slice(text, token);
  if (here == "\"") return "a text";
  if (here == "\n" || here == "\r") return "the end of the line";
  return fmt::format("`{}`", here);
}

}  // namespace

bool is_operation(Kind kind) { return kind >= Kind::Chase && kind <= Kind::Loop; }

void explain(std::string_view text, std::uint32_t begin, std::uint32_t at, const std::string& message, Diagnostics& diagnostics) {
  if (explain_number(text, at, diagnostics)) return;
  const auto token = token_at(text, at);
  const auto here = slice(text, token);
  if (here == "\n" || here == "\r" || token.empty()) {
    if (const auto quote = open_quote(text, begin, at); quote != at) {
      diagnostics.error("E0103", {quote, at}, "this text is not closed on its line", "put a `\"` at its end");
      return;
    }
  }
  const bool reserved = is_reserved(here);
  if (reserved && message == "a name is wanted") {
    diagnostics.error("E0107", token, fmt::format("`{}` is a word of the language, it cannot be a name", here),
                      fmt::format("write another name, such as `{}_`", here));
    return;
  }
  if (message == "an operation or `}` is wanted" && (here.empty() || reserved)) {
    auto& problem = diagnostics.error("E0104", token, fmt::format("`}}` is wanted before {}", what_stands(text, token)), "close the braces of the operations");
    if (const auto open = open_brace(text, begin, at); open != at) problem.notes.push_back({{open, open + 1}, "this `{` is open"});
    return;
  }
  if (message == "an operation or `}` is wanted" && !here.empty() && is_word_start(here[0])) {
    std::vector<std::string_view> words(kOperationWords.begin(), kOperationWords.end());
    words.insert(words.end(), {"as", "via"});
    const auto near = nearest(here, words);
    diagnostics.error("E0103", token, fmt::format("`{}` is no operation", here),
                      near ? fmt::format("did you mean `{}`?", *near) : "chase, load, store, alu, barrier, unroll and loop are");
    return;
  }
  // A misspelt clause word: the message names the right one in backquotes.
  const auto quote = message.find('`');
  if (quote != std::string::npos && !here.empty() && is_word_start(here[0])) {
    const auto wanted = message.substr(quote + 1, message.find_first_of("` ", quote + 1) - quote - 1);
    const auto near = nearest(here, {std::string_view(wanted)});
    if (near && is_word_start(wanted[0])) {
      diagnostics.error("E0103", token, fmt::format("{}, not `{}`", message, here), fmt::format("did you mean `{}`?", *near));
      return;
    }
  }
  diagnostics.error("E0103", token, fmt::format("{}, not {}", message, what_stands(text, token)));
}

void explain_unknown_statement(std::string_view text, std::uint32_t at, Kind before, bool in_stage, Diagnostics& diagnostics) {
  if (explain_number(text, at, diagnostics)) return;
  const auto token = token_at(text, at);
  const auto here = slice(text, token);
  if (here.empty() || !is_word_start(here[0])) {
    std::string hint;
    if (here == "=") hint = "a comparison is written `==`";
    if (here == "(") hint = "a call's `(` touches the name: `f(x)`";
    diagnostics.error("E0102", token, fmt::format("a statement is wanted, not {}", what_stands(text, token)), hint);
    return;
  }
  if (here == "gexp" || here == "experiment") {
    diagnostics.error("E0102", token, fmt::format("`{}` stands at the top of the file, once", here));
    return;
  }
  // A clause of the statement before is likelier meant than a new statement.
  const auto clauses = clauses_of(before);
  if (const auto near = nearest(here, clauses)) {
    diagnostics.error("E0103", token, fmt::format("`{}` is no clause of this statement and begins no other", here), fmt::format("did you mean `{}`?", *near));
    return;
  }
  std::vector<std::string_view> words(kStatementWords.begin(), kStatementWords.end());
  if (in_stage) words.insert(words.end(), kOperationWords.begin(), kOperationWords.end());
  const auto near = nearest(here, words);
  diagnostics.error("E0102", token, fmt::format("`{}` begins no statement", here), near ? fmt::format("did you mean `{}`?", *near) : "");
}

}  // namespace gexp::lang
