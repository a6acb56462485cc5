// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/set_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/set_candidates.h"

// Where several lines are added at a time, sets that overflow together look like one, and a set may have room for all of them but one.
// Other walks of the file tell: the one that is a line too large, and those beside it, missed in one of these sets and not in another. So a
// proposal has to predict them too, and so has every function that might choose the sets.
namespace gexp::infer {
namespace {

using model::kContradicted;
using model::kTemper;
using model::SetCandidate;
using model::SetScore;

constexpr double kRefuted = 3 * kTemper; // by which a rival must be likelier: 20 to 1
constexpr std::size_t kCandidates = 6; // functions that are scored on all footprints

model::Walks all_walks(const Context& context, std::optional<double> slower_than) {
  model::Walks walks;
  if (const auto range = miss_range(context.table, context.classes, slower_than)) walks.add(context.table, *range, context.stage.name);
  if (!context.earlier) return walks;
  for (const auto* stage : context.earlier->of_same_access(context.stage)) walks.add(stage->records(), slower_than, stage->stage->name);
  return walks;
}

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

/// The lines that were added, by the sets of a function, each up to the one that made it overflow; empty where one did not.
std::vector<LineSet> sets_of(const SetGrowth& growth, const SetCandidate& candidate) {
  std::map<std::uint32_t, LineSet> by_key;
  std::map<std::uint32_t, bool> full;
  for (std::size_t line = 0; line < growth.number.size(); ++line) {
    const auto key = candidate.hypothesis.set_of(growth.number[line]);
    auto& set = by_key[key];
    if (set.lines.size() > candidate.score.sizes[key]) continue;
    set.lines.push_back(line);
    set.onset = std::find_if(growth.levels.begin(), growth.levels.end(), [&](const auto& level) { return line < level.second.present; })->first;
  }
  std::vector<LineSet> sets;
  for (auto& [key, set] : by_key) {
    if (set.lines.size() <= candidate.score.sizes[key] || candidate.score.least[key] != candidate.score.most[key]) return {};
    sets.push_back(std::move(set));
  }
  std::stable_sort(sets.begin(), sets.end(), [](const LineSet& a, const LineSet& b) { return a.onset < b.onset; });
  return sets;
}

/// Which lines share a set, and how many it holds: the same for functions that differ in nothing that was walked.
std::vector<std::vector<std::size_t>> answer_of(const std::vector<LineSet>& sets) {
  std::vector<std::vector<std::size_t>> answer;
  for (const auto& set : sets) answer.push_back(set.lines);
  std::sort(answer.begin(), answer.end());
  return answer;
}

/// The same sets of lines half or twice as long: in two halves of a line, sets of their own or one; or two lines as one, which they may be
/// where neighbours share their set.
std::vector<model::SetHypothesis> of_other_lines(const model::SetHypothesis& own, const std::vector<LabelledLine>& labels) {
  std::vector<model::SetHypothesis> rivals;
  const auto set_of = own.set_of;
  const auto sets = own.sets;
  if (own.line_bytes % 2 == 0) {
    rivals.push_back({"halves in sets of their own", own.line_bytes / 2, 2 * sets,
                      [set_of](std::int64_t line) {
                        const auto set = set_of(line / 2);
                        return set == model::kNoSet ? set : 2 * set + static_cast<std::uint32_t>(line % 2);
                      },
                      own.bits});
    rivals.push_back({"halves in one set", own.line_bytes / 2, sets, [set_of](std::int64_t line) { return set_of(line / 2); }, own.bits});
  }
  const bool neighbours_share = std::all_of(labels.begin(), labels.end(), [&](const LabelledLine& line) {
    const auto other = set_of(line.line ^ 1);
    return other == model::kNoSet || other == line.set;
  });
  if (neighbours_share) rivals.push_back({"two lines as one", 2 * own.line_bytes, sets,
                    [set_of](std::int64_t line) {
                      const auto first = set_of(2 * line), second = set_of(2 * line + 1);
                      return second == model::kNoSet ? second : first;
                    },
                    own.bits});
  for (auto& rival : rivals) rival.fill_bytes = std::min(own.fill_bytes, rival.line_bytes);
  return rivals;
}

/// Of lines whose neighbour's set is known, too: what is said of two lines as one, and of each of them, is then about the same addresses.
model::SetHypothesis of_pairs(const model::SetHypothesis& own) {
  auto pairs = own;
  pairs.set_of = [set_of = own.set_of](std::int64_t line) { return set_of(line ^ 1) == model::kNoSet ? model::kNoSet : set_of(line); };
  return pairs;
}

std::string not_predicted(const SetScore& score, const std::vector<LineSet>& proposed, const model::Walks& walks) {
  const auto where = walks.footprints[score.worst_footprint].where;
  if (score.worst > kContradicted) return fmt::format("{} sets would not miss as the walk of {} did", proposed.size(), where);
  for (std::size_t set = 0; set < proposed.size(); ++set) {
    if (score.least[set] != score.most[set]) return fmt::format("a set of {} lines and one of {} would miss alike", score.least[set], score.most[set]);
    if (score.sizes[set] + 1 != proposed[set].lines.size()) return fmt::format("other walks of the file show sets of {} lines, this one of {}", score.sizes[set], proposed[set].lines.size() - 1);
  }
  return "";
}

}  // namespace

SetVerdict judge_sets(const Context& context, const SetGrowth& growth, std::vector<LineSet> proposed, std::int64_t line_bytes,
                      std::optional<double> slower_than, bool look_further) {
  std::stable_sort(proposed.begin(), proposed.end(), [](const LineSet& a, const LineSet& b) { return a.onset < b.onset; });
  const auto walks = all_walks(context, slower_than);
  const auto labels = labels_of(growth, proposed);
  auto hypothesis = model::labelled(labels, proposed.size(), line_bytes, of_earlier_sets(growth, proposed));
  hypothesis.fill_bytes = model::likeliest_fill(hypothesis, walks);
  const auto own = model::score(hypothesis, walks);
  SetVerdict verdict;
  auto alike = hypothesis;
  alike.among = nullptr;  // as of the rivals
  const double of_lines = model::score(alike, walks).log_posterior;
  for (const auto& rival : of_other_lines(hypothesis, labels)) {
    const double against = rival.line_bytes > line_bytes ? model::score(of_pairs(alike), walks).log_posterior : of_lines;
    if (model::score(rival, walks).log_posterior <= against + kRefuted) continue;
    verdict.why = fmt::format("lines of {} B predict the walks of the file better than lines of {} B do", rival.line_bytes, line_bytes);
    return verdict;
  }
  verdict.why = not_predicted(own, proposed, walks);
  verdict.predicted = verdict.why.empty();
  if (verdict.predicted && !look_further) return verdict;
  const auto candidates = model::likeliest_functions(walks, line_bytes, hypothesis.fill_bytes, kCandidates);
  const auto& best = candidates.front();
  auto sets = sets_of(growth, best);
  if (sets.empty() || best.score.worst > kContradicted) return verdict;
  // The rivals: the proposal, each address by itself, and other functions that give other sets.
  double rival = model::log_of_none(walks);
  if (answer_of(sets) != answer_of(proposed)) rival = std::max(rival, own.log_posterior);
  for (const auto& candidate : candidates) {
    if (answer_of(sets_of(growth, candidate)) != answer_of(sets)) rival = std::max(rival, candidate.score.log_posterior);
  }
  verdict.confidence = 1 / (1 + std::exp((rival - best.score.log_posterior) / kTemper));
  if (verdict.confidence > 0.5) verdict.sets = std::move(sets);
  return verdict;
}

}  // namespace gexp::infer
