// SPDX-License-Identifier: Apache-2.0
#include "lang/instructions.h"

#include <array>

#include "lang/named_rows.h"

namespace gexp::lang {
namespace {

constexpr auto kInstructions = std::to_array<Instruction>({
#define GEXP_INSTRUCTION(...) {__VA_ARGS__},
#include "lang/instructions.def"
});

}  // namespace

std::span<const Instruction> instructions() { return kInstructions; }

const Instruction* find_instruction(std::string_view name) { return find_row(kInstructions, name); }

std::string meant_instruction(std::string_view name) { return meant_row(kInstructions, name); }

}  // namespace gexp::lang
