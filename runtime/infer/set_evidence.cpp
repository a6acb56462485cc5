// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/set_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "runtime/infer/first_overflow.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/model/set_candidates.h"
#include "runtime/infer/model/uneven_sets.h"
#include "runtime/infer/sets_by_line.h"

// The hypotheses: each function of the address that is simple, those that nearly explain which lines were seen to begin together, and, with
// no function, the lines themselves, each in the set with which the walks are predicted best. All are held against every walk of the file
// over this cache, beside lines of other lengths and 'none of these'. An answer is which lines share a set and how many it holds: functions
// that give the same answer share its posterior.
//
// Where several lines are added at a time, sets that overflow together look like one set: only a function tells them apart.
namespace gexp::infer {
namespace {

using model::kContradicted;
using model::kTemper;
using model::SetCandidate;

constexpr std::size_t kCandidates = 6; // limit: functions that are scored on all footprints

/// Where other stages find the same level and a further one, slower than anything here, that one may have ended, too: what it says of this
/// level is not known.
model::Walks all_walks(const Context& context, std::optional<double> slower_than) {
  std::vector<model::WalkedStage> stages{{&context.table, miss_range(context.table, context.classes, slower_than), context.stage.name}};
  const auto slowest = slowest_of(context.table, context.classes);
  if (context.earlier) {
    for (const auto* stage : context.earlier->of_same_access(context.stage)) {
      stages.push_back(model::walked_stage(stage->records(), slower_than, stage->stage->name));
      auto& range = stages.back().range;
      const auto further = range && slowest ? miss_range(stage->records().table(), stage->records().classes(), *slowest) : std::nullopt;
      if (further && further->above > range->above) range->outlier = std::min(range->outlier, further->above);
    }
  }
  return model::walks_of(std::move(stages), slower_than ? model::kMostSilence : model::kAccident);
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

/// By how much likelier lines of another length are than these, which are given: that is believed as much as a finding may be.
double odds_of_other_lines(const Explanation& own, const std::vector<LabelledLine>& labels, const model::Walks& walks, std::int64_t& best) {
  auto alike = own.candidate.hypothesis;
  alike.among = nullptr;  // as of the rivals
  const double own_lines = model::score(alike, walks).log_posterior;
  double odds = 0, most = 0;
  for (const auto& rival : of_other_lines(alike, labels)) {
    const double against = rival.line_bytes > alike.line_bytes ? model::score(of_pairs(alike), walks).log_posterior : own_lines;
    const double each = (1 - kMostConfidence) * std::exp(std::min(700.0, model::score(rival, walks).log_posterior - against));
    if (each > most) most = each, best = rival.line_bytes;
    odds += each;
  }
  return odds;
}

/// The address bits in which the lines differ that the stage added to: what the others do, its sets do not tell.
std::vector<int> varied_bits(const SetGrowth& growth, std::int64_t line_bytes) {
  std::vector<int> bits;
  if (!std::has_single_bit(static_cast<std::uint64_t>(line_bytes))) return bits;
  std::uint64_t varied = 0;
  for (const auto line : growth.number) varied |= static_cast<std::uint64_t>(line ^ growth.number.front());
  for (int bit = 0; bit < 64; ++bit) {
    if (varied >> bit & 1) bits.push_back(bit + std::countr_zero(static_cast<std::uint64_t>(line_bytes)));
  }
  return bits;
}

/// The functions to hold against the walks: those that are likeliest of all simple ones, and those that (nearly) explain the lines.
std::vector<SetCandidate> functions(const SetGrowth& growth, const std::vector<Explanation>& by_labels, const MissRange& border, const std::vector<int>& bits, const model::Walks& walks) {
  const auto& own = by_labels.front().candidate.hypothesis;
  auto all = model::likeliest_functions(walks, bits, own.line_bytes, own.fill_bytes, kCandidates);
  std::vector<std::pair<SetIndex, std::size_t>> proposed;  // with the number of sets
  for (const auto& each : by_labels) {
    const auto labels = labels_of(growth, each);
    const auto sets = each.sets.size();
    if (auto exact = find_set_index(labels, sets, own.line_bytes); exact.mapping != "not bit-defined") proposed.emplace_back(std::move(exact), sets);
    if (auto nearly = nearest_linear_index(labels, sets, own.line_bytes)) proposed.emplace_back(std::move(*nearly), sets);
  }
  for (auto& [index, sets] : proposed) {
    if (std::any_of(all.begin(), all.end(), [&, &made = index](const SetCandidate& other) { return is_same_index(other.index, made); })) continue;
    auto hypothesis = model::indexed(index, sets, own.line_bytes, static_cast<int>(bits.size()));
    hypothesis.fill_bytes = own.fill_bytes;
    auto score = model::score(hypothesis, walks);
    all.push_back({std::move(hypothesis), std::move(index), std::move(score)});
  }
  for (auto& index : of_first_overflow(growth, border, bits, own.line_bytes)) {
    auto hypothesis = model::indexed(index, std::size_t{1} << index.functions.size(), own.line_bytes, static_cast<int>(bits.size()));
    hypothesis.fill_bytes = own.fill_bytes;
    // Other walks may go further: bits that no added line has changed may take part, so of lines that differ in them it says nothing.
    std::int64_t varied = 0;
    for (const auto line : growth.number) varied |= line ^ growth.number.front();
    hypothesis.set_of = [of_any = hypothesis.set_of, varied, first = growth.number.front()](std::int64_t line) {
      return ((line ^ first) & ~varied) != 0 ? model::kNoSet : of_any(line);
    };
    auto score = model::score(hypothesis, walks);
    const auto same = std::find_if(all.begin(), all.end(), [&](const SetCandidate& other) { return is_same_index(other.index, index); });
    if (same == all.end()) all.push_back({std::move(hypothesis), std::move(index), std::move(score)});
    else if (score.log_posterior > same->score.log_posterior) *same = {std::move(hypothesis), std::move(index), std::move(score)};
  }
  const auto better = [](const SetCandidate& a, const SetCandidate& b) { return a.score.log_posterior < b.score.log_posterior; };
  for (auto best = std::max_element(all.begin(), all.end(), better); best != all.end();) {
    auto finer = model::with_another_bit(*best, walks, bits, kCandidates);
    if (!finer || std::any_of(all.begin(), all.end(), [&](const SetCandidate& other) { return is_same_index(other.index, finer->index); })) break;
    const bool done = finer->score.log_posterior <= best->score.log_posterior;
    all.push_back(std::move(*finer));
    best = done ? all.end() : std::prev(all.end());
  }
  return all;
}

/// Most lines that were added at once where a set overflowed.
std::size_t added_at_once(const SetGrowth& growth, const Explanation& explanation) {
  std::size_t most = 0;
  for (const auto& set : explanation.sets) {
    const auto level = growth.levels.find(set.onset);
    if (level != growth.levels.begin()) most = std::max(most, level->second.present - std::prev(level)->second.present);
  }
  return most;
}

/// A walk that fills all sets and visits a line of none of them, and never misses.
const model::Footprint* beside_full_sets(const Explanation& explanation, const model::Walks& walks) {
  const auto& hypothesis = explanation.candidate.hypothesis;
  const auto& sizes = explanation.candidate.score.sizes;
  for (const auto& footprint : walks.footprints) {
    if (!footprint.never_misses()) continue;
    std::map<std::uint32_t, std::set<std::int64_t>> lines;
    for (const auto address : footprint.addresses) {
      const auto line = walks.offsets[address] / hypothesis.line_bytes;
      lines[hypothesis.set_of(line)].insert(line);
    }
    bool full = lines.contains(model::kNoSet);
    for (std::uint32_t set = 0; full && set < sizes.size(); ++set) full = lines[set].size() >= sizes[set];
    if (full) return &footprint;
  }
  return nullptr;
}

/// Lines that the sets hold together which were seen to overflow: one fewer each than share it.
std::size_t lines_of_full_sets(const Explanation& explanation) {
  std::size_t lines = 0;
  for (const auto& set : explanation.sets) lines += set.lines.size() - 1;
  return lines;
}

/// Why the likeliest hypothesis is no answer; empty where it is one. `foretold`: it told beforehand which lines would miss.
std::string open_question(const SetGrowth& growth, const Explanation& best, const model::Walks& walks, bool foretold = false) {
  const auto& score = best.candidate.score;
  if (score.worst > kContradicted) {
    return fmt::format("{} sets, which predict the walks best, would not miss as the walk of {} did; another size of line, or another structure that overflows, "
                       "may be behind it: a walk of half the stride would decide", best.sets.size(), walks.footprints[score.worst_footprint].where);
  }
  if (const auto several = model::uneven_set(best.candidate.hypothesis, score, walks, foretold)) {
    return model::several_sets(*several, walks);
  }
  if (best.fitting > 0) {
    return fmt::format("{} sets with {} lines were seen to overflow, {} of {} lines never missed: there are more sets; more added lines would decide", best.sets.size(), lines_of_full_sets(best),
                       best.fitting, growth.number.size());
  }
  if (const auto* walk = beside_full_sets(best, walks)) {
    return fmt::format("{} sets were seen to overflow, and the walk of {} fills them and visits a line more, which finds room: "
                       "there are more sets, which the added lines do not reach; lines whose addresses differ in more bits would decide", best.sets.size(), walk->where);
  }
  const auto together = added_at_once(growth, best);
  if (!best.by_function && together > 1) {
    return fmt::format("{} lines are added at a time: sets that overflow together look like one, and one of them may have had room for some; one line at a time would decide", together);
  }
  if (!best.told) return "the sizes of the sets are not told from one line more or fewer; one line at a time, or more repetitions, would decide";
  return "";
}

}  // namespace

SetAnswer likeliest_sets(const Context& context, const SetGrowth& growth, const std::vector<LineSet>& guess, const MissRange& border, std::int64_t line_bytes,
                         std::optional<double> slower_than) {
  SetAnswer answer;
  answer.bits = varied_bits(growth, line_bytes);
  const auto walks = all_walks(context, slower_than);
  if (walks.of_first_stage == 0) {
    answer.why = "each walk is timed for one lap only, after a warm-up over other addresses: what misses may come for the first time; "
                 "two laps would decide";
    return answer;
  }
  std::vector<Explanation> all, by_labels;
  const auto line_by_line = sets_by_line(growth, guess, line_bytes, walks);
  for (const auto& each : line_by_line) {
    const bool known = std::any_of(by_labels.begin(), by_labels.end(), [&](const Explanation& other) { return answer_of(other) == answer_of(each.explanation); });
    if (!known) by_labels.push_back(each.explanation);
  }
  for (auto& candidate : functions(growth, by_labels, border, answer.bits, walks)) all.push_back(explained(growth, std::move(candidate), true));
  for (auto& lines : by_labels) {  // the last: a function that does as well says more; one set is a function
    if (lines.candidate.hypothesis.sets > 1) all.push_back(std::move(lines));
  }
  const auto posterior = [](const Explanation& each) { return each.candidate.score.log_posterior; };
  const auto likelier = [&](const auto& a, const auto& b) { return posterior(a) < posterior(b); };
  // What leaves a question open is no answer. Lines in sets of their own may predict the walks better than what is true, with a set for every
  // accident. So the likeliest function is one, if it leaves none open and told beforehand which lines would miss next.
  const auto& likeliest = *std::max_element(all.begin(), all.end(), likelier);
  answer.why = open_question(growth, likeliest, walks);
  if (!answer.why.empty()) {
    const bool predicts = likeliest.candidate.score.worst <= kContradicted && !model::uneven_set(likeliest.candidate.hypothesis, likeliest.candidate.score, walks, false);
    if (predicts && likeliest.fitting > 0) answer.lines_held = static_cast<double>(lines_of_full_sets(likeliest) + likeliest.fitting);
    std::erase_if(all, [](const Explanation& each) { return !each.by_function; });
    if (all.empty()) return answer;
    const auto& function = *std::max_element(all.begin(), all.end(), likelier);
    if (log_of_foretold(growth, border, function.candidate.hypothesis, function.candidate.score) < kContradicted || !open_question(growth, function, walks, true).empty()) return answer;
    answer.why.clear();
  }
  const auto& best = *std::max_element(all.begin(), all.end(), likelier);
  std::int64_t other_lines = 0;
  const double odds_of_lines = odds_of_other_lines(best, labels_of(growth, best), walks, other_lines);
  const auto own = answer_of(best);
  double same = 0, others = std::exp(model::log_of_none(walks) - posterior(best));
  double of_more_sets = 0;
  double named = 0, by_name = 0;  // of those with the same sets, which have to say of all other lines which they are of, too
  for (const auto& each : all) {
    const double odds = std::exp(posterior(each) - posterior(best));
    const bool is_same = answer_of(each) == own;
    (is_same ? same : others) += odds;
    // One set is chosen by nothing, whatever else would choose among several.
    const double no_function = !is_same || each.candidate.hypothesis.sets == 1 ? 0 : each.by_function ? odds * odds_of_no_function(each, walks) : odds;
    if (no_function > 0) of_more_sets += no_function * odds_of_more_sets(growth, each);
    const double naming = is_same ? odds * std::exp(std::min(0.0, best.candidate.score.unsaid - each.candidate.score.unsaid)) : 0;
    named += naming + (each.by_function ? no_function : 0);
    if (is_same_index(each.candidate.index, best.candidate.index) && each.by_function) by_name += naming;
  }
  const auto as_found = std::find_if(line_by_line.begin(), line_by_line.end(), [&](const LineByLine& each) { return answer_of(each.explanation) == own; });
  const double odds_of_others = best.by_function ? 0 : odds_of_moves(growth, *as_found, walks);
  const bool more_sets = of_more_sets > std::max(odds_of_others, others);
  others += odds_of_others + of_more_sets;
  answer.confidence = same / (same + others + odds_of_lines);
  if (odds_of_lines > others) answer.why = fmt::format("lines of {} B predict the walks of the file as well; a walk of half the stride would decide", other_lines);
  else if (more_sets) answer.why = "sets that no function names may be more than these, and the added lines of others by chance; more added lines would decide";
  else if (odds_of_others > 0) answer.why = "lines miss so rarely that some may be counted to the wrong set: more orders or repetitions would decide";
  else answer.why = "other sets predict the walks nearly as well; more added lines, or more orders, would decide";
  answer.sets = best.sets;
  const double of_name = answer.confidence * by_name / named;
  if (best.by_function && by_name >= model::kGivenPart * named && of_name >= context.question.need) answer.index = best.candidate.index, answer.confidence = of_name;
  else if (!best.by_function && best.candidate.index.mapping == "not bit-defined") answer.index = best.candidate.index;
  return answer;
}

}  // namespace gexp::infer
