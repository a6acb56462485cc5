// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/line_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "lang/base/value.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/granularity.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/statistics.h"

namespace gexp::infer {
namespace {

using Offsets = std::vector<std::int64_t>;  ///< ascending
using Holes = std::map<double, Offsets>;    ///< by size of the hole: what is walked around it

/// Whether `some` is `all` but for one range.
bool is_around_hole(const Offsets& all, const Offsets& some) {
  if (some.size() > all.size()) return false;
  const auto parted = std::mismatch(some.begin(), some.end(), all.begin()).first;
  return std::equal(parted, some.end(), all.end() - (some.end() - parted));
}

/// None where a walk is not the one with the smallest hole but for a range.
Holes holes_of(const records::Table& table, const std::string& sweep) {
  Holes holes;
  for (const auto& point : table.points) {
    const auto at = point.at.find(sweep);
    const auto* hole = at == point.at.end() ? nullptr : at->second.get<Number>();
    if (!hole || hole->dimension != kBytes || point.runs.empty() || !point.walk || point.walk->threads != 1) continue;
    auto offsets = point.walk->offsets;
    std::sort(offsets.begin(), offsets.end());
    holes.emplace(hole->number, std::move(offsets));
  }
  const auto has_hole = [&](const auto& hole) { return is_around_hole(holes.begin()->second, hole.second); };
  return std::all_of(holes.begin(), holes.end(), has_hole) ? holes : Holes{};
}

/// The smallest hole that leaves out all that is walked of some line. 0: none does.
double frees(const Holes& holes, std::int64_t line) {
  for (const auto& [hole, offsets] : holes) {
    for (const auto offset : holes.begin()->second) {
      const auto begin = offset / line * line;
      const auto first = std::lower_bound(offsets.begin(), offsets.end(), begin);
      if (first == offsets.end() || *first >= begin + line) return hole;
    }
  }
  return 0;
}

using Lines = std::set<std::int64_t>;  ///< their numbers

Lines lines_of(const Offsets& offsets, std::int64_t line) {
  work(offsets.size());
  Lines lines;
  for (const auto offset : offsets) lines.insert(offset / line);
  return lines;
}

Lines lines_of(const model::Footprint& footprint, const model::Walks& walks, std::int64_t line) {
  Offsets offsets;
  for (const auto address : footprint.addresses) offsets.push_back(walks.offsets[address]);
  return lines_of(offsets, line);
}

Lines without(const Lines& all, const Lines& some) {
  Lines rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::inserter(rest, rest.end()));
  return rest;
}

/// Whether some walk that fits visits all of these lines but one.
bool one_too_many(const Lines& all, const model::Walks& walks, std::int64_t line) {
  return std::any_of(walks.footprints.begin(), walks.footprints.end(), [&](const model::Footprint& footprint) {
    const bool fits = std::none_of(footprint.missed.begin(), footprint.missed.end(), [](bool missed) { return missed; });
    return fits && without(all, lines_of(footprint, walks, line)).size() <= 1;
  });
}

/// Whether one of the lines `out` was seen to miss in some walk over all of these lines: it is of a set that overflows. Where victims are
/// drawn from a large set, a line misses once in a while, and that it is no interference was asked where the hole's beginning was found.
bool overflows(const Lines& out, const Lines& all, const model::Walks& walks, std::int64_t line) {
  return std::any_of(walks.footprints.begin(), walks.footprints.end(), [&](const model::Footprint& footprint) {
    if (lines_of(footprint, walks, line) != all) return false;
    for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
      if (footprint.misses[i] > 0 && out.contains(walks.offsets[footprint.addresses[i]] / line)) return true;
    }
    return false;
  });
}

/// Misses of lines, and visits to them: a line misses as often as that address of it which misses most.
struct LineMisses {
  double misses = 0, visits = 0;
  [[nodiscard]] double rate() const { return visits > 0 ? misses / visits : 0; }
};

using MissesByLine = std::map<std::int64_t, LineMisses>;

MissesByLine misses_by_line(const model::Footprint& footprint, const model::Walks& walks, std::int64_t line) {
  work(footprint.addresses.size());
  MissesByLine worst;
  for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
    const LineMisses here{static_cast<double>(footprint.misses[i]), static_cast<double>(footprint.visits[i])};
    auto& of_line = worst[walks.offsets[footprint.addresses[i]] / line];
    if (of_line.visits == 0 || here.rate() > of_line.rate()) of_line = here;
  }
  return worst;
}

LineMisses of_all(const MissesByLine& by_line) {
  LineMisses all;
  for (const auto& [number, of_line] : by_line) {
    all.misses += of_line.misses;
    all.visits += of_line.visits;
  }
  return all;
}

/// By how much likelier two rates are than one, as a natural logarithm.
double log_of_two_rates(const LineMisses& a, const LineMisses& b) {
  return model::log_of_own_rate(a.misses, a.visits) + model::log_of_own_rate(b.misses, b.visits) - model::log_of_own_rate(a.misses + b.misses, a.visits + b.visits);
}

/// Whether one policy misses at both rates.
bool alike(const LineMisses& a, const LineMisses& b) {
  if (std::max(a.rate(), b.rate()) <= model::kUnlike * std::min(a.rate(), b.rate())) return true;
  return log_of_two_rates(a, b) < model::kTemper * model::kDecisive;
}

/// Whether each line misses as often in one walk as in the other. They are visited equally often in the same order, so that whatever
/// replaces lines does the same in both.
bool alike_by_line(const MissesByLine& a, const MissesByLine& b) {
  double apart = 0;
  for (auto in_a = a.begin(), in_b = b.begin(); in_a != a.end(); ++in_a, ++in_b) apart += log_of_two_rates(in_a->second, in_b->second);
  return apart < model::kTemper * model::kDecisive;
}

/// Whether two walks, each of one word of every line, visit the lines in the same order.
bool in_one_order(const model::Footprint& a, const model::Footprint& b, const model::Walks& walks, std::int64_t line) {
  if (a.orders != 1 || b.orders != 1 || a.addresses.size() != b.addresses.size()) return false;
  const auto lines = [&](const model::Footprint& footprint) {
    std::map<std::int64_t, std::int64_t> before;  // by line: the one that is always visited just before it
    for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
      const auto last = footprint.before[i];
      before[walks.offsets[footprint.addresses[i]] / line] = last == model::kSeveral ? -1 : walks.offsets[last] / line;
    }
    return before;
  };
  const auto of_a = lines(a);
  return of_a.size() == a.addresses.size() && of_a == lines(b);
}

/// By how much likelier each address of a line misses at a rate of its own than those at one rate that are read right after another address
/// of the line, as far away, and all in the same `part` of it, in bytes, or all in another. A natural logarithm.
double unlike_within(const model::Footprint& footprint, const model::Walks& walks, std::int64_t line, std::int64_t part) {
  struct Alike {
    LineMisses together;
    double by_themselves = 0;
  };
  std::map<std::tuple<std::int64_t, std::int64_t, bool>, Alike> all;
  for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
    if (footprint.before[i] == model::kSeveral) continue;
    const auto at = walks.offsets[footprint.addresses[i]], last = walks.offsets[footprint.before[i]];
    if (at / line != last / line) continue;
    const LineMisses own{static_cast<double>(footprint.misses[i]), static_cast<double>(footprint.visits[i])};
    auto& group = all[{at / line, at - last, at / part == last / part}];
    group.together.misses += own.misses, group.together.visits += own.visits;
    group.by_themselves += model::log_of_own_rate(own.misses, own.visits);
  }
  double apart = 0;
  for (const auto& [key, group] : all) apart += group.by_themselves - model::log_of_own_rate(group.together.misses, group.together.visits);
  return apart;
}

/// Laps in which an address misses right after another one of its line, and in how many of them that one hit.
struct Following {
  double misses = 0, after_hits = 0, laps = 0;
};

Following following_in_lines(const model::Footprint& footprint, const model::Walks& walks, std::int64_t line) {
  Following all;
  work(footprint.addresses.size() * (1 + footprint.words()));
  for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
    const auto address = footprint.addresses[i], before = footprint.before[i];
    if (before == model::kSeveral || before == address || walks.offsets[address] / line != walks.offsets[before] / line) continue;
    const auto first = footprint.addresses.begin(), at = std::lower_bound(first, footprint.addresses.end(), before);
    for (std::size_t word = 0; word < footprint.words(); ++word) {
      const auto here = i * footprint.words() + word, there = static_cast<std::size_t>(at - first) * footprint.words() + word;
      const auto misses = footprint.missed_in[here] & ~footprint.unsure_in[there];
      all.misses += std::popcount(misses), all.after_hits += std::popcount(misses & ~footprint.missed_in[there]);
    }
    all.laps += static_cast<double>(footprint.whole_laps);
  }
  return all;
}

/// The walk that visits the fewest of these lines.
std::pair<std::size_t, LineMisses> fewest_lines(const model::Walks& walks, std::int64_t line) {
  std::pair<std::size_t, LineMisses> fewest{};
  for (const auto& footprint : walks.footprints) {
    const auto lines = lines_of(footprint, walks, line).size();
    if (fewest.first == 0 || lines < fewest.first) fewest = {lines, of_all(misses_by_line(footprint, walks, line))};
  }
  return fewest;
}

}  // namespace

bool is_hole(const records::Table& table, const std::string& sweep) { return holes_of(table, sweep).size() >= 2; }

std::string too_many_shorter_lines(std::pair<double, double> told, const model::Walks& before, const model::Walks& walks) {
  for (auto line = told.second > kMostLine ? kLeastPage : kLeastLine; static_cast<double>(line) < told.first; line *= 2) {
    const auto fewest = fewest_lines(before, line);
    if (fewest.second.misses == 0) return {};  // its latencies do not show what misses
    const bool fits = std::any_of(walks.footprints.begin(), walks.footprints.end(), [&](const model::Footprint& footprint) {
      if (lines_of(footprint, walks, line).size() < fewest.first) return false;
      const auto here = of_all(misses_by_line(footprint, walks, line));
      return here.rate() < fewest.second.rate() && !alike(here, fewest.second);
    });
    if (fits) continue;
    return fmt::format("shorter ones would do: units of {}, if {} of them are too many, and no walk of as many misses less; "
                       "a walk over neighbouring units that fits would decide", show(static_cast<double>(line), kBytes), fewest.first);
  }
  return {};
}

std::string unlike_over_same_lines(std::pair<double, double> told, const model::Walks& walks) {
  const auto line = static_cast<std::int64_t>(told.second);
  if (line < kLeastLine) return {};
  struct Walk {
    const model::Footprint* footprint;
    MissesByLine by_line;
    LineMisses all;
  };
  std::map<Lines, std::vector<Walk>> seen;
  for (const auto& footprint : walks.footprints) {
    auto by_line = misses_by_line(footprint, walks, line);
    const auto all = of_all(by_line);
    Walk here{&footprint, std::move(by_line), all};
    auto& before = seen[lines_of(footprint, walks, line)];
    for (const auto& there : before) {
      if (!alike(there.all, here.all)) {
        return fmt::format("walks over the same units of {} miss unlike, {:.0f} % of the units at {} and {:.0f} % at {}: "
                           "shorter ones were left out, but not evenly, or it matters how often one is read",
                           show(told.second, kBytes), 100 * there.all.rate(), there.footprint->where, 100 * here.all.rate(), footprint.where);
      }
      if (!in_one_order(*there.footprint, footprint, walks, line) || alike_by_line(there.by_line, here.by_line)) continue;
      return fmt::format("walks over the same units of {} in one order miss in other units at {} than at {}: they are no units, but shorter ones are",
                         show(told.second, kBytes), there.footprint->where, footprint.where);
    }
    before.push_back(std::move(here));
  }
  return {};
}

std::string unlike_within_lines(std::pair<double, double> told, const model::Walks& walks) {
  const auto line = static_cast<std::int64_t>(told.second);
  if (line < kLeastLine || line > kMostLine) return {};
  for (const auto& footprint : walks.footprints) {
    work(footprint.addresses.size());
    bool is_unlike = true;  // whatever part of a line comes back at once
    for (std::int64_t part = 1; is_unlike && part <= line; part *= 2) {
      is_unlike = unlike_within(footprint, walks, line, part) >= model::kTemper * model::kDecisive;
    }
    if (!is_unlike) continue;
    return fmt::format("of one unit of {}, some words miss at {} and others do not, though they are read one after the other: "
                       "they are no units, but shorter ones are", show(told.second, kBytes), footprint.where);
  }
  return {};
}

std::string misses_after_hits(std::pair<double, double> told, const model::Walks& walks) {
  const auto line = static_cast<std::int64_t>(told.second);
  if (line < kLeastLine || line > kMostLine) return {};
  for (const auto& footprint : walks.footprints) {
    const auto [misses, after_hits, laps] = following_in_lines(footprint, walks, line);
    // Of misses, scatter makes some as fast as hits, and something else may evict a line between the two visits.
    const double accidents = walks.silence.least * misses + model::kInterfered * laps;
    if (after_hits == 0 || poisson_at_least(after_hits, accidents) >= model::kByChance) continue;
    return fmt::format("of one unit of {}, a word hits and the one that is read right after it misses, {:g} times at {}: what was there in the lap before "
                       "would have stayed with it; they are no units, but shorter ones are", show(told.second, kBytes), after_hits, footprint.where);
  }
  return {};
}

std::string longer_lines(std::pair<double, double> told, const model::Walks& walks) {
  for (auto line = 2 * told.second; line <= static_cast<double>(kMostLine); line *= 2) {
    if (!unlike_over_same_lines({told.first, line}, walks).empty()) continue;
    return fmt::format("lines of {} would do as well: no two walks visit the same of them and miss unlike, as where a walk does not begin where a line does; "
                       "one that begins there would decide", show(line, kBytes));
  }
  return {};
}

std::string several_lines(const records::Table& table, const std::string& sweep, std::pair<double, double> told, const model::Walks& walks) {
  const auto holes = holes_of(table, sweep);
  if (holes.size() < 2 || told.second > kMostLine) return {};
  for (auto line = kLeastLine; static_cast<double>(line) < told.first; line *= 2) {
    const auto first = frees(holes, line);
    if (first <= 0 || first >= told.first) continue;
    const auto all = lines_of(holes.begin()->second, line), out = without(all, lines_of(holes.at(first), line));
    if (one_too_many(all, walks, line) && overflows(out, all, walks, line)) continue;
    const auto length = show(static_cast<double>(line), kBytes), hole = show(first, kBytes);
    return fmt::format("a hole of {} leaves out a whole line of {}, and no walk says that it would make room for all the rest: several lines may be too many; "
                       "a walk that fits, and the same with one unit more around the hole, would decide", hole, length);
  }
  return {};
}

std::string not_a_line(const records::Table& table, const std::string& sweep, std::pair<double, double> told) {
  const double found = told.second;
  const auto line = static_cast<std::int64_t>(found);
  const auto holes = holes_of(table, sweep);
  if (holes.size() < 2 || line < kLeastLine || line > kMostLine) return {};
  if (std::has_single_bit(static_cast<std::uint64_t>(line))) {
    if (const auto first = frees(holes, line); first != found) {
      return fmt::format("a hole of {} is the first that leaves out a whole line of as much, where the walks have their addresses; "
                         "a walk that begins where a line begins would decide", show(first, kBytes));
    }
  }
  for (auto other = kLeastLine; other <= kMostLine; other *= 2) {
    const auto length = static_cast<double>(other);
    if ((told.first <= length && length <= found) || frees(holes, other) != found) continue;
    return fmt::format("the same hole is the first that leaves out a whole line of {}, of which the walks visit a part; "
                       "a walk that begins where a line begins would decide", show(length, kBytes));
  }
  return {};
}

}  // namespace gexp::infer
