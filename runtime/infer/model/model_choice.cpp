// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/model_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gexp::infer {
namespace {

std::vector<double> residuals(const XyCurve& curve, const CurveFit& fit) {
  std::vector<double> left;
  for (std::size_t i = 0; i < curve.y.size(); ++i) left.push_back(curve.y[i] - fit.fitted[i]);
  return left;
}

/// -2 log likelihood of normal noise whose variance is what is left over, or the least that it can be.
double deviance(double squares, double n, double noise) {
  const double variance = std::max(squares / n, noise * noise);
  return n * std::log(variance) + squares / variance;
}

std::string share(double weight) { return weight > 0.999 ? "99.9 %" : fmt::format("{:.1f} %", 100 * weight); }

}  // namespace

double independent_share(const std::vector<double>& left) {
  double squares = 0, products = 0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    squares += left[i] * left[i];
    if (i > 0) products += left[i] * left[i - 1];
  }
  if (squares <= 0) return 1;
  const double r = std::clamp(products / squares, 0.0, 0.95);
  return (1 - r) / (1 + r);
}

double deviance_of(const CurveFit& fit, double n, double noise) { return deviance(fit.squares, n, noise); }

double penalty_of(const CurveFit& fit, double n) {
  return static_cast<double>(fit.parameters + fit.borders.size()) * std::log(n);
}

std::vector<Weighed> weigh(const XyCurve& curve, const CurveNoise& noise, std::vector<CurveFit> rivals) {
  const double n = static_cast<double>(curve.x.size());
  std::erase_if(rivals, [&](const CurveFit& fit) { return !fitted(fit) || static_cast<double>(fit.parameters) >= n; });
  const auto bic = [&](const CurveFit& fit, double tempered) {
    return tempered * deviance(fit.squares, n, noise.least) + penalty_of(fit, n);
  };
  double tempered = 1;
  if (const auto best = std::min_element(rivals.begin(), rivals.end(),
                                         [&](const auto& a, const auto& b) { return bic(a, 1) < bic(b, 1); });
      best != rivals.end() && best->squares > n * noise.least * noise.least) {
    tempered = independent_share(residuals(curve, *best));
  }
  if (noise.repeated) rivals.push_back({kNoneOfThese, {}, curve.y, curve.x.size(), 0});
  std::vector<Weighed> weighed;
  for (auto& fit : rivals) {
    const double value = bic(fit, tempered);
    weighed.push_back({std::move(fit), value, 0});
  }
  std::stable_sort(weighed.begin(), weighed.end(), [](const auto& a, const auto& b) { return a.bic < b.bic; });
  double sum = 0;
  for (auto& each : weighed) sum += each.weight = std::exp((weighed[0].bic - each.bic) / 2);
  for (auto& each : weighed) each.weight /= sum;
  return weighed;
}

std::string best_two(const std::vector<Weighed>& weighed) {
  if (weighed.empty()) return "nothing";
  auto text = fmt::format("{} ({})", weighed[0].fit.name, share(weighed[0].weight));
  if (weighed.size() > 1) text += fmt::format(", then {} ({})", weighed[1].fit.name, share(weighed[1].weight));
  return text;
}

}  // namespace gexp::infer
