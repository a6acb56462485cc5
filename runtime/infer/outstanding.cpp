// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/requests.h"

// What books the requests of a multiprocessor that are under way can be a table of lines, whoever asks for them (MSHR), or a table of
// warp instructions, whatever they ask for (PRT; Lashgar15 section 2). Each curve of time over threads jumps where its table is full,
// so each hypothesis is one number that must predict the first jump of every curve, and the curves that do not jump:
//   mshr  a curve jumps where its lines pass the entries;
//   prt   a curve jumps where its instructions pass the entries, or, if that does not do, where they or its lines pass a second
//         number, of requests that all entries hold together (on Kepler whole warps of 32 lines each are too many: Lashgar15 Figures
//         9 and 10).
// Every jump says "these fitted, those did not", every curve without one "all these fit". A number is left, or none is. The second
// number of a PRT is taken up only when one number fails, and only if two curves or more ask for each: it could fit too much.
//
// Nothing waits for an entry before the first request is back, one latency after it left. So what takes less than the shortest launch
// and a latency more has found room, however its warps were scheduled; what takes longer may have waited, or issued for as long.
// That it waited shows by a rise past that time that issuing does not make: far above all rises of the curve before it, where nothing
// waited, and above those soon after it, where the table is not yet full again. Warps of a scheduler that delay one another more and
// more make rises of their own, but one like the other. Where issuing alone takes most of a latency there is no jump: the curve says
// what fits and no more.
// The latency is `latency:`; without it, the shortest time, which holds a barrier too.
//
// It abstains when mshr and prt both fit, as where all curves ask for as many lines an instruction, and says which curve would
// decide; when neither does; when one curve alone jumps, or all at the same number of threads; and when noise is no smaller than what is looked for.
namespace gexp::infer {
namespace {

constexpr double kWaited = 0.9;           // latencies beyond the shortest time, past which a jump leads
constexpr double kRise = 0.25;            // latencies that a jump adds, at least
constexpr double kStandsOut = 2.5;        // times any other rise from the first point to half as many again: a jump
constexpr std::size_t kBefore = 4;        // points that tell how large rises of issuing are
constexpr double kNoise = 0.1;            // latencies by which one step in ten falls, at most: with more, times may lie on either side
constexpr std::size_t kCurvesOfEach = 2;  // that show each number of a PRT

struct Series {
  std::string name;
  std::size_t points = 0;
  RequestCounts fits;                     ///< the most that is known to fit
  std::optional<RequestCounts> too_many;  ///< after the jump
  double before = 0, after = 0;   ///< abscissae beside the jump
};

/// One number that must lie above all that fits and not above what does not.
struct Limit {
  double low = 0, high = INFINITY;      ///< low fits, high does not
  const Series* fits = nullptr;         ///< the curve that asked for `low` without a jump
  const Series* too_many = nullptr;     ///< the one that jumped at `high`
  std::size_t curves = 0;               ///< that jump by it
  [[nodiscard]] bool possible() const { return low < high; }
};

Limit limit_of(const std::vector<Series>& all, RequestCount measure) {
  Limit limit;
  for (const auto& series : all) {
    if (series.fits.*measure > limit.low) limit.low = series.fits.*measure, limit.fits = &series;
    if (!series.too_many) continue;
    ++limit.curves;
    if ((*series.too_many).*measure < limit.high) limit.high = (*series.too_many).*measure, limit.too_many = &series;
  }
  return limit;
}

/// Two numbers: the least that lets everything fit which did. A jump that one of them alone explains bounds that one.
std::optional<std::pair<Limit, Limit>> table_of(const std::vector<Series>& all) {
  Limit entries{limit_of(all, &RequestCounts::instructions).low}, requests{limit_of(all, &RequestCounts::lines).low};
  for (const auto& series : all) {
    if (!series.too_many) continue;
    const auto& asked = *series.too_many;
    const bool by_entries = asked.instructions > entries.low, by_requests = asked.lines > requests.low;
    if (!by_entries && !by_requests) return std::nullopt;
    auto& only = by_entries ? entries : requests;
    if (by_entries == by_requests) continue;
    ++only.curves;
    only.high = std::min(only.high, by_entries ? asked.instructions : asked.lines);
  }
  return std::pair(entries, requests);
}

std::string refuted(const Limit& limit, const char* what) {
  return fmt::format("{} {} fit ({}) and {} do not ({})", limit.low, what, limit.fits ? limit.fits->name : "", limit.high, limit.too_many ? limit.too_many->name : "");
}

std::string range(const Limit& limit) { return infer::range(limit.low, limit.high); }

/// Whether all jumps may lie at one abscissa, whatever the curves ask for there.
bool all_at_one_x(const std::vector<Series>& all) {
  double before = -INFINITY, after = INFINITY;
  for (const auto& series : all) {
    if (series.too_many) before = std::max(before, series.before), after = std::min(after, series.after);
  }
  return before < after;
}

/// Chance that as many jumps fall where a number wants them by luck: each may lie at any point of its curve.
double by_luck(const std::vector<Series>& all) {
  double chance = 1;
  bool first = true;
  for (const auto& series : all) {
    if (!series.too_many) continue;
    if (!first) chance *= 2.0 / static_cast<double>(series.points);
    first = false;
  }
  return chance;
}

/// Index of the last time below `limit`; nullopt where there is none.
std::optional<std::size_t> last_below(const std::vector<double>& times, double limit) {
  const auto last = std::find_if(times.rbegin(), times.rend(), [&](double time) { return time < limit; });
  return last == times.rend() ? std::nullopt : std::optional(static_cast<std::size_t>(times.rend() - last) - 1);
}

bool jumps_after(const std::vector<double>& times, std::size_t last) {
  if (last + 1 < kBefore || last + kPointsAfterJump >= times.size()) return false;
  double other = 0;
  for (std::size_t i = 0; i <= last + last / 2 && i + 1 < times.size(); ++i) {
    if (i != last) other = std::max(other, times[i + 1] - times[i]);
  }
  return times[last + 1] - times[last] >= std::max(kRise, kStandsOut * other);
}

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
std::string collect(const Context& context, std::vector<Series>& all, Merges& merges) {
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
  merges = merges_of(context, groups, shortest + kNoWaitLimit * *latency);
  // Entries that merge so many; or so many as were seen; or where nothing tells, any number: what then waits is no evidence of a table.
  const double merged = !argument(context, "accesses") ? INFINITY : !merges.compared ? 1 : merges.weight > 0.5 ? merges.most : INFINITY;
  for (auto& group : groups) {
    group.samples = without_merging(context, group.samples, merged);
    std::vector<double> times;  // beyond the shortest, in latencies
    for (const auto& sample : group.samples) times.push_back((sample.y - shortest) / *latency);
    const auto before = last_below(times, kWaited);
    const bool jumps = before && jumps_after(times, *before);
    const auto last = jumps ? before : last_below(times, kNoWaitLimit);
    if (!last) continue;
    for (std::size_t i = 0; i < *last; ++i) steps.push_back(times[i + 1] - times[i]);
    auto fits = requests_at(context, group.samples[*last].point);
    const auto next = jumps ? requests_at(context, group.samples[*last + 1].point) : std::nullopt;
    if (!fits || (jumps && !next)) return fmt::format("what was asked for is not known at every point ({})", name_of(group.at));
    fits->instructions /= fits->a_line();  // what joins a request that is under way may hold no entry of its own
    all.push_back({name_of(group.at), times.size(), *fits, next, group.samples[*last].x, next ? group.samples[*last + 1].x : INFINITY});
  }
  if (const double noise = noise_of(steps); noise > kNoise) return fmt::format("one time in ten is {:.0f} % of a latency below that with fewer threads: such noise hides a jump; more repetitions would decide", 100 * noise);
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

std::string what_decides(const std::vector<Series>& all) {
  double least = INFINITY, most = 0;
  for (const auto& series : all) {
    if (!series.too_many) continue;
    const double each = series.too_many->lines / series.too_many->instructions;
    least = std::min(least, each), most = std::max(most, each);
  }
  return fmt::format("the curves that jump ask for {:.3g}{} lines an instruction; one that asks for far fewer, by threads that share a line, and still passes either number would decide", least,
                     most > 1.05 * least ? fmt::format(" to {:.3g}", most) : "");
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

Finding none_seen(const Context& context, const RequestCounts& fits, const std::string& why, const std::string& evidence) {
  Fields fields;
  fields["kind"] = Value("none seen");
  fields["requests"] = Value(fits.lines);
  fields["instructions"] = Value(fits.instructions);
  return found(context, Value(std::move(fields)), 0.95, fmt::format("{}: {} lines and {} warp instructions fit, as far as a full table would be seen", why, fits.lines, fits.instructions), evidence, kNothingMore);
}

Finding outstanding(const Context& context) {
  if (argument(context, "hits")) return outstanding_beside_hits(context);
  std::vector<Series> all;
  Merges merges;
  if (const auto why = collect(context, all, merges); !why.empty()) return undetermined(context, why);
  const auto lines = limit_of(all, &RequestCounts::lines), instructions = limit_of(all, &RequestCounts::instructions);
  const auto jumping = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Series& series) { return series.too_many.has_value(); }));
  if (jumping == 0) return none_seen(context, {.lines = lines.low, .instructions = instructions.low}, "no curve jumps", fmt::format("{} curves", all.size()));
  Fields fields;
  const auto evidence = fmt::format("{} of {} curves jump", jumping, all.size());
  double confidence = std::min(0.999, 1 - by_luck(all));
  if (lines.possible() && instructions.possible()) {
    return undetermined(context, fmt::format("a table of {} lines (MSHR) and one of {} warp instructions (PRT) both explain {}: {}", range(lines), range(instructions),
                                             jumping == 1 ? "the one jump" : "all jumps", what_decides(all)));
  }
  if (jumping == 1) {
    const auto* one = lines.too_many;
    return undetermined(context, fmt::format("one curve alone jumps, after {} lines of {} warp instructions ({}), which may be how its warps are scheduled; other loads of a thread, or other threads that share a line, would decide", one->fits.lines,
                                             one->fits.instructions, one->name));
  }
  if (all_at_one_x(all)) {
    return undetermined(context, fmt::format("the {} curves that jump do so where as many warps run ({} warp instructions fit), which may be how warps are scheduled; other loads of a thread, or hits beside misses, would decide", jumping, instructions.low));
  }
  if (lines.possible()) {
    fields["kind"] = Value("mshr");
    fields["entries"] = Value(lines.low);
    fields["most"] = Value(lines.high - 1);
    fields["requests"] = Value(lines.low);
    const bool known = merges.exact && merges.weight > 0.5 && merges.weight >= context.question.need;
    if (known) fields["merges"] = Value(merges.most), confidence = std::min(confidence, merges.weight);
    return found(context, Value(std::move(fields)), confidence,
                 fmt::format("every curve jumps where its lines pass {}, and nowhere before; no number of warp instructions does that: {}{}", range(lines), refuted(instructions, "instructions"), about_merges(context, merges, known)),
                 evidence);
  }
  if (instructions.possible()) {
    fields["kind"] = Value("prt");
    fields["entries"] = Value(instructions.low);
    fields["most"] = Value(instructions.high - 1);
    return found(context, Value(std::move(fields)), confidence, fmt::format("every curve jumps where its warp instructions pass {}, and nowhere before; no number of lines does that: {}", range(instructions), refuted(lines, "lines")),
                 evidence);
  }
  const auto both = fmt::format("{}; {}", refuted(lines, "lines"), refuted(instructions, "instructions"));
  const auto table = table_of(all);
  if (!table || !table->first.possible() || !table->second.possible()) {
    return undetermined(context, fmt::format("neither a number of lines nor one of warp instructions, nor both together, explains all jumps: {}", both));
  }
  const auto& [entries, requests] = *table;
  if (std::min(entries.curves, requests.curves) < kCurvesOfEach) {
    return undetermined(context, fmt::format("{} warp instructions that hold {} lines together would explain all jumps, but {} by the first alone and {} by the second; another curve of the rarer kind would decide", range(entries),
                                             range(requests), entries.curves == 1 ? "only one curve jumps" : fmt::format("{} curves jump", entries.curves), requests.curves));
  }
  fields["kind"] = Value("prt");
  fields["entries"] = Value(entries.low);
  fields["most"] = Value(entries.high - 1);
  fields["requests"] = Value(requests.low);
  return found(context, Value(std::move(fields)), confidence,
               fmt::format("{} curves jump where their warp instructions pass {}, {} where their lines pass {}, and none before either; one number alone does not explain that: {}", entries.curves, range(entries), requests.curves,
                           range(requests), both),
               evidence);
}

}  // namespace gexp::infer
