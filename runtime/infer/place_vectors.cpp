// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/place_vectors.h"

#include <algorithm>
#include <array>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <numeric>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

// A slice lies further from one multiprocessor than from another. So what all of them take to reach a line is a vector that belongs to the
// place where the line lies, and two lines of one place differ by noise alone. Noise is what the even and the odd visits of a line differ by.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostNumbers = std::size_t{1} << 23;  // limit: lines times points
constexpr std::size_t kNearestPairs = 20;                   // limit: pairs of places that tell how places scatter
constexpr double kTick = 0.2887;                            // fact: standard deviation of a whole number's rounding
constexpr double kWild = 6;                                 // limit: a latency that is further off counts as this, in units of the noise
constexpr double kMedianOfFour = 1.092;                     // fact: its standard deviation, beside that of a mean, of normal values
constexpr std::size_t kFewestToSplit = 4;                   // limit: lines of a place, at least, of which two are made
constexpr int kDrawn = 24;                                  // limit: halves drawn by chance
constexpr int kRounds = 3;                                  // limit: of putting lines to the nearest place

double middle(std::vector<double>& values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  if (values.size() % 2 == 1) return *at;
  return (*at + *std::max_element(values.begin(), at)) / 2;
}

/// Standard deviation about 0 where what is wild counts as three of them. Ticks are whole numbers, so that a quantile would be off.
double spread_of(const std::vector<double>& values) {
  const double most = 3 * std::max(robust_spread(values), 2 * kTick);
  double sum = 0;
  for (const double value : values) sum += std::pow(std::min(std::abs(value), most), 2);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

/// Mean square of what two vectors differ by.
double distance(const float* a, const float* b, std::size_t views) {
  float sum = 0;
  for (std::size_t i = 0; i < views; ++i) {
    const float off = std::min(std::abs(a[i] - b[i]), static_cast<float>(kWild));
    sum += off * off;
  }
  return sum / static_cast<float>(views);
}

/// The middle of each place's lines.
struct Centres {
  std::size_t views = 0;
  std::vector<float> of;              ///< by place, then by point
  std::vector<std::size_t> lines;     ///< by place
  [[nodiscard]] std::size_t count() const { return lines.size(); }
  [[nodiscard]] const float* at(std::size_t place) const { return of.data() + place * views; }
  [[nodiscard]] std::pair<std::size_t, double> nearest(const float* line) const {
    std::pair<std::size_t, double> best{0, INFINITY};
    for (std::size_t place = 0; place < count(); ++place) {
      const double off = distance(at(place), line, views);
      if (off < best.second) best = {place, off};
    }
    return best;
  }
};

/// The median from each point: what is wild does not move it.
Centres centres_of(const std::vector<float>& vectors, std::size_t views, const std::vector<std::size_t>& of_line, std::size_t places) {
  Centres made{views, std::vector<float>(places * views, 0), std::vector<std::size_t>(places, 0)};
  std::vector<std::vector<std::size_t>> members(places);
  for (std::size_t line = 0; line < of_line.size(); ++line) members[of_line[line]].push_back(line);
  std::vector<double> values;
  for (std::size_t place = 0; place < places; ++place) {
    made.lines[place] = members[place].size();
    work(1 + members[place].size() * views / 16);
    for (std::size_t i = 0; i < views; ++i) {
      values.clear();
      for (const auto line : members[place]) values.push_back(vectors[line * views + i]);
      made.of[place * views + i] = static_cast<float>(middle(values));
    }
  }
  return made;
}

/// Numbers places from 0 on, in the order in which lines come to them, and leaves out empty ones.
std::size_t renumber(std::vector<std::size_t>& of_line, std::size_t places) {
  std::vector<std::size_t> number(places, SIZE_MAX);
  std::size_t count = 0;
  for (auto& place : of_line) {
    if (number[place] == SIZE_MAX) number[place] = count++;
    place = number[place];
  }
  return count;
}

}  // namespace

PlaceVectors place_vectors(const records::Table& table) {
  PlaceVectors made;
  std::vector<const records::Point*> points;
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    const auto& point = table.points[i];
    if (point.walk && point.walk->steps > 0 && !point.runs.empty()) points.push_back(&point), made.points.push_back(i);
  }
  if (points.size() < 2) return made.problem = "a place is told by how far it is from several multiprocessors; a sweep over `sm` would decide", made;
  const auto& first = points.front()->walk->offsets;
  made.offsets.assign(first.begin(), first.end());
  std::sort(made.offsets.begin(), made.offsets.end());
  made.offsets.erase(std::unique(made.offsets.begin(), made.offsets.end()), made.offsets.end());
  const auto lines = made.offsets.size();
  made.views = points.size();
  if (lines * made.views > kMostNumbers) return made.problem = "there are more than 8 million pairs of a line and a point; fewer lines would decide", made;
  for (auto* of : {&made.all, &made.even, &made.odd}) of->resize(lines * made.views);
  for (std::size_t view = 0; view < points.size(); ++view) {
    const auto& walk = *points[view]->walk;
    std::vector<std::size_t> line_of(static_cast<std::size_t>(walk.steps));  // by step
    for (std::int64_t step = 0; step < walk.steps; ++step) {
      const auto at = std::lower_bound(made.offsets.begin(), made.offsets.end(), walk.at(0, step));
      if (at == made.offsets.end() || *at != walk.at(0, step)) return made.problem = "the points do not walk the same lines; one pattern for all of them would decide", made;
      line_of[static_cast<std::size_t>(step)] = static_cast<std::size_t>(at - made.offsets.begin());
    }
    std::vector<std::vector<double>> even(lines), odd(lines);
    for (const auto& run : points[view]->runs) {
      work(1 + run.ticks.size() / 4);
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        const auto line = line_of[i % line_of.size()];
        (even[line].size() > odd[line].size() ? odd : even)[line].push_back(run.ticks[i]);
      }
    }
    std::vector<double> apart, middles(lines);
    for (std::size_t line = 0; line < lines; ++line) {
      if (odd[line].empty()) return made.problem = "a line is visited once, and only two visits show how far noise goes; more laps or repetitions would decide", made;
      const double a = middle(even[line]), b = middle(odd[line]);
      apart.push_back(a - b);
      made.even[line * made.views + view] = static_cast<float>(a), made.odd[line * made.views + view] = static_cast<float>(b);
      even[line].insert(even[line].end(), odd[line].begin(), odd[line].end());
      middles[line] = middle(even[line]);
    }
    // The mean of the halves is half as far off as they are from each other, and the median of all visits a little further.
    const double noise = std::max(kTick, kMedianOfFour * spread_of(apart) / 2), zero = median(middles);
    made.noise.push_back(noise);
    for (std::size_t line = 0; line < lines; ++line) {
      const auto at = line * made.views + view;
      made.all[at] = static_cast<float>((middles[line] - zero) / noise);
      for (auto* half : {&made.even, &made.odd}) (*half)[at] = static_cast<float>(((*half)[at] - zero) / noise);
    }
  }
  return made;
}

namespace {

/// Squared distance of the middles of two sets of lines, in units of what noise makes of it: chi-square, if all are of one place.
double apart(const std::vector<float>& vectors, std::size_t views, const std::vector<std::size_t>& members, const std::vector<char>& second, const float* centre) {
  std::array<double, 2> count{};
  std::vector<double> difference(views, 0);
  for (const auto half : second) count[half ? 1 : 0] += 1;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t view = 0; view < views; ++view) {
      const double off = std::clamp<double>(vectors[members[i] * views + view] - centre[view], -kWild, kWild);
      difference[view] += second[i] ? off / count[1] : -off / count[0];
    }
  }
  double sum = 0;
  for (const double each : difference) sum += each * each;
  return count[0] * count[1] / (count[0] + count[1]) * sum;
}

/// Lines in two halves.
struct Halves {
  std::vector<char> second;
  double beyond_chance = 0;  ///< how far they are apart beyond halves drawn by chance, in standard deviations
  double gain = 0;           ///< nats that a place of its own saves, less what it costs (BIC): lines of a place differ a little, too
};
/// The even visits say which line is in which half, begun with two middles, and the odd ones, whose noise is their own, how far these are
/// apart. One half may be empty.
Halves halves_of(const PlaceVectors& lines, const std::vector<std::size_t>& members, Centres two, Bootstrap& chance) {
  const auto views = lines.views;
  work(1 + members.size() * views * kDrawn / 64);
  std::vector<float> own;
  for (const auto line : members) own.insert(own.end(), lines.even.data() + line * views, lines.even.data() + (line + 1) * views);
  std::vector<std::size_t> half(members.size());
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < members.size(); ++i) half[i] = two.nearest(own.data() + i * views).first;
    if (const auto ones = std::count(half.begin(), half.end(), 1u); ones == 0 || ones == static_cast<std::ptrdiff_t>(half.size())) return {};
    two = centres_of(own, views, half, 2);
  }
  Halves made{{half.begin(), half.end()}, 0};
  const auto middle_of_all = centres_of(own, views, std::vector<std::size_t>(members.size(), 0), 1);
  const double seen = apart(lines.odd, views, members, made.second, middle_of_all.at(0));
  double sum = 0, squares = 0;
  auto drawn = made.second;
  for (int draw = 0; draw < kDrawn; ++draw) {
    for (std::size_t i = drawn.size(); i > 1; --i) std::swap(drawn[i - 1], drawn[chance.index(i)]);
    const double by_chance = apart(lines.odd, views, members, drawn, middle_of_all.at(0));
    sum += by_chance, squares += by_chance * by_chance;
  }
  const double mean = sum / kDrawn, spread = std::sqrt(std::max(0.0, squares / kDrawn - mean * mean));
  made.beyond_chance = spread > 0 ? (seen - mean) / spread : seen > mean ? INFINITY : 0;
  // Half of the visits have twice the noise, squared, of all of them.
  made.gain = (seen - mean) / 2 / 2 - static_cast<double>(views) / 2 * std::log(static_cast<double>(members.size()));
  return made;
}

std::vector<std::size_t> members_of(const std::vector<std::size_t>& of_line, std::size_t place, std::size_t other) {
  std::vector<std::size_t> members;
  for (std::size_t line = 0; line < of_line.size(); ++line) {
    if (of_line[line] == place || of_line[line] == other) members.push_back(line);
  }
  return members;
}

/// Two places for the lines of one, if they are two: begun with two lines that lie far apart. False: they are not.
bool split(const PlaceVectors& lines, const Centres& centres, std::size_t place, std::vector<std::size_t>& of_line, Bootstrap& chance) {
  const auto views = lines.views;
  const auto members = members_of(of_line, place, place);
  if (members.size() < kFewestToSplit) return false;
  const auto at = [&](std::size_t line) { return lines.even.data() + line * views; };
  const auto furthest = [&](const float* from) {
    return *std::max_element(members.begin(), members.end(), [&](auto a, auto b) { return distance(from, at(a), views) < distance(from, at(b), views); });
  };
  const auto one = furthest(centres.at(place)), other = furthest(at(one));
  Centres two{views, {at(one), at(one) + views}, {1, 1}};
  two.of.insert(two.of.end(), at(other), at(other) + views);
  const auto halves = halves_of(lines, members, std::move(two), chance);
  if (halves.beyond_chance <= model::kTwoPlaces || halves.gain <= 0) return false;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (halves.second[i]) of_line[members[i]] = centres.count();
  }
  return true;
}

/// One place for the lines of two that nothing but chance tells apart: a place, and the one nearest to it. False: they are two.
bool merge(const PlaceVectors& lines, const Centres& centres, std::size_t place, std::vector<std::size_t>& of_line, Bootstrap& chance) {
  std::size_t nearest = place;
  double least = INFINITY;
  for (std::size_t other = 0; other < centres.count(); ++other) {
    const double off = other == place ? INFINITY : distance(centres.at(place), centres.at(other), centres.views);
    if (off < least) least = off, nearest = other;
  }
  if (nearest == place) return false;
  Centres two{centres.views, {centres.at(place), centres.at(place) + centres.views}, {1, 1}};
  two.of.insert(two.of.end(), centres.at(nearest), centres.at(nearest) + centres.views);
  const auto halves = halves_of(lines, members_of(of_line, place, nearest), std::move(two), chance);
  if (halves.beyond_chance > model::kOnePlace && halves.gain > 0) return false;
  std::replace(of_line.begin(), of_line.end(), std::max(place, nearest), std::min(place, nearest));
  return true;
}

/// How many pairs are nearer to each other than any that were found could be: places scatter in some number of dimensions, which the
/// nearest pairs tell (Hill's estimate of a tail). Distances in order.
double pairs_nearer_than(double told, const std::vector<double>& apart) {
  const auto n = std::min(apart.size(), kNearestPairs);
  const double last = std::max(apart[n - 1], 1e-9);
  double sum = 0;
  for (std::size_t i = 0; i + 1 < n; ++i) sum += std::log(last / std::max(apart[i], 1e-9));
  const double dimensions = n > 1 && sum > 0 ? std::max(1.0, static_cast<double>(n - 1) / sum) : 1;
  return static_cast<double>(n) * std::pow(std::min(1.0, told / last), dimensions);
}

/// Places that are expected to be overlooked; and how far the two nearest ones are apart.
double overlooked_places(const Centres& centres, double lines, double& nearest) {
  // Places that no line lies in, if they are equally likely; lines that are alone, which accidents are as well; and places so alike that
  // they were taken for one.
  double alone = 0;
  for (const auto n : centres.lines) alone += n == 1 ? 1 : 0;
  const auto places = static_cast<double>(centres.count()), mean = lines / places;
  double overlooked = alone + places * std::exp(-mean);
  std::vector<double> pairs;
  for (std::size_t a = 0; a < centres.count(); ++a) {
    work(1 + centres.count() * centres.views / 64);
    for (std::size_t b = a + 1; b < centres.count(); ++b) pairs.push_back(std::sqrt(distance(centres.at(a), centres.at(b), centres.views)));
  }
  if (pairs.empty()) return overlooked;
  std::sort(pairs.begin(), pairs.end());
  nearest = pairs.front();
  // How far two places of `mean` lines must differ to be told apart: beyond chance, worth what a place costs, and by more than lines
  // scatter, of which the even visits alone must say where they belong.
  const auto v = static_cast<double>(centres.views);
  const double told = std::max({model::kTwoPlaces / (mean / 4 * v / std::sqrt(2 * v)), 2 * std::log(2 * mean) / mean, 2 * model::kTwoPlaces * model::kTwoPlaces / v});
  return overlooked + pairs_nearer_than(std::sqrt(told), pairs);
}

}  // namespace

Places find_places(const PlaceVectors& lines) {
  Places made;
  const auto count = lines.offsets.size(), views = lines.views;
  const auto of = [&](const std::vector<float>& vectors, std::size_t line) { return vectors.data() + line * views; };
  // How far a line is from its own place, at most: one line in ten thousand files is further off by noise.
  const boost::math::chi_squared noise(static_cast<double>(views));
  const double most = boost::math::quantile(boost::math::complement(noise, model::kByChance / static_cast<double>(count))) / static_cast<double>(views);

  // Each line joins the place that it is near, or begins one.
  Centres centres{views, {}, {}};
  made.of_line.resize(count);
  for (std::size_t line = 0; line < count; ++line) {
    work(1 + centres.count() * views / 64);
    const auto [place, off] = centres.nearest(of(lines.all, line));
    if (centres.count() > 0 && off < most * (1 + 1 / static_cast<double>(centres.lines[place]))) {
      made.of_line[line] = place;
      const auto n = static_cast<float>(++centres.lines[place]);
      for (std::size_t i = 0; i < views; ++i) {
        auto& centre = centres.of[place * views + i];
        centre += std::clamp(of(lines.all, line)[i] - centre, -static_cast<float>(kWild), static_cast<float>(kWild)) / n;
      }
      continue;
    }
    made.of_line[line] = centres.count();
    centres.lines.push_back(1);
    centres.of.insert(centres.of.end(), of(lines.all, line), of(lines.all, line) + views);
  }
  const auto refine = [&] {
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t line = 0; line < count; ++line) {
        work(1 + centres.count() * views / 64);
        made.of_line[line] = centres.nearest(of(lines.all, line)).first;
      }
      const auto places = renumber(made.of_line, centres.count());
      centres = centres_of(lines.all, views, made.of_line, places);
    }
  };
  refine();
  Bootstrap chance(count);
  const auto again = [&] {
    const auto places = renumber(made.of_line, centres.count() + 1);
    centres = centres_of(lines.all, views, made.of_line, places);
  };
  for (std::size_t place = 0; place < centres.count();) {
    if (split(lines, centres, place, made.of_line, chance)) again();
    else ++place;
  }
  refine();
  for (std::size_t place = 0; place < centres.count();) {
    if (merge(lines, centres, place, made.of_line, chance)) again();
    else ++place;
  }
  made.lines_of = centres.lines;

  // The even visits tell where the places are and which line is in which; do the odd ones put the lines there?
  const auto even = centres_of(lines.even, views, made.of_line, centres.count());
  double same = 0;
  for (std::size_t line = 0; line < count; ++line) {
    work(1 + 2 * centres.count() * views / 64);
    same += even.nearest(of(lines.even, line)).first == even.nearest(of(lines.odd, line)).first ? 1 : 0;
  }
  made.predicted = same / static_cast<double>(count);

  made.overlooked = overlooked_places(centres, static_cast<double>(count), made.nearest);
  return made;
}

}  // namespace gexp::infer
