// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/lower/ops.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"
#include "compiler/plan/calibrate.h"

namespace gexp::compiler {
namespace {

Shape each_shape(const Memory& memory, const Op& chase, int width, bool chosen) {
  const std::string via = word(path_of(memory, chase.via));
  const bool wide = width == 8;
  Placing where;
  if (chosen) where = placing({{"ticks", std::to_string(kTraceBytes / 2)}, {"overhead", std::to_string(kCalibrationWords)}, {"last", "2"}});
  return Shape{&kEachTemplate,
               {{"element", wide ? "unsigned long long" : "unsigned int"},
                {"bytes", std::to_string(width)},
                {"load", fmt::format("ld.global{}{}.u{}", via.empty() ? "" : ".", via, width * 8)},
                {"chained", fmt::format("ld.global{}{}.u64 %0, [%0];", via.empty() ? "" : ".", via)},
                {"letter", wide ? "l" : "r"},
                {"address", wide ? "mad.lo.u64" : "mad.wide.u32"},
                {"placing", where.parameters},
                {"leave", where.leave}},
               chase.span};
}

Shape total_shape(const Op& chase, int width) {
  return Shape{&kTotalTemplate,
               {{"load", width == 4   ? "ld.shared.u32 %0, [%0];"
                         : width == 8 ? "{ .reg .u32 b; ld.shared.v2.u32 {%0, b}, [%0]; }"
                                      : "{ .reg .u32 b, c, d; ld.shared.v4.u32 {%0, b, c, d}, [%0]; }"}},
               chase.span};
}

}  // namespace

Placing placing(const std::vector<std::pair<std::string, std::string>>& words, const std::string& dynamic) {
  std::string leave = "  unsigned int gexp_sm;\n  asm volatile(\"mov.u32 %0, %%smid;\" : \"=r\"(gexp_sm));\n  gexp_sm -= first_sm;\n";
  const std::string mine = "gexp_sm < sms && atomicExch(last_turn + gexp_sm, turn) != turn";
  if (dynamic.empty()) {
    leave += fmt::format("  if (!({})) return;\n", mine);
  } else {
    leave += fmt::format("  if (threadIdx.x == 0) {0}[0] = {1};\n  __syncthreads();\n  if ({0}[0] == 0) return;\n  __syncthreads();\n", dynamic, mine);
  }
  for (const auto& [pointer, count] : words) leave += fmt::format("  {} += gexp_sm * ({});\n", pointer, count);
  return {", unsigned int first_sm, unsigned int sms, unsigned int turn, unsigned int* last_turn", leave};
}

std::optional<Shape> chase_template(const Program& program, const Stage& stage, std::uint32_t grid, std::uint32_t block, int width) {
  const auto* timed = only_chase(stage.timed);
  const auto* warm = only_chase(stage.warm);
  if (!timed || (!stage.warm.empty() && !warm) || stage.launch.cluster) return std::nullopt;
  if (warm && (warm->memory != timed->memory || warm->via != timed->via)) return std::nullopt;
  for (const auto* chase : {timed, warm}) {
    if (chase && (!chase->hint.empty() || chase->fetch || chase->rank || chase->via == Via::Ldu || chase->via == Via::Volatile)) return std::nullopt;
  }
  const auto memory = std::find_if(program.memories.begin(), program.memories.end(), [&](const Memory& m) { return m.name == timed->memory; });
  GEXP_CHECK(memory != program.memories.end());
  const bool chosen = stage.launch.sm || stage.launch.sms;
  const bool element = width == memory->element_bytes && (width == 4 || width == 8);
  if (stage.timing == Timing::Each && memory->space->lone_chase == &kEachTemplate && timed->via != Via::Tex && grid == 1 && block == 1 && element) {
    return each_shape(*memory, *timed, width, chosen);
  }
  const bool shared_width = width == 4 || width == 8 || width == 16;
  if (stage.timing == Timing::Total && !chosen && memory->space->lone_chase == &kTotalTemplate && timed->via == Via::Default && grid == 1 && shared_width) {
    return total_shape(*timed, width);
  }
  return std::nullopt;
}

Result<std::string> emit_cuda(const Shape& shape, const std::string& template_folder) {
  GEXP_CHECK(shape.made_from != nullptr);
  if (shape.of_file()) return shape.text->text();
  auto text = load_template(*shape.made_from, template_folder);
  if (!text) return text.error();
  auto holes = shape.holes;
  holes["name"] = kEntry;
  auto filled = text->fill(holes);
  if (!filled) return filled;
  return fmt::format("// gexp: {}\n{}", shape.file(), *filled);
}

}  // namespace gexp::compiler
