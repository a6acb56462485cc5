// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/difference.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// Two measurements of a quantity are the same, to a margin, or they differ: what the means of their repetitions are apart tells, beside
// how the repetitions scatter.
//
// Welch's interval of a difference of two means, with Yuen's trimmed ones (Yuen 1974) where there are repetitions enough, so that a run that
// something else disturbed decides nothing. All pairs are asked whether *any* differs, so that interval is Bonferroni's; that all are
// the same is claimed only where each one by itself says so, which needs no correction (Berger 1982, intersection-union).
//
// Clocks count in steps: a few repetitions can agree by chance where others scatter. Those that agree are taken to scatter as is
// usual among all, in proportion to their mean; only where that is nothing does agreement count as exact.
namespace gexp::infer {
namespace {

struct Mean {
  double value = 0, variance = 0, freedom = 0;  // variance: of the mean
  double scatter = 0;                           // standard deviation of one repetition, as a share of the mean
};

Mean mean_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size(), cut = n / model::kTrimFrom, kept = n - 2 * cut;
  Mean mean;
  for (std::size_t i = cut; i < n - cut; ++i) mean.value += (values[i] - values[cut]) / static_cast<double>(kept);
  mean.value += n > 0 ? values[cut] : 0;
  if (n < 2) return mean;
  double winsorised = 0, centre = 0;
  for (std::size_t i = 0; i < n; ++i) centre += (values[std::clamp(i, cut, n - cut - 1)] - mean.value) / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    const double off = values[std::clamp(i, cut, n - cut - 1)] - mean.value - centre;
    winsorised += off * off;
  }
  const auto k = static_cast<double>(kept);
  mean.variance = winsorised / (k * (k - 1));
  mean.freedom = k - 1;
  mean.scatter = mean.value == 0 ? 0 : std::sqrt(mean.variance * k) / std::fabs(mean.value);
  return mean;
}

double student(double freedom, double chance) {
  return boost::math::quantile(boost::math::complement(boost::math::students_t(std::max(1.0, freedom)), chance / 2));
}

}  // namespace

const char* word(Agreement agreement) {
  switch (agreement) {
    case Agreement::Same: return "SAME";
    case Agreement::Undetermined: return "undetermined";
    case Agreement::Ambiguous: return "AMBIGUOUS";
    case Agreement::Different: return "DIFFERENT";
  }
  return "";
}

std::vector<Difference> differences(const std::vector<Pair>& pairs, const Tolerance& tolerance) {
  std::vector<Difference> all;
  std::vector<std::pair<Mean, Mean>> means;
  std::vector<double> scatters;
  double top = 0;
  bool exact = true;
  for (const auto& pair : pairs) {
    const auto& [a, b] = means.emplace_back(mean_of(pair.a), mean_of(pair.b));
    top = std::max({top, std::fabs(a.value), std::fabs(b.value)});
    exact = exact && a.variance == 0 && b.variance == 0;
    for (const auto& [mean, values] : {std::pair{&a, &pair.a}, {&b, &pair.b}}) {
      if (values->size() > 1 && mean->value != 0) scatters.push_back(mean->scatter);
    }
  }
  const double usual = median(scatters);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto [a, b] = means[i];
    Difference difference;
    difference.a = a.value, difference.b = b.value;
    difference.repetitions = std::min(pairs[i].a.size(), pairs[i].b.size());
    difference.margin = std::max(tolerance.margin * std::max(std::fabs(a.value), std::fabs(b.value)), tolerance.resolution);
    if (!exact) difference.margin = std::max(difference.margin, tolerance.zero_floor * top);
    const double apart = b.value - a.value;
    if (pairs[i].a == pairs[i].b || (difference.repetitions < 2 && apart == 0)) {  // the very same, however few
      difference.agreement = Agreement::Same;
      difference.low = difference.high = apart;
      all.push_back(difference);
      continue;
    }
    if (difference.repetitions < 2) {
      difference.low = -std::numeric_limits<double>::infinity(), difference.high = -difference.low;
      all.push_back(difference);
      continue;
    }
    for (auto* mean : {&a, &b}) {
      const double scatter = usual * mean->value;
      if (mean->variance == 0) mean->variance = scatter * scatter / (mean->freedom + 1);
    }
    const double variance = a.variance + b.variance;
    const double freedom = variance > 0 ? variance * variance / (a.variance * a.variance / a.freedom + b.variance * b.variance / b.freedom) : 1;
    const double error = std::sqrt(variance);
    const double alone = error * student(freedom, model::kSameChance);
    const double together = error * student(freedom, std::min(model::kSameChance, tolerance.chance / static_cast<double>(pairs.size())));
    difference.low = apart - together, difference.high = apart + together;
    if (std::fabs(apart) + alone <= difference.margin) difference.agreement = Agreement::Same;
    else if (std::fabs(apart) - together > difference.margin) difference.agreement = Agreement::Different;
    all.push_back(difference);
  }
  return all;
}

}  // namespace gexp::infer
