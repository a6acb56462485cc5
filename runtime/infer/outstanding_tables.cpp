// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/outstanding_tables.h"

#include <algorithm>
#include <cmath>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"

// What books the requests of a multiprocessor that are under way can be a table of lines, whoever asks for them (MSHR), or a table of
// warp instructions, whatever they ask for (PRT; Lashgar15 section 2). Each curve of time over threads jumps where its table is full. So
// a hypothesis predicts where every curve jumps, and which do not:
//   mshr  where lines pass the entries;
//   prt   where instructions pass the entries;
//   both  where they or lines pass a second number, of requests that all entries hold together (on Kepler whole warps of 32 lines each
//         are too many: Lashgar15 Figures 9 and 10);
//   warps where so many threads run, in any of the curves: how warps are scheduled;
//   own   each curve where it likes, and a table with such curves beside it;
//   none  nowhere.
//
// Nothing waits for an entry before the first request is back, one latency after it left. So what takes less than the shortest launch
// and a latency more has found room, however its warps were scheduled; what takes longer may have waited, or issued for as long.
// So each curve has one rise that may be the table's: the one that leads past that time. Issuing makes rises, too, and the curve shows how
// large: one in two is larger than all before, and those twice as large are four times as rare. A table's adds any size up to a latency.
// How much likelier it makes the rise is what the curve says for every hypothesis that predicts a jump there. A hypothesis under which
// some launch had to wait that took no longer than one latency needs an accident for each. Where issuing alone takes most of a latency
// there is no rise to judge: the curve says what fits and no more.
// The latency is `latency:`; without it, the shortest time, which holds a barrier too.
namespace gexp::infer {
namespace {


/// What a table counts: `sure` in use at a point at least, and `asked` for at most. What joins a request that is under way may hold no
/// entry of its own.
struct Measure {
  double (*sure)(const RequestCurve& series, std::size_t i);
  double (*asked)(const RequestCurve& series, std::size_t i);
};
double lines_at(const RequestCurve& series, std::size_t i) { return series.asked[i].lines; }
double instructions_at(const RequestCurve& series, std::size_t i) { return series.asked[i].instructions; }
double sure_instructions_at(const RequestCurve& series, std::size_t i) { return series.asked[i].instructions / series.asked[i].a_line(); }
double threads_at(const RequestCurve& series, std::size_t i) { return series.threads[i]; }
constexpr Measure kLines{lines_at, lines_at}, kInstructions{sure_instructions_at, instructions_at};  // fact: what is counted of loads
constexpr Measure kThreads{threads_at, threads_at};  // fact: and of threads

/// What one number of entries predicts of a curve.
struct Predicted {
  bool jump = false;
  std::size_t contradictions = 0;
};
Predicted predicted(const RequestCurve& series, const Measure& measure, double entries) {
  Predicted made;
  const auto end = series.last ? *series.last + 1 : series.times.size();
  for (std::size_t i = end; i-- > 0 && measure.sure(series, i) > entries && made.contradictions < model::kFewest;) made.contradictions += series.times[i] < kNoWait;
  made.jump = series.last && measure.sure(series, *series.last) <= entries && measure.asked(series, *series.last + 1) > entries;
  return made;
}

/// Numbers that tell launches apart: each fits, and the next does not.
std::vector<double> numbers_of(const std::vector<RequestCurve>& all, double (*asked)(const RequestCurve&, std::size_t)) {
  std::vector<double> numbers;
  for (const auto& series : all) {
    for (std::size_t i = 0; i < series.times.size(); ++i) numbers.push_back(asked(series, i));
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

void add_curve(TableHypothesis& hypothesis, const RequestCurve& series, bool jump, std::size_t contradictions) {
  hypothesis.evidence += static_cast<double>(contradictions) * std::log(model::kAccident) + (jump ? series.odds : 0);
  if (jump) ++hypothesis.jumps;
  else if (series.jumps()) hypothesis.others += series.odds - series.places();
}

/// One number of lines, or of instructions, explains all curves.
std::vector<TableHypothesis> of_one_number(const std::vector<RequestCurve>& all, TableKind kind, const Measure& measure) {
  const auto numbers = numbers_of(all, measure.asked);
  std::vector<TableHypothesis> made;
  for (std::size_t k = 0; k < numbers.size(); ++k) {
    TableHypothesis each{kind, numbers[k], k + 1 < numbers.size() ? numbers[k + 1] : INFINITY, 0, INFINITY, -std::log(static_cast<double>(numbers.size())), 0, 0};
    work(all.size());
    for (const auto& series : all) {
      const auto of_it = predicted(series, measure, numbers[k]);
      // How warps are scheduled may concern some curves only, and makes nothing wait that long.
      add_curve(each, series, kind == TableKind::Warps ? of_it.jump && series.odds > 0 : of_it.jump, kind == TableKind::Warps ? 0 : of_it.contradictions);
    }
    made.push_back(each);
  }
  return made;
}

/// Two numbers: of instructions, and of lines that they hold together. Only numbers at which a curve jumps are tried: others explain less.
std::vector<TableHypothesis> of_both(const std::vector<RequestCurve>& all) {
  const auto entries = numbers_of(all, instructions_at), requests = numbers_of(all, lines_at);
  const auto tried = [&](const std::vector<double>& numbers, const Measure& measure) {
    std::vector<std::pair<std::size_t, std::vector<Predicted>>> kept;
    for (std::size_t k = 0; k < numbers.size(); ++k) {
      work(all.size());
      std::vector<Predicted> of_all;
      for (const auto& series : all) of_all.push_back(predicted(series, measure, numbers[k]));
      if (std::any_of(of_all.begin(), of_all.end(), [](const Predicted& each) { return each.jump; })) kept.emplace_back(k, std::move(of_all));
    }
    return kept;
  };
  std::vector<TableHypothesis> made;
  const auto by_lines = tried(requests, kLines);
  for (const auto& [e, of_entries] : tried(entries, kInstructions)) {
    for (const auto& [r, of_requests] : by_lines) {
      TableHypothesis each{TableKind::Both, entries[e], e + 1 < entries.size() ? entries[e + 1] : INFINITY, requests[r], r + 1 < requests.size() ? requests[r + 1] : INFINITY, 0, 0, 0};
      each.evidence = -std::log(static_cast<double>(entries.size())) - std::log(static_cast<double>(requests.size()));
      work(1 + all.size() / 4);
      bool entries_needed = false, requests_needed = false;
      for (std::size_t i = 0; i < all.size(); ++i) {
        entries_needed = entries_needed || (of_entries[i].jump && !of_requests[i].jump);
        requests_needed = requests_needed || (of_requests[i].jump && !of_entries[i].jump);
        add_curve(each, all[i], of_entries[i].jump || of_requests[i].jump, std::max(of_entries[i].contradictions, of_requests[i].contradictions));
      }
      if (entries_needed && requests_needed) made.push_back(each);  // else one number predicts the same
    }
  }
  return made;
}

/// How likely a rise of issuing is at most `rise`: one in two is below `other`, evenly, and those twice as large are four times as rare.
double issuing_below(double rise, double other) {
  if (rise <= other) return std::max(rise, 0.0) / (2 * other);
  return 1 - other * other / (2 * rise * rise);
}

/// Logarithm: how much likelier the wait for a table, of anything up to a latency, makes a rise than issuing alone. Who waits issues, too:
/// both rises add up.
double odds_of_table(double rise, double other) {
  rise = std::max(rise, model::kIssueRise);
  const double issuing = rise <= other ? 1 / (2 * other) : other * other / (rise * rise * rise);
  return std::log((issuing_below(rise, other) - issuing_below(rise - 1, other)) / issuing);
}

/// The likeliest values of a number of one kind, and their neighbours.
EntryRange likeliest(const TableWeights& weights, TableKind kind, double TableHypothesis::*number, double TableHypothesis::*beyond) {
  std::map<double, EntryRange> classes;
  for (const auto& each : weights.all) {
    if (each.kind != kind || each.jumps == 0) continue;
    auto& one = classes[each.*number];
    one.low = each.*number, one.high = each.*beyond, one.weight += weights.of(each);
  }
  if (classes.empty()) return {};
  auto first = std::max_element(classes.begin(), classes.end(), [](const auto& a, const auto& b) { return a.second.weight < b.second.weight; }), last = first;
  EntryRange made = first->second;
  while (made.weight < model::kSurest * weights.kinds.at(kind)) {
    const double below = first == classes.begin() ? -1 : std::prev(first)->second.weight, above = std::next(last) == classes.end() ? -1 : std::next(last)->second.weight;
    if (below < 0 && above < 0) break;
    made.weight += std::max(below, above);
    if (below >= above) made.low = (--first)->second.low;
    else made.high = (++last)->second.high;
  }
  return made;
}

}  // namespace

TableWeights weigh_tables(const std::vector<RequestCurve>& all) {
  TableWeights weights;
  TableHypothesis own{TableKind::Own, 0, INFINITY, 0, INFINITY, 0, 0, 0};
  for (const auto& series : all) {
    if (series.jumps()) own.evidence += series.odds - series.places(), ++own.jumps;
  }
  weights.all.push_back({});
  if (own.jumps > 0) weights.all.push_back(own);
  for (auto made : {of_one_number(all, TableKind::Lines, kLines), of_one_number(all, TableKind::Instructions, kInstructions), of_one_number(all, TableKind::Warps, kThreads), of_both(all)}) {
    for (const auto& each : made) {
      if (each.kind == TableKind::Warps && each.jumps == 0) continue;  // the same as none
      weights.all.push_back(each);
      if (each.others <= 0) continue;
      weights.all.push_back({TableKind::Own, 0, INFINITY, 0, INFINITY, each.evidence + each.others, 0, each.jumps});
    }
  }
  std::stable_sort(weights.all.begin(), weights.all.end(), [](const TableHypothesis& a, const TableHypothesis& b) { return a.evidence > b.evidence; });
  weights.most = weights.all[0].evidence;
  for (const auto& each : weights.all) weights.sum += std::exp(each.evidence - weights.most);
  for (const auto& each : weights.all) {
    weights.kinds[each.kind] += weights.of(each);
    if (each.jumps == 0) weights.unseen += weights.of(each);
  }
  return weights;
}

TableEntries table_of(const TableWeights& weights, TableKind kind) {
  TableEntries table;
  table.entries = likeliest(weights, kind, &TableHypothesis::entries, &TableHypothesis::next);
  table.requests = kind == TableKind::Both ? likeliest(weights, kind, &TableHypothesis::requests, &TableHypothesis::past) : table.entries;
  table.weight = std::min(table.entries.weight, table.requests.weight);
  return table;
}

std::optional<std::size_t> last_below(const std::vector<double>& times, double limit) {
  const auto last = std::find_if(times.rbegin(), times.rend(), [&](double time) { return time < limit; });
  return last == times.rend() ? std::nullopt : std::optional(static_cast<std::size_t>(times.rend() - last) - 1);
}

void judge_rise(RequestCurve& series) {
  const auto& times = series.times;
  const auto last = last_below(times, 1 - model::kHidden);
  if (!last || *last < model::kFewest || *last + model::kFewest >= times.size()) return;
  double other = model::kIssueRise;
  for (std::size_t i = 0; i <= *last + *last / 2 && i + 1 < times.size(); ++i) {
    if (i != *last) other = std::max(other, times[i + 1] - times[i]);
  }
  series.last = last;
  series.odds = odds_of_table(times[*last + 1] - times[*last], other);
}

}  // namespace gexp::infer
