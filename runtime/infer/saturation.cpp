// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/curve_data.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/saturation_fit.h"
#include "runtime/infer/statistics.h"

// Throughput against parallelism: in proportion at first, level in the end (Mei17 section 5.1: "when the size and the number of CTAs
// are both small, throughput increases almost linearly"). The knee is where the two asymptotes meet. By Little's law what is under way
// there is the plateau times the latency of the idle device (Mei17 section 6.1), whatever the curve does in between; with `latency`
// that product is compared with the x of the knee. Where several points have one x, the highest counts, as in Mei17 Figure 15.
//
// That a curve rises in proportion to a plateau is a hypothesis, and saturation_fit.h has its rivals: other powers of x at either end, one
// power from end to end, a constant, none of these. Each may end where y falls for good. What the plateau weighs beside them is the
// confidence. Where a rival weighs more, or not enough less, the finding names it and the x that would part both.
namespace gexp::infer {
namespace {

constexpr std::size_t kFewest = 6;  // fact: different x: the largest hypothesis has a knee, its sharpness, two powers, a level and a scatter

constexpr std::size_t kTested = 2;  // fact: x on either side of a knee: one gives the asymptote, another tests it

struct Xy {
  double x = 0, y = 0;
};

struct KneeFit {
  RiseEvidence evidence;
  RiseFit fit;                  ///< the plateau's
  double plateau = 0, slope = 0;
  std::optional<double> falls;  ///< the first x of the fall after the top
  std::size_t below = 0, beyond = 0, points = 0;  ///< the knee; of all
};

/// Shows values of one curve: "3.2 B/cycle".
struct Words {
  Dimension x_dimension, y_dimension;
  double need = 0;
  [[nodiscard]] std::string x(double value) const { return show(std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr), x_dimension); }
  [[nodiscard]] std::string y(double value) const { return show(std::strtod(fmt::format("{:.4g}", value).c_str(), nullptr), y_dimension); }
};

/// Ascending, the best y of each x, without what shows nothing.
std::vector<Xy> upper_curve(const std::vector<Curve::Sample>& samples) {
  std::vector<Xy> points;
  for (const auto& sample : samples) {
    if (sample.x <= 0 || sample.y <= 0) continue;
    if (!points.empty() && points.back().x == sample.x) points.back().y = std::max(points.back().y, sample.y);
    else points.push_back({sample.x, sample.y});
  }
  return points;
}

/// Indices of the first points of a fall that lasts to the end: where y begins to fall, and where it has fallen.
struct Fall {
  std::size_t begins = 0, fallen = 0;
};
std::optional<Fall> fall_of(const std::vector<Xy>& points) {
  double top = 0;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) top = std::max(top, median({points[i - 1].y, points[i].y, points[i + 1].y}));
  Fall fall;
  fall.fallen = points.size();
  while (fall.fallen > 0 && points[fall.fallen - 1].y < top * (1 - model::kHidden)) --fall.fallen;
  fall.begins = fall.fallen;
  while (fall.begins > 1 && fall.begins < points.size() && points[fall.begins - 2].y > points[fall.begins - 1].y) --fall.begins;
  return fall.begins < kFewest || points.size() - fall.fallen < 2 ? std::nullopt : std::optional(fall);
}

/// What a rival says of the curve.
std::string rival_says(const RiseFit& rival, const KneeFit& knee, const std::vector<Xy>& points, const Words& words) {
  const auto& last = points.back();
  if (rival.kind == Rise::Scatter) return "the points are no single curve; `where` or `by` would part them";
  if (knee.below < kTested && knee.evidence.plateau > 0.5) {
    return fmt::format("the plateau of {} is reached at once: only {} lies below the knee; a sweep that begins lower, or has smaller steps, would decide", words.y(knee.plateau), words.x(points.front().x));
  }
  const bool same_end = std::fabs(rival.end) < std::fabs(rival.beginning - 1);
  if (rival.kind == Rise::Constant) return fmt::format("it does not rise: it is at {} from the first x, {}, on; a sweep that begins lower would decide", words.y(std::exp(rival.level)), words.x(points.front().x));
  if (rival.kind == Rise::OtherBeginning || (rival.kind == Rise::OtherBoth && same_end)) {
    return fmt::format("its beginning is no straight line: twice the x gives {:.2f} times the y, so that it has no slope to meet the plateau of {}", std::exp2(rival.beginning), words.y(knee.plateau));
  }
  if (rival.end < 0 || rival.points < points.size()) {
    const auto top = std::max_element(points.begin(), points.end(), [](const Xy& a, const Xy& b) { return a.y < b.y; });
    return fmt::format("it falls from {} on, after a top of {} that is no plateau", words.x((top + 1 == points.end() ? *top : *(top + 1)).x), words.y(top->y));
  }
  return fmt::format("it still rises at its end, to {} at {}, or has hardly stopped; a longer sweep would decide", words.y(last.y), words.x(last.x));
}

/// The x, of those measured and of a sweep twice as wide on either side, at which two hypotheses expect what differs most.
double parting(const RiseFit& a, const RiseFit& b, const std::vector<Xy>& points) {
  std::vector<double> xs{points.front().x / 2};
  for (const auto& point : points) xs.push_back(point.x);
  xs.push_back(2 * points.back().x);
  const auto apart = [&](double x) { return std::fabs(a.log_y(x) - b.log_y(x)); };
  return *std::max_element(xs.begin(), xs.end(), [&](double left, double right) { return apart(left) < apart(right); });
}

std::string percent_of_rises(double weight) { return fmt::format("{:.1f} %", 100 * std::min(weight, kMostConfidence)); }

/// "another power of x in the end (3.1 %)"
std::string name_of_rise(const RiseFit& fit) {
  const auto name = [&] {
    switch (fit.kind) {
      case Rise::Plateau: return "a plateau beyond the end";
      case Rise::OtherBeginning: return "another power of x at first";
      case Rise::OtherEnd: return fit.end < 0 ? "a fall" : "a rise that goes on";
      case Rise::OtherBoth: return "other powers of x at both ends";
      case Rise::Power: return "one power of x";
      case Rise::Proportional: return "a straight line";
      case Rise::Constant: return "a constant";
      case Rise::Scatter: return "none of these";
    }
    return "";
  };
  return fmt::format("{} ({})", name(), percent_of_rises(fit.weight));
}

/// Noise of y as a share of it: what repetitions and the clock show, and what no textbook's curve is exact to.
double share_noise(const Context& context, const Curve& curve) {
  std::vector<double> ys;
  for (const auto& sample : curve.samples) {
    if (sample.y > 0) ys.push_back(sample.y);
  }
  return ys.empty() ? model::kTextbook : std::hypot(model::kTextbook, measurement_noise(context, curve.samples).least / median(std::move(ys)));
}

/// Reads one curve; the text says why it cannot be.
std::string read(const std::vector<Curve::Sample>& samples, double noise, const Words& words, KneeFit& knee) {
  const auto points = upper_curve(samples);
  if (points.size() < kFewest) return fmt::format("a knee needs {} different x with a y above 0, and there are {}", kFewest, points.size());
  std::vector<double> x, y;
  for (const auto& point : points) x.push_back(point.x), y.push_back(std::log(point.y));
  const auto fall = fall_of(points);
  knee.evidence = weigh_rises(x, y, noise, fall ? std::optional(fall->begins) : std::nullopt);
  knee.fit = *knee.evidence.best_plateau();
  knee.plateau = std::exp(knee.fit.level), knee.slope = knee.plateau / knee.fit.knee;
  if (knee.fit.points < points.size()) knee.falls = points[fall->fallen].x;
  knee.points = knee.fit.points;
  for (std::size_t i = 0; i < knee.points; ++i) (x[i] < knee.fit.knee ? knee.below : knee.beyond) += 1;
  const auto& rival = *knee.evidence.best_rival();
  if (knee.evidence.plateau <= 0.5 || std::min(knee.below, knee.beyond) < kTested) return rival_says(rival, knee, points, words);
  if (knee.fit.scatter > model::kOneThing) {
    return fmt::format("the points scatter by {:.0f} % about any rising curve: they are no single one; `where` or `by` would part them", 100 * knee.fit.scatter);
  }
  if (knee.evidence.plateau < words.need) {
    const double at = parting(knee.fit, rival, points);
    return fmt::format("a plateau of {} is {} sure only: {} ({}); both differ most at {}, where {} and {} are expected", words.y(knee.plateau), percent_of_rises(knee.evidence.plateau), rival_says(rival, knee, points, words),
                       percent_of_rises(rival.weight), words.x(at), words.y(std::exp(knee.fit.log_y(at))), rival.kind == Rise::Scatter ? "anything" : words.y(std::exp(rival.log_y(at))));
  }
  return {};
}

Fields fields_of(const KneeFit& knee, const Curve& curve) {
  Fields fields;
  fields["plateau"] = Value(knee.plateau, curve.y_dimension);
  fields["knee"] = Value(knee.fit.knee, curve.x_dimension);
  fields["low"] = Value(knee.evidence.low, curve.x_dimension);
  fields["high"] = Value(knee.evidence.high, curve.x_dimension);
  fields["slope"] = Value(knee.slope, curve.y_dimension / curve.x_dimension);
  if (knee.falls) fields["falls"] = Value(*knee.falls, curve.x_dimension);
  return fields;
}

/// Compares what is under way at the knee with plateau times latency; says how, or why not.
std::string apply_little(const Context& context, const KneeFit& knee, const Curve& curve, Fields& fields) {
  const auto latency_value = argument_value(context, "latency"), per_value = argument_value(context, "per");
  const auto* latency = latency_value.get<Number>();
  if (!latency || latency->number <= 0) return argument(context, "latency") ? "; the latency is not known, so Little's law is not tried" : "";
  const Number in_flight{knee.plateau * latency->number, curve.y_dimension * latency->dimension};
  fields["in_flight"] = Value(in_flight);
  const auto* per = per_value.get<Number>();
  const double each = per ? per->number : 1;
  if ((per ? per->dimension * curve.x_dimension : curve.x_dimension) != in_flight.dimension || each <= 0) {
    return fmt::format("; by Little's law {} are under way at the plateau; x is not in {}, so that the knee says nothing of it: `per` would", show(in_flight.number, in_flight.dimension), name(in_flight.dimension));
  }
  const double scale = each / in_flight.number;
  const bool agrees = knee.evidence.low * scale < 1 + model::kReached && knee.evidence.high * scale > 1 - model::kReached;
  fields["ratio"] = Value(knee.fit.knee * scale);
  fields["agrees"] = Value(agrees);
  return fmt::format("; Little's law {}: plateau times latency are {:.4g} {}, and {:.2f} times that are under way at the knee ({:.2f} to {:.2f})", agrees ? "holds" : "does not hold", in_flight.number,
                     name(in_flight.dimension), knee.fit.knee * scale, knee.evidence.low * scale, knee.evidence.high * scale);
}

}  // namespace

Finding saturation(const Context& context) {
  const auto made = curve(context);
  if (!made) return undetermined(context, made.error().message);
  const Words words{made->x_dimension, made->y_dimension, context.question.need};
  const double noise = share_noise(context, *made);
  const auto& by = argument(context)->by;
  std::vector<std::pair<Value, std::vector<Curve::Sample>>> parts;
  for (const auto& sample : made->samples) {
    const auto& at = context.table.points[sample.point].at;
    const auto key = at.find(by);
    const Value value = key == at.end() ? Value() : key->second;
    auto part = std::find_if(parts.begin(), parts.end(), [&](const auto& p) { return p.first == value; });
    if (part == parts.end()) part = parts.insert(parts.end(), {value, {}});
    part->second.push_back(sample);
  }
  std::optional<KneeFit> best;
  double confidence = kMostConfidence;
  List groups;
  std::string why, evidence;
  for (const auto& [value, samples] : parts) {
    KneeFit knee;
    const auto reason = read(samples, noise, words, knee);
    const auto label = by.empty() ? std::string() : fmt::format("{} = {}: ", by, show(value));
    if (!reason.empty()) {
      why += (why.empty() ? "" : "; ") + label + reason;
      continue;
    }
    evidence += fmt::format("{}{}{} of {} points below the knee, {} beyond, scatter {:.1f} %, knee {} to {}; a plateau weighs {}, then {}", evidence.empty() ? "" : "; ", label, knee.below, knee.points, knee.beyond,
                            100 * knee.fit.scatter, words.x(knee.evidence.low), words.x(knee.evidence.high), percent_of_rises(knee.evidence.plateau), name_of_rise(*knee.evidence.best_rival()));
    if (!by.empty()) {
      auto fields = fields_of(knee, *made);
      fields["at"] = value;
      groups.emplace_back(std::move(fields));
    }
    confidence = std::min(confidence, knee.evidence.plateau);
    if (!best || knee.plateau > best->plateau) best = std::move(knee);
  }
  if (parts.empty()) why = "there are no points";
  if (!best) return undetermined(context, why);
  auto fields = fields_of(*best, *made);
  if (!by.empty()) fields["groups"] = Value(std::move(groups));
  std::string said = "in proportion to x at first and level in the end explains the curve better than other powers of x, a constant and scatter do";
  if (best->falls) said += fmt::format("; the curve falls from {} on, which is left out", words.x(*best->falls));
  said += apply_little(context, *best, *made, fields);
  if (!why.empty()) evidence += "; " + why;
  return found(context, Value(std::move(fields)), confidence, said, evidence);
}

}  // namespace gexp::infer
