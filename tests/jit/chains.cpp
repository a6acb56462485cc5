// SPDX-License-Identifier: Apache-2.0
// The instructions of `alu` in machine code: NVRTC must neither merge links nor take one out of the chain.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "lang/instructions.h"
#include "runtime/jit/compiler.h"

using namespace gexp;

namespace {

constexpr int kFew = 8, kMany = 24;
constexpr std::size_t kInstructionBytes = 16;  // since compute capability 7.0

std::string type_of(char letter) {
  return letter == 'f' ? "float" : letter == 'd' ? "double" : letter == 'l' || letter == 'v' || letter == 'm' ? "unsigned long long" : letter == 'h' ? "unsigned short" : "unsigned int";
}
char constraint_of(char letter) { return letter == 'f' || letter == 'd' || letter == 'h' ? letter : letter == 'l' || letter == 'v' || letter == 'm' ? 'l' : 'r'; }

std::string entry_of(const lang::Instruction& instruction, int links) {
  std::string name(instruction.name);
  std::replace(name.begin(), name.end(), '.', '_');
  return fmt::format("chain_{}_{}", name, links);
}

/// A kernel with so many links, whose operands come from memory and whose result goes there.
std::string kernel_of(const lang::Instruction& instruction, int links) {
  std::string text = fmt::format("extern \"C\" __global__ void {}(unsigned long long* m) {{\n  m += threadIdx.x * 32;\n", entry_of(instruction, links));
  text += "  asm volatile(\".reg .pred gexp_go; setp.ne.u32 gexp_go, %0, 0;\" :: \"r\"((unsigned int)m[31]));\n";
  std::string written, read;
  for (std::size_t k = 0; k < instruction.running.size(); ++k) {
    const char letter = instruction.running[k];
    text += fmt::format("  {} v{} = ({})m[{}];\n", type_of(letter), k, type_of(letter), k);
    written += fmt::format("{}\"+{}\"(v{})", k == 0 ? "" : ", ", constraint_of(letter), k);
  }
  for (std::size_t k = 0; k < instruction.others.size(); ++k) {
    const char letter = instruction.others[k];
    text += fmt::format("  const {} c{} = ({})m[{}];\n", type_of(letter), k, type_of(letter), 16 + k);
    read += fmt::format("{}\"{}\"(c{})", k == 0 ? "" : ", ", constraint_of(letter), k);
  }
  if (instruction.of_warpgroup()) text += "  asm volatile(\".reg .pred gexp_adds; setp.eq.u32 gexp_adds, 1, 1;\");\n";
  if (instruction.waits_at_end()) text += "  asm volatile(\"wgmma.fence.sync.aligned;\" ::: \"memory\");\n";
  text += fmt::format("  _Pragma(\"unroll\") for (int i = 0; i < {}; ++i) asm volatile(\"{}\" : {} : {} : \"memory\");\n", links, instruction.text(), written, read);
  if (instruction.waits_at_end()) text += "  asm volatile(\"wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\" ::: \"memory\");\n";
  for (std::size_t k = 0; k < instruction.running.size(); ++k) text += fmt::format("  (({}*)m)[{}] = v{};\n", type_of(instruction.running[k]), 2 * k, k);
  return text + "}\n";
}

template <class T> T at(const std::string& bytes, std::size_t offset) {
  T value{};
  if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// Instructions of each function of a cubin, without those that pad its end: a no-operation, and a branch to itself before them.
std::map<std::string, int> instructions_of(const std::string& cubin) {
  std::map<std::string, int> found;
  const auto table = at<std::uint64_t>(cubin, 0x28);
  const auto entry = at<std::uint16_t>(cubin, 0x3a), count = at<std::uint16_t>(cubin, 0x3c), names = at<std::uint16_t>(cubin, 0x3e);
  const auto names_at = at<std::uint64_t>(cubin, table + std::uint64_t{names} * entry + 0x18);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto section = table + i * entry;
    const std::string name(cubin.c_str() + names_at + at<std::uint32_t>(cubin, section));
    if (!name.starts_with(".text.")) continue;
    const auto begin = at<std::uint64_t>(cubin, section + 0x18), size = at<std::uint64_t>(cubin, section + 0x20);
    int instructions = 0;
    for (std::uint64_t byte = begin; byte < begin + size; byte += kInstructionBytes) {
      const auto opcode = at<std::uint16_t>(cubin, byte) & 0xfff;
      instructions += opcode != 0x918 && opcode != 0x947;
    }
    found[name.substr(6)] = instructions;
  }
  return found;
}

}  // namespace

TEST_CASE("each link of a chain is one machine instruction at least") {
  auto compiler = jit::Compiler::open();
  if (!compiler) return;  // no NVRTC here
  const auto& architectures = compiler->architectures();
  const int target = std::binary_search(architectures.begin(), architectures.end(), 90) ? 90 : 80;
  REQUIRE(std::binary_search(architectures.begin(), architectures.end(), target));
  const int nvrtc = 10 * compiler->major() + compiler->minor();
  std::string text;
  int looked_at = 0;
  const auto can = [&](const lang::Instruction& i) { return i.compute <= target && i.nvrtc <= nvrtc; };
  for (const auto& i : lang::instructions()) {
    if (can(i)) text += kernel_of(i, kFew) + kernel_of(i, kMany);
  }
  const auto compiled = compiler->compile({text, "chains.cu", entry_of(lang::instructions().front(), kFew), {device::Target::Form::Cubin, target / 10, target % 10}, {}});
  REQUIRE_MESSAGE(compiled, compiled.error().message);
  const auto counts = instructions_of(compiled->image.bytes);
  for (const auto& i : lang::instructions()) {
    if (!can(i)) continue;
    const auto few = counts.find(entry_of(i, kFew)), many = counts.find(entry_of(i, kMany));
    REQUIRE_MESSAGE((few != counts.end() && many != counts.end()), i.name);
    CHECK_MESSAGE(many->second - few->second >= kMany - kFew, i.name);
    ++looked_at;
  }
  CHECK(looked_at > 90);
}
