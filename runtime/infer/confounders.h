// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/infer/analysis.h"

/// What else than one structure's border makes a column of misses rise: asked before a size is claimed.
namespace gexp::infer {

using FunctionNames = std::vector<std::string_view>;
/// The first call of one of these functions in a column, which may be a `derive` of its stage; null where there is none.
const compiler::Formula* call_of(const compiler::Stage& stage, const compiler::Formula& column, const FunctionNames& functions);
/// The call of `misses` or `missed` that a column is made of; null when it is made of something else.
const compiler::Formula* miss_call(const compiler::Formula& column);
/// The same where the column may be a `derive` of its stage.
const compiler::Formula* miss_call(const compiler::Stage& stage, const compiler::Formula& column);

/// What counts as a miss in the question's column; nullopt when it counts none.
std::optional<MissRange> range_of(const Context& context);

/// Whether the question counts misses, and all latencies of the stage are of one class: all may hit, and all may miss.
bool one_class_only(const Context& context);

/// Whether only addresses that are not walked on both sides of the border (x that miss nothing, x that miss) make the difference.
bool only_address_bias(const Context& context, const Curve& curve, double quiet, double missing);

/// Whether accesses to a sector where the walk was just before miss at x, more often than interference makes them: their places are slow.
bool repeated_visits_miss(const Context& context, const Curve& curve, double x);

/// Whether what misses at `missing` misses in the first lap of a run alone: it was not there before, and fits once it is. A footprint that
/// does not fit misses in every lap.
bool only_first_laps(const Context& context, const Curve& curve, double missing);

/// Whether accesses at x, which counts as quiet, or at quiet x from some distance of it on, are slow more often than at the other quiet x,
/// at odds of 10 to 1: then it may be no interference, but footprints that do not fit.
bool slow_more_often(const Context& context, const Curve& curve, double x);

/// How much longer, as a share, every access takes at `missing` than at `quiet`, where that is little and no run has both kinds: a clock that
/// changed its pace between the two does that as well as a miss.
std::optional<double> only_clock_change(const Context& context, const Curve& curve, double quiet, double missing);

/// Where all addresses that are walked at x agree in their low 12 bits or more: their distance, in bytes. Then as many of them fit as a set of
/// some cache has ways, or a TLB entries, and nothing tells which.
std::optional<std::int64_t> common_residue(const Context& context, const Curve& curve, double x);

/// What the reader should know of the misses at x: that they are of two classes, or each on a page of its own. Empty where there is nothing.
std::string caveats(const Context& context, const Curve& curve, double x);

/// For a column that falls to its floor as x grows: the x after which it had fallen to a lower level, and stayed there, before it fell to the
/// floor at `flat`: then something fits from there on and something else does not. Not where what misses after it takes as long as what
/// missed before: then it is one structure, whose replacement (QLRU, where part of a line is walked) lets fewer lines of an overflowing set miss.
std::optional<double> earlier_step(const Context& context, const MissRange& range, const Curve& curve, double flat);

}  // namespace gexp::infer
