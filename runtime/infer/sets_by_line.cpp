// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/sets_by_line.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "runtime/infer/in_parallel.h"
#include "runtime/infer/set_index.h"

namespace gexp::infer {
namespace {

using model::SetCandidate;

constexpr double kLeastOdds = 1e-6;  // limit: of what changes no confidence that is shown

/// Lines without a set that missed as soon as they were added: of sets that overflowed already, which are the first so many.
std::unordered_map<std::int64_t, std::uint32_t> of_earlier_sets(const SetGrowth& growth, const std::vector<LineSet>& sets) {
  std::unordered_map<std::int64_t, std::uint32_t> among;
  std::size_t before = 0;
  for (const auto& [added, level] : growth.levels) {
    const auto earlier = std::count_if(sets.begin(), sets.end(), [&, own = added](const LineSet& set) { return set.onset <= own; });
    for (auto line = before; line < level.present; ++line) {
      if (before > 0 && level.misses[line] > 0) among.emplace(growth.number[line], static_cast<std::uint32_t>(earlier));
    }
    before = level.present;
  }
  return among;
}

double onset_of(const SetGrowth& growth, std::size_t line) {
  return std::find_if(growth.levels.begin(), growth.levels.end(), [&](const auto& level) { return line < level.second.present; })->first;
}

/// Whether it was there at each footprint that walked it.
bool never_missed(const SetGrowth& growth, std::size_t line) {
  return std::all_of(growth.levels.begin(), growth.levels.end(),
                     [&](const auto& level) { return line >= level.second.present || level.second.misses[line] == 0; });
}

}  // namespace

Explanation explained(const SetGrowth& growth, SetCandidate candidate, bool by_function) {
  std::map<std::uint32_t, LineSet> by_set;
  Explanation made{std::move(candidate), {}, 0, true, by_function};
  const auto& score = made.candidate.score;
  for (std::size_t line = 0; line < growth.number.size(); ++line) {
    const auto set = made.candidate.hypothesis.set_of(growth.number[line]);
    if (set == model::kNoSet) {
      made.fitting += line < growth.levels.begin()->second.present || never_missed(growth, line) ? 1 : 0;
      continue;
    }
    auto& own = by_set[set];
    if (own.lines.size() > score.sizes[set]) continue;
    own.lines.push_back(line);
    own.onset = onset_of(growth, line);
  }
  for (auto& [set, own] : by_set) {
    if (own.lines.size() <= score.sizes[set]) made.fitting += own.lines.size();
    else made.told = made.told && score.least[set] == score.most[set], made.sets.push_back(std::move(own));
  }
  std::stable_sort(made.sets.begin(), made.sets.end(), [](const LineSet& a, const LineSet& b) { return a.onset < b.onset; });
  return made;
}

std::vector<std::vector<std::size_t>> answer_of(const Explanation& explanation) {
  std::vector<std::vector<std::size_t>> answer;
  for (const auto& set : explanation.sets) answer.push_back(set.lines);
  for (auto& lines : answer) std::sort(lines.begin(), lines.end());
  std::sort(answer.begin(), answer.end());
  return answer;
}

std::vector<LabelledLine> labels_of(const SetGrowth& growth, const Explanation& explanation) {
  std::vector<LabelledLine> labelled;
  for (std::size_t set = 0; set < explanation.sets.size(); ++set) {
    for (const auto line : explanation.sets[set].lines) labelled.push_back({growth.number[line], set});
  }
  return labelled;
}

namespace {

/// Found sets as a hypothesis, and what their lines say.
LineByLine explained_by_line(const SetGrowth& growth, const model::FoundSets& found, std::int64_t line_bytes, std::int64_t fill, const model::LineWalks& walks) {
  const auto index = find_set_index(found.lines, found.sets, line_bytes);
  // A line without a set is of one that overflowed before it came: which these are, the sets have to say first.
  std::unordered_map<std::int64_t, std::uint32_t> among;
  for (const bool last : {false, true}) {
    SetCandidate candidate{model::labelled(found.lines, found.sets, line_bytes, among), index, {}};
    candidate.hypothesis.fill_bytes = fill;
    candidate.score = model::score(candidate.hypothesis, walks);
    auto made = explained(growth, std::move(candidate), false);
    if (last) return {std::move(made), found};
    among = of_earlier_sets(growth, made.sets);
  }
  return {};
}

void keep_likelier(std::optional<LineByLine>& best, LineByLine other) {
  if (!best || other.explanation.candidate.score.log_posterior > best->explanation.candidate.score.log_posterior) best = std::move(other);
}

}  // namespace

std::vector<LineByLine> sets_by_line(const SetGrowth& growth, const std::vector<LineSet>& guess, std::int64_t line_bytes, const model::Walks& walks) {
  std::vector<LabelledLine> lines;
  for (std::size_t set = 0; set < guess.size(); ++set) {
    for (const auto line : guess[set].lines) lines.push_back({growth.number[line], set});
  }
  const auto fill = model::likeliest_fill(model::labelled(lines, guess.size(), line_bytes), walks);
  const auto own_walks = model::by_line(walks, line_bytes, fill);
  const auto seen_among = of_earlier_sets(growth, guess);
  const model::Rates rates[] = {model::Rates::Shared, model::Rates::OwnOfEach};
  std::optional<LineByLine> of_rates[std::size(rates)], split_by_rates[std::size(rates)], by_block[std::size(rates)];
  in_parallel(std::size(rates), [&](std::size_t i) {
    const auto better = model::improved(lines, guess.size(), own_walks, rates[i], seen_among);
    of_rates[i] = explained_by_line(growth, better.whole, line_bytes, fill, own_walks);
    for (const auto& blocks : better.by_block) keep_likelier(by_block[i], explained_by_line(growth, blocks, line_bytes, fill, own_walks));
    if (better.split) split_by_rates[i] = explained_by_line(growth, *better.split, line_bytes, fill, own_walks);
  });
  std::optional<LineByLine> whole, split, of_blocks;
  for (auto& made : of_rates) keep_likelier(whole, std::move(*made));
  for (auto& made : split_by_rates) {
    if (made) keep_likelier(split, std::move(*made));
  }
  for (auto& made : by_block) {
    if (made) keep_likelier(of_blocks, std::move(*made));
  }
  std::vector<LineByLine> all{std::move(*whole)};
  if (split) all.push_back(std::move(*split));
  if (of_blocks) all.push_back(std::move(*of_blocks));
  return all;
}

double odds_of_moves(const SetGrowth& growth, const LineByLine& own, const model::Walks& walks) {
  const auto& hypothesis = own.explanation.candidate.hypothesis;
  const auto own_walks = model::by_line(walks, hypothesis.line_bytes, hypothesis.fill_bytes);
  const auto moves = model::likeliest_moves(own.found, own_walks, of_earlier_sets(growth, own.explanation.sets));
  std::vector<double> odds(moves.size());
  in_parallel(odds.size(), [&](std::size_t i) {
    auto lines = own.found.lines;
    for (auto& line : lines) line.set = moves[i].moves(line.line) ? moves[i].to : line.set;
    auto moved = hypothesis;
    auto labelled = model::labelled(lines, own.found.sets, hypothesis.line_bytes);
    moved.set_of = std::move(labelled.set_of), moved.bits = labelled.bits;
    odds[i] = std::exp(model::score(moved, own_walks).log_posterior - own.explanation.candidate.score.log_posterior);
  });
  return std::accumulate(odds.begin(), odds.end(), 0.0);
}

double odds_of_no_function(const Explanation& own, const model::Walks& walks) {
  const auto& hypothesis = own.candidate.hypothesis;
  std::map<std::int64_t, std::size_t> set_of;
  for (std::size_t f = 0; f < walks.footprints.size(); ++f) {
    if (!own.candidate.score.telling[f]) continue;
    for (const auto address : walks.footprints[f].addresses) {
      const auto line = walks.offsets[address] / hypothesis.line_bytes;
      if (const auto set = hypothesis.set_of(line); set != model::kNoSet) set_of.emplace(line, set);
    }
  }
  std::vector<LabelledLine> lines;
  for (const auto& [line, set] : set_of) lines.push_back({line, set});
  return std::exp2(hypothesis.bits - model::bits_of_labels(lines, hypothesis.sets));
}

double odds_of_more_sets(const SetGrowth& growth, const Explanation& own) {
  const auto labels = labels_of(growth, own);
  const auto sets = own.sets.size();
  const int bits = blocks_of_one_set(labels).bits;
  std::set<std::int64_t> others;  // blocks that missed as soon as they were added: of one of these sets, too
  for (const auto line : growth.number) others.insert(line >> bits);
  for (const auto& line : labels) others.erase(line.line >> bits);
  const auto bits_with = [&](std::size_t all) { return model::bits_of_labels(labels, all) + static_cast<double>(others.size()) * std::log2(static_cast<double>(all)); };
  const double of_these = bits_with(sets);
  double odds = 0, each = 1;
  for (auto more = sets + 1; odds < 1 && each > kLeastOdds; ++more) {
    each = std::exp2(of_these - bits_with(more));
    odds += each;
  }
  return odds;
}

}  // namespace gexp::infer
