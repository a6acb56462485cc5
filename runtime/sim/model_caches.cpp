// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "runtime/sim/model_parts.h"
#include "runtime/sim/set_index.h"

namespace gexp::sim {
namespace {

constexpr std::uint64_t kMostSets = 1u << 20, kMostWays = 1u << 20, kMostLines = 1u << 22;
constexpr std::uint64_t kMostOfAll = 1u << 24;  // lines of a cache on all multiprocessors: half a gigabyte of ours

std::vector<std::uint32_t> read_sets(ModelTable& t) {
  const TomlValue* sets = t.get("sets");
  if (sets && sets->kind == TomlValue::Kind::Array) {  // unequal: the ways of each
    std::vector<std::uint32_t> ways;
    for (const std::uint64_t w : t.wholes("sets", 1, kMostWays)) ways.push_back(static_cast<std::uint32_t>(w));
    if (t.has("ways")) t.error("E0606", t.place("ways"), fmt::format("{} lists the ways of each set: 'ways' says it twice", t.name()));
    return ways;
  }
  const std::uint64_t count = t.whole("sets", 1, kMostSets);
  const auto ways = static_cast<std::uint32_t>(t.whole("ways", 1, kMostWays));
  if (count * ways > kMostLines) return t.error("E0605", t.place("ways"), fmt::format("{} has more than {} lines", t.name(), kMostLines)), std::vector<std::uint32_t>{};
  return std::vector<std::uint32_t>(count, ways);
}

/// The ways of a cache that shares its memory with shared memory: what the least carve-out leaves of it.
std::vector<std::uint32_t> read_unified(ModelTable& t, CacheModel& cache, bool shared_known, const std::vector<std::uint64_t>& carveouts) {
  for (const char* key : {"capacity", "ways"}) {
    if (t.has(key)) t.error("E0606", t.place(key), fmt::format("the carve-out decides how large {} is: '{}' says it twice", t.name(), key));
  }
  cache.unified = t.size("unified", 1ull << 30);
  const std::uint64_t sets = t.whole("sets", 1, kMostSets), step = sets * cache.line;
  if (cache.unified == 0 || cache.line == 0 || !shared_known) return {};
  const Span place = t.place("unified");
  if (carveouts.empty()) return t.error("E0606", place, fmt::format("{} shares its memory with shared memory, of which no carve-outs are given", t.name()), "[shared] carveouts = […]"), std::vector<std::uint32_t>{};
  for (const std::uint64_t carveout : carveouts) {
    if (carveout < cache.unified && (cache.unified - carveout) % step == 0) continue;
    return t.error("E0606", place, fmt::format("a carve-out of {} B leaves no whole number of ways: {} sets of {} B are {} B a way", carveout, sets, cache.line, step)), std::vector<std::uint32_t>{};
  }
  const std::uint64_t ways = (cache.unified - carveouts.front()) / step;
  if (ways > kMostWays || sets * ways > kMostLines) return t.error("E0605", place, fmt::format("{} has more than {} lines", t.name(), kMostLines)), std::vector<std::uint32_t>{};
  return std::vector<std::uint32_t>(sets, static_cast<std::uint32_t>(ways));
}

void read_cache_scope(ModelTable& t, CacheForm form, const DeviceModel& model, CacheModel& cache) {
  if (form == CacheForm::Tlb && !t.has("scope")) {
    cache.scope = Scope::Device;
    return;
  }
  cache.scope = read_scope(t, "scope", Scope::Device, model);
  if (cache.unified > 0 && cache.scope != Scope::Sm) t.error("E0606", t.place("scope"), "shared memory is an SM's: what is one memory with it is an SM's too");
}

void check_bit(ModelTable& t, const char* key, std::uint64_t bit, std::uint64_t line) {
  if (bit < static_cast<std::uint64_t>(std::bit_width(line) - 1))
    t.error("E0606", t.place(key), fmt::format("address bit {} lies inside a line of {} B: it chooses nothing", bit, line));
}

/// Groups of address bits, the exclusive or of each of which is one bit of a number.
std::vector<std::vector<int>> bit_groups(ModelTable& t, const char* key, std::uint64_t line) {
  std::vector<std::vector<int>> read;
  const auto wrong = [&](Span span) { t.error("E0604", span, fmt::format("'{}' of {} lists groups of address bits", key, t.name()), fmt::format("{} = [[7, 11], [8, 12]]", key)); };
  const TomlValue* groups = t.required(key, TomlValue::Kind::Array);
  for (const TomlValue& group : groups ? groups->items : std::vector<TomlValue>{}) {
    std::vector<int> members;
    for (const TomlValue& bit : group.items) {
      if (bit.kind != TomlValue::Kind::Integer || bit.integer < 0 || bit.integer > 63) {
        wrong(bit.span);
        continue;
      }
      check_bit(t, key, static_cast<std::uint64_t>(bit.integer), line);
      members.push_back(static_cast<int>(bit.integer));
    }
    if (members.empty()) wrong(group.span);
    read.push_back(std::move(members));
  }
  return read;
}

/// Where the lines of a device's cache lie.
void read_slices(ModelTable& t, const DeviceModel& model, CacheModel& cache) {
  if (cache.scope != Scope::Device) {
    for (const char* key : {"interval", "slices", "slice_xor", "partitions", "copies", "far", "spread", "spread_by"}) {
      if (t.has(key)) t.error("E0606", t.place(key), fmt::format("only a cache of the whole device has '{}'", key));
    }
    return;
  }
  cache.interval = t.number_or("interval", 0, 1e-3, kMostCycles);
  cache.slices = static_cast<std::uint32_t>(t.whole_or("slices", 1, 1, 4096));
  cache.partitions = static_cast<std::uint32_t>(t.whole_or("partitions", 1, 1, 64));
  cache.far = t.number_or("far", 0, 0, kMostCycles);
  cache.spread = t.number_or("spread", 0, 0, kMostCycles);
  if (cache.slices % cache.partitions != 0) t.error("E0606", t.place("partitions"), fmt::format("{} partitions do not divide {} slices", cache.partitions, cache.slices));
  else if (model.gpcs == 1 && static_cast<std::uint32_t>(model.sms) % cache.partitions != 0) t.error("E0606", t.place("partitions"), fmt::format("{} partitions do not divide {} SMs", cache.partitions, model.sms));
  if (t.has("far") && cache.partitions == 1) t.error("E0606", t.place("far"), "nothing is far in a cache of one partition");
  if (t.has("copies") && t.choice("copies", {"no", "reads"}) == "reads") {
    cache.copies = true;
    const bool whole = std::all_of(cache.ways.begin(), cache.ways.end(), [&](auto ways) { return ways % cache.partitions == 0; });
    if (cache.partitions == 1) t.error("E0606", t.place("copies"), "a cache of one partition has nowhere to copy to");
    else if (!whole) t.error("E0606", t.place("copies"), fmt::format("{} partitions do not divide the ways of each set", cache.partitions));
    if (cache.prefetch > 0) t.error("E0606", t.place("copies"), "a cache with copies does not prefetch in this simulator");
  }
  if (t.has("slice_xor")) {
    for (const auto& group : bit_groups(t, "slice_xor", cache.line)) cache.slice_xor.push_back(mask_of_bits(group));
    if (cache.slice_xor.size() > 12 || cache.slices % (1u << cache.slice_xor.size()) != 0)
      t.error("E0606", t.place("slice_xor"), fmt::format("{} exclusive ors choose among parts of equal size, but there are {} slices", cache.slice_xor.size(), cache.slices));
  }
  if (model.gpcs > 1 && cache.partitions > static_cast<std::uint32_t>(model.gpcs))
    t.error("E0606", t.place("partitions"), fmt::format("a GPC lies in one partition, and there are {} GPCs", model.gpcs));
  if (t.has("spread_by")) {
    cache.spread_by = read_scope(t, "spread_by", Scope::Gpc, model);
    if (!t.has("spread")) t.error("E0606", t.place("spread_by"), "no slice is further away than another without 'spread'");
  }
  if (t.has("spread") && cache.slices == 1) t.error("E0606", t.place("spread"), "a cache of one slice lies in one place");
}

void read_index(ModelTable& t, CacheModel& cache, std::uint64_t line) {
  const bool bits = t.has("bits"), xors = t.has("xor"), named = t.has("index");
  const std::size_t sets = cache.ways.size();
  if (bits + xors + named > 1) return t.error("E0606", t.place(), fmt::format("{} chooses its sets in more than one way", t.name()), "keep one of bits, xor, index");
  if (bits + xors + named == 0) {
    if (sets > 1) t.error("E0603", t.place(), fmt::format("{} does not say how an address chooses one of its {} sets", t.name(), sets), "bits = […], xor = […] or index = \"modulo\"");
    return;
  }
  const char* const key = bits ? "bits" : xors ? "xor" : "index";
  IndexModel& index = cache.index;
  if (bits) {
    index.kind = IndexModel::Kind::Bits;
    for (const std::uint64_t bit : t.wholes("bits", 0, 63)) {
      check_bit(t, key, bit, line);
      index.bits.push_back({static_cast<int>(bit)});
    }
  } else if (xors) {
    index.kind = IndexModel::Kind::Xor;
    index.bits = bit_groups(t, key, line);
  }
  if (bits || xors) {
    if (index.bits.size() >= 32 || 1ull << index.bits.size() != sets)
      t.error("E0606", t.place(key), fmt::format("{} index bits choose among {:.15g} sets, but {} has {}", index.bits.size(), std::ldexp(1.0, static_cast<int>(index.bits.size())), t.name(), sets));
    return;
  }
  using Kind = IndexModel::Kind;
  const std::string kind = t.choice("index", {"modulo", "dealt", "scattered", "hashed"});
  index.kind = kind == "modulo" ? Kind::Modulo : kind == "dealt" ? Kind::Dealt : kind == "scattered" ? Kind::Scattered : Kind::Hashed;
  if (index.kind == Kind::Dealt || (index.kind == Kind::Modulo && !t.has("block"))) return;
  index.block = t.size("block", 1ull << 30);
  if (index.block % line != 0) t.error("E0606", t.place("block"), fmt::format("a block of {} B is no whole number of lines of {} B", index.block, line));
}

/// What is wrong with a name that begins as a QLRU variant's does.
std::string qlru_hint(const std::string& name) {
  const auto instead = [&](std::size_t at, char digit) {
    auto text = name;
    text[at] = digit;
    return qlru_named(text) ? text : std::string();
  };
  if (name.size() > 16) {
    if (const auto text = instead(13, '1'); !text.empty()) return fmt::format("'{}': r0 and r2 need a way of age 3, which u2 and u3 do not promise", text);
    if (const auto text = instead(16, static_cast<char>(name[16] - 1)); !text.empty()) return fmt::format("'{}': where ages grow on misses only, there is no accessed way to leave out", text);
  }
  return "qlru_hXY_mM_rR_uU: XY of 00 10 11 20 21, M of 0 to 3, R of 0 to 2, U of 0 to 3, and at the end _umo or nothing";
}

void read_replacement(ModelTable& t, std::size_t carveouts, CacheModel& cache) {
  const TomlValue* const given = t.get("replacement");
  if (given && given->kind == TomlValue::Kind::String && given->text.starts_with("qlru")) {
    const auto variant = qlru_named(given->text);
    if (!variant) return t.error("E0602", given->span, fmt::format("'replacement' of {} cannot be '{}'", t.name(), given->text), qlru_hint(given->text));
    cache.policy = Policy::Qlru;
    cache.qlru = *variant;
    return;
  }
  const std::string policy = t.choice("replacement", {"lru", "fifo", "plru", "random", "weighted", "nru", "nrf", "lip", "bip", "rrip", "turns", "qlru_hXY_mM_rR_uU"});
  constexpr std::pair<std::string_view, Policy> kPolicies[] = {{"lru", Policy::Lru}, {"fifo", Policy::Fifo}, {"plru", Policy::Plru}, {"random", Policy::Random},
                                                               {"weighted", Policy::Weighted}, {"nru", Policy::Nru}, {"nrf", Policy::Nrf}, {"lip", Policy::Bip},
                                                               {"bip", Policy::Bip}, {"rrip", Policy::Rrip}, {"turns", Policy::Turns}};
  for (const auto& [word, value] : kPolicies) {
    if (word == policy) cache.policy = value;
  }
  if (cache.unified > 0 && carveouts > 1 && (cache.policy == Policy::Plru || cache.policy == Policy::Weighted))
    return t.error("E0606", t.place("replacement"), fmt::format("a carve-out changes the ways of {}: '{}' needs to know them", t.name(), policy));
  if (cache.policy == Policy::Plru) {
    for (const std::uint32_t ways : cache.ways) {
      if (std::has_single_bit(ways) && ways <= 64) continue;
      return t.error("E0606", t.place("replacement"), fmt::format("{} has a set of {} ways: a tree needs a power of two, at most 64", t.name(), ways));
    }
  }
  if (cache.policy == Policy::Turns) {
    cache.groups = bit_groups(t, "groups", cache.line);
    cache.late = t.has("evicts") && t.choice("evicts", {"at once", "late"}) == "late";
    for (const std::uint32_t ways : cache.ways) {
      if (cache.groups.size() < 32 && 1ull << cache.groups.size() <= ways) continue;
      return t.error("E0606", t.place("groups"), fmt::format("{} bits tell more groups apart than a set of {} ways has lines", cache.groups.size(), ways));
    }
  }
  if (policy == "bip") cache.promoted = t.number("promoted", 0, 1);
  if (policy == "rrip") {
    cache.ages = static_cast<std::uint32_t>(t.whole("ages", 2, 256));
    cache.insert = static_cast<std::uint32_t>(t.whole("insert", 0, std::max(cache.ages, 1u) - 1));
  }
  if (cache.policy != Policy::Weighted) return;
  const bool weights = t.has("weights");
  if (weights == t.has("probabilities"))
    return t.error("E0603", t.place("replacement"), fmt::format("{} needs either 'weights' or 'probabilities'", t.name()));
  const char* const key = weights ? "weights" : "probabilities";
  cache.weights = t.numbers(key, 0, weights ? 1e9 : 1);
  for (const std::uint32_t ways : cache.ways) {
    if (ways == cache.weights.size()) continue;
    return t.error("E0606", t.place(key), fmt::format("{} {} for a set of {} ways", cache.weights.size(), key, ways));
  }
  const double sum = std::accumulate(cache.weights.begin(), cache.weights.end(), 0.0);
  if (weights ? sum <= 0 : std::abs(sum - 1) > 1e-9) return t.error("E0606", t.place(key), weights ? "all weights are zero" : fmt::format("the probabilities sum to {:.9g}, not 1", sum));
  for (double& weight : cache.weights) weight /= sum;
}

/// A cache of what the one before it evicts.
void read_victims(ModelTable& t, CacheModel& cache) {
  if (!t.has("holds")) return;
  cache.victims = t.choice("holds", {"misses", "victims"}) == "victims";
  if (!cache.victims) return;
  const Span place = t.place("holds");
  const bool simple = cache.policy == Policy::Lru || cache.policy == Policy::Fifo || cache.policy == Policy::Random;
  if (cache.scope == Scope::Device) t.error("E0606", place, "what the whole device shares holds no victims: an SM's caches evict them");
  if (cache.sector != cache.line) t.error("E0606", place, fmt::format("a victim is a whole line, of which {} has sectors", t.name()));
  if (!simple) t.error("E0606", place, "a cache of victims replaces by lru, fifo or random");
}

void read_cache(ModelTable& t, CacheForm form, bool shared_known, const DeviceModel& model, CacheModel& cache) {
  const std::vector<CacheModel>& before = model.caches;
  if (form == CacheForm::Data && t.has("storage_of")) {
    // The same lines under another index: only the index is its own.
    const std::string other = t.text("storage_of");
    const auto found = std::find_if(before.begin(), before.end(), [&](const CacheModel& c) { return c.name == other && c.storage_of < 0; });
    if (found == before.end()) return t.error("E0602", t.place("storage_of"), fmt::format("'{}' is no cache described before {}", other, t.name()));
    std::string name = std::move(cache.name);
    cache = *found;
    cache.name = std::move(name);
    cache.index = {};
    cache.storage_of = static_cast<int>(found - before.begin());
    if (cache.line == 0) return t.know("bits"), t.know("xor"), t.know("index"), t.know("block");  // said of the other one
    return read_index(t, cache, cache.line);
  }
  const char* const line_key = form == CacheForm::Data ? "line" : "page";
  const char* const total_key = form == CacheForm::Data ? "capacity" : "reach";
  const std::size_t errors = t.errors();
  const bool unified = form == CacheForm::Data && t.has("unified");
  cache.line = t.size(line_key, 1ull << 34);
  const std::uint64_t capacity = unified ? 0 : t.size(total_key, 1ull << 42);
  cache.ways = unified ? read_unified(t, cache, shared_known, model.shared.carveouts) : read_sets(t);
  if (t.errors() != errors || (unified && !shared_known)) return;
  if (!std::has_single_bit(cache.line)) return t.error("E0606", t.place(line_key), fmt::format("'{}' of {} must be a power of two", line_key, t.name()));
  cache.sector = cache.line;
  if (form == CacheForm::Data && t.has("sector")) {
    cache.sector = t.size("sector", cache.line);
    if (cache.sector == 0) return;
    if (cache.line % cache.sector != 0) return t.error("E0606", t.place("sector"), fmt::format("sectors of {} B do not divide a line of {} B", cache.sector, cache.line));
  }
  if (form == CacheForm::Data && (cache.sector < 16 || cache.line / cache.sector > 64))
    return t.error("E0606", t.place(t.has("sector") ? "sector" : line_key), "a sector has at least 16 B, a line at most 64 sectors");
  const std::uint64_t lines = std::accumulate(cache.ways.begin(), cache.ways.end(), std::uint64_t{0});
  if (lines > kMostLines) return t.error("E0605", t.place("sets"), fmt::format("{} has more than {} lines", t.name(), kMostLines));
  if (!unified && capacity != lines * cache.line)
    t.error("E0606", t.place(total_key), fmt::format("{} lines of {} B are {} B, not {}", lines, cache.line, lines * cache.line, capacity));
  read_index(t, cache, cache.line);
  read_replacement(t, model.shared.carveouts.size(), cache);
  read_cache_scope(t, form, model, cache);
  const auto instances = places_of(model, cache.scope);
  if (lines * instances > kMostOfAll) return t.error("E0605", t.place(total_key), fmt::format("the {} of them have together more than {} lines", instances, kMostOfAll));
  if (form == CacheForm::Tlb) return;
  read_victims(t, cache);
  cache.prefetch = t.size_or("prefetch", 0, lines * cache.line);
  if (cache.prefetch % cache.line != 0) t.error("E0606", t.place("prefetch"), fmt::format("{} B are no whole number of lines of {} B", cache.prefetch, cache.line));
  read_slices(t, model, cache);
}

}  // namespace

void check_clusters(ModelTable& t, std::string_view key, const DeviceModel& model) {
  if (model.sms_per_tpc == 1) t.error("E0606", t.place(key), "the device has no clusters of SMs", "[device] sms_per_tpc = 3");
}

Scope read_scope(ModelTable& t, std::string_view key, Scope largest, const DeviceModel& model) {
  constexpr auto kWords = std::to_array<std::string_view>({"sm", "tpc", "gpc", "device"});  // fact: in the order of Scope
  const std::vector<std::string_view> words(kWords.begin(), kWords.begin() + static_cast<int>(largest) + 1);
  const auto scope = static_cast<Scope>(std::find(words.begin(), words.end(), t.choice(key, words)) - words.begin());
  if (scope == Scope::Gpc && model.gpcs == 1) t.error("E0606", t.place(key), "the device has no GPCs", "[device] gpcs = 8");
  if (scope == Scope::Tpc) check_clusters(t, key, model);
  return scope;
}

void read_caches(ModelTable& table, CacheForm form, bool shared_known, DeviceModel& model) {
  for (const auto& entry : table.table().entries) {
    if (tells_source(entry.key)) continue;
    const TomlValue* value = table.required(entry.key, TomlValue::Kind::Table);
    if (!value) continue;
    if (entry.key == "memory" || entry.key == "walk" || entry.key == "switch")
      table.error("E0605", entry.key_span, fmt::format("'{}' has a meaning of its own in latency tables and cannot be a name", entry.key));
    ModelTable t(*value, entry.key_span, fmt::format("{} '{}'", form == CacheForm::Data ? "cache" : "TLB", entry.key), table.diagnostics());
    CacheModel cache;
    cache.name = entry.key;
    read_cache(t, form, shared_known, model, cache);
    // Keys that an early end did not ask for are not typos.
    if (cache.storage_of < 0) {
      for (const char* key : {"sets", "ways", "bits", "xor", "index", "block", "replacement", "weights", "probabilities", "promoted", "ages", "insert", "groups", "evicts", "scope"}) t.know(key);
      if (form == CacheForm::Data) {
        for (const char* key : {"line", "capacity", "unified", "sector", "holds", "prefetch", "interval", "slices", "slice_xor", "partitions", "copies", "far", "spread", "spread_by"}) t.know(key);
      } else {
        for (const char* key : {"page", "reach"}) t.know(key);
      }
    }
    t.finish();
    (form == CacheForm::Data ? model.caches : model.tlbs).push_back(std::move(cache));
  }
}

std::vector<int> references(ModelTable& table, const char* key, const std::vector<CacheModel>& caches) {
  std::vector<int> indices;
  const TomlValue* list = table.required(key, TomlValue::Kind::Array);
  if (!list) return indices;
  std::vector<std::string_view> words;
  for (const CacheModel& cache : caches) words.push_back(cache.name);
  for (const TomlValue& item : list->items) {
    const auto found = std::find_if(caches.begin(), caches.end(), [&](const CacheModel& c) { return c.name == item.text; });
    const int index = static_cast<int>(found - caches.begin());
    if (item.kind != TomlValue::Kind::String) table.error("E0604", item.span, fmt::format("'{}' of {} lists names", key, table.name()));
    else if (found == caches.end()) table.error("E0602", item.span, fmt::format("'{}' of {} names '{}', which the model does not describe", key, table.name(), item.text), did_you_mean(item.text, words));
    else if (std::find(indices.begin(), indices.end(), index) != indices.end()) table.error("E0606", item.span, fmt::format("'{}' of {} names '{}' twice", key, table.name(), item.text));
    else indices.push_back(index);
  }
  return indices;
}

}  // namespace gexp::sim
