// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/codegen/body_writer.h"
#include "compiler/codegen/instructions.h"

// Chains of one instruction, each waiting for the one before.
namespace gexp::compiler {

std::optional<Diagnostic> BodyWriter::alu(const Op& op, Region&) {
  const auto* instruction = find_instruction(op.instruction);
  if (!instruction) {
    std::vector<std::string_view> names;
    for (const auto& known : instructions()) names.push_back(known.name);
    const auto near = nearest(op.instruction, names);
    const auto typed = std::find_if(names.begin(), names.end(), [&](std::string_view name) { return name.starts_with(op.instruction + "."); });
    return error(op.instruction_span, "E0430", fmt::format("`{}` is no instruction that `alu` can chain", op.instruction),
                 typed != names.end() ? fmt::format("an instruction has a type: `{}`", *typed)
                 : near             ? fmt::format("did you mean `{}`?", *near)
                                    : "fma.f32, add.u32 and mul.f64 are some; docs/language/alu.md lists them");
  }
  std::int64_t beside = 1, steps = 0;
  auto checked = code_.whole_argument(*op.ilp, 1, 32, "the number of chains", &beside);
  if (!checked) return checked.error();
  auto chain = code_.whole_argument(*op.chain, 1, kMaxCount, "the length of a chain", &steps);
  if (!chain) return chain.error();
  const auto value = fresh("r");
  auto& settled = rehearsed_ ? addresses_ : before_loops_;
  const std::string indent = rehearsed_ ? "    " : "      ";
  settled += fmt::format("{0}const {1} {2}_c = ({1})(window != 0xffffffffu);\n", indent, instruction->type, value);  // 1, and the compiler does not know it
  // A jump costs a chain some cycles that nothing hides, so there are few: blocks that fit the innermost instruction cache, and
  // what is left in one straight piece, which is part of the text. A block that no round would run is not written: instructions
  // that are skipped still lie between those that run, and make the code longer than was asked.
  const auto block = alu_block(beside);
  std::string links;
  for (std::int64_t i = 0; i < beside; ++i) {
    settled += fmt::format("{0}{1} {2}_{3} = ({1})(tid + {3});\n", indent, instruction->type, value, i);
    links += fmt::format("asm volatile(\"{}\" : \"+{}\"({}_{}) : \"{}\"({}_c) : \"memory\"); ", instruction->ptx, instruction->letter, value, i, instruction->letter, value);
  }
  if (steps >= block) {
    const auto rounds = fresh("n");
    settled += fmt::format("{}const u32 {} = (u32)({} / {});\n", indent, rounds, *chain, block);
    line("#pragma unroll 1");
    line(fmt::format("for (u32 i = 0; i < {}; ++i) {{", rounds));
    line(fmt::format("  _Pragma(\"unroll\") for (int j = 0; j < {}; ++j) {{ {}}}", block, links));
    line("}");
  }
  if (steps % block > 0) line(fmt::format("_Pragma(\"unroll\") for (int j = 0; j < {}; ++j) {{ {}}}", steps % block, links));
  for (std::int64_t i = 0; i < beside; ++i) {
    const bool wide = instruction->letter == 'l' || instruction->letter == 'd';
    line(wide ? fmt::format("asm volatile(\"{{ .reg .b64 w; mov.b64 w, %1; xor.b64 %0, %0, w; }}\" : \"+l\"(sum) : \"{}\"({}_{}) : \"memory\");", instruction->letter, value, i)
              : fmt::format("asm volatile(\"{{ .reg .b32 w; .reg .b64 d; mov.b32 w, %1; cvt.u64.u32 d, w; xor.b64 %0, %0, d; }}\" : \"+l\"(sum) : \"{}\"({}_{}) : \"memory\");", instruction->letter, value, i));
  }
  return std::nullopt;
}

}  // namespace gexp::compiler
