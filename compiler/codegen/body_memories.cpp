// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/codegen/body_writer.h"
#include "compiler/lower/ops.h"
#include "compiler/plan/access.h"
#include "compiler/plan/expand.h"

// Where a body's memories are: parameters, arrays, and what fills those that the host does not.
namespace gexp::compiler {
namespace {

constexpr int kCellBytes = 16;  // idle cell of shared, local and constant memories

}  // namespace

std::optional<Diagnostic> BodyWriter::memories(std::string& parameters, std::string& setup, std::string& constants) {
  std::uint64_t shared = 0;
  const std::string in = "  ";
  std::string links;
  for (const auto& memory : place_.program.memories) {
    if (!used_.contains(memory.name)) continue;
    auto bytes = memory_bytes(memory, place_.scope);
    if (!bytes) return bytes.error();
    const auto padded = (*bytes + 15) / 16 * 16;
    const bool by_texture = memory.space == Space::Texture || fetched(memory.name);
    if (by_texture) {
      parameters += fmt::format(", u64 t_{}", memory.name);
      plan_.parameters.push_back({KernelParameter::Kind::Texture, memory.name, 0, 0});
    }
    switch (memory.space) {
      case Space::Texture: break;
      case Space::Global:
        parameters += fmt::format(", u64 m_{}", memory.name);
        plan_.parameters.push_back({KernelParameter::Kind::Memory, memory.name, 0, 0});
        break;
      case Space::Shared:
        setup += fmt::format("{}const u64 m_{} = shared + {};\n", in, memory.name, shared);
        shared += padded;
        break;
      case Space::Constant:
        if (padded + kCellBytes > 65536) {
          return error(memory.length->span, "E0424", fmt::format("`{}` has {}: constant memory holds {}", memory.name, show(static_cast<double>(*bytes), kBytes), show(65536.0 - kCellBytes, kBytes)), "larger ones are in `readonly` or `global`");
        }
        constants += fmt::format("extern \"C\" {{ __constant__ u32 c_{}[{}]; }}\n", memory.name, (padded + kCellBytes) / 4);
        setup += fmt::format("{0}u64 m_{1}; asm(\"cvta.to.const.u64 %0, %1;\" : \"=l\"(m_{1}) : \"l\"(c_{1}));\n", in, memory.name);
        setup += fmt::format("{}const u64 idle_constant = m_{} + {};\n", in, memory.name, padded);
        break;
      case Space::Local:
        if (padded > 65536) return error(memory.length->span, "E0424", fmt::format("`{}` has {}: a thread's local memory holds 64 KiB here", memory.name, show(static_cast<double>(*bytes), kBytes)), "larger ones are in `global`");
        setup += fmt::format("{0}u32 l_{1}[{2}]; u64 m_{1}; asm volatile(\"cvta.to.local.u64 %0, %1;\" : \"=l\"(m_{1}) : \"l\"(l_{1}) : \"memory\");\n", in, memory.name, (padded + kCellBytes) / 4);
        setup += fmt::format("{0}const u64 idle_local = m_{1} + {2}; asm volatile(\"st.local.v4.u32 [%0], {{%1, %1, %1, %1}};\" :: \"l\"(idle_local), \"r\"(0) : \"memory\");\n", in, memory.name, padded);
        break;
    }
    if (memory.space == Space::Shared || memory.space == Space::Local) links += links_of(memory);
  }
  if (shared > 0) {
    setup += fmt::format("{0}const u64 idle_shared = shared + {1}; if (threadIdx.x == 0) dynamic[{2}] = dynamic[{2} + 1] = dynamic[{2} + 2] = dynamic[{2} + 3] = 0;\n", in, shared, shared / 4);
    shared += kCellBytes;
  }
  plan_.shared_bytes = shared;
  setup += links;
  return std::nullopt;
}

bool BodyWriter::fetched(const std::string& memory) {
  bool found = false;
  for_each_op(place_.stage, [&](const Op& op) { found = found || (op.memory == memory && op.via == Via::Tex); });
  return found;
}

std::string BodyWriter::links_of(const Memory& memory) {
  std::string text;
  for (const auto& chased : chases_) {
    if (chased.op->memory != memory.name) continue;
    auto width = width_of(*chased.op, memory);
    if (!width) continue;
    const auto& pattern = *chased.pattern;
    std::vector<std::uint32_t> offsets, targets;
    for (std::int64_t thread = 0; thread < pattern.threads; ++thread) {
      for (std::int64_t step = 0; step < pattern.steps; ++step) {
        offsets.push_back(static_cast<std::uint32_t>(pattern.at(thread, step)));
        targets.push_back(static_cast<std::uint32_t>(pattern.at(thread, (step + 1) % pattern.steps) / *width));
      }
    }
    const auto count = offsets.size();
    const auto table = plan_.tables.size();
    offsets.insert(offsets.end(), targets.begin(), targets.end());
    plan_.tables.push_back(std::move(offsets));
    const auto number = code_.argument(fmt::format("links {}", table), static_cast<std::int64_t>(count));
    const bool shared = memory.space == Space::Shared;
    text += fmt::format("  for (long long i = {0}; i < {1}; i += {2}) {{ const u64 at = m_{3} + table{4}[i]; ", shared ? "tid" : "0", number, shared ? "blockDim.x" : "1", memory.name, table);
    text += link_bytes(*width) == 8
                ? fmt::format("asm volatile(\"st.{}.u64 [%0], %1;\" :: \"l\"(at), \"l\"((u64)table{}[i + {}]) : \"memory\"); }}\n", word(memory.space), table, number)
                : fmt::format("asm volatile(\"st.{}.u32 [%0], %1;\" :: \"l\"(at), \"r\"(table{}[i + {}]) : \"memory\"); }}\n", word(memory.space), table, number);
  }
  return text;
}

}  // namespace gexp::compiler
