// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/saturation_fit.h"

#include <algorithm>
#include <array>
#include <boost/math/tools/minima.hpp>
#include <cmath>
#include <numbers>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/statistics.h"

// Few requests under way are each answered after the same latency, so throughput rises in proportion to their number; many wait for
// the slowest part, which gives the plateau. Between the two a real device turns gradually, as requests happen to meet or not.
namespace gexp::infer {
namespace {

constexpr std::size_t kKnees = 128;  // limit: places of a knee that are tried
constexpr int kRounds = 6;           // limit: of reweighing
constexpr int kKneeBits = 30;        // limit: of the best knee's place between those tried
constexpr double kTail = 0.01;       // fact: of the knee's interval, on each side: it is one of 98 %
/// log(1 + exp(m u)) / m: 0 on one side, u on the other.
double soft(double u, double m) { return std::isinf(m) ? std::max(0.0, u) : std::max(0.0, u) + std::log1p(std::exp(-m * std::fabs(u))) / m; }

/// How one asymptote turns into the other: gradually, or in a corner where each launch costs something more, a share of the latency.
struct Turn {
  double sharpness, fixed;
  /// By how much the logarithm of y is below the plateau's at exp(u) knees.
  [[nodiscard]] double below(double u) const {
    if (fixed == 0) return -soft(-u, sharpness);
    return std::min(u, -std::log1p(fixed / (1 + fixed) * std::exp(-u)));
  }
};
constexpr std::array kTurns{Turn{INFINITY, 0}, Turn{8, 0}, Turn{4, 0}, Turn{2, 0}, Turn{1, 0}, Turn{INFINITY, 0.1}, Turn{INFINITY, 0.2}};  // grid: sharp, gradual, with a fixed cost

/// y = level + free powers, the first column being the level: each a power's departure, normal about 0.
struct Regression {
  std::vector<double> y;                     // less what is not free
  std::vector<const std::vector<double>*> powers;  // none, one or two
};

struct Regressed {
  std::array<double, 3> beta{};
  double scale = 0;
  double log_likelihood = 0;
  std::array<double, 9> information{};  // of beta, without its prior
  std::vector<double> left;
};

double determinant(const std::array<double, 9>& a, std::size_t size) {
  if (size == 1) return a[0];
  if (size == 2) return a[0] * a[4] - a[1] * a[3];
  return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

std::array<double, 3> solved(const std::array<double, 9>& a, const std::array<double, 3>& b, std::size_t size) {
  std::array<double, 3> x{};
  const double all = determinant(a, size);
  for (std::size_t column = 0; column < size; ++column) {
    auto with = a;
    for (std::size_t row = 0; row < size; ++row) with[3 * row + column] = b[row];
    x[column] = determinant(with, size) / all;  // Cramer's rule
  }
  return x;
}

Regressed regress(const Regression& data, double noise, int rounds) {
  const auto n = data.y.size(), size = data.powers.size() + 1;
  Regressed fit;
  fit.left = data.y;
  fit.beta[0] = median(data.y);
  for (auto& value : fit.left) value -= fit.beta[0];
  fit.scale = std::max(noise, robust_spread(fit.left));
  const auto column = [&](std::size_t j, std::size_t i) { return j == 0 ? 1.0 : (*data.powers[j - 1])[i]; };
  std::vector<double> weights(n);
  for (int round = 0; round < rounds; ++round) {
    work(1 + n / 8);
    fit.information = {};
    std::array<double, 3> right{};
    for (std::size_t i = 0; i < n; ++i) {
      const double z = fit.left[i] / fit.scale, w = weights[i] = (model::kOutlierFreedom + 1) / (model::kOutlierFreedom + z * z);
      for (std::size_t j = 0; j < size; ++j) {
        right[j] += w * column(j, i) * data.y[i] / (fit.scale * fit.scale);
        for (std::size_t k = 0; k < size; ++k) fit.information[3 * j + k] += w * column(j, i) * column(k, i) / (fit.scale * fit.scale);
      }
    }
    auto with_prior = fit.information;
    for (std::size_t j = 1; j < size; ++j) with_prior[4 * j] += 1;
    fit.beta = solved(with_prior, right, size);
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      fit.left[i] = data.y[i];
      for (std::size_t j = 0; j < size; ++j) fit.left[i] -= fit.beta[j] * column(j, i);
      squares += weights[i] * fit.left[i] * fit.left[i];
    }
    fit.scale = std::max(noise, std::sqrt(squares / static_cast<double>(n)));
  }
  const double norm = std::lgamma((model::kOutlierFreedom + 1) / 2) - std::lgamma(model::kOutlierFreedom / 2) - std::log(model::kOutlierFreedom * std::numbers::pi) / 2 - std::log(fit.scale);
  for (const double left : fit.left) fit.log_likelihood += norm - (model::kOutlierFreedom + 1) / 2 * std::log1p(left * left / (fit.scale * fit.scale * model::kOutlierFreedom));
  return fit;
}

/// Of the parameters, their priors included.
std::array<double, 9> information_of(const Regressed& fit, std::size_t powers, double tempered) {
  auto information = fit.information;
  for (auto& value : information) value *= tempered;
  for (std::size_t j = 1; j <= powers; ++j) information[4 * j] += 1;
  return information;
}

/// Chance that a power lies within `most` of the textbook's.
double within(const Regressed& fit, std::size_t powers, double tempered, std::size_t power, double most) {
  std::array<double, 3> unit{};
  unit[power] = 1;
  const double deviation = std::sqrt(solved(information_of(fit, powers, tempered), unit, powers + 1)[power]);
  const auto below = [&](double value) { return normal_share_beyond((fit.beta[power] - value) / deviation); };
  return below(most) - below(-most);
}

double log_marginal(const Regressed& fit, std::size_t powers, double tempered) {
  double prior = std::log(2 * std::numbers::pi) / 2;  // of the level, which is flat; a power's cancels
  for (std::size_t j = 1; j <= powers; ++j) {
    prior += std::log(1 / model::kDeparture) - fit.beta[j] * fit.beta[j] / 2;
  }
  return tempered * fit.log_likelihood + prior - std::log(determinant(information_of(fit, powers, tempered), powers + 1)) / 2;
}

struct Kind {
  Rise kind;
  bool beginning, end;  // free
  [[nodiscard]] std::size_t powers() const { return static_cast<std::size_t>(beginning) + static_cast<std::size_t>(end); }
};
constexpr std::array kBent{Kind{Rise::Plateau, false, false}, Kind{Rise::OtherBeginning, true, false}, Kind{Rise::OtherEnd, false, true}, Kind{Rise::OtherBoth, true, true}};  // fact: all of them

/// A knee and its sharpness: how far below the level a curve of power 1 is at each of the first points, and how far above one that goes on.
struct Shape {
  double knee;
  std::size_t turn;
  std::vector<double> below, above;
  Shape(const std::vector<double>& x, std::size_t points, double at, std::size_t which) : knee(at), turn(which) {
    for (std::size_t i = 0; i < points; ++i) {
      const double u = std::log(x[i] / knee);
      below.push_back(kTurns[turn].below(u)), above.push_back(u - below.back());
    }
  }
};

class Rises {
 public:
  Rises(const std::vector<double>& x, const std::vector<double>& log_y, double noise) : x_(x), log_y_(log_y), noise_(noise) {
    const auto [low, high] = std::minmax_element(log_y.begin(), log_y.end());
    range_ = std::max(*high - *low, std::log(x.back() / x.front()));
  }

  /// All hypotheses of the first `points`; the others lie anywhere, and cost as much. `knees` gets the weight of a plateau by place.
  void weigh(std::size_t points, double tempered, std::vector<RiseFit>& fits, std::vector<double>& knees) const {
    const auto n = static_cast<double>(x_.size());
    const double behind = (static_cast<double>(points) - n) * std::log(range_) * tempered - (points < x_.size() ? std::log(n) : 0);
    const double places = std::log(static_cast<double>(kKnees * kTurns.size()));
    std::array<RiseFit, kBent.size()> best;
    std::array<std::vector<double>, kBent.size()> worth, share;
    std::array<double, kBent.size()> most;
    most.fill(-INFINITY);
    for (std::size_t at = 0; at < kKnees; ++at) {
      for (std::size_t turn = 0; turn < kTurns.size(); ++turn) {
        const Shape shape(x_, points, knee_at(at, points), turn);
        for (std::size_t k = 0; k < kBent.size(); ++k) {
          if (kBent[k].end && kTurns[turn].fixed > 0) {  // two ways of not being level, which undo each other
            worth[k].push_back(-INFINITY), share[k].push_back(0);
            continue;
          }
          const auto fit = regress(bent(shape, kBent[k]), noise_, kRounds);
          worth[k].push_back(log_marginal(fit, kBent[k].powers(), tempered) - places + behind);
          share[k].push_back(plateau_share(kBent[k], shape, fit, tempered));
          if (worth[k].back() > most[k]) most[k] = worth[k].back(), best[k] = described(kBent[k], shape, fit);
        }
      }
    }
    const double top = *std::max_element(most.begin(), most.end());
    knees.assign(worth[0].size(), 0);
    for (std::size_t k = 0; k < kBent.size(); ++k) {
      double sum = 0, plateau = 0;
      for (std::size_t i = 0; i < worth[k].size(); ++i) {
        const double each = std::exp(worth[k][i] - top);
        sum += each, plateau += each * share[k][i], knees[i] += each * share[k][i];
      }
      best[k].weight = top + std::log(sum), best[k].plateau = sum > 0 ? plateau / sum : 0;
      fits.push_back(best[k]);
    }
    for (const auto kind : {Rise::Power, Rise::Proportional, Rise::Constant}) {
      Regression data;
      for (std::size_t i = 0; i < points; ++i) data.y.push_back(log_y_[i] - (kind == Rise::Constant ? 0 : std::log(x_[i])));
      std::vector<double> power;
      for (std::size_t i = 0; i < points; ++i) power.push_back(std::log(x_[i] / x_[0]));
      if (kind == Rise::Power) data.powers.push_back(&power);
      const auto fit = regress(data, noise_, kRounds);
      RiseFit made{kind, points, log_marginal(fit, data.powers.size(), tempered) + behind, 0, fit.beta[0], 0, 0, (kind == Rise::Constant ? 0 : 1) + fit.beta[1], 0, fit.scale};
      if (kind == Rise::Power) made.level -= fit.beta[1] * std::log(x_[0]), made.weight += std::log(model::kDeparture);
      made.end = made.beginning;
      fits.push_back(made);
    }
    if (points == x_.size()) fits.push_back({Rise::Scatter, points, -tempered * n * std::log(range_), 0, 0, 0, 0, 0, 0, range_});
  }

  [[nodiscard]] double knee_at(std::size_t place, std::size_t points) const {
    const double width = std::log(x_[points - 1] / x_[0]);
    return x_[0] * std::exp(width * (static_cast<double>(place) + 0.5) / kKnees);
  }

  /// How far the points of the likeliest are independent of each other.
  [[nodiscard]] double independent(const RiseFit& fit) const {
    if (fit.kind == Rise::Scatter || fit.scatter <= noise_) return 1;
    std::vector<double> left;
    for (std::size_t i = 0; i < fit.points; ++i) left.push_back(std::clamp(log_y_[i] - fit.log_y(x_[i]), -3 * fit.scatter, 3 * fit.scatter));
    return independent_share(left);
  }

  /// The same with the knee at its likeliest, also between the places that were tried.
  void refine(RiseFit& fit) const {
    const double width = std::log(x_[fit.points - 1] / x_[0]) / kKnees, at = std::log(fit.knee);
    const auto fit_at = [&](const Shape& shape) { return regress(bent(shape, kBent[0]), noise_, 4 * kRounds); };
    const auto best = boost::math::tools::brent_find_minima([&](double log_knee) { return -fit_at({x_, fit.points, std::exp(log_knee), fit.turn}).log_likelihood; }, at - width, at + width, kKneeBits);
    const Shape shape(x_, fit.points, std::exp(best.first), fit.turn);
    const double weight = fit.weight, plateau = fit.plateau;
    fit = described(kBent[0], shape, fit_at(shape));
    fit.weight = weight, fit.plateau = plateau;
  }

 private:
  /// Chance that powers which are free are a plateau's all the same, as far as that was measured; 0 where the sweep ends below it.
  static double plateau_share(const Kind& kind, const Shape& shape, const Regressed& fit, double tempered) {
    if (-shape.below.back() > model::kReached) return 0;  // it is not reached
    double share = 1;
    if (kind.beginning) share *= within(fit, kind.powers(), tempered, 1, model::kOneThing);
    if (kind.end && shape.above.back() > 0) share *= within(fit, kind.powers(), tempered, kind.powers(), model::kHidden / shape.above.back());
    return share;
  }

  [[nodiscard]] Regression bent(const Shape& shape, const Kind& kind) const {
    Regression data;
    for (std::size_t i = 0; i < shape.below.size(); ++i) data.y.push_back(log_y_[i] - shape.below[i]);
    if (kind.beginning) data.powers.push_back(&shape.below);
    if (kind.end) data.powers.push_back(&shape.above);
    return data;
  }

  static RiseFit described(const Kind& kind, const Shape& shape, const Regressed& fit) {
    return {kind.kind, shape.below.size(), 0, 0, fit.beta[0], shape.knee, shape.turn, 1 + (kind.beginning ? fit.beta[1] : 0), kind.end ? fit.beta[kind.beginning ? 2 : 1] : 0, fit.scale};
  }

  const std::vector<double>& x_;
  const std::vector<double>& log_y_;
  double noise_, range_;
};

/// The middle 98 % of what knees are worth: a knee lies there 95 times in 100, for what it is worth is computed at the likeliest scatter.
void interval(RiseEvidence& evidence, const Rises& rises, const std::vector<double>& knees, const RiseFit& best) {
  double sum = 0, so_far = 0;
  for (const double worth : knees) sum += worth;
  const double half = std::sqrt(rises.knee_at(1, best.points) / rises.knee_at(0, best.points));  // from the middle of a place to its end
  evidence.low = evidence.high = best.knee;
  for (std::size_t i = 0; i < kKnees; ++i) {
    for (std::size_t k = 0; k < kTurns.size(); ++k) {
      const double before = so_far / sum;
      so_far += knees[i * kTurns.size() + k];
      if (before <= kTail && so_far / sum > kTail) evidence.low = std::min(best.knee, rises.knee_at(i, best.points) / half);
      if (before <= 1 - kTail && so_far / sum > 1 - kTail) evidence.high = std::max(best.knee, rises.knee_at(i, best.points) * half);
    }
  }
}

}  // namespace

double RiseFit::log_y(double x) const {
  if (knee <= 0) return level + beginning * std::log(x);
  const double u = std::log(x / knee), below = kTurns[turn].below(u);
  return level + beginning * below + end * (u - below);
}

const RiseFit* RiseEvidence::best_plateau() const {
  const auto at = std::find_if(fits.begin(), fits.end(), [](const RiseFit& fit) { return fit.kind == Rise::Plateau; });
  return at == fits.end() ? nullptr : &*at;
}

const RiseFit* RiseEvidence::best_rival() const {
  const auto against = [](const RiseFit& fit) { return fit.weight * (1 - fit.plateau); };
  return &*std::max_element(fits.begin(), fits.end(), [&](const RiseFit& a, const RiseFit& b) { return against(a) < against(b); });
}

RiseEvidence weigh_rises(const std::vector<double>& x, const std::vector<double>& log_y, double noise, std::optional<std::size_t> fall) {
  const Rises rises(x, log_y, noise);
  RiseEvidence evidence;
  std::vector<double> knees[2];
  double tempered = 1;
  for (int pass = 0; pass < 2; ++pass) {
    evidence.fits.clear();
    rises.weigh(x.size(), tempered, evidence.fits, knees[0]);
    if (fall) rises.weigh(*fall, tempered, evidence.fits, knees[1]);
    std::stable_sort(evidence.fits.begin(), evidence.fits.end(), [](const RiseFit& a, const RiseFit& b) { return a.weight > b.weight; });
    if (pass == 0) tempered = rises.independent(evidence.fits[0]);
    if (tempered == 1) break;
  }
  const double most = evidence.fits[0].weight;
  double sum = 0;
  for (auto& fit : evidence.fits) sum += fit.weight = std::exp(fit.weight - most);
  for (auto& fit : evidence.fits) {
    fit.weight /= sum;
    evidence.plateau += fit.weight * fit.plateau;
  }
  for (auto& fit : evidence.fits) {
    if (fit.kind != Rise::Plateau) continue;
    rises.refine(fit);
    interval(evidence, rises, knees[fit.points < x.size() ? 1 : 0], fit);
    break;
  }
  return evidence;
}

}  // namespace gexp::infer
