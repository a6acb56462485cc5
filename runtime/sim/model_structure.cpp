// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>

#include "lang/base/value.h"
#include "runtime/sim/model_reader.h"
#include "runtime/sim/policy_word.h"
#include "runtime/sim/sim.h"

// What a model is made of, in the words in which findings answer: `model.nc.capacity`. Two models that no experiment can tell
// apart must read alike, so set functions and policies are named by what they do: tree-PLRU of two ways is LRU, and a
// set number made of exclusive ors is the space that they span.
namespace gexp::sim {
namespace {

using Mask = std::uint64_t;

Value bytes(double count) { return Value(count, kBytes); }
Value cycles(double count) { return Value(count, kCycles); }
Value plain(double count) { return Value(count); }

/// Independent functions of address bits that choose the same sets, each with a lowest bit that no other has; ascending.
std::vector<Mask> reduced(const std::vector<std::vector<int>>& groups) {
  std::vector<Mask> rows;
  for (const auto& group : groups) {
    Mask mask = 0;
    for (const int bit : group) mask ^= Mask{1} << bit;
    for (const auto row : rows) {
      if (mask & row & -row) mask ^= row;
    }
    if (mask == 0) continue;
    for (auto& row : rows) {
      if (row & mask & -mask) row ^= mask;
    }
    rows.push_back(mask);
  }
  std::sort(rows.begin(), rows.end(), [](Mask a, Mask b) { return (a & -a) < (b & -b); });
  return rows;
}

struct Mapping {
  const char* word = "not bit-defined";
  List bits;
};

/// Of which addresses a function is: any, or those of one frame, wherever that lies.
enum class Within { Any, Frame };

/// `frame_bytes`: of physical memory that is dealt by chance; from there on, an offset in an array says nothing of the address. 0: it does.
Mapping mapping_of(const CacheModel& cache, std::uint64_t frame_bytes, Within within) {
  using Kind = IndexModel::Kind;
  const auto sets = cache.ways.size();
  if (sets == 1) return {"one set", {}};
  const bool equal = std::all_of(cache.ways.begin(), cache.ways.end(), [&](auto ways) { return ways == cache.ways[0]; });
  const auto kind = cache.index.kind;
  std::vector<std::vector<int>> groups = cache.index.bits;
  if (kind == Kind::Modulo || (kind == Kind::Dealt && equal)) {
    const auto unit = cache.index.block > 0 ? cache.index.block : cache.line;
    if (std::has_single_bit(sets) && std::has_single_bit(unit)) {
      for (int i = 0; i < std::countr_zero(sets); ++i) groups.push_back({std::countr_zero(unit) + i});
    } else {
      if (frame_bytes > 0 && (within == Within::Any ? frame_bytes / unit % sets != 0 : frame_bytes / unit < sets)) return {};
      return {"modulo", {}};  // of a line or of a block of lines
    }
  } else if (kind == Kind::Dealt || kind == Kind::Scattered || kind == Kind::Hashed) {
    return {};
  }
  Mapping mapping{"bits", {}};
  auto rows = reduced(groups);
  if (frame_bytes > 0 && within == Within::Frame) {
    const auto in_any = rows.size();
    for (auto& group : groups) std::erase_if(group, [&](int bit) { return Mask{1} << bit >= frame_bytes; });
    rows = reduced(groups);
    if (rows.size() < in_any) return {};
  }
  if (frame_bytes > 0 && std::any_of(rows.begin(), rows.end(), [&](Mask row) { return row >= frame_bytes; })) return {};
  if (std::any_of(rows.begin(), rows.end(), [](Mask row) { return !std::has_single_bit(row); })) mapping.word = "xor";
  for (const auto row : rows) {
    List group;
    for (int bit = 0; bit < 64; ++bit) {
      if (row >> bit & 1) group.push_back(plain(bit));
    }
    if (*mapping.word == 'b') mapping.bits.push_back(group[0]);
    else mapping.bits.emplace_back(std::move(group));
  }
  return mapping;
}

/// What caches and TLBs have in common.
Fields sets_of(const CacheModel& cache, const Mapping& mapping) {
  auto sizes = cache.ways;
  std::sort(sizes.rbegin(), sizes.rend());
  List list, chances;
  for (const auto ways : sizes) list.push_back(plain(ways));
  for (const auto weight : cache.weights) chances.push_back(plain(weight));
  Fields fields;
  fields["sets"] = plain(static_cast<double>(sizes.size()));
  fields["ways"] = sizes.front() == sizes.back() ? plain(sizes[0]) : Value(list);
  fields["sizes"] = std::move(list);
  fields["replacement"] = Value(sizes.front() == 1 ? std::string("direct") : policy_word(cache));
  List groups;
  for (const auto& group : cache.groups) {
    List bits;
    for (const int bit : group) bits.push_back(plain(bit));
    groups.emplace_back(std::move(bits));
  }
  fields["groups"] = std::move(groups);
  fields["evicts"] = Value(std::string(cache.late ? "late" : "at once"));
  fields["probabilities"] = std::move(chances);
  fields["mapping"] = Value(mapping.word);
  return fields;
}

double lines_of(const CacheModel& cache) { return std::accumulate(cache.ways.begin(), cache.ways.end(), 0.0); }

/// Cycles to a slice that an SM has what it wants from, beyond the nearest: on the average of all of them.
double mean_distance(const CacheModel& cache) { return cache.spread / 2 + (cache.copies ? 0 : cache.far * (1 - 1.0 / cache.partitions)); }

/// The same of memory, to which a line of another partition goes through a slice there.
double mean_distance_of_memory(const DeviceModel& model, const PathModel& path) {
  if (path.caches.empty()) return 0;
  const auto& last = model.caches[static_cast<std::size_t>(path.caches.back())];
  return last.spread / 2 + last.far * (1 - 1.0 / last.partitions);
}

/// Of the first cache of a path.
Fields cache_fields(const DeviceModel& model, const PathModel& path) {
  const auto& whole = model.caches[static_cast<std::size_t>(path.caches[0])];
  auto cache = whole;
  if (cache.copies) std::transform(cache.ways.begin(), cache.ways.end(), cache.ways.begin(), [&](auto ways) { return ways / cache.partitions; });  // an SM uses one part
  const auto frame_bytes = path.translate_at > 0 ? 0 : model.frame_bytes;  // before translation, it sees what the program does
  const auto mapping = mapping_of(cache, frame_bytes, Within::Any);
  auto fields = sets_of(cache, mapping);
  fields["mean"] = cycles(path.latency[0][0] + mean_distance(cache));
  fields["across"] = cycles(cache.copies ? cache.far : 0);
  fields["miss"] = cycles(path.latency[1][0]);
  fields["line"] = bytes(static_cast<double>(cache.line));
  // What is fetched ahead begins with the line, so the rest of it comes with a sector; but only where a way is free.
  const bool ahead = cache.prefetch > 0 && *std::max_element(cache.ways.begin(), cache.ways.end()) > 1;
  fields["fetch"] = bytes(static_cast<double>(ahead ? cache.line : cache.sector));
  fields["lines"] = plain(lines_of(cache));
  fields["capacity"] = bytes(lines_of(cache) * static_cast<double>(cache.line));
  fields["prefetch"] = bytes(static_cast<double>(cache.prefetch));
  fields["bits"] = mapping.bits;
  auto in_frame = mapping_of(cache, frame_bytes, Within::Frame);
  fields["in_frame"] = Fields{{"mapping", Value(in_frame.word)}, {"bits", std::move(in_frame.bits)}};
  fields["slices"] = plain(cache.slices);
  fields["copies"] = Value(cache.copies);
  fields["together"] = bytes(lines_of(whole) * static_cast<double>(cache.line));
  return fields;
}

Value path_fields(const DeviceModel& model, const PathModel& path) {
  auto fields = path.caches.empty() ? Fields{} : cache_fields(model, path);
  fields["hit"] = cycles(path.latency[0][0]);
  fields["memory"] = cycles(path.latency.back()[0] + mean_distance_of_memory(model, path));
  return fields;
}

Value tlb_fields(const CacheModel& tlb) {
  auto fields = sets_of(tlb, mapping_of(tlb, 0, Within::Any));  // a TLB sees what the program does
  fields["page"] = bytes(static_cast<double>(tlb.line));
  fields["entries"] = plain(lines_of(tlb));
  fields["reach"] = bytes(lines_of(tlb) * static_cast<double>(tlb.line));
  return fields;
}

/// The TLBs of a path that a latency tells apart: where hits of two take as long whatever answers, the larger one behind is all that shows.
std::vector<const CacheModel*> told_tlbs(const DeviceModel& model, const PathModel& path) {
  const auto tlb = [&](std::size_t i) { return &model.tlbs[static_cast<std::size_t>(path.tlbs[i])]; };
  const auto reach = [](const CacheModel& each) { return lines_of(each) * static_cast<double>(each.line); };
  std::vector<const CacheModel*> told;
  for (std::size_t i = 0; i < path.tlbs.size(); ++i) {
    const bool alike = i + 1 < path.tlbs.size() && std::all_of(path.latency.begin(), path.latency.end(), [i](const auto& row) {
      return row.size() <= i + 1 || row[i] == row[i + 1];
    });
    if (!alike || reach(*tlb(i)) > reach(*tlb(i + 1))) told.push_back(tlb(i));
  }
  return told;
}

Fields outstanding_fields(const Outstanding& outstanding) {
  const auto limit = [](std::uint32_t count) { return count > 0 ? plain(count) : Value(); };
  using Kind = Outstanding::Kind;
  return {{"kind", Value(outstanding.kind == Kind::Mshr ? "mshr" : outstanding.kind == Kind::Prt ? "prt" : "unlimited")},
          {"entries", limit(outstanding.entries)},
          {"merges", limit(outstanding.merges)},
          {"requests", limit(outstanding.requests)},
          {"loads_per_warp", limit(outstanding.loads_per_warp)}};
}

/// By SM, the number of what it is in, in the order in which SMs come to these.
template <class F> List numbered(const DeviceModel& model, F place) {
  std::map<std::uint32_t, std::size_t> number;
  List list;
  for (std::uint32_t sm = 0; sm < static_cast<std::uint32_t>(model.sms); ++sm) list.push_back(plain(static_cast<double>(number.emplace(place(sm), number.size()).first->second)));
  return list;
}

/// Which SMs share a clock register, a side of the chip, and their distances to all that the device's cache has read already.
Fields chip_fields(const DeviceModel& model) {
  const auto one = [](std::uint32_t) { return 0u; };
  const auto& cg = model.paths[static_cast<std::size_t>(LoadPath::Cg)];
  const auto clock = numbered(model, [&](std::uint32_t sm) { return place_of(model, model.clocks, sm); });
  if (!cg.present || cg.caches.empty()) return {{"clock", clock}, {"side", numbered(model, one)}, {"alike", numbered(model, one)}};
  const auto& cache = model.caches[static_cast<std::size_t>(cg.caches[0])];
  const bool by_place = cache.spread > 0 && cache.spread_by != Scope::Sm, by_side = cache.far > 0 && !cache.copies;
  const auto side = [&](std::uint32_t sm) { return partition_of(model, cache, sm); };
  return {{"clock", clock}, {"side", numbered(model, side)}, {"alike", numbered(model, [&](std::uint32_t sm) {
             return (by_place ? place_of(model, cache.spread_by, sm) : 0) * 64 + (by_side ? side(sm) : 0);
           })}};
}

}  // namespace

Result<Value> structure(const Source& text) {
  Diagnostics diagnostics;
  const auto model = read_device_model(text, diagnostics);
  if (!model) return diagnostics.sorted().front();
  Fields fields;
  constexpr std::pair<LoadPath, const char*> kPaths[] = {{LoadPath::Ca, "ca"}, {LoadPath::Cg, "cg"}, {LoadPath::Cv, "cv"},
                                                         {LoadPath::Nc, "nc"}, {LoadPath::Texture, "tex"}, {LoadPath::Constant, "constant"}};
  for (const auto& [path, name] : kPaths) {
    const auto& how = model->paths[static_cast<std::size_t>(path)];
    if (how.present) fields[name] = path_fields(*model, how);
  }
  const auto& cg = model->paths[static_cast<std::size_t>(LoadPath::Cg)];
  constexpr const char* kTlbs[] = {"tlb1", "tlb2", "tlb3"};
  const auto tlbs = told_tlbs(*model, cg);
  for (std::size_t i = 0; i < std::min(std::size(kTlbs), tlbs.size()); ++i) fields[kTlbs[i]] = tlb_fields(*tlbs[i]);
  fields["chip"] = chip_fields(*model);
  fields["window"] = bytes(static_cast<double>(model->window_bytes));
  List cost;
  for (const auto each : model->shared.cycles) cost.push_back(cycles(each));
  fields["shared"] = Fields{{"banks", plain(model->shared.banks)}, {"width", bytes(model->shared.bank_bytes)}, {"cost", std::move(cost)}};
  fields["outstanding"] = outstanding_fields(model->outstanding);
  const auto& limits = model->limits;
  fields["registers"] = Fields{{"per_sm", plain(limits.registers_per_sm)}, {"per_thread", plain(limits.registers_per_thread)}, {"step", plain(limits.register_step)}, {"threads", plain(limits.register_threads)}};
  const auto rate = [](double value) { return value > 0 ? Value(value, kBytes / kCycles) : Value(); };
  const auto& b = model->bandwidth;
  fields["bandwidth"] = Fields{{"l1", rate(b.l1)}, {"shared", rate(b.shared)}, {"sm", rate(b.sm)}, {"stores", rate(b.stores)},
                               {"tpc", rate(b.tpc)}, {"l2", rate(b.l2)}, {"dram", rate(b.dram)}};
  return Value(std::move(fields));
}

}  // namespace gexp::sim
