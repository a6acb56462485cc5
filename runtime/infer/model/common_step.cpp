// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/common_step.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/infer/cut_short.h"

// What happens after the first step is no matter of the hypothesis: a table that is full once is full again, and each
// curve may go on as it likes. So a curve that steps at a place is smooth up to there, begins higher behind it, and
// behind it is anything that the models have. All of it is paid for by parameters.
namespace gexp::infer {
namespace {

/// Of one curve, or of all curves together.
struct Criterion {
  double deviance = 0, penalty = 0;
  double independent = 0, n = 0;  ///< points: as many as count, and all
  [[nodiscard]] double bic(double tempered = 1) const { return tempered * deviance + penalty; }
  void add(const Criterion& other) {
    deviance += other.deviance, penalty += other.penalty, independent += other.independent, n += other.n;
  }
};

const Criterion kImpossible{INFINITY, 0, 0, 0};

XyCurve part_of(const XyCurve& curve, std::size_t begin, std::size_t end) {
  const auto from = static_cast<std::ptrdiff_t>(begin), to = static_cast<std::ptrdiff_t>(end);
  return {{curve.x.begin() + from, curve.x.begin() + to}, {curve.y.begin() + from, curve.y.begin() + to}};
}

std::vector<CurveFit> smooth(const XyCurve& curve) {
  return {fit_constant(curve), fit_line(curve), fit_parabola(curve), fit_joined_lines(curve)};
}

std::vector<CurveFit> anything(const XyCurve& curve) {
  auto fits = smooth(curve);
  for (auto& fit : {fit_line_with_step(curve), fit_steps(curve, 1), fit_steps(curve, 2)}) fits.push_back(fit);
  return fits;
}

/// The one that explains the curve best; not fitted where none can be.
CurveFit best_of(const XyCurve& curve, const std::vector<CurveFit>& fits, double noise) {
  const auto n = static_cast<double>(curve.x.size());
  CurveFit best;
  double least = INFINITY;
  for (const auto& fit : fits) {
    if (!fitted(fit) || static_cast<double>(fit.parameters) > n) continue;
    const double bic = deviance_of(fit, n, noise) + penalty_of(fit, n);
    if (bic < least) least = bic, best = fit;
  }
  return best;
}

Criterion criterion_of(const XyCurve& curve, const CurveFit& fit, double noise) {
  if (!fitted(fit)) return kImpossible;
  std::vector<double> left;
  for (std::size_t i = 0; i < fit.fitted.size(); ++i) left.push_back(curve.y[i] - fit.fitted[i]);
  const auto n = static_cast<double>(left.size());
  return {deviance_of(fit, n, noise), penalty_of(fit, n), n * independent_share(left), n};
}

/// The curve whose first step lies before its point `first`.
Criterion stepping(const SteppedCurve& stepped, std::size_t first) {
  const auto& [curve, noise] = stepped;
  const auto before = part_of(curve, 0, first), after = part_of(curve, first, curve.x.size());
  work(1 + curve.x.size() / 4);
  auto fit = best_of(before, smooth(before), noise.least);
  const auto behind = best_of(after, anything(after), noise.least);
  if (!fitted(fit) || !fitted(behind) || behind.fitted.front() <= fit.fitted.back()) return kImpossible;
  fit.fitted.insert(fit.fitted.end(), behind.fitted.begin(), behind.fitted.end());
  fit.parameters += behind.parameters, fit.squares += behind.squares;
  fit.borders.insert(fit.borders.end(), behind.borders.begin(), behind.borders.end());
  return criterion_of(curve, fit, noise.least);
}

/// A place is a parameter, and a border among so many points.
void pay_for_place(Criterion& criterion, double points) { criterion.penalty += 2 * std::log(points); }

}  // namespace

CommonStep common_step(const std::vector<SteppedCurve>& curves) {
  CommonStep found;
  std::vector<double> xs;
  double points = 0;
  for (const auto& each : curves) {
    xs.insert(xs.end(), each.curve.x.begin(), each.curve.x.end());
    points += static_cast<double>(each.curve.x.size());
  }
  std::sort(xs.begin(), xs.end());
  xs.erase(std::unique(xs.begin(), xs.end()), xs.end());
  if (xs.size() < 2) return found;
  Criterion none, own;
  std::set<double> own_places;  // first x behind the step of each curve, by itself
  std::vector<Criterion> places(xs.size() - 1);
  for (const auto& each : curves) {
    const auto& x = each.curve.x;
    const auto without = criterion_of(each.curve, best_of(each.curve, smooth(each.curve), each.noise.least), each.noise.least);
    std::vector<Criterion> by_first(x.size() + 1, without);  // a curve that ends before the place, or begins behind it, has no step
    auto best = without;
    double border = NAN;
    for (std::size_t first = 1; first < x.size(); ++first) {
      by_first[first] = stepping(each, first);
      auto paid = by_first[first];
      pay_for_place(paid, static_cast<double>(x.size()));
      if (paid.bic() < best.bic()) best = paid, border = x[first];
    }
    none.add(without), own.add(best);
    own_places.insert(border);
    for (std::size_t i = 0; i + 1 < xs.size(); ++i) {
      places[i].add(by_first[static_cast<std::size_t>(std::upper_bound(x.begin(), x.end(), xs[i]) - x.begin())]);
    }
  }
  for (auto& place : places) pay_for_place(place, points);
  if (own_places.size() == 1) own = kImpossible;  // one place, and no rival of it
  const auto less = [](const Criterion& a, const Criterion& b) { return a.bic() < b.bic(); };
  const auto likeliest = std::min({*std::min_element(places.begin(), places.end(), less), none, own}, less);
  const double tempered = likeliest.n > 0 ? likeliest.independent / likeliest.n : 1;
  const auto at = static_cast<std::size_t>(std::min_element(places.begin(), places.end(), [&](const Criterion& a, const Criterion& b) { return a.bic(tempered) < b.bic(tempered); }) -
                                           places.begin());
  const double least = std::min({places[at].bic(tempered), none.bic(tempered), own.bic(tempered)});
  const auto weight = [&](const Criterion& each) { return std::exp((least - each.bic(tempered)) / 2); };
  double sum = weight(none) + weight(own);
  for (const auto& each : places) sum += weight(each);
  found.before = xs[at], found.after = xs[at + 1];
  found.weight = std::isfinite(places[at].bic()) ? std::min(kMostConfidence, weight(places[at]) / sum) : 0;
  found.none = weight(none) / sum;
  return found;
}

}  // namespace gexp::infer
