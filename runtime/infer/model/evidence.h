// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How likelihoods become confidence.
namespace gexp::infer::model {

/// Natural logarithms of likelihood that count as one: addresses do not miss independently of each other.
inline constexpr double kTemper = 4;
/// Natural logarithms of likelihood that one footprint may lack, before a hypothesis is said not to predict it: a line or two that
/// something else evicted cost as much.
inline constexpr double kContradicted = 40;

/// Chance, at worst, that a lap over more lines than fit shows no miss: at least one of them misses in every lap, whatever replaces them.
inline constexpr double kHiddenLap = 0.5;

}  // namespace gexp::infer::model
