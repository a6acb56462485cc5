// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/saturation_fit.h"
#include "runtime/infer/statistics.h"

// Throughput against parallelism: in proportion at first, flat in the end (Mei17 section 5.1: "when the size and the number of CTAs
// are both small, throughput increases almost linearly"). The knee is where the two asymptotes meet. By Little's law what is under way
// there is the plateau times the latency of the idle device (Mei17 section 6.1), whatever the curve does in between; with `latency`
// that product is compared with the x of the knee. The intervals are of a bootstrap: the deviations from the fitted curve are dealt
// out to it anew, and it is fitted again. Where several points have one x, the highest counts, as in Mei17 Figure 15.
//
// It abstains where a part of the picture is missing: too few points, no rise, no plateau, a beginning that is no straight line
// through nothing, points that scatter too much to be one curve. A curve that falls after its top is read up to there.
namespace gexp::infer {
namespace {

constexpr std::size_t kFewest = 6;       // different x
constexpr std::size_t kFewestRising = 2;
constexpr std::size_t kFewestFlat = 3;
constexpr double kWide = 1.2;            // times the knee: how far the plateau must reach
constexpr double kFalls = 0.1;           // below the top: it falls
constexpr double kNoisy = 4;             // times the scatter: more than noise
constexpr double kStillRises = 0.05;     // over the flat part
constexpr double kScatter = 0.25;        // logarithm: no curve
constexpr double kStraight = 0.25;       // how far the power of x at the beginning may be from 1
constexpr double kOverlap = 0.2;         // Little's law: how far the interval of the ratio may be from 1
constexpr int kDraws = 300;
constexpr double kTail = 0.01;           // of the draws on each side: quantiles of few points are too narrow, and these hold the knee 95 times in 100
constexpr std::uint64_t kSeed = 0x11771e;

struct Xy {
  double x = 0, y = 0;
};

struct KneeFit {
  Saturation fit;
  double low = 0, high = 0;     ///< of the knee, 95 %
  double scatter = 0;           ///< of the points about the curve, a share
  std::optional<double> falls;  ///< the first x of the fall after the top
  std::size_t points = 0;
};

/// Shows values of one curve: "3.2 B/cycle".
struct Words {
  Dimension x_dimension, y_dimension;
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

double middle_of_three(const std::vector<Xy>& points, std::size_t i) {
  if (i == 0 || i + 1 == points.size()) return points[i].y;
  return median({points[i - 1].y, points[i].y, points[i + 1].y});
}

/// The noise of neighbours: how far a point is from the line between those beside it, as a share.
double noise_of(const std::vector<Xy>& points) {
  std::vector<double> off;
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const double along = std::log(points[i].x / points[i - 1].x) / std::log(points[i + 1].x / points[i - 1].x);
    const double between = (1 - along) * std::log(points[i - 1].y) + along * std::log(points[i + 1].y);
    off.push_back((std::log(points[i].y) - between) / std::sqrt(1 + along * along + (1 - along) * (1 - along)));
  }
  return off.empty() ? 0 : robust_spread(std::move(off));
}

/// Index of the first point of a fall that lasts to the end; the number of points where there is none.
std::size_t fall_of(const std::vector<Xy>& points) {
  double top = 0;
  for (std::size_t i = 0; i < points.size(); ++i) top = std::max(top, middle_of_three(points, i));
  const double least = top * (1 - std::max(kFalls, kNoisy * noise_of(points)));
  std::size_t fall = points.size();
  while (fall > 0 && points[fall - 1].y < least) --fall;
  return fall == 0 || points.size() - fall < 2 ? points.size() : fall;
}

/// How steeply points rise, by logarithms, and how sure that is.
struct Trend {
  double slope = 0, error = 0, width = 0;
};
Trend trend_of(const std::vector<std::pair<double, double>>& points, double scatter) {
  Trend trend{median_slope(points), INFINITY, points.back().first - points.front().first};
  double mean = 0, squares = 0;
  for (const auto& point : points) mean += point.first / static_cast<double>(points.size());
  for (const auto& point : points) squares += (point.first - mean) * (point.first - mean);
  if (squares > 0) trend.error = 1.3 * scatter / std::sqrt(squares);  // the median of slopes is less sharp than their mean
  return trend;
}

/// Says why the curve has no knee; empty when it has one.
std::string missing(const std::vector<Xy>& points, const KneeFit& knee, const Words& words) {
  const auto& fit = knee.fit;
  const auto& last = points.back();
  if (knee.scatter > kScatter) {
    return fmt::format("the points scatter by {:.0f} % about any rising curve: they are no single one; `where` or `by` would part them", 100 * knee.scatter);
  }
  std::vector<std::pair<double, double>> rise, flat;
  for (std::size_t i = 0; i < points.size(); ++i) {
    // What is left of the bend is taken out of the rise, so that its power is 1 if it is in proportion.
    const double bend = fit.model[i] - std::log(fit.slope * points[i].x);
    if (i < fit.rising) rise.emplace_back(std::log(points[i].x), std::log(points[i].y) - bend);
    if (i + fit.flat >= points.size()) flat.emplace_back(std::log(points[i].x), std::log(points[i].y));
  }
  const auto trend = flat.size() >= kFewestFlat ? trend_of(flat, knee.scatter) : Trend{};
  const bool rises = trend.slope * trend.width > kStillRises + 2.5 * trend.error * trend.width;
  if (flat.size() < kFewestFlat || rises || last.x < kWide * fit.knee) {
    if (knee.falls) return fmt::format("it falls from {} on, after a top of {} that is no plateau", words.x(*knee.falls), words.y(fit.plateau));
    return fmt::format("it still rises at its end, to {} at {}, or has hardly stopped; a longer sweep would decide", words.y(last.y), words.x(last.x));
  }
  if (fit.rising == 0) return fmt::format("it does not rise: it is at {} from the first x, {}, on; a sweep that begins lower would decide", words.y(fit.plateau), words.x(points.front().x));
  if (fit.rising < kFewestRising) {
    return fmt::format("the plateau of {} is reached at once: only {} lies below the knee; a sweep that begins lower, or has smaller steps, would decide", words.y(fit.plateau), words.x(points.front().x));
  }
  const auto start = trend_of(rise, knee.scatter);
  if (std::fabs(start.slope - 1) > kStraight + 2.5 * start.error) {
    return fmt::format("its beginning is no straight line: twice the x gives {:.2f} times the y, so that it has no slope to meet the plateau of {}", std::exp2(start.slope), words.y(fit.plateau));
  }
  return {};
}

/// Reads one curve; the text says why it cannot be.
std::string read(const std::vector<Curve::Sample>& samples, const Words& words, KneeFit& knee) {
  auto points = upper_curve(samples);
  if (points.size() < kFewest) return fmt::format("a knee needs {} different x with a y above 0, and there are {}", kFewest, points.size());
  if (const auto fall = fall_of(points); fall < points.size()) {
    knee.falls = points[fall].x;
    points.resize(fall);
    if (fall < kFewest) return fmt::format("it falls from {} on, and only {} points lie before that", words.x(*knee.falls), fall);
  }
  std::vector<double> x, y;
  for (const auto& point : points) x.push_back(point.x), y.push_back(std::log(point.y));
  const SaturationModel model(std::move(x));
  knee.fit = model.fit(y);
  knee.points = points.size();
  const auto n = static_cast<double>(points.size());
  std::vector<double> apart;
  for (std::size_t i = 0; i < y.size(); ++i) apart.push_back(y[i] - knee.fit.model[i]);
  knee.scatter = robust_spread(apart) * std::sqrt(n / (n - 3));
  if (auto why = missing(points, knee, words); !why.empty()) return why;

  const double middle = median(apart);
  for (auto& value : apart) value = (value - middle) * std::sqrt(n / (n - 3));  // a fit takes its share of the scatter
  Bootstrap bootstrap(kSeed);
  std::vector<double> knees;
  for (int i = 0; i < kDraws; ++i) {
    auto drawn = bootstrap.draw(apart);
    for (std::size_t k = 0; k < drawn.size(); ++k) drawn[k] += knee.fit.model[k];
    knees.push_back(model.fit(drawn).knee);
  }
  std::sort(knees.begin(), knees.end());
  knee.low = std::min(knee.fit.knee, quantile(knees, kTail));
  knee.high = std::max(knee.fit.knee, quantile(knees, 1 - kTail));
  return {};
}

Fields fields_of(const KneeFit& knee, const Curve& curve) {
  Fields fields;
  fields["plateau"] = Value(knee.fit.plateau, curve.y_dimension);
  fields["knee"] = Value(knee.fit.knee, curve.x_dimension);
  fields["low"] = Value(knee.low, curve.x_dimension);
  fields["high"] = Value(knee.high, curve.x_dimension);
  fields["slope"] = Value(knee.fit.slope, curve.y_dimension / curve.x_dimension);
  if (knee.falls) fields["falls"] = Value(*knee.falls, curve.x_dimension);
  return fields;
}

/// Compares what is under way at the knee with plateau times latency; says how, or why not.
std::string apply_little(const Context& context, const KneeFit& knee, const Curve& curve, Fields& fields) {
  const auto latency_value = argument_value(context, "latency"), per_value = argument_value(context, "per");
  const auto* latency = latency_value.get<Number>();
  if (!latency || latency->number <= 0) return argument(context, "latency") ? "; the latency is not known, so Little's law is not tried" : "";
  const Number in_flight{knee.fit.plateau * latency->number, curve.y_dimension * latency->dimension};
  fields["in_flight"] = Value(in_flight);
  const auto* per = per_value.get<Number>();
  const double each = per ? per->number : 1;
  if ((per ? per->dimension * curve.x_dimension : curve.x_dimension) != in_flight.dimension || each <= 0) {
    return fmt::format("; by Little's law {} are under way at the plateau; x is not in {}, so that the knee says nothing of it: `per` would", show(in_flight.number, in_flight.dimension), name(in_flight.dimension));
  }
  const double scale = each / in_flight.number;
  const bool agrees = knee.low * scale < 1 + kOverlap && knee.high * scale > 1 - kOverlap;
  fields["ratio"] = Value(knee.fit.knee * scale);
  fields["agrees"] = Value(agrees);
  return fmt::format("; Little's law {}: plateau times latency are {:.4g} {}, and {:.2f} times that are under way at the knee ({:.2f} to {:.2f})", agrees ? "holds" : "does not hold", in_flight.number,
                     name(in_flight.dimension), knee.fit.knee * scale, knee.low * scale, knee.high * scale);
}

}  // namespace

Finding saturation(const Context& context) {
  const auto made = curve(context);
  if (!made) return undetermined(context, made.error().message);
  const Words words{made->x_dimension, made->y_dimension};
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
  List groups;
  std::string why, evidence;
  for (const auto& [value, samples] : parts) {
    KneeFit knee;
    const auto reason = read(samples, words, knee);
    const auto label = by.empty() ? std::string() : fmt::format("{} = {}: ", by, show(value));
    if (!reason.empty()) {
      why += (why.empty() ? "" : "; ") + label + reason;
      continue;
    }
    evidence += fmt::format("{}{}{} of {} points below the knee, {} at the plateau, scatter {:.1f} %, knee {} to {}", evidence.empty() ? "" : "; ", label, knee.fit.rising, knee.points, knee.fit.flat,
                            100 * knee.scatter, words.x(knee.low), words.x(knee.high));
    if (!by.empty()) {
      auto fields = fields_of(knee, *made);
      fields["at"] = value;
      groups.emplace_back(std::move(fields));
    }
    if (!best || knee.fit.plateau > best->fit.plateau) best = std::move(knee);
  }
  if (parts.empty()) why = "there are no points";
  if (!best) return undetermined(context, why);
  auto fields = fields_of(*best, *made);
  if (!by.empty()) fields["groups"] = Value(std::move(groups));
  auto said = fmt::format("two asymptotes, one through 0, and a bootstrap of {} draws", kDraws);
  if (best->falls) said += fmt::format("; the curve falls from {} on, which is left out", words.x(*best->falls));
  said += apply_little(context, *best, *made, fields);
  if (!why.empty()) evidence += "; " + why;
  return found(context, Value(std::move(fields)), 0.95, said, evidence, kNothingMore);
}

}  // namespace gexp::infer
