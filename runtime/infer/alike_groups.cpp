// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/alike_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// Multiprocessors that lie near to each other are as far from each slice as the others of them. So a latency of one is predicted by those
// of its neighbours. Lines are parted into two halves. Where there are many places, the halves share none of them: two points may be alike
// for some places by accident. Each half proposes groups, as branches of a tree (average linkage), and the other half judges each branch: it
// stays one group unless its parts predict the other half's latencies better than the whole branch does.
namespace gexp::infer {
namespace {

constexpr std::size_t kParts = 64;                        // limit: parts of the lines
constexpr std::size_t kFewestPlaces = 32;                 // limit: parts that lie in different places; of fewer, half would be too few
constexpr int kLineRounds = 8;                            // limit: of putting lines to the nearest part
constexpr std::size_t kFewestLines = kParts;              // limit: that two halves can be made of
constexpr std::size_t kFewestPoints = 4;                  // fact: of three points two are always nearer to each other
constexpr std::size_t kMostPoints = 512;                  // limit: of a tree
constexpr double kMostProducts = 4e9;                     // limit: lines times pairs of points
constexpr double kSplitNoise = 4;                         // fact: square of what two halves of normal noise are apart, at most, in one direction

/// In one unit, from each point's mean on. What is wild counts as what one line in a thousand is off by.
std::vector<float> in_one_unit(const std::vector<float>& seen, const PlaceVectors& vectors, double unit) {
  auto values = seen;
  const auto views = vectors.views;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] *= static_cast<float>(vectors.noise[i % views] / unit);
  std::vector<float> sizes(values.size());
  std::transform(values.begin(), values.end(), sizes.begin(), [](float value) { return std::abs(value); });
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(static_cast<double>(sizes.size() - 1) * (1 - model::kInterfered));
  std::nth_element(sizes.begin(), at, sizes.end());
  const float most = *at;
  std::vector<double> mean(views, 0);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::clamp(values[i], -most, most), mean[i % views] += values[i];
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= static_cast<float>(mean[i % views] * static_cast<double>(views) / static_cast<double>(values.size()));
  return values;
}

float square_apart(const float* a, const float* b, std::size_t views) {
  float sum = 0;
  for (std::size_t view = 0; view < views; ++view) sum += (a[view] - b[view]) * (a[view] - b[view]);
  return sum;
}

/// Parts of the lines, by line. Lines of one place are of one part, where at least kFewestPlaces parts differ by more than noise; else lines
/// are parted by chance.
std::vector<std::size_t> parts_of(const std::vector<float>& seen, std::size_t lines, std::size_t views, bool& places_apart) {
  Bootstrap chance(lines);
  std::vector<float> centres;
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto line = static_cast<std::ptrdiff_t>(chance.index(lines) * views);
    centres.insert(centres.end(), seen.begin() + line, seen.begin() + line + static_cast<std::ptrdiff_t>(views));
  }
  std::vector<std::size_t> of_line(lines, 0);
  std::array<std::size_t, kParts> count{};
  for (int round = 0; round < kLineRounds; ++round) {
    count.fill(0);
    for (std::size_t line = 0; line < lines; ++line) {
      work(1 + kParts * views / 64);
      float least = INFINITY;
      for (std::size_t part = 0; part < kParts; ++part) {
        const float off = square_apart(&seen[line * views], &centres[part * views], views);
        if (off < least) least = off, of_line[line] = part;
      }
      ++count[of_line[line]];
    }
    std::vector<double> sums(kParts * views, 0);
    for (std::size_t line = 0; line < lines; ++line) {
      for (std::size_t view = 0; view < views; ++view) sums[of_line[line] * views + view] += seen[line * views + view];
    }
    for (std::size_t part = 0; part < kParts; ++part) {
      for (std::size_t view = 0; view < views && count[part] > 0; ++view) {
        centres[part * views + view] = static_cast<float>(sums[part * views + view] / static_cast<double>(count[part]));
      }
    }
  }
  // Lines of one place that noise has put into two parts.
  std::array<std::size_t, kParts> joined{};
  std::iota(joined.begin(), joined.end(), std::size_t{0});
  const auto v = static_cast<double>(views);
  for (std::size_t a = 0; a < kParts; ++a) {
    for (std::size_t b = a + 1; b < kParts && count[a] > 0; ++b) {
      if (count[b] == 0) continue;
      const double noise = (1 / static_cast<double>(count[a]) + 1 / static_cast<double>(count[b])) * (v + model::kOnePlace * std::sqrt(2 * v)) + kSplitNoise;
      if (square_apart(&centres[a * views], &centres[b * views], views) > noise) continue;
      const auto from = joined[b], to = joined[a];
      std::replace(joined.begin(), joined.end(), from, to);
    }
  }
  std::set<std::size_t> places;
  for (std::size_t part = 0; part < kParts; ++part) {
    if (count[part] > 0) places.insert(joined[part]);
  }
  places_apart = places.size() >= kFewestPlaces;
  for (auto& part : of_line) part = places_apart ? joined[part] : chance.index(kParts);
  return of_line;
}

/// Which parts are of the second half: both halves have as many lines, or nearly so.
std::array<bool, kParts> second_half(const std::vector<std::size_t>& part_of) {
  std::array<std::size_t, kParts> lines{}, order{};
  for (const auto part : part_of) ++lines[part];
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return lines[a] > lines[b]; });
  std::array<bool, kParts> second{};
  std::array<std::size_t, 2> have{};
  for (const auto part : order) {
    second[part] = have[1] < have[0];
    have[second[part] ? 1 : 0] += lines[part];
  }
  return second;
}

/// Points joined to ever larger branches. A leaf has no parts.
struct Branch {
  std::vector<std::size_t> members;
  std::size_t left = SIZE_MAX, right = SIZE_MAX;
};

/// The last branch has all points. `apart`: square of what two points differ by, noise left out, by pair.
std::vector<Branch> tree_of(std::vector<double> apart, std::size_t views) {
  std::vector<Branch> tree;
  std::vector<std::size_t> now;  // branches that are not joined, by row of `apart`; SIZE_MAX: joined to another row
  for (std::size_t view = 0; view < views; ++view) tree.push_back({{view}}), now.push_back(view);
  for (std::size_t joined = 1; joined < views; ++joined) {
    work(1 + views * views / 64);
    std::size_t a = 0, b = 0;
    double least = INFINITY;
    for (std::size_t i = 0; i < views; ++i) {
      for (std::size_t j = i + 1; j < views && now[i] != SIZE_MAX; ++j) {
        if (now[j] != SIZE_MAX && apart[i * views + j] < least) least = apart[i * views + j], a = i, b = j;
      }
    }
    if (a == b) break;  // no number is left
    Branch made{tree[now[a]].members, now[a], now[b]};
    const auto& other = tree[now[b]].members;
    const auto first = static_cast<double>(made.members.size()), second = static_cast<double>(other.size());
    made.members.insert(made.members.end(), other.begin(), other.end());
    for (std::size_t k = 0; k < views; ++k) apart[a * views + k] = apart[k * views + a] = (first * apart[a * views + k] + second * apart[b * views + k]) / (first + second);
    now[b] = SIZE_MAX, now[a] = tree.size();
    tree.push_back(std::move(made));
  }
  return tree;
}

/// What predictions are off by.
struct Errors {
  std::array<double, kParts> squares{};  ///< by part of the lines, noise included
  double real = 0;  ///< the same without noise: products of what the even visits and the odd ones are off by, whose noise is their own

  Errors& operator+=(const Errors& other) {
    for (std::size_t part = 0; part < kParts; ++part) squares[part] += other.squares[part];
    real += other.real;
    return *this;
  }
};

/// Latencies by line, then by point: of all visits, and of either half of them.
struct Seen {
  std::vector<float> all, even, odd;
  std::size_t views = 0;
};

/// A half of the lines that judges.
class Judge {
 public:
  Judge(const Seen& seen, const std::vector<std::size_t>& part_of, const std::vector<std::size_t>& lines)
      : seen_(seen), views_(seen.views), part_of_(part_of), lines_(lines), alone_(seen.views) {
    std::vector<std::size_t> all(views_);
    std::iota(all.begin(), all.end(), std::size_t{0});
    of_group(all, &alone_);
  }

  /// Each member's latencies predicted by the mean of the others'. A point alone is predicted by the mean of all.
  [[nodiscard]] Errors of(const std::vector<std::size_t>& members) const { return members.size() == 1 ? alone_[members[0]] : of_group(members, nullptr); }

  /// These groups, without the points that the others of their group do not predict better than the mean of all others does.
  [[nodiscard]] std::vector<std::vector<std::size_t>> kept(const std::vector<std::vector<std::size_t>>& groups) const {
    if (groups.size() < 2) return groups;
    std::vector<std::vector<std::size_t>> made;
    for (const auto& group : groups) {
      if (group.size() < 2) continue;
      std::vector<Errors> each(views_);
      of_group(group, &each);
      std::vector<std::size_t> members;
      for (const auto view : group) {
        if (each[view].real < (1 - model::kEnoughShare) * alone_[view].real) members.push_back(view);
      }
      if (members.size() > 1) made.push_back(std::move(members));
    }
    return made;
  }

  /// The groups of this branch, which the half tells apart, and what they are off by.
  Errors best(const std::vector<Branch>& tree, std::size_t branch, std::vector<std::vector<std::size_t>>& groups) const {
    const auto& here = tree[branch];
    auto whole = of(here.members);
    if (here.left != SIZE_MAX) {
      std::vector<std::vector<std::size_t>> parts;
      auto parted = best(tree, here.left, parts);
      const auto right = best(tree, here.right, parts);
      parted += right;
      if (tells(whole, parted, here.members)) {
        groups.insert(groups.end(), parts.begin(), parts.end());
        return parted;
      }
    }
    groups.push_back(here.members);
    return whole;
  }

 private:
  Errors of_group(const std::vector<std::size_t>& members, std::vector<Errors>* each) const {
    Errors sum;
    const auto others = static_cast<double>(members.size() - 1);
    for (const auto line : lines_) {
      work(1 + members.size() / 16);
      const float *row = seen_.all.data() + line * views_, *even = seen_.even.data() + line * views_, *odd = seen_.odd.data() + line * views_;
      double of_row = 0, of_even = 0, of_odd = 0;
      for (const auto view : members) of_row += row[view], of_even += even[view], of_odd += odd[view];
      const auto off = [&](const float* from, double all, std::size_t view) { return from[view] - (all - from[view]) / others; };
      for (const auto view : members) {
        const double by = off(row, of_row, view), real = off(even, of_even, view) * off(odd, of_odd, view);
        sum.squares[part_of_[line]] += by * by, sum.real += real;
        if (each) (*each)[view].squares[part_of_[line]] += by * by, (*each)[view].real += real;
      }
    }
    return sum;
  }

  /// Whether a branch's parts predict better than the whole: by a share of what is no noise, in one part of the lines as in the others; and by
  /// more than it takes to say who is in which.
  [[nodiscard]] static bool tells(const Errors& whole, const Errors& parted, const std::vector<std::size_t>& members) {
    double gain = 0, sum = 0, squares = 0, n = 0;
    for (std::size_t part = 0; part < kParts; ++part) {
      if (whole.squares[part] == 0) continue;  // no line of this half, or no error
      const double share = 1 - parted.squares[part] / whole.squares[part];
      gain += whole.squares[part] - parted.squares[part], sum += share, squares += share * share, n += 1;
    }
    if (n < 2 || gain / 2 <= static_cast<double>(members.size()) * std::log(2.0) || parted.real > (1 - model::kEnoughShare) * whole.real) return false;
    const double mean = sum / n, spread = std::sqrt(std::max(0.0, squares / n - mean * mean) / (n - 1));
    return mean > model::kOnePlace * spread;
  }

  const Seen& seen_;
  std::size_t views_;
  const std::vector<std::size_t>& part_of_;
  const std::vector<std::size_t>& lines_;
  std::vector<Errors> alone_;  ///< by point
};

/// By pair of points: what their latencies to these lines differ by, squared. The even visits' noise is not the odd ones'.
std::vector<double> apart(const Seen& seen, const std::vector<std::size_t>& lines) {
  const auto views = seen.views;
  std::vector<float> products(views * views, 0);
  for (const auto line : lines) {
    work(1 + views * views / 512);
    const float *a = seen.even.data() + line * views, *b = seen.odd.data() + line * views;
    for (std::size_t i = 0; i < views; ++i) {
      for (std::size_t j = 0; j < views; ++j) products[i * views + j] += a[i] * b[j];
    }
  }
  std::vector<double> made(views * views);
  const auto at = [&](std::size_t i, std::size_t j) { return static_cast<double>(products[i * views + j]); };
  for (std::size_t i = 0; i < views; ++i) {
    for (std::size_t j = 0; j < views; ++j) made[i * views + j] = at(i, i) + at(j, j) - at(i, j) - at(j, i);
  }
  return made;
}

/// By point: its group, or SIZE_MAX.
std::vector<std::size_t> numbers(const std::vector<std::vector<std::size_t>>& groups, std::size_t views) {
  std::vector<std::size_t> of_view(views, SIZE_MAX);
  for (std::size_t group = 0; group < groups.size(); ++group) {
    for (const auto view : groups[group]) of_view[view] = group;
  }
  return of_view;
}

/// By point, whether it lies in the coarser group in which most of its finer group lie, or in none of both.
std::vector<bool> alike_in_both(const std::vector<std::vector<std::size_t>>& finer, const std::vector<std::size_t>& coarser) {
  const auto of_finer = numbers(finer, coarser.size());
  std::vector<bool> agreed(coarser.size(), false);
  for (std::size_t view = 0; view < coarser.size(); ++view) agreed[view] = of_finer[view] == SIZE_MAX && coarser[view] == SIZE_MAX;
  for (const auto& group : finer) {
    std::map<std::size_t, std::size_t> in;
    std::pair<std::size_t, std::size_t> most{0, SIZE_MAX};
    for (const auto view : group) {
      if (coarser[view] != SIZE_MAX) most = std::max(most, {++in[coarser[view]], coarser[view]});
    }
    for (const auto view : group) agreed[view] = most.first > 0 && coarser[view] == most.second;
  }
  return agreed;
}

}  // namespace

AlikeGroups find_alike(const PlaceVectors& vectors) {
  AlikeGroups made;
  const auto lines = vectors.offsets.size(), views = vectors.views;
  const auto pairs = static_cast<double>(views) * static_cast<double>(views) * static_cast<double>(lines);
  if (views < kFewestPoints) return made.problem = fmt::format("{} points make no groups; at least {} would", views, kFewestPoints), made;
  if (lines < kFewestLines) return made.problem = fmt::format("{} lines are too few for two halves to judge each other; at least {} would do", lines, kFewestLines), made;
  if (views > kMostPoints || pairs > kMostProducts) return made.problem = fmt::format("{} lines seen from {} points are too many pairs; fewer lines would decide", lines, views), made;

  const double unit = median(vectors.noise);
  const Seen seen{in_one_unit(vectors.all, vectors, unit), in_one_unit(vectors.even, vectors, unit), in_one_unit(vectors.odd, vectors, unit), views};
  const auto part_of = parts_of(seen.all, lines, views, made.places_apart);
  const auto second = second_half(part_of);
  std::array<std::vector<std::size_t>, 2> halves;
  for (std::size_t line = 0; line < lines; ++line) halves[second[part_of[line]] ? 1 : 0].push_back(line);

  std::array<std::vector<std::vector<std::size_t>>, 2> told;
  for (const std::size_t half : {0u, 1u}) {
    const auto tree = tree_of(apart(seen, halves[half]), views);
    if (tree.size() != 2 * views - 1) return made.problem = "latencies are no numbers", made;
    const Judge judge(seen, part_of, halves[1 - half]);
    std::vector<std::vector<std::size_t>> groups;
    judge.best(tree, tree.size() - 1, groups);
    told[half] = judge.kept(groups);
  }
  const std::size_t coarser = told[0].size() <= told[1].size() ? 0 : 1;
  made.of_view = numbers(told[coarser], views);
  made.count = told[coarser].size();
  made.more = told[1 - coarser].size();
  const auto agreed = alike_in_both(told[1 - coarser], made.of_view);
  made.agreed = static_cast<std::size_t>(std::count(agreed.begin(), agreed.end(), true));

  std::vector<std::size_t> both(lines);
  std::iota(both.begin(), both.end(), std::size_t{0});
  const Judge judge(seen, part_of, both);
  double null = 0, own = 0;
  for (std::size_t view = 0; view < views; ++view) null += judge.of({view}).real;
  for (const auto& group : told[coarser]) own += judge.of(group).real;
  for (std::size_t view = 0; view < views; ++view) own += made.of_view[view] == SIZE_MAX ? judge.of({view}).real : 0;
  for (std::size_t view = 0; view < views; ++view) made.of_view[view] = agreed[view] ? made.of_view[view] : SIZE_MAX;
  made.differ = std::sqrt(std::max(0.0, null) / static_cast<double>(lines * views));
  made.predicted = null > 0 ? std::clamp(1 - own / null, 0.0, 1.0) : 0;
  return made;
}

}  // namespace gexp::infer
