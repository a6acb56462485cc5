// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

#include "runtime/infer/contention_groups.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"
#include "runtime/infer/statistics.h"

/// One multiprocessor's times, and what they say of a group that it may be in: for contention_groups.cpp.
namespace gexp::infer::contended {

using Numbers = std::vector<double>;

inline constexpr std::array<double, 4> kShareOfOthers = {0, 0.3, 0.6, 0.9};  // grid: of the variance that is not a partner's, the others'
inline constexpr std::array<double, 4> kShareOfGroup = {0.05, 0.3, 1.5, 8};  // grid: variance of a partner's part, in units of all else
inline constexpr double kRounding = 1.0 / 12;  // fact: variance of a time that is counted in whole cycles

inline double dot_of(const double* a, const double* b, std::size_t n) { return std::inner_product(a, a + n, b, 0.0); }

/// The rounds of a kind that are looked at, and what slows all multiprocessors in each.
struct SeenRounds {
  std::vector<const Numbers*> taken;
  Numbers common;

  SeenRounds(const ContendedRounds& rounds, std::size_t multiprocessors, const std::vector<bool>& kept) {
    Numbers sum(multiprocessors), active(multiprocessors);
    for (std::size_t round = 0; round < rounds.size(); ++round) {
      work(multiprocessors);
      if (!kept[round]) continue;
      taken.push_back(&rounds[round]);
      for (std::size_t sm = 0; sm < multiprocessors; ++sm) {
        if (rounds[round][sm] > 0) sum[sm] += std::log(rounds[round][sm]), active[sm] += 1;
      }
    }
    for (const auto* each : taken) {
      double off = 0, n = 0;
      for (std::size_t sm = 0; sm < multiprocessors; ++sm) {
        if ((*each)[sm] > 0) off += std::log((*each)[sm]) - sum[sm] / active[sm], n += 1;
      }
      common.push_back(n > 0 ? off / n : 0);
    }
  }
};

/// One multiprocessor's rounds. `y` and the columns are what its own level and the rounds' common part leave over.
struct SmView {
  std::size_t n = 0, free = 0;    ///< rounds; those less what is left out
  Numbers y, columns;             ///< of each other multiprocessor n numbers: whether it was active
  double rounding = 0;            ///< variance of y that rounding makes
  Numbers level, common, part;    ///< orthonormal: what was left out

  /// What is new in these, of length 1; empty: nothing.
  [[nodiscard]] Numbers base_of(Numbers values) const {
    leave_out(values.data());
    const double length = std::sqrt(dot_of(values.data(), values.data(), n));
    for (auto& value : values) value /= length;
    return length > 1e-9 ? std::move(values) : Numbers();
  }
  void leave_out(double* values) const {
    for (const auto* base : {&level, &common, &part}) {
      if (base->empty()) continue;
      const double along = dot_of(base->data(), values, n);
      for (std::size_t i = 0; i < n; ++i) values[i] -= along * (*base)[i];
    }
  }
};

/// `parts`: empty, or by multiprocessor the number of its part.
inline SmView view_of(const SeenRounds& rounds, std::size_t sm, std::size_t multiprocessors, const Numbers& parts) {
  SmView view;
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < rounds.taken.size(); ++i) {
    if ((*rounds.taken[i])[sm] > 0) at.push_back(i);
  }
  view.n = at.size();
  if (view.n < model::kFewestAlike) return view;
  view.level.assign(view.n, 1 / std::sqrt(static_cast<double>(view.n)));
  double mean = 0;
  Numbers common;
  for (const auto i : at) {
    const double taken = (*rounds.taken[i])[sm];
    view.y.push_back(std::log(taken)), common.push_back(rounds.common[i]), mean += taken / static_cast<double>(view.n);
  }
  view.common = view.base_of(std::move(common));
  Numbers part(view.n, 0);
  for (std::size_t i = 0; i < view.n && !parts.empty() && parts[sm] >= 0; ++i) {
    const auto& taken = *rounds.taken[at[i]];
    for (std::size_t other = 0; other < multiprocessors; ++other) part[i] += other != sm && parts[other] == parts[sm] && taken[other] > 0 ? 1 : 0;
  }
  view.part = view.base_of(std::move(part));
  view.free = view.n - 1 - (view.common.empty() ? 0 : 1) - (view.part.empty() ? 0 : 1);
  view.leave_out(view.y.data());
  view.rounding = kRounding / (mean * mean);
  view.columns.resize(multiprocessors * view.n);
  for (std::size_t other = 0; other < multiprocessors; ++other) {
    if (other == sm) continue;
    auto* column = &view.columns[other * view.n];
    for (std::size_t i = 0; i < view.n; ++i) column[i] = (*rounds.taken[at[i]])[other] > 0 ? 1 : 0;
    view.leave_out(column);
  }
  return view;
}

/// A matrix's lower triangle with L Lᵀ = C, in place of C; and the logarithm of its determinant.
inline double cholesky(Numbers& c, std::size_t n) {
  double logarithm = 0;
  for (std::size_t i = 0; i < n; ++i) {
    work(1 + i * i / 200);
    for (std::size_t j = 0; j <= i; ++j) {
      const double rest = c[i * n + j] - dot_of(&c[i * n], &c[j * n], j);
      c[i * n + j] = i == j ? std::sqrt(std::max(rest, 1e-12)) : rest / c[j * n + j];
    }
    logarithm += 2 * std::log(c[i * n + i]);
  }
  return logarithm;
}

inline void solve_lower(const Numbers& l, double* x, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) x[i] = (x[i] - dot_of(&l[i * n], x, i)) / l[i * n + i];
}

/// Weights the others' parts in one multiprocessor's times. Everything is seen in coordinates in which noise and the others are one and
/// alike.
class GroupWeights {
 public:
  GroupWeights(const SmView& view, std::size_t multiprocessors)
      : view_(view), free_(static_cast<double>(view.free)), length_(multiprocessors) {
    const auto n = view.n;
    if (n < model::kFewestAlike || view.free < 2) return;
    Numbers together(n * n, 0);
    double trace = 0;
    for (std::size_t other = 0; other < multiprocessors; ++other) {
      length_[other] = dot_of(column_of(other), column_of(other), n), trace += length_[other];
      if (length_[other] < 1e-9) continue;
      others_.push_back(other);
      work(1 + n * n / 200);
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) together[i * n + j] += column_of(other)[i] * column_of(other)[j];
      }
    }
    if (others_.empty()) return;
    const double scale = dot_of(view.y.data(), view.y.data(), n) / free_ + view.rounding;
    for (const double share : kShareOfOthers) look(together, share, trace, scale);
    Numbers alone;
    for (const auto& seen : seen_) alone.push_back(-seen.determinant / 2 - free_ / 2 * std::log(seen.squares));
    none_ = log_sum(alone);
  }

  [[nodiscard]] bool ran() const { return !seen_.empty(); }
  /// The logarithm of how much likelier the times are with these in its group than with none.
  [[nodiscard]] double gain_of(const std::vector<std::size_t>& group) const {
    const auto n = view_.n;
    if (seen_.empty() || group.empty()) return 0;
    work(1 + n * group.size() / 10);
    const double length = length_of(view_.columns, group);
    if (length < 1e-9) return 0;
    Numbers with;
    for (const auto& seen : seen_) {
      double along = 0;
      for (const auto other : group) along += seen.along[other];
      const double across = length_of(seen.columns, group);
      for (const double part : kShareOfGroup) {
        const double wide = part * free_ / length;  // variance of the weight
        const double left = std::max(seen.squares - wide * along * along / (1 + wide * across), 1e-12);
        // A group slows: half of the weights count, twice.
        const double spread = std::sqrt(wide / (1 + wide * across) * left / free_), weight = wide * along / (1 + wide * across);
        const double slows = std::max(2 * normal_share_beyond(-weight / spread), 1e-300);
        with.push_back(-seen.determinant / 2 - std::log1p(wide * across) / 2 - free_ / 2 * std::log(left) + std::log(slows));
      }
    }
    return log_sum(with) - std::log(static_cast<double>(kShareOfGroup.size())) - none_;
  }

 private:
  /// With one share of the others.
  struct Seen {
    double determinant = 0, squares = 0;
    Numbers y, columns, along, across;
  };
  /// Of the sum of the group's columns, squared.
  [[nodiscard]] double length_of(const Numbers& columns, const std::vector<std::size_t>& group) const {
    const auto n = view_.n;
    Numbers sum(n, 0);
    for (const auto other : group) {
      for (std::size_t i = 0; i < n; ++i) sum[i] += columns[other * n + i];
    }
    return dot_of(sum.data(), sum.data(), n);
  }

  [[nodiscard]] const double* column_of(std::size_t other) const { return &view_.columns[other * view_.n]; }

  void look(const Numbers& together, double share, double trace, double scale) {
    const auto n = view_.n;
    auto c = together;
    for (auto& value : c) value *= share * free_ / trace;
    for (std::size_t i = 0; i < n; ++i) c[i * n + i] += 1 - share;
    Seen seen;
    seen.determinant = cholesky(c, n) - (static_cast<double>(n) - free_) * std::log(1 - share);
    seen.y = view_.y;
    solve_lower(c, seen.y.data(), n);
    for (auto& value : seen.y) value /= std::sqrt(scale);
    seen.squares = dot_of(seen.y.data(), seen.y.data(), n) + free_ * view_.rounding / scale;
    seen.columns = view_.columns;
    seen.along.assign(length_.size(), 0), seen.across.assign(length_.size(), 0);
    for (const auto other : others_) {
      work(1 + n * n / 400);
      auto* column = &seen.columns[other * n];
      solve_lower(c, column, n);
      seen.along[other] = dot_of(column, seen.y.data(), n), seen.across[other] = dot_of(column, column, n);
    }
    seen_.push_back(std::move(seen));
  }

  const SmView& view_;
  double free_ = 0, none_ = 0;
  Numbers length_;
  std::vector<std::size_t> others_;
  std::vector<Seen> seen_;
};

}  // namespace gexp::infer::contended
