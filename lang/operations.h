// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

namespace gexp::lang {

/// The operations of a body (statements.def).
enum class Operation : std::uint8_t {
#define GEXP_OPERATION(word, kind, ...) kind,
#include "lang/statements.def"
};

inline constexpr auto kOperationWords = std::to_array<std::string_view>({
#define GEXP_OPERATION(word, ...) #word,
#include "lang/statements.def"
});

inline constexpr std::string_view word(Operation operation) { return kOperationWords[static_cast<std::size_t>(operation)]; }

}  // namespace gexp::lang
