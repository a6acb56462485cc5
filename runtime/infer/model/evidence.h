// SPDX-License-Identifier: Apache-2.0
#pragma once

/// How likelihoods become confidence.
namespace gexp::infer::model {

/// Natural logarithms of likelihood that count as one: addresses do not miss independently of each other.
inline constexpr double kTemper = 4;
/// Natural logarithms of likelihood that one footprint may lack, before a hypothesis is said not to predict it: a line or two that
/// something else evicted cost as much.
inline constexpr double kContradicted = 40;

/// No latency is surer, however often it was seen: the rest is left to what the model of a level and the calibration leave out. Not fitted
/// on drawn devices yet.
inline constexpr double kSurest = 0.99;
/// The same of a list of latencies, of which none must be missing.
inline constexpr double kSurestList = 0.95;
/// Tempered odds, as a natural logarithm, from which on of two answers the other is out of the question: 100 to 1.
inline constexpr double kDecisive = 4.6;

/// Share, at most, of the laps over more lines than fit in which none of them misses: another level may hold the one that is absent.
inline constexpr double kMostSilence = 0.5;

}  // namespace gexp::infer::model
