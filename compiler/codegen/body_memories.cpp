// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <set>

#include "compiler/codegen/body_writer.h"
#include "compiler/lower/ops.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"
#include "compiler/plan/expand.h"
#include "lang/memory_spaces.h"

// Where a body's memories are: parameters, arrays, and what fills those that the host does not.
namespace gexp::compiler {
namespace {

// fact: of a texture with two dimensions over memory that lies in rows (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability")
constexpr std::uint64_t kLeastPitch = 32, kMostPitch = 128 * 1024, kMostRows = 65000;

}  // namespace

std::optional<Diagnostic> BodyWriter::memories(MemoryTexts& texts) {
  std::string links, zeros;
  texts.shared_cell = needs_shared_cell();
  for (const auto& memory : place_.program.memories) {
    if (!used_.contains(memory.name)) continue;
    const auto& space = *memory.space;
    auto bytes = memory_bytes(memory, place_.scope);
    if (!bytes) return bytes.error();
    const auto padded = (*bytes + 15) / 16 * 16;
    if (const auto most = lang::find_space(space.word)->most_bytes; most > 0 && padded > most) {
      const auto holds = fmt::format(fmt::runtime(space.too_large), show(static_cast<double>(most), kBytes));
      return error(memory.length->span, "E0424", fmt::format("`{}` has {}: {}", memory.name, show(static_cast<double>(*bytes), kBytes), holds), std::string(space.instead));
    }
    if (space.by_index() || fetched(memory.name)) {
      append(texts.parameters, ", u64 texture_{}", memory.name);
      const auto pitch = pitch_of(memory, *bytes);
      if (!pitch) return pitch.error();
      if (*pitch > 0) append(texts.setup, "  const u32 column_{0} = {1}, row_{0} = {2};\n", memory.name, *pitch / 4 - 1, std::countr_zero(*pitch / 4));
      plan_.parameters.push_back({.kind = KernelParameter::Kind::Texture, .memory = memory.name, .pitch = *pitch});
    }
    if (!tiles_.empty() && space.home == MemorySpace::Home::Block) texts.shared = (texts.shared + kTileStep - 1) / kTileStep * kTileStep;
    if (space.declare) space.declare(memory, padded, texts);
    if (space.by_pointer()) plan_.parameters.push_back({KernelParameter::Kind::Memory, memory.name, 0, 0});
    if (space.threads_write_links() && reads_contents_) zeros += zeros_of(memory, padded);
    if (space.threads_write_links()) links += links_of(memory);
  }
  for (const auto& tile : tiles_) plan_.parameters.push_back(tile);
  for (std::size_t i = 0; i < tiles_.size(); ++i) append(texts.parameters, ", const GEXP_IN_PLACE Tile tile{}", i);
  if (!tiles_.empty()) {  // before compute capability 7.0, which simulated devices get the text of, a parameter has no address: a copy of it has
    texts.constants += "struct __align__(128) Tile { u64 words[16]; };  // CUtensorMap\n"
                       "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700\n#define GEXP_IN_PLACE\n#else\n#define GEXP_IN_PLACE __grid_constant__\n#endif\n";
  }
  // Where each access is timed, calibrating passes fetch from a texture of zeros. So does the rehearsal where no warm-up follows it: it must
  // not warm what is measured. With a warm-up it takes the own texture, at its first element or where the ring of the warm-up begins: a line
  // of another would take room in the cache. Where the whole region is timed there is no idle one: a fetch from either of two textures takes
  // longer on an H200, which would count.
  const auto own = place_.warm.empty() ? "pass == 1" : "pass < 2";
  std::string textures, idle_textures;
  std::set<bool> idle;  // whether of rows
  for (const auto& parameter : plan_.parameters) {
    if (parameter.kind != KernelParameter::Kind::Texture) continue;
    append(textures, "      const u64 t_{0} = texture_{0};\n", parameter.memory);
    if (each()) idle.insert(parameter.pitch > 0);
    idle_textures += each() ? fmt::format("    const u64 t_{0} = {1} ? texture_{0} : {2};\n", parameter.memory, own, idle_texture(parameter.pitch > 0))
                            : fmt::format("    const u64 t_{0} = texture_{0};\n", parameter.memory);
  }
  for (const bool rows : idle) {
    append(texts.parameters, ", u64 {}", idle_texture(rows));
    plan_.parameters.push_back({.kind = KernelParameter::Kind::IdleTexture, .memory = "", .pitch = rows ? kLeastPitch : 0});
  }
  before_loops_ = textures + before_loops_;
  addresses_ = idle_textures + addresses_;
  for (const auto& space : lang::memory_spaces()) {
    if (const auto finish = memory_space(space.word).declared_all) finish(texts);
  }
  declare_barriers(texts);
  declare_matrices(texts);
  plan_.shared_bytes = texts.shared;
  if (!zeros.empty()) texts.setup += zeros + (place_.role ? "  GEXP_MEET();\n" : "  __syncthreads();\n");
  texts.setup += links;
  for (const auto& [map, name] : ranks_) append(texts.setup, "  u64 {0}; {1}\n", name, fmt::format(fmt::runtime(map), name));
  return std::nullopt;
}

Result<std::uint64_t> BodyWriter::pitch_of(const Memory& memory, std::uint64_t bytes) const {
  if (!memory.pitch) return std::uint64_t{0};
  auto value = evaluate(*memory.pitch, place_.scope);
  if (!value) return value.error();
  const auto* n = value->get<Number>();
  const double pitch = n ? n->number : 0;
  if (!(pitch >= kLeastPitch && pitch <= kMostPitch) || pitch != std::floor(pitch) || !std::has_single_bit(static_cast<std::uint64_t>(pitch))) {
    return error(memory.pitch->span, "E0241", fmt::format("a row of `{}` is {}: a power of two from {} B to {} KiB is wanted", memory.name, gexp::show(*value), kLeastPitch, kMostPitch / 1024), "write `pitch 4KiB`, say");
  }
  const auto row = static_cast<std::uint64_t>(pitch);
  if (bytes % row != 0 || bytes / row > kMostRows) {
    return error(memory.pitch->span, "E0241", fmt::format("`{}` has {} rows of {}: whole ones, and at most {}, are wanted", memory.name, static_cast<double>(bytes) / pitch, gexp::show(*value), kMostRows),
                 bytes % row != 0 ? "make it as long as so many rows" : "make the rows longer");
  }
  return row;
}

// A block and a thread find in their memory what others left there, which is not theirs to see.
std::string BodyWriter::zeros_of(const Memory& memory, std::uint64_t bytes) {
  const bool shared = memory.space->home == MemorySpace::Home::Block;
  return fmt::format("  for (u64 i = {}; i < {}; i += {}) asm volatile(\"st.{}.u32 [%0], %1;\" :: \"l\"(m_{} + 4 * i), \"r\"(0) : \"memory\");\n", shared ? "tid" : "0", bytes / 4,
                     shared ? "blockDim.x" : "1", memory.space->ptx, memory.name);
}

// Where the whole region is timed it does not calibrate itself, and loads and stores that leave nothing to be named are free to rehearse in the
// memories themselves: shared memory has no cache that this could warm.
bool BodyWriter::needs_shared_cell() {
  if (place_.timing != Timing::Total || reads_contents_) return true;
  bool needed = false;
  for_each_op(place_.stage, [&](const Op& op) {
    const bool plain = (op.kind == Op::Kind::Load || op.kind == Op::Kind::Store) && !op.rank && !op.rows && op.via != Via::Bulk;
    for (const auto& memory : place_.program.memories) {
      needed = needed || (memory.space->home == MemorySpace::Home::Block && (memory.name == op.into || (memory.name == op.memory && !plain)));
    }
  });
  return needed;
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
    const bool shared = memory.space->home == MemorySpace::Home::Block;
    text += fmt::format("  for (long long i = {0}; i < {1}; i += {2}) {{ const u64 at = m_{3} + table{4}[i]; ", shared ? "tid" : "0", number, shared ? "blockDim.x" : "1", memory.name, table);
    text += link_bytes(*width) == 8
                ? fmt::format("asm volatile(\"st.{}.u64 [%0], %1;\" :: \"l\"(at), \"l\"((u64)table{}[i + {}]) : \"memory\"); }}\n", memory.space->ptx, table, number)
                : fmt::format("asm volatile(\"st.{}.u32 [%0], %1;\" :: \"l\"(at), \"r\"(table{}[i + {}]) : \"memory\"); }}\n", memory.space->ptx, table, number);
  }
  return text;
}

}  // namespace gexp::compiler
