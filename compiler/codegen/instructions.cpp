// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/instructions.h"

#include <algorithm>
#include <array>

namespace gexp::compiler {
namespace {

// The second operand is a register whose value no compiler knows; values settle or wrap, so that none becomes slow or NaN. Compilers
// merge links of integer chains (two additions into one of three operands, any number of ANDs into one) unless each hangs on a
// predicate: then sm_90 gets one instruction a link (seen in its machine code). 64-bit additions are merged all the same, so there
// is no chain of them.
constexpr auto kInstructions = std::to_array<Instruction>({
    {"add.f32", "add.rn.f32 %0, %0, %1;", 'f', "float"},
    {"mul.f32", "mul.rn.f32 %0, %0, %1;", 'f', "float"},
    {"fma.f32", "fma.rn.f32 %0, %0, %1, %1;", 'f', "float"},
    {"div.f32", "div.full.f32 %0, %0, %1;", 'f', "float"},
    {"rcp.f32", "rcp.approx.f32 %0, %0;", 'f', "float"},
    {"sqrt.f32", "sqrt.approx.f32 %0, %0;", 'f', "float"},
    {"rsqrt.f32", "rsqrt.approx.f32 %0, %0;", 'f', "float"},
    {"sin.f32", "sin.approx.f32 %0, %0;", 'f', "float"},
    {"cos.f32", "cos.approx.f32 %0, %0;", 'f', "float"},
    {"ex2.f32", "ex2.approx.f32 %0, %0;", 'f', "float"},
    {"lg2.f32", "lg2.approx.f32 %0, %0;", 'f', "float"},
    {"add.f64", "add.rn.f64 %0, %0, %1;", 'd', "double"},
    {"mul.f64", "mul.rn.f64 %0, %0, %1;", 'd', "double"},
    {"fma.f64", "fma.rn.f64 %0, %0, %1, %1;", 'd', "double"},
    {"add.u32", "@gexp_go add.u32 %0, %0, %1;", 'r', "unsigned int"},
    {"sub.u32", "@gexp_go sub.u32 %0, %1, %0;", 'r', "unsigned int"},
    {"mul.u32", "mul.lo.u32 %0, %0, %1;", 'r', "unsigned int"},
    {"mad.u32", "mad.lo.u32 %0, %0, %1, %1;", 'r', "unsigned int"},
    {"div.u32", "div.u32 %0, %0, %1;", 'r', "unsigned int"},
    {"rem.u32", "rem.u32 %0, %0, %1;", 'r', "unsigned int"},
    {"min.u32", "@gexp_go min.u32 %0, %0, %1;", 'r', "unsigned int"},
    {"and.b32", "@gexp_go and.b32 %0, %0, %1;", 'r', "unsigned int"},
    {"xor.b32", "@gexp_go xor.b32 %0, %0, %1;", 'r', "unsigned int"},
    {"shl.b32", "shl.b32 %0, %0, %1;", 'r', "unsigned int"},
    {"shr.u32", "shr.u32 %0, %0, %1;", 'r', "unsigned int"},
    {"popc.b32", "popc.b32 %0, %0;", 'r', "unsigned int"},
    {"clz.b32", "clz.b32 %0, %0;", 'r', "unsigned int"},
    {"mul.u64", "mul.lo.u64 %0, %0, %1;", 'l', "unsigned long long"},
    {"mad.u64", "mad.lo.u64 %0, %0, %1, %1;", 'l', "unsigned long long"},
});

}  // namespace

std::int64_t alu_block(std::int64_t beside) {
  std::int64_t block = 256;
  while (block > 1 && block * beside > 512) block /= 2;
  return block;
}

std::int64_t alu_text(std::int64_t length, std::int64_t beside) {
  const auto block = alu_block(beside);
  return length % block + (length >= block ? block : 0);
}

std::span<const Instruction> instructions() { return kInstructions; }

const Instruction* find_instruction(std::string_view name) {
  const auto found = std::find_if(kInstructions.begin(), kInstructions.end(), [&](const Instruction& i) { return i.name == name; });
  return found == kInstructions.end() ? nullptr : &*found;
}

}  // namespace gexp::compiler
