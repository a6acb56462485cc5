// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/spikes.h"

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
// What finds the table full waits until the first requests are back and takes a whole latency then: the time becomes that of nearly two.
// A smaller rise is something else, as where one more warp for each scheduler is issued; neither it nor what lies beyond is evidence.
//
// A table that is full is seen only while the first requests are still under way when the last are issued. Where issuing alone takes
// most of a latency, they come back before: such a curve says nothing beyond, neither by a jump nor by having none. The latency is
// `latency:`; without it, the shortest time of the curve, which holds a barrier too.
//
// It abstains when mshr and prt both fit, as where all curves ask for as many lines an instruction, and says which curve would
// decide; when neither does; and when the noise of a curve would hide a jump.
namespace gexp::infer {
namespace {

constexpr double kSlow = 0.6;             // latencies beyond the shortest time of a curve: beyond it a full table need not show
constexpr double kOfTwo = 0.5;            // of what is left to one latency beyond the shortest time: the least that a full table adds
constexpr double kHides = 0.25;           // logarithm: a jump smaller than that can be missed
constexpr std::size_t kCurvesOfEach = 2;  // that show each number of a PRT

/// What was under way at one point.
struct Asked {
  double lines = 0, instructions = 0, accesses = 0;
};

struct Series {
  std::string name;
  std::vector<Asked> asked;
  std::optional<std::size_t> before;  ///< the last point before the first jump
  std::size_t seen = 0;               ///< points at which a jump would have been seen
  /// The most that is known to fit.
  [[nodiscard]] const Asked& fits() const { return asked[before ? *before : seen - 1]; }
  [[nodiscard]] const Asked& too_many() const { return asked[*before + 1]; }
};

using Measure = double Asked::*;

/// One number that must lie above all that fits and not above what does not.
struct Limit {
  double low = 0, high = INFINITY;      ///< low fits, high does not
  const Series* fits = nullptr;         ///< the curve that asked for `low` without a jump
  const Series* too_many = nullptr;     ///< the one that jumped at `high`
  std::size_t curves = 0;               ///< that jump by it
  [[nodiscard]] bool possible() const { return low < high; }
};

Limit limit_of(const std::vector<Series>& all, Measure measure) {
  Limit limit;
  for (const auto& series : all) {
    if (series.fits().*measure > limit.low) limit.low = series.fits().*measure, limit.fits = &series;
    if (!series.before) continue;
    ++limit.curves;
    if (series.too_many().*measure < limit.high) limit.high = series.too_many().*measure, limit.too_many = &series;
  }
  return limit;
}

/// Two numbers: the least that lets everything fit which did. A jump that one of them alone explains bounds that one.
std::optional<std::pair<Limit, Limit>> table_of(const std::vector<Series>& all) {
  Limit entries{limit_of(all, &Asked::instructions).low}, requests{limit_of(all, &Asked::lines).low};
  for (const auto& series : all) {
    if (!series.before) continue;
    const auto& asked = series.too_many();
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

std::string range(const Limit& limit) { return limit.high - limit.low > 1 && std::isfinite(limit.high) ? fmt::format("{} to {}", limit.low, limit.high - 1) : fmt::format("{}", limit.low); }

/// Chance that as many jumps fall where a number wants them by luck: each may lie at any point of its curve.
double by_luck(const std::vector<Series>& all) {
  double chance = 1;
  bool first = true;
  for (const auto& series : all) {
    if (!series.before) continue;
    if (!first) chance *= 2.0 / static_cast<double>(series.asked.size());
    first = false;
  }
  return chance;
}

/// The curves of the table with what they ask for, or why there are none.
std::string collect(const Context& context, std::vector<Series>& all) {
  const auto* data = argument(context);
  const auto* lines = argument(context, "requests");
  const auto* instructions = argument(context, "instructions");
  const auto* accesses = argument(context, "accesses");
  if (!data || !data->over || !lines || !instructions) return "the analysis has no data";
  std::optional<double> measured;
  if (argument(context, "latency")) {
    const auto value = argument_value(context, "latency");
    const auto* n = value.get<Number>();
    if (!n || n->number <= 0) return "the latency after `latency:` is not known";
    measured = n->number;
  }
  const auto samples = curve(context);
  if (!samples) return samples.error().message;
  for (const auto& group : groups_of(context, *samples, *data->over)) {
    if (group.samples.size() < kFewestPoints) continue;
    Series series{name_of(group.at), {}, std::nullopt, 0};
    for (const auto& sample : group.samples) {
      const auto a = number_at(context, *lines->value, sample.point), b = number_at(context, *instructions->value, sample.point);
      const auto c = accesses ? number_at(context, *accesses->value, sample.point) : std::nullopt;
      if (!a || !b) return fmt::format("what was asked for is not known at every point ({})", series.name);
      series.asked.push_back({a->number, b->number, c ? c->number : 0});
    }
    const auto jumps = jumps_of(group.samples);
    const double shortest = std::min_element(group.samples.begin(), group.samples.end(), [](const auto& p, const auto& q) { return p.y < q.y; })->y;
    const double latency = std::min(shortest, measured.value_or(shortest));
    const auto slow = std::find_if(group.samples.begin(), group.samples.end(), [&](const auto& sample) { return sample.y > shortest + kSlow * latency; });
    auto seen = static_cast<std::size_t>(slow - group.samples.begin());
    if (!jumps.before.empty() && jumps.before.front() < seen) {
      const auto before = jumps.before.front(), after = std::min(before + 2, group.samples.size() - 1);  // a jump may take two steps
      const double rise = std::max(group.samples[before + 1].y, group.samples[after].y) - group.samples[before].y;
      if (rise >= kOfTwo * (shortest + latency - group.samples[before].y)) series.before = before;
      else seen = before + 1;
    }
    series.seen = std::min(seen, group.samples.size() - kUnseen + 1);
    if (series.seen == 0) continue;
    if (!series.before && jumps.least > kHides) return fmt::format("the noise of a curve hides any jump of less than {:.0f} % ({}); more repetitions would decide", 100 * std::expm1(jumps.least), series.name);
    all.push_back(std::move(series));
  }
  return all.empty() ? fmt::format("no curve has {} points and begins where it is fast", kFewestPoints) : std::string();
}

std::string what_decides(const std::vector<Series>& all) {
  double least = INFINITY, most = 0;
  for (const auto& series : all) {
    if (!series.before) continue;
    const double each = series.too_many().lines / series.too_many().instructions;
    least = std::min(least, each), most = std::max(most, each);
  }
  return fmt::format("the curves that jump ask for {:.3g}{} lines an instruction; one that asks for far fewer, by threads that share a line, and still passes either number would decide", least,
                     most > 1.05 * least ? fmt::format(" to {:.3g}", most) : "");
}

}  // namespace

Finding outstanding(const Context& context) {
  std::vector<Series> all;
  if (const auto why = collect(context, all); !why.empty()) return undetermined(context, why);
  const auto lines = limit_of(all, &Asked::lines), instructions = limit_of(all, &Asked::instructions);
  const auto jumping = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const Series& series) { return series.before.has_value(); }));
  Fields fields;
  if (jumping == 0) {
    fields["kind"] = Value("none seen");
    fields["requests"] = Value(lines.low);
    fields["instructions"] = Value(instructions.low);
    return found(context, Value(std::move(fields)), 0.95, fmt::format("no curve jumps: {} lines and {} warp instructions fit, as far as a full table would be seen", lines.low, instructions.low),
                 fmt::format("{} curves", all.size()));
  }
  const auto evidence = fmt::format("{} of {} curves jump", jumping, all.size());
  const double confidence = std::min(0.999, 1 - by_luck(all));
  if (lines.possible() && instructions.possible()) {
    return undetermined(context, fmt::format("a table of {} lines (MSHR) and one of {} warp instructions (PRT) both explain {}: {}", range(lines), range(instructions),
                                             jumping == 1 ? "the one jump" : "all jumps", what_decides(all)));
  }
  if (lines.possible()) {
    double merges = 0;
    for (const auto& series : all) {
      if (series.before) merges = std::max(merges, std::floor(series.fits().accesses / std::max(1.0, series.fits().lines)));
    }
    fields["kind"] = Value("mshr");
    fields["entries"] = Value(lines.low);
    fields["most"] = Value(lines.high - 1);
    fields["requests"] = Value(lines.low);
    if (argument(context, "accesses")) fields["merges"] = Value(merges);
    return found(context, Value(std::move(fields)), confidence, fmt::format("every curve jumps where its lines pass {}, and nowhere before; no number of warp instructions does that: {}", range(lines), refuted(instructions, "instructions")),
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
