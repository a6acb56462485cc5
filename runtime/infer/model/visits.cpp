// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/visits.h"

#include <algorithm>
#include <unordered_map>

#include "runtime/infer/cut_short.h"

namespace gexp::infer {
namespace {

constexpr double kMostVisits = 200000;  // limit: accesses that are looked at: evidence grows with them no further than anyone needs

/// A number that looks drawn by chance: which places are kept does not hang on how addresses are laid out.
std::uint64_t scattered(std::int64_t place) {
  auto mixed = static_cast<std::uint64_t>(place) * 0x9e3779b97f4a7c15u;
  mixed ^= mixed >> 29;
  return mixed * 0xbf58476d1ce4e5b9u >> 40;
}

double accesses_of(const std::vector<const records::Table*>& tables) {
  double all = 0;
  for (const auto* table : tables) {
    for (const auto& point : table->points) {
      for (const auto& run : point.runs) all += static_cast<double>(run.ticks.size());
    }
  }
  return all;
}

std::vector<const records::Point*> points_of(const std::vector<const records::Table*>& tables) {
  std::vector<const records::Point*> points;
  for (const auto* table : tables) {
    for (const auto& point : table->points) points.push_back(&point);
  }
  return points;
}

}  // namespace

Visits::Visits(const std::vector<const records::Table*>& tables) {
  const double all = accesses_of(tables);
  const auto kept = static_cast<std::uint64_t>(std::min(1.0, kMostVisits / std::max(1.0, all)) * 0x1p24);
  visits_.reserve(static_cast<std::size_t>(std::min(all, 2 * kMostVisits)));
  std::unordered_map<std::int64_t, std::uint32_t> places;
  std::uint32_t step = 0, access = 0, number = 0, run_number = 0;
  std::size_t orders = 0;
  std::vector<std::uint32_t> place_of;
  constexpr std::uint32_t kNone = ~0u;  // fact: stands for none
  for (const auto* each : points_of(tables)) {
    const auto& point = *each;
    const auto lap = point.walk && point.walk->steps > 0 ? static_cast<std::size_t>(point.walk->steps) : 1;
    work(lap / 4);
    place_of.assign(lap, kNone);
    for (std::size_t i = 0; i < lap && point.walk && !point.runs.empty(); ++i) {
      const auto place = point.walk->steps > 0 ? point.walk->at(0, static_cast<std::int64_t>(i)) / kPlaceBytes : 0;
      if (scattered(place) < kept) place_of[i] = places.try_emplace(place, static_cast<std::uint32_t>(places.size())).first->second;
    }
    if (!point.walk && !point.runs.empty()) place_of[0] = places.try_emplace(-1 - static_cast<std::int64_t>(number), static_cast<std::uint32_t>(places.size())).first->second;
    std::size_t longest = 0;
    for (const auto& run : point.runs) {
      longest = std::max(longest, run.ticks.size());
      work(run.ticks.size() / 32);
      for (std::size_t i = 0, at = 0; i < run.ticks.size(); ++i, at = at + 1 == lap ? 0 : at + 1) {
        if (place_of[at] != kNone) visits_.push_back({run.ticks[i], number, step + static_cast<std::uint32_t>(at), access + static_cast<std::uint32_t>(i), place_of[at], run_number, static_cast<std::uint32_t>(i)});
      }
      ++run_number;
    }
    orders = std::max(orders, longest);
    step += static_cast<std::uint32_t>(lap), access += static_cast<std::uint32_t>(longest), ++number;
  }
  cells_[0] = number, cells_[1] = step, cells_[2] = access, cells_[3] = places.size(), cells_[4] = run_number, cells_[5] = orders;
  thinned_ = visits_.empty() ? 1 : all / static_cast<double>(visits_.size());
}

}  // namespace gexp::infer
