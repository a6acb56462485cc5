// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

/// What hints show of the language: the form of each statement, and what people write where the language has other signs.
namespace gexp::lang {

/// An example of a statement or operation, by its first word; empty when there is no such word.
std::string_view form_of(std::string_view word);

/// "write it like `…`" for the statement that begins at `begin`, or for the last operation in it before `at`.
std::string form_hint(std::string_view text, std::uint32_t begin, std::uint32_t at);

/// What is meant by a sign of another language at `at`: `&&`, `;`, `//`, `^` …; empty when nothing is known.
std::string sign_hint(std::string_view text, std::uint32_t at);

}  // namespace gexp::lang
