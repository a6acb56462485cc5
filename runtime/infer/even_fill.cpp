// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/even_fill.h"

#include <algorithm>
#include <boost/math/special_functions/lambert_w.hpp>
#include <cmath>
#include <map>
#include <unordered_map>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/granularity.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"
#include "runtime/infer/model/walks.h"

// Sets that fill evenly all overflow once a footprint has one way more than fits. Whatever replaces lines, no block of addresses then
// misses more often than another. Where pages lie by chance under a cache that is looked up after translation, some sets overflow and
// others have room, and which ones it is goes by pages. So 'each block has a rate of its own' is weighed against 'one rate', and against
// what even sets of one to three ways do in a footprint that is not yet so large. A launch also writes its ticks, one after the other. They
// take a way of neighbouring sets, and a policy that keeps lines by their age then misses at another rate there in each lap that follows.
namespace gexp::infer {
namespace {

constexpr double kWeighed = 4;  // fact: sets of fewer ways are weighed by themselves

/// Which units of a walk missed most of the times that they were visited after another unit.
std::unordered_map<std::int64_t, bool> missed_units(const records::Point& point, std::int64_t unit, const MissRange& range) {
  struct Count {
    int misses = 0, visits = 0;
  };
  std::unordered_map<std::int64_t, Count> counts;
  const auto lap = static_cast<std::size_t>(point.walk->steps);
  const Misses missed(range, point);
  for (const auto& run : point.runs) {
    std::int64_t before = -1;
    for (std::size_t i = 0; i < run.ticks.size(); ++i) {
      const auto at = point.walk->at(0, static_cast<std::int64_t>(i % lap)) / unit;
      if (at != before && !missed.unsure(i, run.ticks[i])) ++counts[at].visits, counts[at].misses += missed(i, run.ticks[i]) ? 1 : 0;
      before = at;
    }
  }
  std::unordered_map<std::int64_t, bool> all;
  for (const auto& [at, count] : counts) all[at] = 2 * count.misses > count.visits;
  return all;
}

/// The share of the units that missed most of the times.
double share_missed(const std::unordered_map<std::int64_t, bool>& units) {
  const auto missed = std::count_if(units.begin(), units.end(), [](const auto& unit) { return unit.second; });
  return units.empty() ? 0 : static_cast<double>(missed) / static_cast<double>(units.size());
}

/// How many ways even sets have, at least, if a footprint that holds `more` of what fits beyond that lets this share miss: each line too
/// many makes no more lines miss than its set has, itself included.
double least_ways(double share, double more) { return share * (1 + more) / more - 1; }

/// Nats by which units have a rate of their own in each cell, rather than one rate.
template <typename CellOf>
double rates_by(const std::unordered_map<std::int64_t, bool>& units, CellOf cell_of) {
  std::map<std::int64_t, Cell> cells;
  for (const auto& [at, missed] : units) {
    auto& cell = cells[cell_of(at)];
    ++cell.trials, cell.slow += missed ? 1 : 0;
  }
  std::vector<Cell> list;
  for (const auto& [key, cell] : cells) list.push_back(cell);
  return own_rates(list);
}

/// The same of what even sets show where they do not all overflow: lines beyond the size against those within it, and lines of the sets
/// that hold one line more than others.
double rates_of_even_sets(const std::unordered_map<std::int64_t, bool>& units, double footprint, double fits, std::int64_t unit) {
  double most = std::max(0.0, rates_by(units, [&](auto at) { return static_cast<double>(at * unit) < fits ? 0 : 1; }));
  for (const int ways : {1, 2, 3}) {
    const auto way = std::max<std::int64_t>(1, static_cast<std::int64_t>(fits) / ways / unit), over = static_cast<std::int64_t>(footprint) / unit % way;
    most = std::max(most, rates_by(units, [&](auto at) { return at % way < over ? 0 : 1; }));
  }
  return most;
}

/// Bytes of ticks that a launch writes when it has timed its accesses.
std::int64_t bytes_written(const records::Point& point) {
  const auto& run = point.runs.front();
  return static_cast<std::int64_t>(sizeof(run.ticks[0]) * (run.windows.size() > 1 ? run.windows[1] : run.ticks.size()));
}

/// The two rates of even sets that are likeliest where neighbouring ones, over `written` bytes of each way of `way` bytes, miss at a rate
/// of their own. `tried`: counts the places where those may begin.
std::pair<double, std::vector<Cell>> likeliest_beside(const std::unordered_map<std::int64_t, bool>& units, std::int64_t way,
                                                      std::int64_t written, std::int64_t unit, double& tried) {
  constexpr std::int64_t kParts = 8;  // grid: places that are tried, of as many bytes as are written
  const auto step = std::max(unit, written / kParts);
  std::vector<Cell> parts(static_cast<std::size_t>((way + step - 1) / step));
  work(units.size());
  Cell all;
  for (const auto& [at, missed] : units) {
    for (auto* cell : {&all, &parts[static_cast<std::size_t>(at * unit % way / step)]}) ++cell->trials, cell->slow += missed ? 1 : 0;
  }
  std::pair<double, std::vector<Cell>> best{0, {}};
  for (std::size_t begin = 0; begin < parts.size(); ++begin, ++tried) {
    Cell in;
    for (std::size_t i = 0; i < static_cast<std::size_t>(written / step) && i < parts.size(); ++i) {
      const auto& part = parts[(begin + i) % parts.size()];
      in.trials += part.trials, in.slow += part.slow;
    }
    const Cell out{all.trials - in.trials, all.slow - in.slow};
    if (in.trials == 0 || out.trials == 0) continue;
    const auto log_of = [](const Cell& cell) { return model::log_of_likeliest_rate(cell.slow, cell.trials); };
    if (const double log = log_of(in) + log_of(out) - log_of(all); log > best.first) best = {log, {in, out}};
  }
  return best;
}

/// Nats by which lines of even sets beside what a launch wrote miss at a rate of their own. How many ways there are, and where it lies, is
/// not known: one of all that were tried.
double rates_beside_writes(const std::unordered_map<std::int64_t, bool>& units, const Fits& fits, std::int64_t unit, std::int64_t written) {
  std::pair<double, std::vector<Cell>> best{0, {}};
  double tried = 0;
  for (int ways = 1; ways <= 64 && fits.from / ways > static_cast<double>(written); ++ways) {
    const auto largest = static_cast<std::int64_t>(fits.to / ways);
    for (auto way = (static_cast<std::int64_t>(fits.from / ways) + unit - 1) / unit * unit; way <= largest; way += unit) {
      if (auto here = likeliest_beside(units, way, written, unit, tried); here.first > best.first) best = std::move(here);
    }
  }
  return best.first > 0 ? own_rates(best.second) - std::log(tried) : 0;
}

}  // namespace

double missing_at_random(double ratio) {
  return ratio <= 1 ? 0 : 1 + boost::math::lambert_w0(std::max(-std::exp(-1.0), -ratio * std::exp(-ratio))) / ratio;
}

std::optional<std::int64_t> uneven_blocks(const std::vector<std::pair<double, const records::Point*>>& walks, const Fits& fits,
                                          std::int64_t unit, const MissRange& range) {
  // Of lines that miss where all seems to fit, half at most are too many: each makes another one miss.
  const double from = fits.from * (1 - (fits.point ? share_missed(missed_units(*fits.point, unit, range)) / 2 : 0));
  struct Walked {
    double footprint;
    std::int64_t written;
    std::unordered_map<std::int64_t, bool> units;
  };
  std::vector<Walked> all;
  double ways = kWeighed;
  for (const auto& [footprint, point] : walks) {
    if (!point->walk || point->walk->steps < 2) continue;
    all.push_back({footprint, bytes_written(*point), missed_units(*point, unit, range)});
    // What is visited of a line brings in the whole of it, where that is evicted again: the surplus may be as much larger.
    ways = std::max(ways, least_ways(share_missed(all.back().units), (footprint + static_cast<double>(kMostLine)) / from - 1));
  }
  // In smaller footprints not all even sets hold a line too many.
  std::erase_if(all, [&](const Walked& each) { return each.footprint < (1 + 1 / ways) * fits.to; });
  const auto by_blocks = [&](const auto& even_rates) {
    std::map<std::int64_t, double> nats;  // by block, over all walks
    for (const auto& each : all) {
      const double even = even_rates(each), largest = each.footprint / static_cast<double>(model::kFewestAlike);
      for (auto block = std::max(kLeastPage, 2 * unit); static_cast<double>(block) <= largest; block *= 2) {
        nats[block] += rates_by(each.units, [&](auto at) { return at * unit / block; }) - even;
      }
    }
    const auto best = std::max_element(nats.begin(), nats.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    return best != nats.end() && best->second > model::kContradicted ? std::optional(best->first) : std::nullopt;
  };
  const auto even = [&](const Walked& each) { return rates_of_even_sets(each.units, each.footprint, fits.to, unit); };
  if (!by_blocks(even)) return std::nullopt;
  const Fits size{from, fits.to, nullptr};
  return by_blocks([&](const Walked& each) { return std::max(even(each), rates_beside_writes(each.units, size, unit, each.written)); });
}

}  // namespace gexp::infer
