// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "lang/base/diagnostic.h"
#include "lang/statements.h"
#include "lang/tree.h"
#include "lang/words.h"

/// What is said about text that does not parse: the mistakes that people make, named.
namespace gexp::lang {

/// Bytes of a UTF-8 character that begins with this byte; 0 when none does.
inline std::size_t utf8_length(unsigned char first) {
  return first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

/// The grammar wanted something else at `at`, in the statement that begins at `begin`: E0102–E0109.
void explain(std::string_view text, std::uint32_t begin, std::uint32_t at, const std::string& message, Diagnostics& diagnostics);

/// No statement begins at `at`; `before` is the kind of the statement that ended there, and `begin` where it began; `inside`: a stage, an
/// analysis or the file.
void explain_unknown_statement(std::string_view text, std::uint32_t begin, std::uint32_t at, Kind before, Level inside, Diagnostics& diagnostics);

}  // namespace gexp::lang
