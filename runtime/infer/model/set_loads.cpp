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
  for (std::size_t word = 0; word < missed_in.size(); ++word) {
    if ((missed_in[word] | unsure_in[word]) == 0) continue;
    tell(word, -1);
    missed_.add(word, missed_in[word], step), unsure_.add(word, unsure_in[word], step);
    tell(word, 1);
  }
}

void SetLoad::tell(std::size_t word, int step) {
  const auto missed = missed_.any(word);
  loud += step * std::popcount(missed), unsure += step * std::popcount(unsure_.any(word) & ~missed);
}

}  // namespace gexp::infer::model
