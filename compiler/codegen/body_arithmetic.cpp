// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/body_writer.h"
#include "compiler/codegen/instructions.h"
#include "compiler/codegen/needs.h"
#include "lang/foreign_words.h"

// Chains of one instruction, each waiting for the one before.
namespace gexp::compiler {
namespace {

/// How a register of a letter of instructions.def is declared, begun, and kept from being optimised away.
struct Register {
  char constraint;         ///< of inline PTX
  const char* type;
  const char* start;       ///< of the running value: a hole for the chain's number
  const char* other;       ///< of the other operand: a hole for a condition that holds, of which no compiler knows it
  const char* into_sum;    ///< PTX: xor of %1 into %0
};

constexpr std::size_t kMostResults = 160;  // limit: registers of all chains of a thread, of the 255 that it can have

constexpr const char* kOfWord = "{ .reg .b32 w; .reg .b64 d; mov.b32 w, %1; cvt.u64.u32 d, w; xor.b64 %0, %0, d; }";
constexpr const char* kOfLong = "{ .reg .b64 w; mov.b64 w, %1; xor.b64 %0, %0, w; }";

Register register_of(char letter) {
  switch (letter) {
    case 'f': return {'f', "float", "(float)(tid + {})", "(float)({})", kOfWord};
    case 'd': return {'d', "double", "(double)(tid + {})", "(double)({})", kOfLong};
    case 'l': return {'l', "unsigned long long", "(unsigned long long)(tid + {})", "(unsigned long long)({})", kOfLong};
    case 'h': return {'h', "unsigned short", "(unsigned short)(0x3c00 + tid + {})", "(unsigned short)(({}) * 0x3c00)",
                      "{ .reg .b32 w; .reg .b64 d; mov.b32 w, {%1, %1}; cvt.u64.u32 d, w; xor.b64 %0, %0, d; }"};
    case 'x': return {'r', "unsigned int", "(unsigned int)(0x3c003c00 + tid + {})", "(unsigned int)({}) * 0x3c003c00u", kOfWord};
    case 'y': return {'r', "unsigned int", "(unsigned int)(0x3f803f80 + tid + {})", "(unsigned int)({}) * 0x3f803f80u", kOfWord};
    case 'm': return {'l', "unsigned long long", "", "", kOfLong};
    case 'z': return {'r', "unsigned int", "", "(u32)(1 - ({}))", ""};
    case 'u': return {'r', "unsigned int", "(unsigned int)(tid + {} + 3)", "(unsigned int)({}) << 30", kOfWord};
    case 'v': return {'l', "unsigned long long", "(unsigned long long)(tid + {} + 3)", "(unsigned long long)({}) << 62", kOfLong};
    default: return {'r', "unsigned int", "(unsigned int)(tid + {})", "(unsigned int)({})", kOfWord};
  }
}

/// "r0_2"; of a running value of several registers "r0_2_1".
std::string name_of(const std::string& value, std::int64_t chain, std::size_t registers, std::size_t k) {
  return registers == 1 ? fmt::format("{}_{}", value, chain) : fmt::format("{}_{}_{}", value, chain, k);
}
std::string other_of(const std::string& value, std::size_t k) { return k == 0 ? value + "_c" : fmt::format("{}_c{}", value, k); }

/// One link of a chain as inline PTX.
std::string link_text(const lang::Instruction& instruction, const std::string& value, std::int64_t chain) {
  std::string written, read;
  for (std::size_t k = 0; k < instruction.running.size(); ++k) {
    written += fmt::format("{}\"+{}\"({})", k == 0 ? "" : ", ", register_of(instruction.running[k]).constraint, name_of(value, chain, instruction.running.size(), k));
  }
  for (std::size_t k = 0; k < instruction.others.size(); ++k) {
    read += fmt::format("{}\"{}\"({})", k == 0 ? "" : ", ", register_of(instruction.others[k]).constraint, other_of(value, k));
  }
  return fmt::format("asm volatile(\"{}\" : {} : {} : \"memory\"); ", instruction.text(), written, read);
}

}  // namespace

Result<const lang::Instruction*> BodyWriter::instruction_of(const Op& op) {
  std::string name = op.instruction;
  if (const auto* value = op.named ? code_.scope().lookup(name) : nullptr) {
    const auto* text = value->get<std::string>();
    if (!text) return error(op.instruction_span, "E0430", fmt::format("`{}` is {}, which is the name of no instruction", name, show(*value)), "give it a text such as \"fma.f32\"");
    name = *text;
  }
  const auto* instruction = lang::find_instruction(name);
  if (!instruction) {
    const auto foreign = lang::foreign_instruction(name), near = foreign.empty() ? lang::meant_instruction(name) : foreign;
    return error(op.instruction_span, "E0430", fmt::format("`{}` is no instruction that `alu` can chain", name),
                 near.starts_with(name + ".") ? fmt::format("an instruction has a type: `{}`", near)
                 : !foreign.empty()           ? fmt::format("write `{}`", foreign)
                 : !near.empty()              ? fmt::format("did you mean `{}`?", near)
                                              : "fma.f32, add.u32 and mul.f64 are some; docs/language/alu.md lists them");
  }
  const auto left_out = op.instruction == name ? "" : fmt::format("leave it out there: `skip needs({}) > device.compute why \"…\"`", op.instruction);
  if (auto lacks = device_lacks(place_.program, name, instruction->compute, instruction->nvrtc, op.instruction_span, left_out)) return std::move(*lacks);
  if (instruction->of_warpgroup()) {
    if (auto newer = device_is_newer(place_.program, name, instruction->compute, op.instruction_span)) return std::move(*newer);
    if (place_.role) return error(op.instruction_span, "E0437", fmt::format("a stage that runs beside another runs no `{}`", name), "give it a launch of its own");
  }
  const auto together = instruction->together();
  if (together == 1) return instruction;
  const std::string all = together == 32 ? "32 lanes of a warp" : "128 threads of a warpgroup";
  const auto agree = conditions_.empty() ? std::optional(true) : blocks_agree(conditions_, threads(), rounds_around());
  if (place_.block % together != 0) {
    return error(op.instruction_span, "E0439",
                 fmt::format("all {} run `{}`, and a block of {} threads has a {} of fewer", all, name, place_.block, together == 32 ? "warp" : "warpgroup"),
                 fmt::format("launch blocks of a multiple of {} threads", together));
  }
  if (!agree.value_or(false)) {
    return error(op.instruction_span, "E0439", fmt::format("all {} run `{}`, and some do not come to it", all, name),
                 "put it behind the `branch`, or let whole blocks take it: `branch cta mod 2 == 0 { … }`");
  }
  return instruction;
}

/// The name of a pair of descriptors of matrices of ones, which lie in shared memory one behind the other.
std::string BodyWriter::matrices_of(const lang::Instruction& instruction) {
  matrices_.push_back(instruction.matrices());
  return fmt::format("matrix{}", matrices_.size() - 1);
}

/// Without a swizzle, 8 rows of 16 bytes lie together. k is 32 bytes: two such pieces lie beside each other, and the next 8 rows behind them.
/// With one, 8 rows of its bytes lie together, where the address is a multiple of 8 rows of 128 bytes at most; the matrix is all ones, so which
/// 16 bytes of a row have changed places does not matter.
void BodyWriter::declare_matrices(MemoryTexts& texts) const {
  constexpr std::uint64_t kBeside = 128, kBehind = 256, kAligned = 1024;  // bytes
  for (std::size_t i = 0; i < matrices_.size(); ++i) {
    const auto& m = matrices_[i];
    const std::uint64_t behind = m.swizzle ? 8 * m.swizzle : kBehind, slack = m.swizzle ? kAligned : 0;
    const std::uint64_t kind = m.swizzle == 128 ? 1 : m.swizzle == 64 ? 2 : m.swizzle == 32 ? 3 : 0;
    const auto descriptor = [&](char letter, std::uint64_t at) {
      const auto begin = m.swizzle ? fmt::format("(shared + {} + {} & ~{}ull) + {}", texts.shared, kAligned - 1, kAligned - 1, at) : fmt::format("shared + {}", texts.shared + at);
      texts.setup += fmt::format("  const u64 matrix{}_{} = ({} & 0x3ffff) >> 4 | {}ull << 16 | {}ull << 32 | {}ull << 62;\n", i, letter, begin, kBeside / 16, behind / 16, kind);
    };
    const auto bytes = m.a + m.b + slack;
    texts.setup += fmt::format("  for (u32 i = threadIdx.x; i < {}; i += blockDim.x) dynamic[{} + i] = 0x{:x}u;\n", bytes / 4, texts.shared / 4, m.ones);
    descriptor('a', 0), descriptor('b', m.a);
    texts.shared += static_cast<std::uint32_t>(bytes);
  }
  if (matrices_.empty()) return;
  texts.setup += "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n";
  texts.setup += "  asm volatile(\".reg .pred gexp_adds; setp.eq.u32 gexp_adds, 1, 1;\");  // a product is added to what its results hold\n";
}

std::optional<Diagnostic> BodyWriter::alu(const Op& op, Region&) {
  const auto found = instruction_of(op);
  if (!found) return found.error();
  const auto& instruction = **found;
  std::int64_t beside = 1, steps = 0;
  auto checked = code_.whole_argument(*op.ilp, 1, 32, "the number of chains", &beside);
  if (!checked) return checked.error();
  auto chain = code_.whole_argument(*op.chain, 1, kMaxCount, "the length of a chain", &steps);
  if (!chain) return chain.error();
  const auto registers = instruction.running.size();
  if (static_cast<std::size_t>(beside) * registers > kMostResults) {
    return error(op.ilp->span, "E0418", fmt::format("{} chains of `{}` hold {} registers in each thread: at most {} are wanted", beside, instruction.name, static_cast<std::size_t>(beside) * registers, kMostResults),
                 fmt::format("write `ilp {}` or less", kMostResults / registers));
  }
  const auto value = fresh("r");
  auto& settled = rehearsed_ ? addresses_ : before_loops_;
  const std::string indent = rehearsed_ ? "    " : "      ";
  const auto matrices = instruction.of_warpgroup() ? matrices_of(instruction) : std::string();
  for (std::size_t k = 0; k < instruction.others.size(); ++k) {  // 1 or the like, each by a condition of its own: the compiler does not know it
    const auto other = register_of(instruction.others[k]);
    if (instruction.others[k] == 'm') {  // the last of them is b
      const bool of_b = instruction.others.find('m', k + 1) == std::string_view::npos;
      settled += fmt::format("{}const u64 {} = {}_{};\n", indent, other_of(value, k), matrices, of_b ? 'b' : 'a');
      continue;
    }
    const auto holds = fmt::format("window != 0x{:x}u", 0xffffffffu - k);
    settled += fmt::format("{}const {} {} = {};\n", indent, other.type, other_of(value, k), fmt::format(fmt::runtime(other.other), holds));
  }
  // A jump costs a chain some cycles that nothing hides, so there are few: blocks that fit the innermost instruction cache, and
  // what is left in one straight piece, which is part of the text. A block that no round would run is not written: instructions
  // that are skipped still lie between those that run, and make the code longer than was asked. A chain that is shorter than a block and in
  // no loop is a loop of one round: straight code hangs on no clock, and the machine's compiler moves it before the first one.
  const auto most = alu_block(beside, static_cast<std::int64_t>(registers));
  const auto block = enclosing_.empty() ? std::min(most, std::max<std::int64_t>(1, steps)) : most;
  std::string links;
  for (std::int64_t i = 0; i < beside; ++i) {
    for (std::size_t k = 0; k < registers; ++k) {
      const auto running = register_of(instruction.running[k]);
      const auto start = instruction.running[k] == 'm' ? matrices + (instruction.matrices().a > 0 ? "_a" : "_b") : fmt::format(fmt::runtime(running.start), i + static_cast<std::int64_t>(k));
      settled += fmt::format("{}{} {} = {};\n", indent, running.type, name_of(value, i, registers, k), start);
    }
    links += link_text(instruction, value, i);
  }
  // Results are operands of the fence: where they are made behind it, ptxas makes each product wait for the one before.
  std::string results;
  for (std::int64_t i = 0; i < beside * static_cast<std::int64_t>(registers); ++i) {
    const auto k = static_cast<std::size_t>(i) % registers;
    results += fmt::format("{}\"+{}\"({})", i == 0 ? "" : ", ", register_of(instruction.running[k]).constraint, name_of(value, i / static_cast<std::int64_t>(registers), registers, k));
  }
  const auto all_results = [&](const char* ptx) {
    if (instruction.waits_at_end()) line("asm volatile(\"{}\" : {} :: \"memory\");", ptx, results);
  };
  all_results("wgmma.fence.sync.aligned;");
  if (steps >= block) {
    const auto rounds = fresh("n");
    settled += fmt::format("{}const u32 {} = (u32)({} / {});\n", indent, rounds, *chain, block);
    line("#pragma unroll 1");
    line("for (u32 i = 0; i < {}; ++i) {{", rounds);
    line("  _Pragma(\"unroll\") for (int j = 0; j < {}; ++j) {{ {}}}", block, links);
    line("}");
  }
  if (steps % block > 0) line("_Pragma(\"unroll\") for (int j = 0; j < {}; ++j) {{ {}}}", steps % block, links);
  all_results("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
  for (std::int64_t i = 0; i < beside; ++i) {
    for (std::size_t k = 0; k < registers; ++k) {
      const auto running = register_of(instruction.running[k]);
      line("asm volatile(\"{}\" : \"+l\"(sum) : \"{}\"({}) : \"memory\");", running.into_sum, running.constraint, name_of(value, i, registers, k));
    }
  }
  return std::nullopt;
}

}  // namespace gexp::compiler
