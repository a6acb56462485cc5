// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/outstanding_tables.h"

// The answer is the table that weighs most of all in outstanding_tables.cpp; what it weighs is the confidence. It abstains when that is
// not enough, and names what else explains the curves, and which curve would decide; and when noise is no smaller than what is looked for.
namespace gexp::infer {
namespace {

std::string range(const EntryRange& values) { return infer::range(values.low, values.high); }

/// By how much one step in ten falls, of all `steps`: issuing more hardly takes less time.
double noise_of(std::vector<double> steps) {
  if (steps.empty()) return 0;
  const auto tenth = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 10);
  std::nth_element(steps.begin(), tenth, steps.end());
  return std::max(0.0, -*tenth);
}

/// The first samples of a curve that wait for no line because too many warps want it.
std::vector<Curve::Sample> without_merging(const Context& context, const std::vector<Curve::Sample>& samples, double most) {
  const auto end = std::find_if(samples.begin(), samples.end(), [&](const auto& sample) {
    const auto asked = requests_at(context, sample.point);
    return asked && asked->a_line() > most;
  });
  return {samples.begin(), end};
}

/// The curves of the table with what they ask for, or why there are none.
std::string collect(const Context& context, std::vector<RequestCurve>& all, Merges& merges) {
  const auto* data = argument(context);
  if (!data || !data->over || !argument(context, "requests") || !argument(context, "instructions")) return "the analysis has no data";
  const auto samples = curve(context);
  if (!samples) return samples.error().message;
  double shortest = INFINITY;
  for (const auto& sample : samples->samples) shortest = std::min(shortest, sample.y);
  const auto latency = latency_of(context, shortest);
  if (!latency) return "the latency after `latency:` is not known";
  std::vector<double> steps;
  auto groups = series_of(context, *samples, *data->over);
  merges = merges_of(context, groups, shortest + kNoWait * *latency);
  // Entries that merge so many; or so many as were seen; or where nothing tells, any number: what then waits is no evidence of a table.
  const double merged = !argument(context, "accesses") ? INFINITY : !merges.compared ? 1 : merges.weight > 0.5 ? merges.most : INFINITY;
  for (auto& group : groups) {
    group.samples = without_merging(context, group.samples, merged);
    RequestCurve series;
    series.name = name_of(group.at);
    for (const auto& sample : group.samples) {
      const auto asked = requests_at(context, sample.point);
      if (!asked) return fmt::format("what was asked for is not known at every point ({})", series.name);
      series.asked.push_back(*asked), series.threads.push_back(sample.x), series.times.push_back((sample.y - shortest) / *latency);
    }
    judge_rise(series);
    const auto fits = series.jumps() ? series.last : last_below(series.times, kNoWait);
    if (!fits) continue;
    for (std::size_t i = 0; i < *fits; ++i) steps.push_back(series.times[i + 1] - series.times[i]);
    all.push_back(std::move(series));
  }
  if (const double noise = noise_of(steps); noise > model::kHidden) return fmt::format("one time in ten is {:.0f} % of a latency below that with fewer threads: such noise hides a jump; more repetitions would decide", 100 * noise);
  return all.empty() ? "no curve begins where it is fast" : "";
}

/// What sharing of lines by warps showed.
std::string about_merges(const Context& context, const Merges& merges, bool known) {
  if (!argument(context, "accesses")) return {};
  if (!merges.compared) return "; nothing is known of merging: no curve in which warps ask for the same lines has one beside it whose warps do not";
  if (known) return fmt::format("; {} requests of warps for one line wait together, and {} do not", merges.most, merges.next);
  if (merges.weight < 0.5) return fmt::format("; up to {} requests of warps for one line were measured; at none of them all curves begin to wait", merges.seen);
  if (!merges.exact) return fmt::format("; {} requests of warps for one line wait together, and {} do not: smaller steps would tell the number that is merged", merges.most, merges.next);
  return fmt::format("; {} requests of warps for one line wait together, but that is {:.0f} % sure only", merges.most, 100 * merges.weight);
}

std::string what_decides(const std::vector<RequestCurve>& all) {
  double least = INFINITY, most = 0;
  for (const auto& series : all) {
    if (!series.jumps()) continue;
    const auto& asked = series.asked[*series.last + 1];
    const double each = asked.lines / asked.instructions;
    least = std::min(least, each), most = std::max(most, each);
  }
  return fmt::format("the curves that jump ask for {:.3g}{} lines an instruction; one that asks for far fewer, by threads that share a line, and still passes either number would decide", least,
                     most > 1.05 * least ? fmt::format(" to {:.3g}", most) : "");
}

/// The most that is known to fit: what took no longer than a latency.
RequestCounts known_to_fit(const std::vector<RequestCurve>& all) {
  RequestCounts most;
  for (const auto& series : all) {
    const auto last = last_below(series.times, kNoWait);
    if (!last) continue;
    const auto& asked = series.asked[*last];
    most.lines = std::max(most.lines, asked.lines), most.instructions = std::max(most.instructions, asked.instructions / asked.a_line());
  }
  return most;
}

std::string percent_of(double weight) { return fmt::format("{:.1f} %", 100 * std::min(weight, kMostConfidence)); }

/// "an MSHR of 128 to 131 lines (99.9 %)"
std::string described(const TableWeights& weights, TableKind kind) {
  const auto table = table_of(weights, kind);
  const auto weight = percent_of(weights.kinds.contains(kind) ? weights.kinds.at(kind) : 0);
  switch (kind) {
    case TableKind::None: return fmt::format("no table ({})", percent_of(weights.unseen));
    case TableKind::Own: return fmt::format("no one table, as curves jump for reasons of their own ({})", weight);
    case TableKind::Warps: return fmt::format("how warps are scheduled, as curves jump where {:g} threads run ({})", table.entries.high, weight);
    case TableKind::Lines: return fmt::format("a table of {} lines (MSHR, {})", range(table.entries), weight);
    case TableKind::Instructions: return fmt::format("one of {} warp instructions (PRT, {})", range(table.entries), weight);
    case TableKind::Both: return fmt::format("one of {} warp instructions that hold {} lines together ({})", range(table.entries), range(table.requests), weight);
  }
  return {};
}

/// Why no table is told: the likeliest explanations, and what would part them.
Finding not_told(const Context& context, const std::vector<RequestCurve>& all, const TableWeights& weights, const std::string& evidence) {
  std::vector<TableKind> kinds;
  for (const auto& [kind, weight] : weights.kinds) {
    if (weight > 1 - kMostConfidence) kinds.push_back(kind);
  }
  std::sort(kinds.begin(), kinds.end(), [&](TableKind a, TableKind b) { return weights.kinds.at(a) > weights.kinds.at(b); });
  std::string text;
  for (const auto kind : kinds) text += (text.empty() ? "" : "; ") + described(weights, kind);
  const auto jumping = std::count_if(all.begin(), all.end(), [](const RequestCurve& series) { return series.jumps(); });
  const auto weight = [&](TableKind kind) { return weights.kinds.contains(kind) ? weights.kinds.at(kind) : 0; };
  std::string why;
  if (jumping == 1) why = "one curve alone jumps, which may be how its warps are scheduled; other loads of a thread, or other threads that share a line, would decide";
  else if (weight(TableKind::Lines) > 1 - context.question.need && weight(TableKind::Instructions) > 1 - context.question.need) why = what_decides(all);
  else if (weight(TableKind::Warps) > 1 - context.question.need) why = "the curves that jump may do so where as many warps run; other loads of a thread, or hits beside misses, would decide";
  else if (weight(TableKind::Own) > 0.5) why = "neither a number of lines nor one of warp instructions, nor both together, explains all jumps";
  else why = "more loads of a thread, or more ways to share a line, would decide";
  auto none = undetermined(context, fmt::format("{}. What explains the curves: {}", why, text));
  none.evidence = evidence;
  return none;
}

}  // namespace

std::optional<RequestCounts> requests_at(const Context& context, std::size_t point) {
  const auto* accesses = argument(context, "accesses");
  const auto lines = number_at(context, *argument(context, "requests")->value, point), instructions = number_at(context, *argument(context, "instructions")->value, point);
  const auto all = accesses ? number_at(context, *accesses->value, point) : lines;
  if (!lines || !instructions || !all) return std::nullopt;
  return RequestCounts{lines->number, instructions->number, all->number};
}

std::optional<double> latency_of(const Context& context, double shortest) {
  if (!argument(context, "latency")) return shortest;
  const auto value = argument_value(context, "latency");
  const auto* n = value.get<Number>();
  return n && n->number > 0 ? std::optional(std::min(shortest, n->number)) : std::nullopt;
}

std::string range(double low, double high) { return high - low > 1 && std::isfinite(high) ? fmt::format("{} to {}", low, high - 1) : fmt::format("{}", low); }

Finding none_seen(const Context& context, const RequestCounts& fits, double confidence, const std::string& why, const std::string& evidence) {
  Fields fields;
  fields["kind"] = Value("none seen");
  fields["requests"] = Value(fits.lines);
  fields["instructions"] = Value(fits.instructions);
  return found(context, Value(std::move(fields)), confidence, fmt::format("{}: {} lines and {} warp instructions fit, as far as a full table would be seen", why, fits.lines, fits.instructions), evidence);
}

Finding outstanding(const Context& context) {
  if (argument(context, "hits")) return outstanding_beside_hits(context);
  std::vector<RequestCurve> all;
  Merges merges;
  if (const auto why = collect(context, all, merges); !why.empty()) return undetermined(context, why);
  const auto weights = weigh_tables(all);
  const auto jumping = std::count_if(all.begin(), all.end(), [](const RequestCurve& series) { return series.jumps(); });
  const auto evidence = fmt::format("{} of {} curves jump", jumping, all.size());
  if (weights.unseen > 0.5) return none_seen(context, known_to_fit(all), std::min(weights.unseen, kMostConfidence), "no curve jumps", evidence);
  const auto kind = std::max_element(weights.kinds.begin(), weights.kinds.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  const auto table = table_of(weights, kind);
  if ((kind != TableKind::Lines && kind != TableKind::Instructions && kind != TableKind::Both) || table.weight < context.question.need) return not_told(context, all, weights, evidence);
  Fields fields;
  fields["kind"] = Value(kind == TableKind::Lines ? "mshr" : "prt");
  fields["entries"] = Value(table.entries.low);
  fields["most"] = Value(table.entries.high - 1);
  if (kind != TableKind::Instructions) fields["requests"] = Value(table.requests.low);
  double confidence = std::min(table.weight, kMostConfidence);
  std::string shared;
  if (kind == TableKind::Lines) {
    const bool known = merges.exact && merges.weight > 0.5 && merges.weight >= context.question.need;
    if (known) fields["merges"] = Value(merges.most), confidence = std::min(confidence, merges.weight);
    shared = about_merges(context, merges, known);
  }
  std::string rivals;
  for (const auto& [other, of_it] : weights.kinds) {
    if (other != kind && of_it > 1 - kMostConfidence) rivals += (rivals.empty() ? "; less likely: " : ", ") + described(weights, other);
  }
  return found(context, Value(std::move(fields)), confidence,
               fmt::format("{} explains where {} curves jump, and why the others do not{}{}", described(weights, kind), weights.all[0].jumps, rivals, shared), evidence);
}

}  // namespace gexp::infer
