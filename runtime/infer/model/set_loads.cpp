// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_loads.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_set>

#include "runtime/infer/cut_short.h"

namespace gexp::infer::model {

Visits visits_of(const std::vector<LabelledLine>& lines, const std::vector<std::size_t>& block_of, std::size_t blocks, const LineWalks& walks) {
  std::unordered_map<std::int64_t, std::size_t> at;
  for (std::size_t i = 0; i < lines.size(); ++i) at.emplace(lines[i].line, block_of[i]);
  Visits all(blocks);
  for (std::size_t f = 0; f < walks.footprints.size(); ++f) {
    const auto& visited = walks.footprints[f].lines;
    work(visited.size() / 4);
    for (std::size_t i = 0; i < visited.size(); ++i) {
      if (const auto line = at.find(walks.numbers[visited[i].line]); line != at.end()) all[line->second].push_back({f, i});
    }
  }
  return all;
}

std::vector<std::vector<std::size_t>> unplaced(const std::vector<LabelledLine>& lines, std::size_t sets, const LineWalks& walks,
                                               const std::unordered_map<std::int64_t, std::uint32_t>& among) {
  std::unordered_set<std::int64_t> placed;
  for (const auto& line : lines) placed.insert(line.line);
  std::vector<std::vector<std::size_t>> all;
  for (const auto& footprint : walks.footprints) {
    auto& by_set = all.emplace_back(sets + 1, 0);
    work(footprint.lines.size() / 4 + sets / 16);
    for (const auto& visit : footprint.lines) {
      const auto number = walks.numbers[visit.line];
      if (placed.contains(number)) continue;
      const auto found = among.find(number);
      const auto first = found == among.end() ? sets : std::min<std::size_t>(sets, found->second);
      if (first > 0) ++by_set[first - 1];
    }
    std::partial_sum(by_set.rbegin(), by_set.rend(), by_set.rbegin());
  }
  return all;
}

void SetLoad::count(const LineFootprint& footprint, std::size_t at, int step) {
  if (!footprint.lines[at].doubted) return;
  const auto missed_in = footprint.missed_in(at), unsure_in = footprint.unsure_in(at);
  any_missed_.resize(missed_in.size()), any_unsure_.resize(missed_in.size());
  for (std::size_t word = 0; word < missed_in.size(); ++word) {
    if ((missed_in[word] | unsure_in[word]) == 0) continue;
    tell(word, -1);
    missed_.add(word, missed_in[word], step), unsure_.add(word, unsure_in[word], step);
    any_missed_[word] = missed_.any(word), any_unsure_[word] = unsure_.any(word);
    tell(word, 1);
  }
}

void SetLoad::tell(std::size_t word, int step) {
  loud += step * std::popcount(any_missed_[word]), unsure += step * std::popcount(any_unsure_[word] & ~any_missed_[word]);
}

SetLoad::LapsWith SetLoad::laps_with(const LineFootprint& footprint, std::span<const Visit> others) const {
  LapsWith with{loud, unsure};
  if (others.empty()) return with;
  for (std::size_t word = 0; word < footprint.walked->words(); ++word) {
    std::uint64_t missed = 0, may = 0;
    for (const auto& other : others) {
      if (!footprint.lines[other.at].doubted) continue;
      missed |= footprint.missed_in(other.at)[word], may |= footprint.unsure_in(other.at)[word];
    }
    if ((missed | may) == 0) continue;
    const auto own_missed = word < any_missed_.size() ? any_missed_[word] : 0, own_may = word < any_unsure_.size() ? any_unsure_[word] : 0;
    missed |= own_missed, may |= own_may;
    with.loud += std::popcount(missed) - std::popcount(own_missed);
    with.unsure += std::popcount(may & ~missed) - std::popcount(own_may & ~own_missed);
  }
  return with;
}

}  // namespace gexp::infer::model
