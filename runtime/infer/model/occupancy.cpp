// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/occupancy.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace gexp::infer {
namespace {

/// Intraclass correlations between which the evidence is averaged, each for the part of 0 to 1 that is nearest to it: any of them is as
/// likely. 0 is one rate, 1 a cell that is always slow or never.
struct Correlation {
  double value, width;
};
constexpr Correlation kCorrelations[] = {{0.01, 0.05}, {0.1, 0.15}, {0.3, 0.25}, {0.6, 0.3}, {0.9, 0.2}, {0.99, 0.05}};  // limit: a grid

/// log Gamma(x + n) - log Gamma(x): of a few steps, their product's.
double rising(double x, std::uint32_t n) {
  if (n > 32) return std::lgamma(x + n) - std::lgamma(x);
  double product = 0;
  for (std::uint32_t i = 0; i < n; ++i) product += std::log(x + i);
  return product;
}

/// Log-likelihood of a cell whose rate is drawn from Beta(a, b).
double beta_binomial(const Cell& cell, double a, double b) {
  return rising(a, cell.slow) + rising(b, cell.trials - cell.slow) - rising(a + b, cell.trials);
}

struct Alike {
  Cell cell;
  double times;
};

constexpr std::size_t kFactorials = 4096;  // limit: those that are worked out once

double log_of_factorial(double n) {
  static const auto known = [] {
    std::array<double, kFactorials> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::lgamma(static_cast<double>(i) + 1);
    return all;
  }();
  const bool is_known = n >= 0 && n < kFactorials && n == std::floor(n);
  return is_known ? known[static_cast<std::size_t>(n)] : std::lgamma(n + 1);
}

/// Cells with the same counts are one term.
std::vector<Alike> counted(const std::vector<Cell>& cells) {
  std::vector<std::uint64_t> keys;
  for (const auto& cell : cells) {
    if (cell.trials > 0) keys.push_back(std::uint64_t{cell.trials} << 32 | cell.slow);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Alike> alike;
  for (std::size_t i = 0, end = 0; i < keys.size(); i = end) {
    while (end < keys.size() && keys[end] == keys[i]) ++end;
    alike.push_back({{static_cast<std::uint32_t>(keys[i] >> 32), static_cast<std::uint32_t>(keys[i])}, static_cast<double>(end - i)});
  }
  return alike;
}

}  // namespace

double log_sum(const std::vector<double>& logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  if (!std::isfinite(most)) return most;
  double sum = 0;
  for (const double each : logs) sum += std::exp(each - most);
  return most + std::log(sum);
}

double log_sum(double one, double other) { return std::max(one, other) + std::log1p(std::exp(-std::abs(one - other))); }

double own_rates(const std::vector<Cell>& cells) {
  const auto alike = counted(cells);
  double trials = 0, slow = 0;
  for (const auto& [cell, times] : alike) trials += times * cell.trials, slow += times * cell.slow;
  if (slow == 0 || slow == trials) return 0;
  const double mean = slow / trials, one_rate = slow * std::log(mean) + (trials - slow) * std::log1p(-mean);
  std::vector<double> logs;
  for (const auto& [correlation, width] : kCorrelations) {
    const double strength = 1 / correlation - 1;
    double log = 0;
    for (const auto& [cell, times] : alike) log += times * beta_binomial(cell, mean * strength, (1 - mean) * strength);
    logs.push_back(log - one_rate + std::log(width));
  }
  return log_sum(logs);
}

double log_of_choices(double n, double k) { return log_of_factorial(n) - log_of_factorial(k) - log_of_factorial(n - k); }

}  // namespace gexp::infer
