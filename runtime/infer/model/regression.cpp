// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/regression.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <functional>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/hinges.h"

// Every model is linear in all parameters but one at most, the shape of its bend. For a given shape the rest is a
// linear regression, so only the shape is searched (variable projection, Golub and Pereyra 1973): over a grid, so that
// a local minimum is not taken for the best one, then by Brent's method between its neighbours.
namespace gexp::infer {
namespace {

constexpr std::size_t kShapes = 48;     // limit: of the grid
constexpr std::size_t kThinned = 2048;  // limit: points that a shape is searched on; the fit itself takes all
constexpr int kBitsOfShape = 20;  // limit: to which a shape is sought

/// y = a + b g
struct Straight {
  double a = 0, b = 0, squares = 0;
};

Straight regress(const std::vector<double>& g, const std::vector<double>& y) {
  work(1 + g.size() / 16);
  double n = 0, mg = 0, my = 0, sgg = 0, sgy = 0, syy = 0;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double dg = g[i] - mg, dy = y[i] - my;
    ++n;
    mg += dg / n, my += dy / n;
    sgg += dg * (g[i] - mg), sgy += dg * (y[i] - my), syy += dy * (y[i] - my);
  }
  Straight line;
  line.b = sgg > 0 ? sgy / sgg : 0;
  line.a = my - line.b * mg;
  line.squares = std::max(0.0, syy - line.b * sgy);
  return line;
}

/// `shape` is part of the model's parameters where it is searched.
CurveFit straight_in(const char* name, const XyCurve& curve, std::size_t parameters,
                     const std::function<double(double)>& g) {
  CurveFit fit;
  fit.name = name;
  if (curve.x.size() < parameters) return fit;
  std::vector<double> at;
  at.reserve(curve.x.size());
  for (const double x : curve.x) at.push_back(g(x));
  const auto line = regress(at, curve.y);
  fit.parameters = parameters;
  for (std::size_t i = 0; i < at.size(); ++i) {
    fit.fitted.push_back(line.a + line.b * at[i]);
    fit.squares += (curve.y[i] - fit.fitted[i]) * (curve.y[i] - fit.fitted[i]);
  }
  return fit;
}

XyCurve thinned(const XyCurve& curve) {
  if (curve.x.size() <= kThinned) return curve;
  XyCurve few;
  for (std::size_t i = 0; i < kThinned; ++i) {
    const auto at = i * (curve.x.size() - 1) / (kThinned - 1);
    few.x.push_back(curve.x[at]), few.y.push_back(curve.y[at]);
  }
  return few;
}

/// The shape between exp(low) and exp(high), by its logarithm, that leaves least.
CurveFit searched(const char* name, const XyCurve& curve, double low, double high,
                  const std::function<double(double x, double shape)>& g) {
  const auto few = thinned(curve);
  std::vector<double> at(few.x.size());
  const auto squares = [&](double log_shape) {
    const double shape = std::exp(log_shape);
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = g(few.x[i], shape);
    return regress(at, few.y).squares;
  };
  std::size_t best = 0;
  double least = INFINITY;
  const double step = (high - low) / static_cast<double>(kShapes - 1);
  for (std::size_t i = 0; i < kShapes; ++i) {
    if (const double left = squares(low + step * static_cast<double>(i)); left < least) least = left, best = i;
  }
  const double middle = low + step * static_cast<double>(best);
  const auto [log_shape, left] = boost::math::tools::brent_find_minima(squares, std::max(low, middle - step),
                                                                       std::min(high, middle + step), kBitsOfShape);
  const double shape = std::exp(left < least ? log_shape : middle);
  return straight_in(name, curve, 3, [&](double x) { return g(x, shape); });
}

bool above_zero(const XyCurve& curve) { return !curve.x.empty() && curve.x.front() > 0; }

CurveFit cannot(const char* name) {
  CurveFit fit;
  fit.name = name;
  return fit;
}

}  // namespace

CurveFit fit_constant(const XyCurve& curve) {
  return straight_in("a constant", curve, 1, [](double) { return 0.0; });
}

CurveFit fit_line(const XyCurve& curve) {
  return straight_in("a straight line", curve, 2, [](double x) { return x; });
}

CurveFit fit_hyperbola(const XyCurve& curve) {
  if (!above_zero(curve)) return cannot("a + b / x");
  return straight_in("a + b / x", curve, 2, [](double x) { return 1 / x; });
}

CurveFit fit_logarithm(const XyCurve& curve) {
  if (!above_zero(curve)) return cannot("a logarithm");
  return straight_in("a logarithm", curve, 2, [](double x) { return std::log(x); });
}

CurveFit fit_power(const XyCurve& curve) {
  if (!above_zero(curve)) return cannot("a power of x");
  const double scale = curve.x.back();
  auto rising = searched("a power of x", curve, std::log(0.05), std::log(5.0),
                         [&](double x, double c) { return std::pow(x / scale, c); });
  auto falling = searched("a power of x", curve, std::log(0.05), std::log(5.0),
                          [&](double x, double c) { return std::pow(x / curve.x.front(), -c); });
  return rising.squares <= falling.squares ? rising : falling;
}

CurveFit fit_saturating_hyperbola(const XyCurve& curve) {
  if (!above_zero(curve)) return cannot("a x / (b + x)");
  return searched("a x / (b + x)", curve, std::log(curve.x.front() / 100), std::log(curve.x.back() * 100),
                  [](double x, double c) { return x / (c + x); });
}

CurveFit fit_saturating_exponential(const XyCurve& curve) {
  if (curve.x.size() < 3) return cannot("an exponential");
  const double width = curve.x.back() - curve.x.front(), from = curve.x.front();
  const double nearest = width / static_cast<double>(curve.x.size() - 1);
  return searched("an exponential", curve, std::log(nearest / 10), std::log(width * 100),
                  [&](double x, double c) { return std::expm1(-(x - from) / c); });
}

CurveFit fit_parabola(const XyCurve& curve) {
  const Hinges hinges(curve);
  return hinges.parabola();
}

CurveFit fit_joined_lines(const XyCurve& curve) {
  const Hinges hinges(curve);
  return hinges.joined(1);
}

CurveFit fit_three_joined_lines(const XyCurve& curve) {
  const Hinges hinges(curve);
  return hinges.joined(2);
}

Profile joined_lines_profile(const XyCurve& curve) {
  const Hinges hinges(curve);
  return hinges.profile();
}

CurveFit fit_line_with_step(const XyCurve& curve) {
  const Hinges hinges(curve);
  return hinges.line_with_step();
}

namespace {

struct Part {
  std::size_t begin = 0, end = 0, split = 0;
  double gain = 0;  ///< of squares, by the split
};

/// The best split of points begin to end into two levels.
Part split_of(const std::vector<double>& sums, std::size_t begin, std::size_t end) {
  work((end - begin) / 32);
  Part part{begin, end, begin, 0};
  const double all = sums[end] - sums[begin], n = static_cast<double>(end - begin);
  for (std::size_t at = begin + 1; at < end; ++at) {
    const double left = sums[at] - sums[begin], nl = static_cast<double>(at - begin);
    const double gain = left * left / nl + (all - left) * (all - left) / (n - nl) - all * all / n;
    if (gain > part.gain) part.gain = gain, part.split = at;
  }
  return part;
}

}  // namespace

CurveFit fit_steps(const XyCurve& curve, std::size_t steps) {
  const auto n = curve.x.size();
  auto fit = cannot(steps == 1 ? "one step" : "steps");
  if (n < 2 * steps + 1) return fit;
  double mean = 0;
  for (const double y : curve.y) mean += y / static_cast<double>(n);
  std::vector<double> sums{0};
  for (const double y : curve.y) sums.push_back(sums.back() + y - mean);
  std::vector<Part> parts{split_of(sums, 0, n)};
  for (std::size_t i = 0; i < steps; ++i) {
    const auto best =
        std::max_element(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.gain < b.gain; });
    if (best->gain <= 0) break;
    const auto [begin, end, split, gain] = *best;
    *best = split_of(sums, begin, split);
    parts.push_back(split_of(sums, split, end));
  }
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
  fit.parameters = 2 * parts.size() - 1;
  for (const auto& part : parts) {
    if (part.begin > 0) fit.borders.push_back((curve.x[part.begin - 1] + curve.x[part.begin]) / 2);
    const double level = mean + (sums[part.end] - sums[part.begin]) / static_cast<double>(part.end - part.begin);
    for (auto i = part.begin; i < part.end; ++i)
      fit.fitted.push_back(level), fit.squares += (curve.y[i] - level) * (curve.y[i] - level);
  }
  return fit;
}

}  // namespace gexp::infer
