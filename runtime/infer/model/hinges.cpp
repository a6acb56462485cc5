// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/hinges.h"

#include <algorithm>
#include <boost/math/tools/minima.hpp>
#include <cmath>

#include "runtime/infer/cut_short.h"

namespace gexp::infer {
namespace {

constexpr std::size_t kBesideBorder = 2;  // fact: points on each side of a border, one at it included: a line needs two
constexpr int kRounds = 10;               // limit: in which each of two bends is sought beside the other
constexpr std::size_t kBetween = 8;       // limit: places of a profile between two neighbours
constexpr std::size_t kProfile = 4096;  // limit: places of a profile
constexpr int kBitsOfBorder = 30;  // limit: to which a border's place is sought

using Matrix = std::vector<std::vector<double>>;

/// Solves a positive definite system by Cholesky; empty where it is none.
std::vector<double> solve(Matrix a, std::vector<double> b) {
  const auto n = b.size();
  for (std::size_t i = 0; i < n; ++i) {
    const double before = a[i][i];
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      if (j < i) a[i][j] /= a[j][j];
    }
    if (a[i][i] <= 1e-12 * before || before <= 0) return {};
    a[i][i] = std::sqrt(a[i][i]);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

double left_over(const Matrix& a, const std::vector<double>& b, double all) {
  const auto solved = solve(a, b);
  if (solved.empty()) return INFINITY;
  double squares = all;
  for (std::size_t i = 0; i < b.size(); ++i) squares -= solved[i] * b[i];
  return std::max(0.0, squares);
}

}  // namespace

Hinges::Hinges(const XyCurve& curve) : curve_(curve) {
  const auto n = curve.x.size();
  if (n == 0) return;
  from_ = curve.x.front();
  width_ = n > 1 ? curve.x.back() - from_ : 1;
  for (const double y : curve.y) mean_ += y / static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) x_.push_back((curve.x[i] - from_) / width_), y_.push_back(curve.y[i] - mean_);
  tails_.resize(n + 1);
  for (std::size_t i = n; i-- > 0;) {
    const auto& t = tails_[i + 1];
    tails_[i] = {t.n + 1, t.x + x_[i], t.xx + x_[i] * x_[i], t.y + y_[i], t.xy + x_[i] * y_[i]};
    all_ += y_[i] * y_[i];
  }
}

std::size_t Hinges::beyond(double at) const {
  return static_cast<std::size_t>(std::upper_bound(x_.begin(), x_.end(), at) - x_.begin());
}

double Hinges::squares(const std::vector<double>& bends) const {
  work(4);
  const auto size = 2 + bends.size();
  Matrix a(size, std::vector<double>(size));
  std::vector<double> b(size);
  const auto& all = tails_[0];
  a[0][0] = all.n, a[1][0] = a[0][1] = all.x, a[1][1] = all.xx;
  b[0] = all.y, b[1] = all.xy;
  for (std::size_t i = 0; i < bends.size(); ++i) {
    const auto& t = tails_[beyond(bends[i])];
    const double k = bends[i];
    a[2 + i][0] = a[0][2 + i] = t.x - k * t.n;
    a[2 + i][1] = a[1][2 + i] = t.xx - k * t.x;
    b[2 + i] = t.xy - k * t.y;
    for (std::size_t j = 0; j <= i; ++j) {
      const auto& u = tails_[beyond(std::max(k, bends[j]))];
      a[2 + i][2 + j] = a[2 + j][2 + i] = u.xx - (k + bends[j]) * u.x + k * bends[j] * u.n;
    }
  }
  return left_over(a, b, all_);
}

double Hinges::squares_of_step(std::size_t first) const {
  work(2);
  const auto& all = tails_[0];
  const auto& t = tails_[first];
  return left_over({{all.n, all.x, t.n}, {all.x, all.xx, t.x}, {t.n, t.x, t.n}}, {all.y, all.xy, t.y}, all_);
}

double Hinges::refined(std::size_t near, const std::vector<double>& others) const {
  const auto of = [&](double at) {
    auto bends = others;
    bends.push_back(at);
    return squares(bends);
  };
  double best = x_[near], least = of(best);
  for (const auto side : {near - 1, near}) {
    if (side + 1 < kBesideBorder || side + 1 > x_.size() - kBesideBorder) continue;
    const auto [at, left] = boost::math::tools::brent_find_minima(of, x_[side], x_[side + 1], kBitsOfBorder);
    if (left < least) least = left, best = at;
  }
  return best;
}

double Hinges::best_beside(const std::vector<double>& others) const {
  double least = INFINITY;
  std::size_t best = 0;
  for (std::size_t i = kBesideBorder - 1; i + kBesideBorder <= x_.size(); ++i) {
    if (std::any_of(others.begin(), others.end(), [&](double other) {
          const auto a = beyond(std::min(other, x_[i])), b = beyond(std::max(other, x_[i]));
          return b - a + 1 < kBesideBorder;
        }))
      continue;
    auto bends = others;
    bends.push_back(x_[i]);
    if (const double left = squares(bends); left < least) least = left, best = i;
  }
  return std::isinf(least) ? NAN : refined(best, others);
}

CurveFit Hinges::joined(std::size_t bends) const {
  CurveFit none;
  none.name = bends == 1 ? "two joined lines" : "three joined lines";
  if (x_.size() < 2 * kBesideBorder - 1 + (bends - 1) * kBesideBorder) return none;
  std::vector<double> at{best_beside({})};
  if (std::isnan(at[0])) return none;
  if (bends == 2) {
    at.push_back(best_beside(at));
    for (int round = 0; round < kRounds && !std::isnan(at.back()); ++round) at = {at[1], best_beside({at[1]})};
    if (std::isnan(at[0]) || std::isnan(at[1])) return none;
    std::sort(at.begin(), at.end());
  }
  std::vector<std::vector<double>> columns{std::vector<double>(x_.size(), 1), x_};
  for (const double k : at) {
    auto& column = columns.emplace_back();
    for (const double x : x_) column.push_back(std::max(0.0, x - k));
  }
  auto made = fit(none.name.c_str(), 2 + 2 * bends, columns);
  for (const double k : at) made.borders.push_back(from_ + width_ * k);
  return made;
}

CurveFit Hinges::line_with_step() const {
  CurveFit none;
  none.name = "a line with a step";
  double least = INFINITY;
  std::size_t best = 0;
  for (std::size_t i = kBesideBorder; i + kBesideBorder <= x_.size(); ++i) {
    if (const double left = squares_of_step(i); left < least) least = left, best = i;
  }
  if (std::isinf(least)) return none;
  std::vector<double> beyond_it(x_.size());
  std::fill(beyond_it.begin() + static_cast<std::ptrdiff_t>(best), beyond_it.end(), 1.0);
  auto made = fit(none.name.c_str(), 4, {std::vector<double>(x_.size(), 1), x_, beyond_it});
  made.borders = {(curve_.x[best - 1] + curve_.x[best]) / 2};
  return made;
}

CurveFit Hinges::parabola() const {
  if (x_.size() < 3) return {"a parabola", {}, {}, 0, 0};
  std::vector<double> square;
  for (const double x : x_) square.push_back(x * x);
  return fit("a parabola", 3, {std::vector<double>(x_.size(), 1), x_, square});
}

Profile Hinges::profile() const {
  Profile profile;
  const auto n = x_.size();
  if (n < 2 * kBesideBorder - 1) return profile;
  const auto between = std::max<std::size_t>(1, std::min(kBetween, kProfile / n));
  for (std::size_t i = kBesideBorder - 1; i + kBesideBorder <= n; ++i) {
    for (std::size_t part = 0; part < (i + kBesideBorder == n ? 1 : between); ++part) {
      const double at =
          x_[i] + (part == 0 ? 0 : (x_[i + 1] - x_[i]) * static_cast<double>(part) / static_cast<double>(between));
      profile.at.push_back(from_ + width_ * at);
      profile.squares.push_back(squares({at}));
    }
  }
  return profile;
}

CurveFit Hinges::fit(const char* name, std::size_t parameters, const std::vector<std::vector<double>>& columns) const {
  CurveFit made;
  made.name = name;
  const auto size = columns.size();
  work(x_.size() * size * size / 64);
  Matrix a(size, std::vector<double>(size));
  std::vector<double> b(size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < x_.size(); ++k) b[i] += columns[i][k] * y_[k];
    for (std::size_t j = 0; j <= i; ++j) {
      for (std::size_t k = 0; k < x_.size(); ++k) a[i][j] += columns[i][k] * columns[j][k];
      a[j][i] = a[i][j];
    }
  }
  const auto solved = solve(a, b);
  if (solved.empty()) return made;
  made.parameters = parameters;
  for (std::size_t k = 0; k < x_.size(); ++k) {
    double y = mean_;
    for (std::size_t i = 0; i < size; ++i) y += solved[i] * columns[i][k];
    made.fitted.push_back(y);
    made.squares += (curve_.y[k] - y) * (curve_.y[k] - y);
  }
  return made;
}

}  // namespace gexp::infer
