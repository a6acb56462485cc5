// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/highlight.h"

#include <fmt/format.h>

#include "lang/base/source.h"
#include "lang/tokens.h"
#include "lang/words.h"
#include "runtime/report/escape.h"

namespace gexp::report {
namespace {

const char* class_of(const lang::Token& token) {
  using Role = lang::Token::Role;
  if (token.comment()) return "comment";
  if (token.text.front() == '"') return "text";
  if (token.text.front() >= '0' && token.text.front() <= '9') return "number";
  if (token.role == Role::Statement || lang::is_operator_word(token.text)) return "word";
  if (token.role == Role::Callee) return "callee";
  return "";
}

}  // namespace

std::string highlighted(const std::string& path, const std::string& text) {
  const Source source(path, text);
  Diagnostics none;
  const auto tokens = lang::read_tokens(source, none);
  if (!tokens) return escaped(text);
  const std::string_view whole = source.text();
  std::string out;
  std::size_t at = 0;
  for (const auto& token : *tokens) {
    const auto begin = static_cast<std::size_t>(token.text.data() - whole.data());
    out += escaped(whole.substr(at, begin - at));
    const std::string_view role = class_of(token);
    out += role.empty() ? escaped(token.text) : fmt::format("<span class=\"{}\">{}</span>", role, escaped(token.text));
    at = begin + token.text.size();
  }
  return out + escaped(whole.substr(at));
}

}  // namespace gexp::report
