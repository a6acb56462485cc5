// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lang/ast.h"
#include "lang/base/diagnostic.h"

namespace gexp::lang {

constexpr std::size_t kMaxBytes = 4u << 20;  ///< of a text that is read

/// What only the grammar can tell of a token: does a statement or operation begin there, is a word a function's name or a
/// memory's element, is a sign one between two operands.
struct Landmark {
  enum class Kind : std::uint8_t { Statement, Callee, Element, Operator };
  Kind kind = Kind::Statement;
  std::uint32_t at = 0;
};

/// Text to tree. Recovers at statement words, so several mistakes are reported at once (E01xx); the tree then holds what parsed.
/// `landmarks`, when wanted, are added in the order of the text.
File parse(const Source& source, Diagnostics& diagnostics, std::vector<Landmark>* landmarks = nullptr);

}  // namespace gexp::lang
