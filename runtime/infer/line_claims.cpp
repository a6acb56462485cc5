// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/line_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include "lang/base/value.h"
#include "runtime/infer/granularity.h"

namespace gexp::infer {
namespace {

using Offsets = std::vector<std::int64_t>;  ///< ascending
using Holes = std::map<double, Offsets>;    ///< by size of the hole: what is walked around it

/// None where a walk is not a part of the one with the smallest hole.
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
  const auto is_part = [&](const auto& hole) {
    const auto& all = holes.begin()->second;
    return std::includes(all.begin(), all.end(), hole.second.begin(), hole.second.end());
  };
  return std::all_of(holes.begin(), holes.end(), is_part) ? holes : Holes{};
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

}  // namespace

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
