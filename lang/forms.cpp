// SPDX-License-Identifier: Apache-2.0
#include "lang/forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "lang/statements.h"
#include "lang/words.h"

namespace gexp::lang {
namespace {

constexpr const char* kStray = "no statement has this sign: delete it";

bool starts(std::string_view text, std::uint32_t at, std::string_view sign) { return text.substr(std::min<std::size_t>(at, text.size())).starts_with(sign); }

}  // namespace

std::string_view form_of(std::string_view word) {
  const auto* statement = find_statement(word);
  return statement ? statement->form : std::string_view();
}

std::string form_hint(std::string_view text, std::uint32_t begin, std::uint32_t at) {
  std::string_view last;
  for (std::uint32_t i = begin; i < at;) {
    if (text[i] == '#') {
      while (i < at && text[i] != '\n') ++i;
    } else if (text[i] == '"') {
      ++i;
      while (i < at && text[i] != '"' && text[i] != '\n') ++i;
      ++i;
    } else if (is_word(text[i])) {
      const auto from = i;
      while (i < at && is_word(text[i])) ++i;
      const auto word = text.substr(from, i - from);
      if (last.empty() || is_operation_word(word)) last = word;
    } else {
      ++i;
    }
  }
  const auto form = form_of(last);
  return form.empty() ? "" : fmt::format("write it like `{}`", form);
}

std::string sign_hint(std::string_view text, std::uint32_t at) {
  if (at >= text.size()) return "";
  const char before = at > 0 ? text[at - 1] : ' ';
  const char after = at + 1 < text.size() ? text[at + 1] : ' ';
  const bool digit = after >= '0' && after <= '9';
  switch (text[at]) {
    case ';': return "a statement ends without a sign";
    case '/': return after == '/' || after == '*' ? "a comment begins with `#`" : "";
    case '&': return "write `and`";
    case '|': return "write `or`";
    case '!': return "write `not`";
    case '^': return "there is no sign for powers: write a product; bits are combined by `xor`";
    case '*': return before == '*' ? "there is no sign for powers: write a product" : "";
    case '?': return "there is no `a ? b : c`; `a ?? b` is `b` where `a` was not found";
    case '\'': return "a text stands between `\"`";
    case '<':
    case '>': return starts(text, at, "<<") ? "write `x shl k`" : starts(text, at, ">>") ? "write `x shr k`" : "compare twice: `a < b and b < c`";
    case '=': return after == '>' ? "write `>=`" : after == '<' ? "write `<=`" : "a comparison is written `==`";
    case '(': return before == ' ' ? "a call's `(` touches the name: `f(x)`" : "";
    case '[': return is_word(before) ? "the arguments of a call stand in `( )`" : "";
    case '{': return "a list is written `[a, b]`";
    case ')':
    case ']': return fmt::format("this `{}` closes nothing", text[at]);
    case '.': return before == '.' ? "an interval is written `1..4`" : is_word(before) && digit ? "a number has one point" : digit ? "write a digit before the point: `0.5`" : "";
    default: return is_word(text[at]) || text[at] == '"' ? "" : kStray;
  }
}

}  // namespace gexp::lang
