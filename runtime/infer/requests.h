// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <optional>
#include <string>

#include "runtime/infer/analysis.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/spikes.h"

/// Requests that a launch has under way, and what a table of them answers: for the two ways of telling when one is full.
namespace gexp::infer {

/// Latencies beyond the shortest launch, below which no launch has waited for an entry: parts of an L2 are nearer than others.
inline constexpr double kNoWait = 1 - model::kOneThing;  // made of: what one thing may differ by

/// What was under way at one point.
struct RequestCounts {
  double lines = 0, instructions = 0;
  double accesses = 0;  ///< requests of warps for these lines, by `accesses:`; as many as lines without it
  [[nodiscard]] double a_line() const { return std::ceil(accesses / lines); }  ///< requests that the busiest line has, at least
};
using RequestCount = double RequestCounts::*;

/// What a point asked for, by the labels `requests`, `instructions` and `accesses`; nullopt where it is not known.
std::optional<RequestCounts> requests_at(const Context& context, std::size_t point);

/// How many requests for one line wait together, as far as warps that share lines show it.
struct Merges {
  bool compared = false;  ///< with warps that share nothing
  bool exact = false;     ///< `next` is one more than `most`
  double most = 0;        ///< requests for a line, with which nothing waits
  double next = 0;        ///< with which something does
  double weight = 0;      ///< posterior of that, beside all other numbers and none
  double without = 0;     ///< posterior of no wait
  double seen = 0;        ///< requests for a line, at most, that were measured
};
/// `no_wait`: the time below which nothing waited. outstanding_merges.cpp says how.
Merges merges_of(const Context& context, const std::vector<CurveSeries>& groups, double no_wait);

/// What one request takes: `latency:`, and `shortest` at most.
std::optional<double> latency_of(const Context& context, double shortest);

/// Whole numbers that `low` may be and `high` may not: "57 to 59", or "29".
std::string range(double low, double high);

/// "none seen": so many lines and warp instructions fit.
Finding none_seen(const Context& context, const RequestCounts& fits, double confidence, const std::string& why, const std::string& evidence);

/// The same launches with hits, where `hits:` is not 0, and without: what waiting adds. outstanding_beside_hits.cpp says how.
Finding outstanding_beside_hits(const Context& context);

}  // namespace gexp::infer
