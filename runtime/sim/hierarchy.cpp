// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/hierarchy.h"

#include <algorithm>
#include <cmath>

// A latency is read from a table by where the data and where the translation were found: the form in which the papers report
// it (Mei17 Figure 14). Sums of parts would not do: the same TLB miss costs 288 cycles before an L1 hit and 27 before an L2 hit.
namespace gexp::sim {

Hierarchy::Hierarchy(const DeviceModel& model, std::uint64_t seed, std::uint64_t chance)
    : window_bytes_(model.window_bytes),
      noise_(model.noise),
      noisy_(model.noise.jitter > 0 || model.noise.tail_probability > 0),
      random_(seed ^ chance ^ 0x9015e) {
  std::vector<Level> levels;
  for (std::size_t i = 0; i < model.caches.size(); ++i) {
    const CacheModel& cache = model.caches[i];
    if (cache.storage_of >= 0) {
      indices_.push_back(std::make_unique<SetIndex>(cache, mix(seed + i)));
      levels.push_back({levels[static_cast<std::size_t>(cache.storage_of)].cache, indices_.back().get()});
      continue;
    }
    caches_.push_back(std::make_unique<Cache>(cache, mix(seed + i), chance));
    levels.push_back({caches_.back().get(), nullptr});
    (cache.per_sm ? emptied_ : shared_).push_back(caches_.back().get());
  }
  for (std::size_t i = 0; i < model.tlbs.size(); ++i) tlbs_.push_back(std::make_unique<Cache>(model.tlbs[i], mix(seed + 1000 + i), chance));

  const auto fill = [&](Path& path, const std::vector<int>& caches, const std::vector<int>& tlbs) {
    for (const int c : caches) path.caches.push_back(levels[static_cast<std::size_t>(c)]);
    for (const int t : tlbs) path.tlbs.push_back({tlbs_[static_cast<std::size_t>(t)].get(), nullptr});
    if (!caches.empty()) path.unit = model.caches[static_cast<std::size_t>(caches.front())].sector;
  };
  for (std::size_t p = 0; p < paths_.size(); ++p) {
    const PathModel& from = model.paths[p];
    fill(paths_[p], from.caches, from.tlbs);
    paths_[p].translate_at = from.translate_at;
    paths_[p].has_window = from.has_window;
    paths_[p].latency = from.latency;
  }
  fill(stores_, model.store_caches, model.store_tlbs);
}

void Hierarchy::begin_launch() {
  for (Cache* cache : emptied_) cache->clear();
  // The window around the first page that a kernel walks to is active without a switch (assumed; Mei17 section 5.2 does not say).
  window_ = ~0ull;
}

void Hierarchy::flush(const std::string& level) {
  if (level == "l1") begin_launch();
  if (level == "l2") {
    for (Cache* cache : shared_) cache->clear();
  }
  if (level == "tlb") {
    for (const auto& tlb : tlbs_) tlb->clear();
  }
}

std::size_t Hierarchy::translate(const Path& path, std::uint64_t address) {
  std::size_t found = 0;
  while (found < path.tlbs.size() && !path.tlbs[found].access(address)) ++found;
  if (found < path.tlbs.size() || !path.has_window) return found;
  const std::uint64_t window = address / window_bytes_;
  const bool other = window_ != ~0ull && window != window_;
  window_ = window;
  return found + other;
}

std::uint32_t Hierarchy::load(LoadPath which, std::uint64_t address) {
  const Path& path = paths_[static_cast<std::size_t>(which)];
  std::size_t found = 0, translated = 0;
  for (;; ++found) {
    if (found == path.translate_at) translated = translate(path, address);
    if (found == path.caches.size() || path.caches[found].access(address)) break;
  }
  double latency = path.latency[found][translated];
  if (noisy_) {
    latency += noise_.jitter * random_.normal();
    if (noise_.tail_probability > 0 && random_.unit() < noise_.tail_probability) latency += noise_.tail;
  }
  return static_cast<std::uint32_t>(std::max(1.0, std::round(latency)));
}

void Hierarchy::store(std::uint64_t address) {
  for (const Level& tlb : stores_.tlbs) {
    if (tlb.access(address)) break;
  }
  for (const Level& cache : stores_.caches) cache.access(address);
}

}  // namespace gexp::sim
