// SPDX-License-Identifier: Apache-2.0
#include "lang/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lang/base/units.h"
#include "lang/foreign_words.h"
#include "lang/forms.h"
#include "lang/statements.h"

namespace gexp::lang {
namespace {

/// The clause words of the statement that begins at `begin`, for hints.
std::vector<std::string_view> clauses_of(std::string_view text, std::uint32_t begin) {
  std::uint32_t end = begin;
  while (end < text.size() && is_word(text[end])) ++end;
  const auto* statement = find_statement(text.substr(begin, end - begin));
  if (!statement) return {};
  const auto words = statement->clause_words();
  return {words.begin(), words.end()};
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
bool explain_number(std::string_view text, std::uint32_t at, bool of_wanted, Diagnostics& diagnostics) {
  const auto number = number_before(text, at);
  if (number.empty()) return false;
  const auto token = token_at(text, at);
  const auto before = slice(text, number);
  const auto here = slice(text, token);
  if (before.back() == '%' && !of_wanted) {
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

/// Where the line before `at` ends that has the last token: behind it; `at` when that token stands on the same line.
std::uint32_t end_of_line(std::string_view text, std::uint32_t begin, std::uint32_t at) {
  std::uint32_t end = begin;
  bool broken = false;
  for (std::uint32_t i = begin; i < at; ++i) {
    if (text[i] == '#') {
      while (i < at && text[i] != '\n') ++i;
      broken = true;
    } else if (text[i] == '"') {
      for (++i; i < at && text[i] != '"' && text[i] != '\n';) ++i;
      end = std::min(i + 1, at), broken = false;
    } else if (text[i] == '\n') {
      broken = true;
    } else if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r') {
      end = i + 1, broken = false;
    }
  }
  return (broken || at >= text.size()) && end > begin ? end : at;
}

/// The bracket that the wanted one closes; `at` when none is wanted.
std::uint32_t open_bracket(std::string_view text, std::uint32_t begin, std::uint32_t at, std::string_view message) {
  if (!message.starts_with("`)`") && !message.starts_with("`]`")) return at;
  std::vector<std::uint32_t> open;
  for (std::uint32_t i = begin; i < at; ++i) {
    if (text[i] == '#') while (i < at && text[i] != '\n') ++i;
    if (i < at && (text[i] == '(' || text[i] == '[')) open.push_back(i);
    if (i < at && (text[i] == ')' || text[i] == ']') && !open.empty()) open.pop_back();
  }
  return open.empty() ? at : open.back();
}

/// Where this word stands in the statement before `at`; `at` when it does not.
std::uint32_t word_before(std::string_view text, std::uint32_t begin, std::uint32_t at, std::string_view word) {
  for (std::uint32_t i = begin; i < at;) {
    if (text[i] == '"') {
      for (++i; i < at && text[i] != '"' && text[i] != '\n';) ++i;
      ++i;
    } else if (text[i] == '#') {
      while (i < at && text[i] != '\n') ++i;
    } else if (is_word(text[i])) {
      const auto from = i;
      while (i < at && is_word(text[i])) ++i;
      if (text.substr(from, i - from) == word) return from;
    } else {
      ++i;
    }
  }
  return at;
}

/// What to write instead of what stands where something else is wanted.
std::string hint_at(std::string_view text, std::uint32_t begin, std::uint32_t at, std::string_view message) {
  const auto form = form_hint(text, begin, at);
  const bool later = end_of_line(text, begin, at) != at;
  if (message.starts_with("`)`") || message.starts_with("`]`")) {
    if (word_before(text, begin, at, "for") != at && message == "`]` is wanted") return "a list is written `[x * 4B for x in 0..7]`";
    return fmt::format("put a `{}` {}", message[1], later ? "at its end" : "before it");
  }
  if (message.starts_with("`to") || message.starts_with("`on")) return "write it like `refine to 32B on misses(lat) > 0`";
  if (message.starts_with("`laps N`, the most")) return "write it like `loop while x < 9 laps 100 { load A at x mod 64 * 4B into x }`";
  if (message.starts_with("`of`")) return "write it like `C within 2% of 12KiB`";
  if (message == "a file begins with `gexp 1`" || message.starts_with("the language's version")) return "write `gexp 1` and then `experiment NAME`";
  if (at >= text.size() || later) return form;
  const char here = text[at];
  if (message == "a name is wanted" && here >= '0' && here <= '9') return "a name begins with a letter";
  const bool after_word = at > 0 && is_word(text[at - 1]);
  if (after_word && (here == '-' || (static_cast<unsigned char>(here) & 0x80) != 0)) return "a name has the letters a to z, digits and `_`";
  if (here == ':' && text.substr(begin).starts_with("let")) return "a `let` takes the type of its value: leave it out";
  if (message.starts_with("a text in")) return "a text stands between `\"`";
  const bool value = message.find("value") != std::string_view::npos || message.find("condition") != std::string_view::npos || message.find("interval") != std::string_view::npos;
  if (value && !message.starts_with("`")) {
    if (auto sign = sign_hint(text, at); !sign.empty() && here != ')' && here != ']') return sign;
  }
  return form;
}

/// Whether a value would begin at `at`: what is wanted says so, or what stands before it.
bool value_wanted(std::string_view text, std::uint32_t at, std::string_view message) {
  if (message.starts_with("a value")) return true;
  const auto before = text.substr(0, at).find_last_not_of(" \t");
  return message.starts_with("`)` or `,` is wanted") && before != std::string_view::npos && (text[before] == '(' || text[before] == ',');
}

/// Whether a `=` stands next that is not `==`.
bool followed_by_equals(std::string_view text, std::uint32_t at) {
  const auto next = text.find_first_not_of(" \t", at);
  return next != std::string_view::npos && text[next] == '=' && !text.substr(next).starts_with("==");
}

std::string what_stands(std::string_view text, Span token) {
  if (token.begin >= text.size()) return "the end of the file";
  const auto here = slice(text, token);
  if (here == "\"") return "a text";
  if (here == "\n" || here == "\r") return "the end of the line";
  return fmt::format("`{}`", here);
}

}  // namespace

void explain(std::string_view text, std::uint32_t begin, std::uint32_t at, const std::string& message, Diagnostics& diagnostics) {
  if (explain_number(text, at, message.starts_with("`of`"), diagnostics)) return;
  const auto token = token_at(text, at);
  const auto here = slice(text, token);
  if (here == "\n" || here == "\r" || token.empty()) {
    if (const auto quote = open_quote(text, begin, at); quote != at) {
      diagnostics.error("E0103", {quote, at}, "this text is not closed on its line", "put a `\"` at its end");
      return;
    }
  }
  const bool reserved = is_reserved(here);
  if (reserved && (message.starts_with("a name") || value_wanted(text, at, message)) && end_of_line(text, begin, at) == at) {
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
    words.insert(words.end(), {"as", "via", "else"});
    const auto near = nearest(here, words);
    auto hint = foreign_operation(here);
    if (hint.empty() && followed_by_equals(text, token.end)) {
      hint = fmt::format("write `assign {0} = …`, or `load … into {0}` for what is loaded", here);
    }
    if (hint.empty() && near) hint = fmt::format("did you mean `{}`?", *near);
    if (hint.empty()) hint = fmt::format("operations are {}", fmt::join(kOperationWords, " "));
    diagnostics.error("E0103", token, fmt::format("`{}` is no operation", here), hint);
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
  const auto hint = hint_at(text, begin, at, message);
  const auto end = end_of_line(text, begin, at);
  if (end == at) {
    diagnostics.error("E0103", token, fmt::format("{}, not {}", message, what_stands(text, token)), hint);
    return;
  }
  auto& problem = diagnostics.error("E0103", {end, end}, message, hint);  // where it is missing, not where the next line begins
  if (const auto open = open_bracket(text, begin, at, message); open != at) problem.notes.push_back({{open, open + 1}, fmt::format("this `{}` is open", text[open])});
}

void explain_unknown_statement(std::string_view text, std::uint32_t begin, std::uint32_t at, Kind before, Level inside, Diagnostics& diagnostics) {
  if (explain_number(text, at, false, diagnostics)) return;
  const auto token = token_at(text, at);
  const auto here = slice(text, token);
  const bool same_line = end_of_line(text, begin, at) == at;
  const auto form = before == Kind::None || before == Kind::StageOpen || before == Kind::AnalysisOpen || !same_line ? "" : form_hint(text, begin, at);
  if (here.empty() || !is_word_start(here[0])) {
    auto hint = before == Kind::Launch ? form : sign_hint(text, at);
    if (before == Kind::Find && same_line) hint = "one analysis stands alone: compute with its finding in a later stage or in an `expect`";
    diagnostics.error("E0102", token, fmt::format("a statement is wanted, not {}", what_stands(text, token)), hint.empty() ? form : hint);
    return;
  }
  if (here == "gexp" || here == "experiment") {
    diagnostics.error("E0102", token, fmt::format("`{}` stands at the top of the file, once", here), "a file is one experiment");
    return;
  }
  // A clause of the statement before is likelier meant than a new statement.
  const auto clauses = before == Kind::None ? std::vector<std::string_view>() : clauses_of(text, begin);
  if (same_line && std::find(clauses.begin(), clauses.end(), here) != clauses.end()) {
    if (const auto first = word_before(text, begin, at, here); first != at) {
      auto& problem = diagnostics.error("E0110", token, fmt::format("`{}` stands twice in this statement", here), "keep one of them");
      problem.notes.push_back({{first, first + (token.end - token.begin)}, "the first one"});
    } else {
      diagnostics.error("E0103", token, fmt::format("`{}` stands too late in this statement", here), fmt::format("the order is {}", fmt::join(clauses, ", ")));
    }
    return;
  }
  if (const auto near = nearest(here, clauses)) {
    diagnostics.error("E0103", token, fmt::format("`{}` is no clause of this statement and begins no other", here), fmt::format("did you mean `{}`?", *near));
    return;
  }
  if (followed_by_equals(text, token.end) && !same_line) {
    diagnostics.error("E0102", token, fmt::format("`{}` begins no statement", here),
                      fmt::format("write `let {0} = …`, or `param {0}: B = …` for a value that --set changes", here));
    return;
  }
  if (before == Kind::Find && (here == "by" || here == "over" || here == "where")) {
    diagnostics.error("E0103", token, fmt::format("`{}` stands too late in this statement", here),
                      "it stands in the analysis: `find fits: list = linear(x over n by op where n > 2)`");
    return;
  }
  std::vector<std::string_view> words(kStatementWords.begin(), kStatementWords.end());
  if (inside == Level::Stage) words.insert(words.end(), kOperationWords.begin(), kOperationWords.end());
  auto near = nearest(here, words);
  const auto longer = std::find_if(words.begin(), words.end(), [&](std::string_view word) { return here.size() > 2 && word.starts_with(here); });
  if (longer != words.end()) near = std::string(*longer);
  const auto fallback = near ? fmt::format("did you mean `{}`?", *near) : std::string(inside == Level::Analysis ? "an analysis has `let` and `give`" : inside == Level::Stage ? "a stage has sweep, launch, warm, timed, repeat, find and others" : "a file has param, let, memory, pattern, stage, expect and others");
  diagnostics.error("E0102", token, fmt::format("`{}` begins no statement", here), before == Kind::Flush && same_line ? "each level has a `flush` of its own" : form.empty() ? fallback : form);
}

}  // namespace gexp::lang
