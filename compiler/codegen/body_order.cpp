// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/codegen/body_writer.h"
#include "compiler/codegen/needs.h"
#include "compiler/lower/ops.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"
#include "compiler/plan/expand.h"
#include "lang/atomics.h"

// Operations that update memory atomically, order accesses, move lines, or copy without registers.
namespace gexp::compiler {
namespace {

/// The operand of an atomic operation as CUDA text; `holds` is a condition that holds, of which no compiler knows it.
std::string operand_text(char kind, const std::string& holds) {
  switch (kind) {
    case 'f': return fmt::format("(u32)({}) * 0x3f800000u", holds);
    case 'd': return fmt::format("(u64)({}) * 0x3ff0000000000000ull", holds);
    case 'x': return fmt::format("(u32)({}) * 0x3c003c00u", holds);
    case 'y': return fmt::format("(u32)({}) * 0x3f803f80u", holds);
    default: return holds;
  }
}

Via bulk_or_none(Via via) { return via == Via::Bulk ? via : Via::Default; }

/// One operation as inline PTX: the old value into `value`, or nowhere.
std::string atomic_text(const lang::Atomic& atomic, const Memory& memory, const Op& op, const std::string& at, const std::string& value,
                        const std::string& operand) {
  const bool returns = !op.red;
  const char letter = atomic.bytes == 8 ? 'l' : 'r';
  const auto name = fmt::format("{}{}.{}.{}", returns ? "atom" : "red", op.scope.empty() ? "" : "." + op.scope, op.rank ? kOfCluster : memory.space->ptx, atomic.ptx);
  const bool floats = atomic.operand == 'f' || atomic.operand == 'd';
  const int from = returns ? 1 : 0;
  const auto place = fmt::format("[%{}]", from), given = fmt::format("%{}", from + 1);
  std::string ptx;
  if (floats) {  // registers of floats are told apart in PTX, not in the machine
    const int bits = 8 * atomic.bytes;
    ptx = returns ? fmt::format("{{ .reg .f{0} f, g; mov.b{0} g, {1}; {2} f, {3}, g; mov.b{0} %0, f; }}", bits, given, name, place)
                  : fmt::format("{{ .reg .f{0} g; mov.b{0} g, {1}; {2} {3}, g; }}", bits, given, name, place);
  } else {
    ptx = fmt::format("{} {}{}, {}{};", name, returns ? "%0, " : "", place, given, atomic.compares ? ", " + given : "");
  }
  const auto result = returns ? fmt::format("\"={}\"({})", letter, value) : std::string();
  return fmt::format("asm volatile(\"/*atomic {}*/ {}\" : {} : \"l\"({}), \"{}\"({}) : \"memory\");", memory.name, ptx, result, at, letter, operand);
}

}  // namespace

Result<const lang::Atomic*> BodyWriter::atomic_of(const Op& op, const Memory& memory) {
  const auto* atomic = lang::find_atomic(op.instruction);
  if (!atomic) {
    const auto near = lang::meant_atomic(op.instruction);
    return error(op.instruction_span, "E0431", fmt::format("`{}` is no atomic operation", op.instruction),
                 near.starts_with(op.instruction + ".") ? fmt::format("an operation has a type: `{}`", near)
                 : !near.empty()                        ? fmt::format("did you mean `{}`?", near)
                                                        : "add.u32, cas.b64 and add.f32 are some; docs/language/atomic.md lists them");
  }
  const bool shared = memory.space->home == MemorySpace::Home::Block;
  if (!memory.space->stores || !(shared || memory.space->ptx == "global")) {
    return error(op.span, "E0429", fmt::format("`{}` is in {} memory, where nothing is atomic", memory.name, memory.space->word), "take a memory in global or shared");
  }
  if (op.red && !atomic->has_red) {
    return error(op.span, "E0431", fmt::format("`{}` has no form that returns nothing", op.instruction), "leave `red` out");
  }
  if (auto lacks = device_lacks(place_.program, op.instruction, shared ? atomic->shared : atomic->global, 0, op.instruction_span)) return std::move(*lacks);
  if (auto lacks = scope_lacks(op, 60)) return std::move(*lacks);
  return atomic;
}

std::optional<Diagnostic> BodyWriter::scope_lacks(const Op& op, int compute) const {
  if (op.scope.empty()) return std::nullopt;
  return device_lacks(place_.program, "scope " + op.scope, op.scope == "cluster" ? 90 : compute, 0, op.span);
}

std::optional<Diagnostic> BodyWriter::atomic(const Op& op, Region& region) {
  auto memory = memory_of(op);
  if (!memory) return memory.error();
  const auto found = atomic_of(op, **memory);
  if (!found) return found.error();
  const auto& atomic = **found;
  const int width = atomic.bytes;
  auto at = address(op, **memory, width);
  if (!at) return at.error();
  auto& settled = rehearsed_ ? addresses_ : before_loops_;
  const auto operand = fresh("q"), value = fresh("v");
  settled += fmt::format("{}const {} {} = {};\n", rehearsed_ ? "    " : "      ", value_type(width), operand, operand_text(atomic.operand, "window != 0xffffffffu"));
  if (!op.red) line("{} {};", value_type(width), value);
  begin_timing(settle_text(*at));
  line(atomic_text(atomic, **memory, op, *at, value, operand));
  if (each() && !op.red) {
    consume({value, width});
    settle("sum");
  } else if (!op.red) {
    region.results.push_back({value, width});
  }
  end_timing(op, **memory);
  count(op, **memory, region.rounds, width);
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::fence(const Op& op, Region&) {
  if (auto lacks = scope_lacks(op, 10)) return lacks;
  const char* const ptx = op.scope == "cta" ? "membar.cta" : op.scope == "gpu" ? "membar.gl" : op.scope == "sys" ? "membar.sys" : "fence.acq_rel.cluster";
  line("asm volatile(\"/*fence*/ {};\" ::: \"memory\");", ptx);
  return std::nullopt;
}

/// The lines of 128 B in which the accesses lie: what they held is undefined afterwards.
std::optional<Diagnostic> BodyWriter::discard(const Op& op, Region&) {
  auto memory = memory_of(op);
  if (!memory) return memory.error();
  const auto& space = *(*memory)->space;
  if (!space.stores || space.ptx != "global") return error(op.span, "E0429", fmt::format("`{}` is in {} memory, whose lines cannot be discarded", (*memory)->name, space.word), "take a memory in global");
  if (auto lacks = device_lacks(place_.program, "discard", 80, 0, op.span)) return lacks;
  auto at = address(op, **memory, 128);
  if (!at) return at.error();
  // The idle cell is no whole line: the rehearsal leaves it alone.
  line("if ({}) asm volatile(\"/*discard {}*/ discard.global.L2 [%0], 128;\" :: \"l\"({}) : \"memory\");", rehearsed_ ? "pass == 1" : "true", op.memory, *at);
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::drain(const Op& op, Region&) {
  if (auto lacks = device_lacks(place_.program, "drain", 80, 0, op.span)) return lacks;
  bool bulk = false, others = false;
  for_each_op(place_.stage, [&](const Op& other) {
    bulk = bulk || other.via == Via::Bulk;
    others = others || (!other.into.empty() && other.via != Via::Bulk);
  });
  if (others || !bulk) line("asm volatile(\"/*drain*/ cp.async.wait_all;\" ::: \"memory\");");
  if (!bulk) return std::nullopt;
  if (auto lacks = bulk_lacks(op)) return lacks;
  line("asm volatile(\"/*drain*/ { .reg .pred p; .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; WAIT: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; \"");
  line("             \"@!p bra WAIT; }\" :: \"r\"(own_barrier), \"r\"(own_phase) : \"memory\");");
  line("own_phase ^= 1;");
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::bulk_lacks(const Op& op) {
  if (place_.role) return error(op.span, "E0437", "a stage that runs beside another makes no bulk copies", "leave `via bulk` out");
  has_bulk_ = true;
  return device_lacks(place_.program, "via bulk", 90, 120, op.span);
}

/// Each thread has a barrier of its own in shared memory, which the bytes of its copies are told to.
void BodyWriter::declare_barriers(MemoryTexts& texts) const {
  if (!has_bulk_) return;
  texts.setup += fmt::format("  const u32 own_barrier = (u32)shared + {} + 8 * (u32)tid; u32 own_phase = 0;\n", texts.shared);
  texts.setup += "  asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1; fence.proxy.async.shared::cta;\" :: \"r\"(own_barrier) : \"memory\");\n";
  texts.shared += 8 * static_cast<std::uint64_t>(place_.block);
}

/// `load A at X to l2`: the line is brought there, and nothing is read.
std::optional<Diagnostic> BodyWriter::prefetch(const Op& op, const Memory& memory, const std::string& at) {
  const bool keeps = op.hint == "l2_evict_last" || op.hint == "l2_evict_normal";
  if (auto lacks = device_lacks(place_.program, "prefetch", keeps ? 80 : 20, 0, op.span)) return lacks;
  const auto level = op.level == "l1" ? "L1" : keeps ? "L2::" + op.hint.substr(3) : "L2";
  line("asm volatile(\"/*load {}*/ prefetch.{}.{} [%0];\" :: \"l\"({}) : \"memory\");", op.memory, memory.space->ptx, level, at);
  return std::nullopt;
}

/// `load A at X into S at Y`: from global to shared memory, past the registers; `drain` waits for it.
std::optional<Diagnostic> BodyWriter::copy(const Op& op, const Memory& memory, int width, const std::string& at, Region& region) {
  Op target;
  target.kind = Op::Kind::Store;
  target.memory = op.into, target.at = op.into_at, target.span = op.span, target.via = bulk_or_none(op.via);
  auto shared = memory_of(target);
  if (!shared) return shared.error();
  if ((*shared)->space->home != MemorySpace::Home::Block) {
    return error(op.span, "E0429", fmt::format("`{}` is in {} memory, and an asynchronous copy goes to shared memory", op.into, (*shared)->space->word), "copy into a memory in shared");
  }
  const bool bulk = op.via == Via::Bulk;
  if (auto lacks = bulk ? bulk_lacks(op) : device_lacks(place_.program, "load … into", 80, 0, op.span)) return lacks;
  auto to = address(target, **shared, width);
  if (!to) return to.error();
  const std::string path = op.via == Via::Cg ? "cg" : "ca";
  const auto manner = manner_here(op);
  if (!manner) return manner.error();
  begin_timing(settle_text(at));
  // The idle cells are smaller: the rehearsal leaves them alone.
  if (bulk) {
    line("if ({}) asm volatile(\"/*load {}*/ mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%3], %2; \"", rehearsed_ ? "pass == 1" : "true", op.memory);
    line("             \"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\" :: \"r\"((u32){}), \"l\"({}), \"r\"({}), \"r\"(own_barrier) : \"memory\");", *to, at, width);
  } else {
    line("asm volatile(\"/*load {}*/ cp.async.{}.shared.global{} [%0], [%1], {}{};\" :: \"r\"((u32){}), \"l\"({}) : \"memory\");", op.memory, path,
         manner->modifiers, width, manner->policy, *to, at);
  }
  end_timing(op, memory);
  count(op, memory, region.rounds, width);
  return std::nullopt;
}

Result<BodyWriter::Tile> BodyWriter::tile_of(const Op& op, const Memory& memory, int width) const {
  const auto whole = [&](const FormulaPtr& formula, double step, double most, const char* what, const char* instead) -> Result<int> {
    auto value = evaluate(*formula, code_.scope());
    if (!value) return value.error();
    const auto* n = value->get<Number>();
    if (!n || n->number < step || n->number > most || std::fmod(n->number, step) != 0) {
      return error(formula->span, "E0418", fmt::format("{} is {}: a multiple of {:.0f} up to {:.0f} is wanted", what, show(*value), step, most), instead);
    }
    return static_cast<int>(n->number);
  };
  constexpr double kMostPitch = 1 << 22;  // limit: so that a tile's span is a number of 31 bits
  if (width > kMostTileRow) return error(op.width->span, "E0418", fmt::format("a row of a tile has {} B: at most {} are wanted", width, kMostTileRow), "take more rows, or more tiles");
  const auto rows = whole(op.rows, 1, kMostTileRows, "the number of rows of a tile", "take more tiles");
  if (!rows) return rows.error();
  const auto pitch = whole(op.pitch, kBulkStep, kMostPitch, "the distance of rows", "write `pitch 4KiB`, say");
  if (!pitch) return pitch.error();
  if (*pitch < width) return error(op.pitch->span, "E0418", fmt::format("rows of {} B are {} B apart", width, *pitch), "make `pitch` as large as a row of the whole array");
  if (memory.space->takes_device_memory()) return Tile{width, *rows, *pitch};
  return error(op.span, "E0429", fmt::format("`{}` is in {} memory, of which no tiles are copied", memory.name, memory.space->word), "take a memory in global");
}

std::size_t BodyWriter::map_of(const Memory& memory, const Tile& tile) {
  const KernelParameter wanted{KernelParameter::Kind::Tile, memory.name, 0, 0, static_cast<std::uint32_t>(tile.row), static_cast<std::uint32_t>(tile.rows), static_cast<std::uint64_t>(tile.pitch)};
  const auto same = [&](const KernelParameter& one) { return one.memory == wanted.memory && one.row_bytes == wanted.row_bytes && one.rows == wanted.rows && one.pitch == wanted.pitch; };
  const auto found = std::find_if(tiles_.begin(), tiles_.end(), same);
  if (found == tiles_.end()) return tiles_.push_back(wanted), tiles_.size() - 1;
  return static_cast<std::size_t>(found - tiles_.begin());
}

/// `load A at X into S at Y as ROW via bulk rows N pitch P`: the offset X is row X div P and byte X mod P of the array.
std::optional<Diagnostic> BodyWriter::copy_tile(const Op& op, const Memory& memory, const Tile& tile, const std::string& at, Region& region) {
  Op target;
  target.kind = Op::Kind::Store;
  target.memory = op.into, target.at = op.into_at, target.span = op.span, target.via = Via::Bulk, target.rows = op.rows;
  auto shared = memory_of(target);
  if (!shared) return shared.error();
  if ((*shared)->space->home != MemorySpace::Home::Block) {
    return error(op.span, "E0429", fmt::format("`{}` is in {} memory, and an asynchronous copy goes to shared memory", op.into, (*shared)->space->word), "copy into a memory in shared");
  }
  if (auto lacks = bulk_lacks(op)) return lacks;
  auto to = address(target, **shared, tile.row * tile.rows);
  if (!to) return to.error();
  const auto map = map_of(memory, tile);
  const auto offset = fresh("o"), column = fresh("e"), row = fresh("e");
  line("const u64 {} = {} - m_{};", offset, at, memory.name);
  line("const u32 {} = (u32)({} % {}u) / 4, {} = (u32)({} / {}u);", column, offset, tile.pitch, row, offset, tile.pitch);
  begin_timing(settle_text(fmt::format("((u64){} << 32 | {})", row, column)));
  line("if ({}) asm volatile(\"/*load {}*/ mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%3], %5; \"", rehearsed_ ? "pass == 1" : "true", op.memory);
  line("             \"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%4, {%1, %2}], [%3];\"");
  line("             :: \"r\"((u32){}), \"r\"({}), \"r\"({}), \"r\"(own_barrier), \"l\"(&tile{}), \"r\"({}) : \"memory\");", *to, column, row, map, tile.row * tile.rows);
  end_timing(op, memory);
  count(op, memory, region.rounds, tile.row * tile.rows);
  return std::nullopt;
}

}  // namespace gexp::compiler
