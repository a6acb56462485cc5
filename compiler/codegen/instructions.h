// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

/// How long the text of a chain of instructions is.
namespace gexp::compiler {

/// Instructions of a chain between two jumps, where so many chains run beside each other: what fits the innermost instruction cache, and,
/// where a link has many registers of results, what compiles soon.
std::int64_t alu_block(std::int64_t beside, std::int64_t registers);
/// How many instructions of each chain of `length` stand in the text, of few results: one block for a loop, and what is left.
std::int64_t alu_text(std::int64_t length, std::int64_t beside);

}  // namespace gexp::compiler
