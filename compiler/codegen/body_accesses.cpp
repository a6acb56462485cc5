// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/codegen/body_writer.h"
#include "compiler/codegen/needs.h"
#include "compiler/memory/contents.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"
#include "compiler/plan/calibrate.h"
#include "compiler/plan/expand.h"

// Operations that access a memory: loads, stores and chases, their addresses, and whether these stay inside.
namespace gexp::compiler {
namespace {

/// The access says which statement it is: NVRTC copies the text of inline PTX, comments too, and a fault names it.
std::string noted(const std::string& statement, std::string text) {
  for (const std::string_view begin : {"tex.1d", "tex.2d", "ldu.", "ld.", "st."}) {
    if (const auto at = text.find(begin); at != std::string::npos) return text.insert(at, fmt::format("/*{}*/ ", statement));
  }
  return text;
}

/// An index has no base to be added to.
bool by_index(const Op& op, const Memory& memory) { return memory.space->by_index() || op.via == Via::Tex; }
std::string idle_of(const Op& op, const Memory& memory) { return op.via == Via::Tex ? "0ull" : std::string(memory.space->idle_cell); }

}  // namespace

Result<const Memory*> BodyWriter::memory_of(const Op& op) {
  for (const auto& memory : place_.program.memories) {
    if (memory.name != op.memory) continue;
    used_.insert(memory.name);
    if (memory.holds && !held_.contains(memory.name)) {
      auto held = contents_range(memory, place_.scope);
      if (!held) return held.error();
      held_[memory.name] = *held;
    }
    return &memory;
  }
  return error(op.span, "E0408", fmt::format("`{}` is no memory here", op.memory));
}

std::string BodyWriter::base_of(const Op& op, const Memory& memory) const {
  const auto ranked = ranked_.find(&op);
  return ranked != ranked_.end() ? ranked->second : by_index(op, memory) ? "0ull" : "m_" + memory.name;
}

std::optional<Diagnostic> BodyWriter::settle_base(const Op& op, const Memory& memory) {
  if (!op.rank) return std::nullopt;
  const auto span = op.rank->span;
  if (memory.space->home != MemorySpace::Home::Block) {
    return error(span, "E0429", fmt::format("`{}` is in {} memory, of which a block has no part of its own", memory.name, memory.space->word), "leave `rank` out, or take a memory in shared");
  }
  if (!place_.stage.launch.cluster) return error(span, "E0447", "this launch has no clusters, whose blocks have ranks", "write `launch grid 2 cluster 2`, or leave `rank` out");
  const auto names = free_names(*op.rank);
  const bool moves = std::any_of(enclosing_.begin(), enclosing_.end(), [&](const Enclosing& loop) { return std::find(names.begin(), names.end(), loop.variable) != names.end(); });
  if (moves || code_.reads_variable(*op.rank)) return error(span, "E0447", "a rank is settled before timing begins, so that no round of a loop has one of its own", "use `unroll`, or a value of the thread such as `cta`");
  auto range = code_.range(*op.rank);
  if (!range) return range.error();
  if (auto exact = listed_range(*op.rank, threads(), rounds_around())) range = *exact;
  const double last = place_.cluster - 1.0;
  if (range->low < 0 || range->high > last || range->low != std::floor(range->low)) {
    return error(span, "E0447", fmt::format("a cluster of {} has the ranks 0 to {}, and this is {}", place_.cluster, last, range->low < 0 ? range->low : range->high),
                 fmt::format("`(cta + 1) mod {}` is the next block", place_.cluster));
  }
  if (auto lacks = device_lacks(place_.program, "rank", 90, 120, span)) return lacks;
  auto rank = code_.text(*op.rank);
  if (!rank) return rank.error();
  const auto map = fmt::format("asm(\"mapa.shared::cluster.u64 %0, %1, %2;\" : \"=l\"({{}}) : \"l\"(m_{}), \"r\"((u32)({})));", memory.name, *rank);
  const auto [base, fresh_one] = ranks_.try_emplace(map);
  if (fresh_one) base->second = fresh("m");
  ranked_[&op] = base->second;
  return std::nullopt;
}

Result<int> BodyWriter::width_of(const Op& op, const Memory& memory) const { return access_width(op, memory, code_.scope()); }

std::string BodyWriter::at_its_place(const Op& op, const Memory& memory) const {
  const bool warmed = std::any_of(place_.warm.begin(), place_.warm.end(), [&](const Op& before) {
    return before.kind == Op::Kind::Chase && before.memory == op.memory && before.pattern == op.pattern;
  });
  return each() && warmed && by_index(op, memory) ? "pass < 2" : "pass == 1";
}

Result<Manner> BodyWriter::manner_here(const Op& op) {
  int fetch = 0;
  if (op.fetch) {
    auto value = evaluate(*op.fetch, code_.scope());
    if (!value) return value.error();
    const auto* n = value->get<Number>();
    if (!n || (n->number != 64 && n->number != 128 && n->number != 256)) {
      return error(op.fetch->span, "E0417", fmt::format("the L2 is asked to bring 64, 128 or 256 bytes, not {}", show(*value)), "write `fetch 128B`");
    }
    fetch = static_cast<int>(n->number);
  }
  const bool of_l2 = op.hint.starts_with("l2_"), newer = op.via == Via::Cs || op.via == Via::Lu || op.via == Via::Ldu || op.via == Via::Wb || op.via == Via::Wt;
  std::optional<Diagnostic> lacks;
  if (!op.hint.empty()) lacks = device_lacks(place_.program, "hint " + op.hint, of_l2 ? 80 : 70, 0, op.span);
  if (!lacks && fetch > 0) lacks = device_lacks(place_.program, fmt::format("fetch {}B", fetch), fetch == 256 ? 80 : 75, 0, op.span);
  if (!lacks && newer) lacks = device_lacks(place_.program, fmt::format("via {}", word(op.via)), 20, 0, op.span);
  if (lacks) return std::move(*lacks);
  if (of_l2 && place_.role) {  // the register of a policy would be declared by each role
    return error(op.span, "E0437", "a stage that runs beside another has no policy of the L2", "leave the hint out, or take one for the L1");
  }
  if (of_l2) policies_.insert(op.hint);
  return manner_of(op, fetch);
}

Result<std::string> BodyWriter::address(const Op& op, const Memory& memory, int width) {
  auto bytes = memory_bytes(memory, place_.scope);
  if (!bytes) return bytes.error();
  if (auto problem = inside(op, memory, *bytes, width)) return std::move(*problem);
  if (auto problem = settle_base(op, memory)) return std::move(*problem);
  auto offset = code_.offset(*op.at);
  if (!offset) return offset.error();
  const auto base = base_of(op, memory), idle = idle_of(op, memory);
  // Of lanes that update one address, compilers make one lane that does it for all: unless they cannot know that it is one.
  if (op.kind == Op::Kind::Atomic) offset->rest = fmt::format("({} + tid * (long long)zero)", offset->rest);
  if (!offset->affine) {
    if (each()) {
      const auto name = fresh("x");
      line("const u64 {} = pass == 1 ? {} + (u64){} : {};", name, base, offset->rest, idle);
      return name;
    }
    return rehearsed_ ? fmt::format("(pass == 1 ? {} + (u64){} : {})", base, offset->rest, idle) : fmt::format("({} + (u64){})", base, offset->rest);
  }
  const auto name = fresh("x");
  auto& settled = rehearsed_ ? addresses_ : before_loops_;
  const std::string indent = rehearsed_ ? "    " : "      ";
  settled += rehearsed_ ? fmt::format("{}u64 {} = pass == 1 ? {} + (u64){} : {};\n", indent, name, base, offset->rest, idle)
                        : fmt::format("{}u64 {} = {} + (u64){};\n", indent, name, base, offset->rest);
  std::string current = name;
  for (auto& enclosing : enclosing_) {
    const auto slope = std::find_if(offset->slopes.begin(), offset->slopes.end(), [&](const auto& s) { return s.first == enclosing.variable; });
    const auto step = fmt::format("{}_{}", name, enclosing.variable);
    // An address that a loop does not move is moved by a zero that no compiler can know: else one load would do for all rounds,
    // unless a store or a barrier between them makes memory another.
    const std::string still = enclosing.only_loads ? "zero" : "0ll";
    const std::string by = slope == offset->slopes.end() ? still : slope->second;
    settled += rehearsed_ ? fmt::format("{}const u64 {} = pass == 1 ? (u64){} : 0ull;\n", indent, step, by)
                          : fmt::format("{}const u64 {} = (u64){};\n", indent, step, by);
    const auto inner = fmt::format("{}i{}", current, enclosing.variable);
    append(enclosing.begins, "u64 {} = {} + (u64){} * {}; ", inner, current, enclosing.from, step);
    append(enclosing.ends, "{} += {}; ", inner, step);
    current = inner;
  }
  return current;
}

std::optional<Diagnostic> BodyWriter::inside(const Op& op, const Memory& memory, std::uint64_t bytes, int width) {
  auto range = code_.range(*op.at);
  if (!range) return range.error();
  const double last = static_cast<double>(bytes) - width;
  const int step = op.via != Via::Bulk ? width : op.rows && op.kind == Op::Kind::Store ? kTileStep : kBulkStep;
  const auto fits = [&] { return std::fmod(range->low, step) == 0 && range->grid % static_cast<std::uint64_t>(step) == 0; };
  const auto reaches = [&] {
    auto& reach = plan_.reach[memory.name];
    reach = std::max(reach, static_cast<std::uint64_t>(range->high) + static_cast<std::uint64_t>(width));
    return std::nullopt;
  };
  if (range->low >= 0 && range->high <= last && fits()) return reaches();
  if (auto exact = listed_range(*op.at, threads(), rounds_around())) range = *exact;
  else if (range->low == range->high) range->grid = 0;
  if (range->low < 0 || range->high > last) {
    const double worst = range->low < 0 ? range->low : range->high;
    return error(op.at->span, "E0420",
                 fmt::format("an access of {} B at offset {} is outside the {} of `{}`", width, worst, show(static_cast<double>(bytes), kBytes), memory.name),
                 code_.reads_variable(*op.at) ? fmt::format("bound what is loaded: `x mod {}` for an index of the elements of `{}`", bytes / static_cast<std::uint64_t>(memory.element_bytes), memory.name)
                 : range->low < 0 ? fmt::format("add {} to the offset", show(-range->low, kBytes)) : fmt::format("make `{}` longer, or the offsets smaller", memory.name));
  }
  if (!fits()) {
    return error(op.at->span, "E0421", op.via == Via::Bulk ? fmt::format("not every offset here is a multiple of {} B, as those of a bulk copy are", step)
                                                           : fmt::format("not every offset here is a multiple of the {} B that are accessed", width),
                 op.via == Via::Bulk || op.kind == Op::Kind::Discard ? fmt::format("multiply by {}B", step) : fmt::format("multiply by {}B, or access less with `as`", width));
  }
  return reaches();
}

std::vector<LoopRounds> BodyWriter::rounds_around() const {
  std::vector<LoopRounds> loops;
  for (const auto& enclosing : enclosing_) {
    if (enclosing.counted) loops.emplace_back(enclosing.variable, *code_.ranges().find(enclosing.variable));
  }
  return loops;
}

void BodyWriter::count(const Op& op, const Memory& memory, double rounds, int width) {
  if (!rehearsed_) return;
  if (!first_) first_loads_ = op.kind != Op::Kind::Atomic;
  if (!first_) first_ = &memory, first_chase_ = op.kind == Op::Kind::Chase, first_manner_ = op.kind == Op::Kind::Store ? Via::Default : op.via, first_width_ = width;
  if (first_ == &memory && op.rank) first_manner_.space = kOfCluster;
  // A run this long never ends; its counts need only not overflow.
  constexpr double kMost = 1125899906842624.0;  // 2^50
  const double everyone = static_cast<double>(place_.grid) * place_.block;
  plan_.moved_known = plan_.moved_known && !data_dependent();
  plan_.moved += static_cast<std::uint64_t>(std::min(kMost, rounds * (data_dependent() ? everyone : threads_where(conditions_, threads(), rounds_around())) * width));
  plan_.accesses += static_cast<std::int64_t>(std::min(kMost, rounds));
}

std::optional<Diagnostic> BodyWriter::load(const Op& op, Region& region) {
  auto memory = memory_of(op);
  if (!memory) return memory.error();
  auto width = width_of(op, **memory);
  if (!width) return width.error();
  if (auto fine = accepts(op, **memory, *width); !fine) return fine.error();
  std::optional<Tile> tile;
  if (op.rows) {
    auto found = tile_of(op, **memory, *width);
    if (!found) return found.error();
    tile = *found;
  }
  auto at = address(op, **memory, tile ? tile->span() : op.level.empty() ? *width : 1);
  if (!at) return at.error();
  if (!op.level.empty()) return prefetch(op, **memory, *at);
  if (tile) return copy_tile(op, **memory, *tile, *at, region);
  if (!op.into.empty()) return copy(op, **memory, *width, *at, region);
  const auto manner = manner_here(op);
  if (!manner) return manner.error();
  if (is_texture(**memory, op.via)) {
    const auto index = fresh("e");
    line("const u32 {} = (u32)({} / 4);", index, *at);
    at = index;
  }
  const auto value = fresh("v");
  line("{0} {1}{2};", value_type(*width), value, *width == 16 ? ", " + value + "h" : "");
  begin_timing(is_texture(**memory, op.via) ? settle_index_text(*at) : settle_text(*at));
  line(noted("load " + op.memory, load_text(**memory, *manner, *width, *at, value)));
  if (each()) {
    consume({value, *width});
    settle("sum");
    end_timing(op, **memory);
  } else {
    region.loaded.push_back({value, *width});
  }
  if (!op.gives.empty()) {
    if (auto problem = give(op, **memory, *width, value)) return problem;
  }
  count(op, **memory, region.rounds, *width);
  return std::nullopt;
}

/// It writes what the load that stands like it has read; without one, the thread's number.
std::optional<Diagnostic> BodyWriter::store(const Op& op, Region& region) {
  auto memory = memory_of(op);
  if (!memory) return memory.error();
  auto width = width_of(op, **memory);
  if (!width) return width.error();
  if (auto fine = accepts(op, **memory, *width); !fine) return fine.error();
  auto at = address(op, **memory, *width);
  if (!at) return at.error();
  const auto manner = manner_here(op);
  if (!manner) return manner.error();
  std::string value;
  if (op.value) {
    const bool fraction = is_fraction((*memory)->element) && *width == (*memory)->element_bytes;  // of another width the bits of a whole number
    auto given = value_text(*op.value, !fraction ? 0 : *width == 8 ? 8 : 4);
    if (!given) return given.error();
    if (fraction) given = bits_of(**memory, *given);
    if (*width == 16) return error(op.value->span, "E0417", "a value of 16 bytes cannot be computed", "store it `as 8B`, or leave `value` out");
    value = fresh("v");
    line("const {0} {1} = ({0})({2});", value_type(*width), value, *given);
  } else if (region.stored < region.loaded.size() && region.loaded[region.stored].width == *width) {
    value = region.loaded[region.stored++].name;
  } else {
    value = fresh("v");
    line("const {0} {1} = ({0})gtid{2};", value_type(*width), value, *width == 16 ? fmt::format(", {}h = (u64)gtid", value) : "");
  }
  begin_timing(settle_text(*at));
  line(noted("store " + op.memory, store_text(**memory, *manner, *width, *at, value)));
  end_timing(op, **memory);
  count(op, **memory, region.rounds, *width);
  return std::nullopt;
}

void BodyWriter::begin_chase(const Op& op, const Memory& memory, int width, const Chased& chased, const Cursor& cursor) {
  const auto& pattern = *chased.pattern;
  const auto& [base, at, steps] = cursor;
  // The first link of each ring: of every thread where rings differ between threads.
  const std::size_t table = plan_.tables.size();
  std::vector<std::uint32_t> first;
  for (std::int64_t thread = 0; thread < pattern.threads; ++thread) {
    const auto link = pattern.steps > 0 ? static_cast<std::uint64_t>(pattern.at(thread, 0) / width) : 0;
    first.push_back(static_cast<std::uint32_t>(link));
    first.push_back(static_cast<std::uint32_t>(link >> 32));
  }
  plan_.tables.push_back(std::move(first));
  const std::string ring = pattern.threads == 1 ? "0" : pattern.threads == place_.block ? "tid" : "gtid";
  const auto number = code_.argument(fmt::format("steps {}", table), chased.steps);
  auto& settled = rehearsed_ ? addresses_ : before_loops_;
  const std::string indent = rehearsed_ ? "    " : "      ";
  const bool fetched = by_index(op, memory);
  const auto from = base_of(op, memory), idle = idle_of(op, memory), there = at_its_place(op, memory);
  const std::string start = fmt::format("((const u64*)table{})[{}] * {}", table, ring, fetched ? 1 : width);
  if (rehearsed_) {
    append(settled, "{}const u64 {} = {} ? {} : {};\n", indent, base, there, from, idle);
    append(settled, "{}u64 {} = {} + ({} ? {} : 0ull);\n", indent, at, base, there, start);
    append(settled, "{}const u64 {} = pass == 1 || {} < 2 ? (u64){} : 2ull;\n", indent, steps, number, number);
  } else {
    append(settled, "{}const u64 {} = {};\n{}u64 {} = {} + {};\n{}const u64 {} = {};\n", indent, base, from, indent, at, base, start, indent, steps, number);
  }
  // Nothing is added to an index: without an instruction that reads it, the first fetch would wait for the table.
  if (fetched) append(settled, "{}asm volatile(\"add.u64 %0, %0, 0;\" : \"+l\"({}) :: \"memory\");\n", indent, at);
}

Result<BodyWriter::Step> BodyWriter::step_of(const Op& op) {
  const auto found = std::find_if(chases_.begin(), chases_.end(), [&](const Chased& c) { return c.op == &op; });
  GEXP_CHECK(found != chases_.end());
  auto memory = memory_of(op);
  if (!memory) return memory.error();
  auto width = width_of(op, **memory);
  if (!width) return width.error();
  if (auto fine = accepts(op, **memory, *width); !fine) return fine.error();
  const auto manner = manner_here(op);
  if (!manner) return manner.error();
  const auto [cursor, begins] = cursors_.try_emplace(&op);
  if (begins) {
    if (auto problem = settle_base(op, **memory)) return std::move(*problem);
    cursor->second = {fresh("b"), fresh("x"), fresh("n")};
    begin_chase(op, **memory, *width, *found, cursor->second);
  }
  return Step{*memory, *width, found->steps, &cursor->second};
}

std::optional<Diagnostic> BodyWriter::chase(const Op& op, Region& region) {
  const auto step = step_of(op);
  if (!step) return step.error();
  const auto& memory = *step->memory;
  const auto& [base, at, steps] = *step->cursor;
  const auto link = fresh("l");
  line("{} {} = 0;", value_type(link_bytes(step->width)), link);
  line("#pragma unroll 1");
  line("for (u64 i = 0; i < {}; ++i) {{", steps);
  ++depth_;
  begin_timing(settle_text(at));
  const auto manner = manner_here(op);
  if (!manner) return manner.error();
  line(step_text(memory, *manner, step->width, at, link, base));
  if (each()) settle(at);
  end_timing(op, memory);
  --depth_;
  line("}");
  if (!each()) consume({at, 8});
  else line("sum ^= {};", at);
  count(op, memory, region.rounds * static_cast<double>(step->steps), step->width);
  return std::nullopt;
}

}  // namespace gexp::compiler
