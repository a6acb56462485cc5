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
/// The same, from which on an answer is no longer given: 10 to 1 for another one leave of what was 99 % sure less than is ever asked for.
inline constexpr double kDoubted = 2.3;

/// Confidence from here on is given as this, of what can have any number of values: that the truth is none of the rivals is not ruled out.
inline constexpr double kMostConfidence = 0.999;
/// Posterior from which on a part of an answer is given with the rest, where the question asks for less: which function chooses the sets,
/// how wide a bank is.
inline constexpr double kGivenPart = 0.95;

/// Chance below which counts are no accident: one false alarm in ten thousand looks, of which a file takes some hundreds.
inline constexpr double kByChance = 1e-4;

/// Share of accesses that something else makes look like misses, at least, where none was seen to: a recorder's own stores, an interrupt.
inline constexpr double kLeastInterference = 1e-4;

/// Share, at most, of the laps over more lines than fit in which none of them misses: another level may hold the one that is absent.
inline constexpr double kMostSilence = 0.5;

// Of curves and of outstanding requests.

/// Share of a curve's height that a textbook's curve leaves out of a device's. Not fitted: devices follow no formula to the percent.
inline constexpr double kTextbook = 0.01;

/// Degrees of freedom of Student's t, as noise of which a few values are wild (Lange, Little and Taylor 1989).
inline constexpr double kOutlierFreedom = 4;

/// Odds against each power of x that is not the textbook's, 1 where nothing is full and 0 where something is. Calibrated on throughputs
/// drawn with 10 % noise (tests/infer/saturation_test.cpp): nine in ten are recognised.
inline constexpr double kDeparture = 6;
/// A power of x within so much of 1 is taken for proportional: a barrier and a launch bend the beginning as much. Not fitted.
inline constexpr double kProportional = 0.25;
/// Share by which a plateau may rise or fall from its knee to the end of the sweep; what loses more for good is named a fall. Not fitted.
inline constexpr double kLevel = 0.1;
/// Share of a plateau that the end of the sweep may lack of it: what lacks more is not measured. Not fitted.
inline constexpr double kReached = 0.2;
/// Share by which points may scatter about a throughput's curve: repetitions differ by some percent, so more has another cause. Not fitted.
inline constexpr double kOneCurve = 0.25;
/// Share by which what is under way at the knee and what Little's law asks for may differ: as far as published ones do (Mei17, section 6.1).
inline constexpr double kLittle = 0.2;
/// Chance that a launch took a share of a latency less than it must: one point in a hundred is an accident. Not fitted.
inline constexpr double kShortLaunch = 0.01;
/// Latencies, at least, of the largest rise that issuing makes of itself, however smooth a curve was so far. Not fitted.
inline constexpr double kIssueRise = 0.02;
/// Latencies beyond the shortest launch, past which a launch may have waited for an entry, and below which none has: parts of an L2 are
/// nearer than others, as far as a tenth and a quarter of a latency (drawn devices, an H200).
inline constexpr double kWaited = 0.9, kNoWait = 0.75;
/// Latencies that noise may hide: one step in ten may fall by as much, and a rise or a difference of less does not show. The
/// noise is calibrated on curves drawn with it, the rise is not fitted.
inline constexpr double kHidden = 0.1;
/// Points, at least, behind a jump of a curve: fewer do not show that the curve stays up, and an accident lasts no longer. Not fitted.
inline constexpr std::size_t kPointsAfterJump = 3;
/// Most confidence where one other cause would have made the same records, and nothing was measured that tells them apart. Not fitted.
inline constexpr double kUntested = 0.9;
/// Confidence in a limit that one curve alone shows: nothing tests it. Not fitted.
inline constexpr double kOneCurveAlone = 0.8;

/// Share of some things from which on most of them are of one kind: misses of a line to one level, accesses of a run that agree on its
/// pace. Not fitted.
inline constexpr double kMostly = 0.8;

// Of latencies.

/// Visits that hit, at least, that tell how hits are spread: a border that one in a hundred passes is seen five times. Not fitted.
inline constexpr double kEnoughVisits = 500;
/// Share of all accesses: a slowest class as rare is there in one run and not in the next (an H200).
inline constexpr double kRareClass = 0.005;

// Of what is usual among things of one kind.

/// Things, at least, that show it: slow touches at units that are fetched whole (pages are as even, and fewer do not show that nothing
/// reaches from one to the next), blocks of a footprint, points of a curve. Not fitted.
inline constexpr std::size_t kFewestAlike = 8;

// Of places.

/// Standard deviations beyond halves drawn by chance, from which on the lines of a place are of two, and up to which two places are one.
/// Tried on drawn places (tests/infer/places_test.cpp).
inline constexpr double kTwoPlaces = 6, kOnePlace = 3;
/// Standard deviations between two modes, from which on few values are in doubt. Not fitted.
inline constexpr double kTwoModes = 5;

// Of lines that begin to miss together.

/// Ratio of miss rates, at least, that one replacement policy does not make within a set. Calibrated on drawn devices.
inline constexpr double kUnlikeRates = 1.5;
/// Lines, at most, whose class changes by accident, and the same as a share of all. Calibrated on drawn devices.
inline constexpr double kFewLinesChange = 3, kFewLinesShare = 0.02;

// Of a clock's pace, from run to run of a point.

/// Accesses of a run, at least, that tell its pace. Not fitted.
inline constexpr std::size_t kFewestPaced = 16;
/// Share of a ratio of two runs within which accesses agree on it, noise included. Not fitted.
inline constexpr double kSamePace = 0.02;
/// Share by which a sliding clock moves at most from a run to the next, and more than which matters: classes that are nearer are not split.
/// Boost and throttling move by some percent in a stage (an H200).
inline constexpr double kSlide = 0.015;
/// Share of a run's accesses, the fastest, that tell its level. Not fitted.
inline constexpr double kFastestShare = 0.1;
/// Share by which latencies differ that are one: conflicts of as many ways (devices that were measured), levels of runs (not fitted).
inline constexpr double kSameLatency = 0.003;

// Of two measurements of the same.

/// Chance of missing the true difference of one pair, beyond which nothing is called the same.
inline constexpr double kSameChance = 0.05;
/// Repetitions of which one on each side is left out (Yuen 1974).
inline constexpr std::size_t kTrimFrom = 10;

}  // namespace gexp::infer::model
