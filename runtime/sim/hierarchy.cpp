// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/hierarchy.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/sim/device_memory.h"
#include "runtime/sim/nearest.h"

// A latency is read from a table by where the data and where the translation were found: the form in which the papers report
// it (Mei17 Figure 14). Sums of parts would not do: the same TLB miss costs 288 cycles before an L1 hit and 27 before an L2 hit.
// The table is of an idle device; what others ask for at the same time adds waits before the slices and DRAM.
namespace gexp::sim {
namespace {

constexpr std::uint64_t kNothing = ~0ull;

}  // namespace

Hierarchy::Hierarchy(const DeviceModel& model, std::uint64_t seed, std::uint64_t chance)
    : model_(model),
      seed_(seed),
      chance_(chance),
      caches_(model.caches.size()),
      tlbs_(model.tlbs.size()),
      slices_(model.caches.size()),
      homes_(model.caches.size(), std::vector<std::vector<Home>>(static_cast<std::size_t>(model.sms))),
      ahead_(model.caches.size(), kNothing),
      host_{model.bandwidth.host},
      peer_{model.bandwidth.peer},
      noisy_(model.noise.jitter > 0 || model.noise.sm_jitter > 0 || model.noise.memory_jitter > 0 || model.noise.tail_probability > 0 || model.noise.interference > 0),
      random_(seed ^ chance ^ 0x9015e) {
  const auto of_sms = [&](const CacheModel& cache) {
    std::vector<std::uint32_t> which;
    for (int sm = 0; sm < model.sms; ++sm) which.push_back(static_cast<std::uint32_t>(instance(cache, static_cast<std::uint32_t>(sm))));
    return which;
  };
  std::vector<Level> levels;
  for (std::size_t i = 0; i < model.caches.size(); ++i) {
    const CacheModel& cache = model.caches[i];
    instance_.push_back(of_sms(cache));
    caches_[i].resize(cache.storage_of >= 0 ? 0 : *std::max_element(instance_[i].begin(), instance_[i].end()) + 1);
    slices_[i].resize(cache.slices);
    if (cache.storage_of >= 0) {
      indices_.push_back(std::make_unique<SetIndex>(cache, mix(seed + i)));
      levels.push_back({cache.storage_of, indices_.back().get(), model.caches[static_cast<std::size_t>(cache.storage_of)].victims});
    } else {
      levels.push_back({static_cast<int>(i), nullptr, cache.victims});
    }
  }
  for (std::size_t i = 0; i < model.tlbs.size(); ++i) {
    tlb_instance_.push_back(of_sms(model.tlbs[i]));
    tlbs_[i].resize(*std::max_element(tlb_instance_[i].begin(), tlb_instance_[i].end()) + 1);
  }

  const auto fill = [&](Path& path, const std::vector<int>& caches, const std::vector<int>& tlbs) {
    path.present = true;
    for (const int c : caches) path.caches.push_back(levels[static_cast<std::size_t>(c)]);
    path.tlbs = tlbs;
    while (path.near < caches.size() && model.caches[static_cast<std::size_t>(caches[path.near])].scope != Scope::Device) ++path.near;
    for (std::size_t found = 0; found < path.near; ++found) path.victims |= path.caches[found].victims;
    if (!caches.empty()) path.sector = model.caches[static_cast<std::size_t>(caches.front())].sector;
    path.sector_shift = std::countr_zero(path.sector), path.region = std::max(kLeastRegion, path.sector);
  };
  for (std::size_t p = 0; p < paths_.size(); ++p) {
    const PathModel& from = model.paths[p];
    if (!from.present) continue;
    Path& path = paths_[p];
    fill(path, from.caches, from.tlbs);
    path.translate_at = from.translate_at;
    path.has_window = from.has_window;
    path.latency = from.latency;
    const bool untranslated = path.translate_at > 0 || (path.tlbs.empty() && !path.has_window && model.frame_bytes == 0);
    path.quick = path.near > 0 && !path.victims && untranslated;
    if (path.near < path.caches.size()) {
      const CacheModel& shared = model.caches[static_cast<std::size_t>(path.caches[path.near].cache)];
      path.quick_far = shared.sector == path.sector && !shared.copies;
    }
    path.way = static_cast<std::uint64_t>(from.latency[path.near].front() / 2);
  }
  fill(stores_, model.stores.caches, model.stores.tlbs);
  count_anew();
}

Cache& Hierarchy::new_cache(std::size_t i, std::uint32_t sm) {
  const CacheModel& m = model_.caches[i];
  std::vector<std::uint32_t> ways = m.ways;
  if (m.unified > 0) std::fill(ways.begin(), ways.end(), static_cast<std::uint32_t>((m.unified - carveout_) / (ways.size() * m.line)));
  if (m.copies) std::transform(ways.begin(), ways.end(), ways.begin(), [&](auto each) { return each / m.partitions; });
  std::unique_ptr<Cache>& slot = caches_[i][instance_[i][sm]];
  slot = std::make_unique<Cache>(m, ways, mix(seed_ + i), mix(chance_ ^ sm));
  return *slot;
}

Cache& Hierarchy::new_tlb(std::size_t i, std::uint32_t sm) {
  const CacheModel& m = model_.tlbs[i];
  std::unique_ptr<Cache>& slot = tlbs_[i][tlb_instance_[i][sm]];
  slot = std::make_unique<Cache>(m, m.ways, mix(seed_ + 1000 + i), mix(chance_ ^ sm));
  return *slot;
}

void Hierarchy::begin_launch(std::uint64_t carveout) {
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    const CacheModel& m = model_.caches[i];
    if (m.scope == Scope::Device) continue;
    for (auto& cache : caches_[i]) {
      if (m.unified > 0 && carveout != carveout_) cache.reset();
      else if (cache) cache->clear();
    }
  }
  carveout_ = carveout;
  // The window around the first page that a kernel walks to is active without a switch (assumed; Mei17 section 5.2 does not say).
  window_ = kNothing;
}

void Hierarchy::flush(const std::string& level) {
  if (level == "l1") begin_launch(carveout_);
  if (level == "l2") {
    for (std::size_t i = 0; i < caches_.size(); ++i) {
      if (model_.caches[i].scope != Scope::Device) continue;
      ahead_[i] = kNothing;
      for (auto& cache : caches_[i]) {
        if (cache) cache->clear();
      }
    }
  }
  if (level == "managed") pages_.clear();
  if (level == "tlb") {
    for (auto& kind : tlbs_) {
      for (auto& tlb : kind) {
        if (tlb) tlb->clear();
      }
    }
  }
}

bool Hierarchy::look_near(const Path& path, const Level& level, std::uint32_t sm, std::uint64_t address) {
  Cache& lines = cache(level.cache, sm);
  Tally& tally = tallies_.caches[static_cast<std::size_t>(level.cache)];
  if (level.victims) {
    const bool there = lines.take(address);
    tally.add(there);
    return there;
  }
  const Cache::Access access = level.index ? lines.access(address, Cache::Use::Read, *level.index) : lines.access(address);
  if (path.victims && access.evicted != kNothing) new_victims_.push_back(access.evicted);
  tally.add(access.hit);
  return access.hit;
}

// Frames are dealt by a permutation of their numbers, a Feistel network keyed by the device: no two pages share a frame.
std::uint64_t Hierarchy::physical(std::uint64_t address) const {
  const std::uint64_t frame = address / model_.frame_bytes;
  std::uint64_t left = frame >> 16 & 0xffff, right = frame & 0xffff;
  for (std::uint64_t round = 0; round < 4; ++round) {
    const std::uint64_t next = left ^ (mix(mix(seed_ ^ 0xf3a3e) + (round << 32) + right) >> 20 & 0xffff);
    left = right, right = next;
  }
  return ((frame & ~0xffffffffull) | left << 16 | right) * model_.frame_bytes + address % model_.frame_bytes;
}

std::uint8_t Hierarchy::translate(const Path& path, std::uint32_t sm, std::uint64_t address) {
  std::size_t found = 0;
  for (; found < path.tlbs.size(); ++found) {
    const bool hit = tlb(path.tlbs[found], sm).access(address).hit;
    tallies_.tlbs[static_cast<std::size_t>(path.tlbs[found])].add(hit);
    if (hit) break;
  }
  if (found < path.tlbs.size() || !path.has_window) return static_cast<std::uint8_t>(found);
  const std::uint64_t window = address / model_.window_bytes;
  const bool other = window_ != kNothing && window != window_;
  window_ = window;
  return static_cast<std::uint8_t>(found + other);
}

Hierarchy::Near Hierarchy::near_of_all(const Path& path, std::uint32_t sm, Piece piece) {
  Near result{piece.sectors, 0, 0, 0};
  if (path.victims) victims_.clear();
  for (std::size_t found = 0; found < path.near && result.missing != 0; ++found) {
    if (found == path.translate_at) result.translated = translate(path, sm, piece.region);
    const Level& level = path.caches[found];
    if (path.victims) new_victims_.clear();
    for (std::uint32_t left = result.missing; left != 0; left &= left - 1) {
      const auto sector = static_cast<std::uint32_t>(std::countr_zero(left));
      if (!look_near(path, level, sm, placed(path, found, piece.region + sector * path.sector))) continue;
      result.missing &= ~(1u << sector);
      result.latency = std::max(result.latency, path.latency[found][result.translated]);
      result.depth = static_cast<std::uint8_t>(found);
    }
    // What hits among victims has made room for what was evicted for it.
    if (level.victims) {
      for (const std::uint64_t line : victims_) cache(level.cache, sm).access(line);
    }
    if (path.victims) std::swap(victims_, new_victims_);
  }
  if (result.missing != 0 && path.translate_at >= path.near) result.translated = translate(path, sm, piece.region);
  if (result.latency > 0 && noisy_) result.latency += noise(Answered::BySm);
  missed_ = result.missing != 0;
  return result;
}

bool Hierarchy::holds(LoadPath which, std::uint32_t sm, Piece piece) const {
  const Path& path = paths_[index(which)];
  for (std::size_t found = 0; found < path.near && piece.sectors != 0; ++found) {
    const Level& level = path.caches[found];
    const auto i = static_cast<std::size_t>(level.cache);
    const auto& lines = caches_[i][instance_[i][sm]];
    if (!lines) continue;
    for (std::uint32_t left = piece.sectors; left != 0; left &= left - 1) {
      const auto sector = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::uint64_t address = placed(path, found, piece.region + sector * path.sector);
      if (level.index ? lines->holds(address, *level.index) : lines->holds(address)) piece.sectors &= ~(1u << sector);
    }
  }
  return piece.sectors == 0;
}

void Hierarchy::expect(LoadPath which, std::uint64_t address) const {
  const Path& path = paths_[index(which)];
  for (std::size_t i = path.near; i < path.caches.size(); ++i) {
    const auto& shared = caches_[static_cast<std::size_t>(path.caches[i].cache)].front();
    if (shared) shared->expect(address);
  }
}

bool Hierarchy::fetched_ahead(const Level& level, std::uint64_t address) {
  const CacheModel& m = model_.caches[static_cast<std::size_t>(level.cache)];
  std::uint64_t& begin = ahead_[static_cast<std::size_t>(level.cache)];
  if (begin != kNothing && address - begin < m.prefetch) return true;
  begin = address & ~(m.line - 1);
  return false;
}

/// Where each slice of a cache lies, as an SM sees it.
std::vector<Hierarchy::Home> Hierarchy::homes_of(const CacheModel& m, std::uint32_t sm) const {
  std::vector<Home> homes(m.slices);
  for (std::uint64_t slice = 0; slice < m.slices; ++slice) {
    Home& home = homes[slice];
    home.partition = slice * m.partitions / m.slices;
    home.other = home.partition != partition(m, sm);
    if (m.spread > 0) home.distance = static_cast<double>(nearest(m.spread * static_cast<double>(mix(seed_ ^ mix(slice << 16 | place_of(model_, m.spread_by, sm))) >> 11) * 0x1p-53));
  }
  return homes;
}

double Hierarchy::serve_own_slice(const Level& level, std::uint32_t sm, std::uint64_t address, double bytes, double time, Home& home) {
  const auto i = static_cast<std::size_t>(level.cache);
  const CacheModel& m = model_.caches[i];
  std::uint64_t slice = 0;
  if (m.slices > 1) {
    const std::uint64_t part = m.slices >> m.slice_xor.size();
    slice = mix(mix(seed_ + i) ^ address >> std::countr_zero(std::max(m.line, kLeastRegion))) % part;  // a line is a power of two
    for (std::size_t bit = 0; bit < m.slice_xor.size(); ++bit) slice += (static_cast<std::uint64_t>(std::popcount(address & m.slice_xor[bit])) % 2 << bit) * part;
    std::vector<Home>& homes = homes_[i][sm];
    if (homes.empty()) homes = homes_of(m, sm);
    home = homes[slice];
  }
  if (m.interval > 0) return slices_[i][slice].wait(time, m.interval);
  if (model_.bandwidth.l2 <= 0) return 0;
  return slices_[i][slice].wait(time, bytes * m.slices / model_.bandwidth.l2);
}

std::size_t Hierarchy::search(const Path& path, std::uint32_t sm, std::uint64_t address, const Cache::Access* first, Home& home,
                              bool& dirty, bool& ahead) {
  std::size_t found = path.near;
  for (; found < path.caches.size(); ++found) {
    const Level& level = path.caches[found];
    const CacheModel& m = model_.caches[static_cast<std::size_t>(level.cache)];
    const Cache::Access access = found == path.near && first ? *first : look(level, sm, placed(path, found, address));
    dirty |= access.evicted_dirty;
    bool hit = access.hit;
    if (m.copies && hit) home.other = false;
    if (m.copies && home.other) {  // the copy comes from its home, which fetches it if need be
      const auto there = cache(level.cache, sm_of(m, home.partition)).access(placed(path, found, address));
      dirty |= there.evicted_dirty, hit = there.hit;
      tallies_.caches[static_cast<std::size_t>(level.cache)].hits += hit;
    }
    // Nothing is evicted for what may not be asked for: lines that were fetched ahead take their ways once they are.
    if (!hit && m.prefetch > 0 && access.had_room) ahead = hit = fetched_ahead(level, address);
    // What was asked for decides; the rest of a longer line above comes along.
    const std::uint64_t begin = address & ~(path.sector - 1);
    for (std::uint64_t at = begin; at < begin + path.sector; at += m.sector) {
      if (at != address) dirty |= look(level, sm, placed(path, found, at)).evicted_dirty;
    }
    if (hit) break;
  }
  return found;
}

double Hierarchy::far_of_all(LoadPath which, std::uint32_t sm, Piece piece, std::uint8_t translated, double time, double waits, Home home,
                             const Cache::Access* first) {
  const Path& path = paths_[index(which)];
  double latency = 0, from_memory = 0, to_memory = 0;
  std::size_t depth = 0;
  auto by = Answered::Beyond;
  bool crossed = false;
  for (std::uint32_t left = piece.sectors; left != 0; left &= left - 1) {
    bool dirty = false, ahead = false;  // what was fetched ahead is there in time, and has crossed DRAM like anything else
    auto of_sector = home;
    const std::uint64_t address = piece.region + static_cast<std::uint32_t>(std::countr_zero(left)) * path.sector;
    const std::size_t found = search(path, sm, address, first, of_sector, dirty, ahead);
    crossed |= of_sector.other;
    latency = std::max(latency, path.latency[found][translated]);
    depth = std::max(depth, found);
    if (found == path.caches.size()) by = Answered::ByMemory;
    if (found == path.caches.size() || ahead) from_memory += static_cast<double>(path.sector);
    if (dirty) to_memory += static_cast<double>(path.sector);
  }
  depth_ = static_cast<std::uint8_t>(depth);
  if (which == LoadPath::Host || which == LoadPath::Peer) {
    Link& link = which == LoadPath::Host ? host_ : peer_;
    if (link.rate > 0) waits += link.from.wait(time + waits, from_memory / link.rate);
    from_memory = 0;
  }
  tallies_.dram_read += from_memory, tallies_.dram_written += to_memory;
  if (const double dram = model_.bandwidth.dram; dram > 0) {
    waits += dram_.wait(time + waits, from_memory / dram);
    dram_.wait(time + waits, to_memory / dram);
  }
  if (crossed) home.distance += model_.caches[static_cast<std::size_t>(path.caches[path.near].cache)].far;
  return waits + home.distance + latency + (noisy_ ? noise(by) : 0);
}

std::uint64_t Hierarchy::page_there(std::uint64_t address, std::uint64_t time) {
  const auto [page, comes] = pages_.try_emplace(address / model_.managed.page, 0);
  if (comes) {
    const auto now = static_cast<double>(time), moving = host_.rate > 0 ? static_cast<double>(model_.managed.page) / host_.rate : 0;
    page->second = static_cast<std::uint64_t>(std::ceil(now + model_.managed.latency + host_.from.wait(now, moving) + moving));
  }
  return page->second;
}

void Hierarchy::send_back(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t page = model_.managed.page;
  if (page > 0) pages_.erase(pages_.lower_bound(address / page), pages_.lower_bound((address + bytes + page - 1) / page));
}

double Hierarchy::store(std::uint32_t sm, Piece piece, double time) {
  if (const auto where = DeviceMemory::where(piece.region); where == device::Where::Host || where == device::Where::Peer) {  // past the caches (assumed)
    Link& link = where == device::Where::Host ? host_ : peer_;
    const double bytes = static_cast<double>(stores_.sector) * piece.count();
    return link.rate > 0 ? time + link.to.wait(time, bytes / link.rate) : time;
  }
  for (const int t : stores_.tlbs) {
    const bool hit = tlb(t, sm).access(piece.region).hit;
    tallies_.tlbs[static_cast<std::size_t>(t)].add(hit);
    if (hit) break;
  }
  const double bytes = static_cast<double>(stores_.sector) * piece.count();
  double waits = 0, to_memory = model_.stores.write_back && !stores_.caches.empty() ? 0 : bytes;
  // What was written through is not written again when its line goes.
  const auto use = model_.stores.write_back ? Cache::Use::Write : Cache::Use::Read;
  for (const Level& level : stores_.caches) {
    const CacheModel& m = model_.caches[static_cast<std::size_t>(level.cache)];
    Home home;
    if (m.scope == Scope::Device) waits += serve_slice(level, sm, piece.region, bytes, time + waits, home);
    for (std::uint32_t left = piece.sectors; left != 0; left &= left - 1) {
      const std::uint64_t address = piece.region + static_cast<std::uint32_t>(std::countr_zero(left)) * stores_.sector;
      const auto at = placed(stores_, 0, address);
      for (std::size_t other = 0; m.copies && other < m.partitions; ++other) {
        if (other != home.partition) cache(level.cache, sm_of(m, other)).take(at);  // what was copied is no longer so
      }
      const Cache::Access access = look(level, m.copies ? sm_of(m, home.partition) : sm, at, use);
      Tally& tally = tallies_.caches[static_cast<std::size_t>(level.cache)];
      ++tally.stores, tally.store_hits += access.hit;
      if (access.evicted_dirty) to_memory += static_cast<double>(stores_.sector);
    }
  }
  tallies_.dram_written += to_memory;
  // Written back, memory sees a line when it is evicted; written through, every store. Nothing is fetched to be written into.
  if (model_.bandwidth.dram > 0) waits += dram_.wait(time + waits, to_memory / model_.bandwidth.dram);
  return time + waits;
}

std::uint32_t Hierarchy::fetch(std::uint32_t sm, std::uint64_t address) {
  const Path& path = paths_[index(LoadPath::Instruction)];
  std::size_t found = 0;
  while (found < path.caches.size() && !look(path.caches[found], sm, address).hit) ++found;
  if (found == path.caches.size())
    tallies_.dram_read += static_cast<double>(model_.caches[static_cast<std::size_t>(path.caches.back().cache)].sector);
  return static_cast<std::uint32_t>(path.latency[found].front());
}

double Hierarchy::noise(Answered by) {
  const NoiseModel& n = model_.noise;
  const double jitter = by == Answered::BySm ? n.sm_jitter : n.jitter;
  double more = jitter > 0 ? jitter * random_.normal() : 0;
  if (by == Answered::ByMemory && n.memory_jitter > 0) more += std::fabs(n.memory_jitter * random_.normal());
  if (n.tail_probability > 0 && (!n.tail_of_memory || by == Answered::ByMemory) && random_.unit() < n.tail_probability) more += n.tail;
  if (n.interference > 0 && random_.unit() < n.interference) {
    for (std::size_t i = 0; i < caches_.size(); ++i) {
      if (model_.caches[i].scope == Scope::Device && model_.caches[i].storage_of < 0) cache(static_cast<int>(i), 0).access(random_.next() >> 16);
    }
  }
  return more;
}

}  // namespace gexp::sim
