// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "runtime/infer/analysis.h"
#include "runtime/infer/spikes.h"

/// Requests that a launch has under way, and what a table of them answers: for the two ways of telling when one is full.
namespace gexp::infer {

constexpr double kNoWaitLimit = 0.75;  ///< latencies beyond the shortest time, below which nothing waited: parts of an L2 are nearer than others

/// What was under way at one point.
struct RequestCounts {
  double lines = 0, instructions = 0, accesses = 0;
};
using RequestCount = double RequestCounts::*;

/// What a point asked for, by the labels `requests`, `instructions` and `accesses`; nullopt where it is not known.
std::optional<RequestCounts> requests_at(const Context& context, std::size_t point);

/// What one request takes: `latency:`, and `shortest` at most.
std::optional<double> latency_of(const Context& context, double shortest);

/// Whole numbers that `low` may be and `high` may not: "57 to 59", or "29".
std::string range(double low, double high);

/// "none seen": so many lines and warp instructions fit.
Finding none_seen(const Context& context, const RequestCounts& fits, const std::string& why, const std::string& evidence);

/// The same launches with hits, where `hits:` is not 0, and without: what waiting adds. outstanding_beside_hits.cpp says how.
Finding outstanding_beside_hits(const Context& context);

}  // namespace gexp::infer
