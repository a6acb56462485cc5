// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/policy_word.h"
#include "runtime/sim/model_drawing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "lang/base/units.h"
#include "runtime/sim/model_reader.h"
#include "runtime/sim/sim.h"

namespace gexp::sim {
namespace {

using Facts = std::vector<std::string>;

/// One line of a box: a name and what is to be said of it; it goes on below when the box is too narrow.
struct Line {
  std::string name;
  Facts facts;
};

/// Columns of a text: none of our characters is wide.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}
std::string times(std::size_t count, std::string_view text) {
  std::string result;
  while (count-- > 0) result += text;
  return result;
}
std::string padded(const std::string& text, std::size_t width) { return text + std::string(width - std::min(width, columns(text)), ' '); }
std::string plural(std::uint64_t count, std::string_view word) { return fmt::format("{} {}{}", count, word, count == 1 ? "" : "s"); }
std::string bytes(std::uint64_t count) { return show(static_cast<double>(count), kBytes); }
/// "6", "0.167": as many digits as tell.
std::string number(double value) { return fmt::format("{:.4g}", value); }

/// Facts separated by dots, in lines of at most `width`. A fact is broken at its spaces where it alone is too long.
std::vector<std::string> wrapped(const Facts& facts, std::size_t width) {
  std::vector<std::string> lines(1);
  const auto add = [&](std::string_view separator, std::string_view text) {
    if (lines.back().empty()) return void(lines.back() = text);
    if (columns(lines.back()) + columns(separator) + columns(text) > width) return lines.emplace_back(text), void();
    lines.back() += fmt::format("{}{}", separator, text);
  };
  for (const std::string& fact : facts) {
    if (columns(fact) <= width) {
      add(" · ", fact);
      continue;
    }
    const char* separator = " · ";
    for (std::size_t begin = 0; begin < fact.size(); separator = " ") {
      const std::size_t end = std::min(fact.find(' ', begin), fact.size());
      add(separator, std::string_view(fact).substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return lines;
}

void box(std::string& out, const std::string& title, const std::vector<Line>& lines, std::size_t width) {
  if (lines.empty()) return;
  std::size_t name = 0;
  for (const Line& line : lines) name = std::max(name, columns(line.name) + 2);
  out += "┌─ " + title + " " + times(width - 5 - std::min(width - 5, columns(title)), "─") + "┐\n";
  for (const Line& line : lines) {
    std::string head = padded(line.name, name);
    for (const std::string& text : wrapped(line.facts, width - 4 - std::min(name, width / 2))) {
      out += "│ " + padded(head + text, width - 4) + " │\n";
      head = std::string(name, ' ');
    }
  }
  out += "└" + times(width - 2, "─") + "┘\n";
}

std::string index_text(const IndexModel& index) {
  const auto group = [](const std::vector<int>& bits) { return fmt::format("{}", fmt::join(bits, "^")); };
  Facts groups;
  for (const auto& bits : index.bits) groups.push_back(group(bits));
  switch (index.kind) {
    case IndexModel::Kind::Single: return {};
    case IndexModel::Kind::Bits: return fmt::format("bits {}", fmt::join(groups, " "));
    case IndexModel::Kind::Xor: return fmt::format("bits {}", fmt::join(groups, " "));
    case IndexModel::Kind::Modulo: return index.block > 0 ? fmt::format("modulo, in blocks of {}", bytes(index.block)) : "modulo";
    case IndexModel::Kind::Dealt: return "dealt";
    case IndexModel::Kind::Hashed: return fmt::format("hashed by {}", bytes(index.block));
    case IndexModel::Kind::Scattered: return fmt::format("scattered by {}", bytes(index.block));
  }
  return {};
}

std::string policy_text(const CacheModel& cache) {
  std::string text = policy_word(cache);
  if (cache.policy == Policy::Weighted) text = "weighted";
  if (cache.policy == Policy::Bip && cache.promoted > 0) text += " " + number(cache.promoted);
  if (cache.policy == Policy::Rrip) text = fmt::format("rrip of {} ages, from {} on", cache.ages, cache.insert);
  for (const double weight : cache.weights) text += " " + number(weight);
  return text;
}

Line cache_line(const CacheModel& cache, const DeviceModel& model, const char* line_word) {
  Line line{cache.name, {}};
  Facts& facts = line.facts;
  if (cache.storage_of >= 0) {
    facts.push_back(fmt::format("the lines of {}", model.caches[static_cast<std::size_t>(cache.storage_of)].name));
    if (auto index = index_text(cache.index); !index.empty()) facts.push_back(std::move(index));
    return line;
  }
  const std::uint64_t lines = std::accumulate(cache.ways.begin(), cache.ways.end(), std::uint64_t{0});
  const bool equal = std::adjacent_find(cache.ways.begin(), cache.ways.end(), std::not_equal_to<>()) == cache.ways.end();
  std::string ways = fmt::format("{}", cache.ways.front());
  if (cache.unified > 0) {
    Facts sizes, counts;
    for (const std::uint64_t carveout : model.shared.carveouts) {
      sizes.push_back(bytes(cache.unified - carveout));
      counts.push_back(fmt::format("{}", (cache.unified - carveout) / cache.line / cache.ways.size()));
    }
    facts.push_back(fmt::format("{}, with shared memory {}", fmt::join(sizes, ", "), bytes(cache.unified)));
    ways = fmt::format("{}", fmt::join(counts, "/"));
  } else {
    facts.push_back(bytes(lines * cache.line));
  }
  facts.push_back(fmt::format("{} of {}", line_word, bytes(cache.line)));
  if (cache.sector != cache.line && cache.sector > 0) facts.push_back(fmt::format("sectors of {}", bytes(cache.sector)));
  if (cache.ways.size() == 1) facts.push_back(fmt::format("1 set, {} ways", ways));
  else if (equal) facts.push_back(fmt::format("{} sets × {} ways", cache.ways.size(), ways));
  else facts.push_back(fmt::format("sets of {} ways", fmt::join(cache.ways, " ")));
  if (auto index = index_text(cache.index); !index.empty()) facts.push_back(std::move(index));
  facts.push_back(policy_text(cache));
  if (cache.victims) facts.push_back("holds victims");
  if (cache.prefetch > 0) facts.push_back(fmt::format("fetches {} ahead", bytes(cache.prefetch)));
  if (cache.slices > 1) facts.push_back(fmt::format("{} slices", cache.slices));
  if (cache.partitions > 1) facts.push_back(fmt::format("{} partitions, the other {} cycles further{}", cache.partitions, number(cache.far), cache.copies ? ", each with copies of what its SMs read" : ""));
  if (cache.spread > 0) facts.push_back(fmt::format("slices up to {} cycles apart", number(cache.spread)));
  return line;
}

/// The caches and TLBs of one scope.
void add_caches(std::vector<Line>& lines, const DeviceModel& model, Scope scope) {
  for (const CacheModel& cache : model.caches) {
    if (cache.scope == scope) lines.push_back(cache_line(cache, model, "lines"));
  }
  for (const CacheModel& tlb : model.tlbs) {
    if (tlb.scope == scope) lines.push_back(cache_line(tlb, model, "pages"));
  }
}

Line shared_line(const SharedModel& shared) {
  Facts sizes;
  for (const std::uint64_t carveout : shared.carveouts) sizes.push_back(bytes(carveout));
  Line line{"shared", {sizes.empty() ? bytes(shared.per_sm) : fmt::format("{}", fmt::join(sizes, ", ")), fmt::format("a block {}", bytes(shared.per_block)),
                       fmt::format("{} banks of {} B", shared.banks, shared.bank_bytes)}};
  if (shared.modes.size() > 1) line.facts.push_back(fmt::format("modes of {} B", fmt::join(shared.modes, ", ")));
  if (shared.ways.size() == 1) line.facts.push_back(fmt::format("{} cycles", number(shared.cycles[0])));
  else line.facts.push_back(fmt::format("{} cycles at {} ways of conflict", fmt::join(shared.cycles, " "), fmt::join(shared.ways, " ")));
  return line;
}

Line outstanding_line(const Outstanding& outstanding) {
  Line line{"outstanding", {}};
  if (outstanding.kind == Outstanding::Kind::Unlimited) line.facts.push_back("unlimited");
  if (outstanding.kind == Outstanding::Kind::Mshr) line.facts.push_back(fmt::format("MSHR, {} lines, {} requests merged", outstanding.entries, outstanding.merges));
  if (outstanding.threads > 0) line.facts.push_back(fmt::format("{} threads a line", outstanding.threads));
  if (outstanding.kind == Outstanding::Kind::Prt) line.facts.push_back(fmt::format("PRT, {} warp instructions", outstanding.entries));
  if (outstanding.requests > 0) line.facts.push_back(fmt::format("{} requests", outstanding.requests));
  if (outstanding.loads_per_warp > 0) line.facts.push_back(fmt::format("{} loads a warp", outstanding.loads_per_warp));
  return line;
}

std::vector<Line> sm_lines(const DeviceModel& model) {
  const Pipeline& p = model.pipeline;
  const auto timed = [](const char* what, std::uint32_t latency, double interval) {
    return interval > 0 ? fmt::format("{} {}, every {}", what, latency, number(interval)) : fmt::format("{} {}", what, latency);
  };
  std::vector<Line> lines;
  lines.push_back({"pipeline", {plural(p.schedulers, "scheduler"), timed("alu", p.alu, p.alu_interval), timed("multiply", p.multiply, p.multiply_interval),
                                timed("divide", p.divide, p.divide_interval), fmt::format("clock {}", p.clock), fmt::format("barrier {} cycles", p.barrier)}});
  lines.push_back({"holds", {fmt::format("{} threads", model.limits.threads_per_sm), fmt::format("{} blocks, of {} threads at most", model.limits.blocks_per_sm, model.limits.threads_per_block),
                             fmt::format("{} registers", model.limits.registers_per_sm)}});
  lines.push_back(outstanding_line(model.outstanding));
  lines.back().facts.push_back(plural(p.load_units, "load unit") + ", " + plural(p.transaction, "cycle") + " a further line");
  lines.push_back(shared_line(model.shared));
  add_caches(lines, model, Scope::Sm);
  return lines;
}

/// "215.9 GB/s".
std::string rate(const DeviceModel& model, double bytes_a_cycle) { return show(bytes_a_cycle * model.sm_clock_hz, kBytes / kSeconds); }

void link(std::string& out, const DeviceModel& model, const char* what, double bytes_a_cycle) {
  out += bytes_a_cycle > 0 ? fmt::format("      │ {} {}\n", what, rate(model, bytes_a_cycle)) : std::string("      │\n");
}

constexpr const char* kPathNames[kLoadPaths] = {"", "ca", "cg", "cv", "nc", "texture", "constant", "local", "instruction", "host", "peer"};

/// Columns of a path's names, and of the places where data is found.
constexpr std::size_t kPlace = 28;

bool same(const PathModel& a, const PathModel& b) {
  return a.caches == b.caches && a.tlbs == b.tlbs && a.translate_at == b.translate_at && a.latency == b.latency;
}

void draw_path(std::string& out, const DeviceModel& model, const std::string& names, const PathModel& path) {
  Facts heads;
  for (const int tlb : path.tlbs) heads.push_back(model.tlbs[static_cast<std::size_t>(tlb)].name);
  if (!path.tlbs.empty()) heads.push_back("walk");
  if (!path.tlbs.empty() && path.has_window) heads.push_back("switch");
  std::size_t cell = 8;
  for (const std::string& head : heads) cell = std::max(cell, columns(head) + 2);
  out += heads.empty() ? names : padded(names, kPlace);
  for (const std::string& head : heads) out += std::string(cell - columns(head), ' ') + head;
  out += '\n';
  for (std::size_t i = 0; i < path.latency.size(); ++i) {
    const bool memory = i == path.caches.size();
    const bool one = heads.empty() || i < path.translate_at;
    out += padded(fmt::format("{}{} ", memory ? "  └ " : "  ├ ", memory ? "memory" : model.caches[static_cast<std::size_t>(path.caches[i])].name), kPlace);
    for (std::size_t k = 0; k < (one ? 1 : heads.size()); ++k) out += fmt::format("{:>{}}", number(path.latency[i][k]), cell);
    if (one && !heads.empty()) out += "  before translation";
    out += '\n';
  }
}

void draw_paths(std::string& out, const DeviceModel& model) {
  std::vector<bool> drawn(kLoadPaths);
  for (std::size_t p = 1; p < kLoadPaths; ++p) {
    if (drawn[p] || !model.paths[p].present) continue;
    std::string names;
    for (std::size_t q = p; q < kLoadPaths; ++q) {
      if (!model.paths[q].present || !same(model.paths[p], model.paths[q])) continue;
      drawn[q] = true;
      names += (names.empty() ? "" : ", ") + std::string(kPathNames[q]);
    }
    if (same(model.paths[p], model.paths[0])) names += " (default)";
    draw_path(out, model, names, model.paths[p]);
  }
}

std::string cache_names(const std::vector<int>& list, const std::vector<CacheModel>& caches) {
  Facts names;
  for (const int i : list) names.push_back(caches[static_cast<std::size_t>(i)].name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string draw(const DeviceModel& model, std::size_t width) {
  width = std::max<std::size_t>(width, 60);
  const Bandwidth& b = model.bandwidth;
  std::string out = fmt::format("sim:{}  {}  SIMULATED\n", model.name, model.title);
  out += fmt::format("compute {}.{}, {} SMs at {}", model.compute_major, model.compute_minor, model.sms, show(model.sm_clock_hz / 1e6, {}) + " MHz");
  out += model.memory_peak > 0 ? fmt::format(", memory {} peak\n", show(model.memory_peak, kBytes / kSeconds)) : "\n";
  out += '\n';

  std::vector<Line> sm = sm_lines(model);
  Line rates{"moves", {}};
  if (b.shared > 0) rates.facts.push_back("shared " + rate(model, b.shared));
  if (b.l1 > 0) rates.facts.push_back("hits of its caches " + rate(model, b.l1));
  if (b.stores > 0) rates.facts.push_back("stores " + rate(model, b.stores));
  if (!rates.facts.empty()) sm.push_back(rates);
  box(out, fmt::format("SM × {}", model.sms), sm, width);
  link(out, model, "each", b.sm);

  std::vector<Line> tpc, device;
  add_caches(tpc, model, Scope::Tpc);
  if (!tpc.empty() || b.tpc > 0) {
    box(out, fmt::format("TPC × {}, of {} SMs", model.sms / model.sms_per_tpc, model.sms_per_tpc), tpc, width);
    link(out, model, b.tpc > 0 ? "each" : "", b.tpc);
  }
  std::vector<Line> gpc;
  add_caches(gpc, model, Scope::Gpc);
  if (!gpc.empty()) {
    box(out, fmt::format("GPC × {}", model.gpcs), gpc, width);
    link(out, model, "", 0);
  }
  add_caches(device, model, Scope::Device);
  if (model.frame_bytes > 0) device.push_back({"frames", {fmt::format("of {}, dealt by chance", bytes(model.frame_bytes))}});
  if (model.window_bytes > 0) device.push_back({"page table", {fmt::format("one window of {} is active", bytes(model.window_bytes))}});
  if (b.l2 > 0) device.push_back({"moves", {fmt::format("all slices {}", rate(model, b.l2))}});
  if (!device.empty()) {
    box(out, "device", device, width);
    link(out, model, "reads and writes", b.dram);
  }
  box(out, "DRAM", {{"memory", {bytes(model.memory_bytes)}}}, width);

  out += "\ncycles: rows where the data is found, columns where its translation is\n";
  draw_paths(out, model);
  if (const Stores& s = model.stores; !s.caches.empty()) out += fmt::format("{}  {}, write {}\n", padded("stores", kPlace), cache_names(s.caches, model.caches), s.write_back ? "back" : "through");
  const NoiseModel& n = model.noise;
  Facts noise;
  if (n.sm_jitter != n.jitter) noise.push_back(fmt::format("jitter {} cycles in an SM and {} beyond", number(n.sm_jitter), number(n.jitter)));
  else if (n.jitter > 0) noise.push_back(fmt::format("jitter {} cycles", number(n.jitter)));
  if (n.memory_jitter > 0) noise.push_back(fmt::format("memory {} cycles later", number(n.memory_jitter)));
  if (n.tail_probability > 0) noise.push_back(fmt::format("{} cycles more with probability {}{}", number(n.tail), number(n.tail_probability), n.tail_of_memory ? " of what memory answers" : ""));
  if (n.interference > 0) noise.push_back(fmt::format("interference with probability {}", number(n.interference)));
  out += fmt::format("{}  {}\n", padded("noise", kPlace), noise.empty() ? "none" : fmt::format("{}", fmt::join(noise, ", ")));
  return out;
}

Result<std::string> draw_model(const Source& model, std::size_t width) {
  Diagnostics diagnostics;
  const auto device = read_device_model(model, diagnostics);
  if (device) return draw(*device, width);
  for (const Diagnostic& d : diagnostics.sorted()) {
    if (d.severity == Severity::Error) return d;
  }
  GEXP_CHECK(device);
  return std::string();
}

}  // namespace gexp::sim
