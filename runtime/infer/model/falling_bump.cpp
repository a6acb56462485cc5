// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/falling_bump.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "runtime/infer/cut_short.h"

namespace gexp::infer::model {
namespace {

using Normal = boost::math::normal;

constexpr int kRounds = 24;       // limit: of expectation and maximization; the likelihood changes by less than 1 long before
constexpr std::size_t kPlaces = 96;  // limit: where it begins

/// Of each cell's density, given the falling part and the bump.
double likelihood(const std::vector<double>& counts, const std::vector<double>& falling, const Bump& bump) {
  double sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] <= 0) continue;
    double density = (1 - bump.share) * falling[i];
    if (bump.share > 0) density += bump.share * pdf(Normal(bump.center, bump.width), static_cast<double>(i));
    sum += counts[i] * std::log(density);
  }
  return sum;
}

/// The bump that begins with all values within two widths of the center.
Bump improved(const std::vector<double>& counts, double center, double width) {
  Bump bump{.center = center, .width = width, .share = 0, .gain = 0, .belongs = std::vector<double>(counts.size(), 0)};
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (std::size_t i = 0; i < counts.size(); ++i) bump.belongs[i] = std::abs(static_cast<double>(i) - center) <= 2 * width ? 1 : 0;
  std::vector<double> falling(counts.size());
  for (int round = 0; round < kRounds; ++round) {
    work(counts.size());
    double weight = 0, sum = 0, squares = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double own = counts[i] * bump.belongs[i], x = static_cast<double>(i);
      weight += own, sum += own * x, squares += own * x * x;
      falling[i] = counts[i] - own;
    }
    if (weight < 2 || weight > all / 2) return bump.gain = -INFINITY, bump;
    bump.share = weight / all;
    bump.center = sum / weight;
    bump.width = std::max(1.0, std::sqrt(std::max(0.0, squares / weight - bump.center * bump.center)));
    falling = falling_curve(falling);
    const Normal normal(bump.center, bump.width);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const double own = bump.share * pdf(normal, static_cast<double>(i));
      const double other = (1 - bump.share) * falling[i];
      bump.belongs[i] = own + other > 0 ? own / (own + other) : 0;
    }
  }
  bump.gain = likelihood(counts, falling, bump);
  return bump;
}

}  // namespace

std::vector<double> falling_curve(const std::vector<double>& counts) {
  struct Block {
    double sum = 0;
    std::size_t cells = 0;
    double mean() const { return sum / static_cast<double>(cells); }
  };
  std::vector<Block> blocks;
  for (const double count : counts) {
    blocks.push_back({count, 1});
    while (blocks.size() > 1 && blocks.back().mean() > blocks[blocks.size() - 2].mean()) {
      const auto last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum, blocks.back().cells += last.cells;
    }
  }
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  std::vector<double> density;
  density.reserve(counts.size());
  for (const auto& block : blocks) density.insert(density.end(), block.cells, all > 0 ? block.mean() / all : 0);
  return density;
}

std::optional<Bump> find_bump(const std::vector<double>& counts) {
  const auto used = static_cast<std::size_t>(std::count_if(counts.begin(), counts.end(), [](double count) { return count > 0; }));
  if (used < 4) return std::nullopt;
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  const double alone = likelihood(counts, falling_curve(counts), {});
  Bump best;
  best.gain = -INFINITY;
  const auto cells = static_cast<double>(counts.size());
  const auto places = std::min(kPlaces, counts.size());
  for (std::size_t place = 1; place < places; ++place) {
    for (const double width : {cells / 128, cells / 48}) {
      auto bump = improved(counts, cells * static_cast<double>(place) / static_cast<double>(places), std::max(1.0, width));
      if (bump.gain > best.gain) best = std::move(bump);
    }
  }
  if (!std::isfinite(best.gain)) return std::nullopt;
  // Its share, which all values tell, its center and width, which its own tell; and it could have been anywhere.
  best.gain -= alone + std::log(all) / 2 + std::log(best.share * all) + std::log(cells);
  return best;
}

}  // namespace gexp::infer::model
