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
/// Tempered odds, as a natural logarithm, from which on of two answers the other is out of the question: 100 to 1.
inline constexpr double kDecisive = 4.6;
/// The same, from which on an answer is no longer given: 10 to 1 for another one leave of what was 99 % sure less than is ever asked for.
inline constexpr double kDoubted = 2.3;

/// Confidence from here on is given as this, of what can have any number of values: that the truth is none of the rivals is not ruled out.
inline constexpr double kMostConfidence = 0.999;
/// Posterior from which on a part of an answer is given with the rest, where the question asks for less: which function chooses the sets,
/// how wide a bank is. And the most confidence in a list of latencies, of which none must be missing.
inline constexpr double kGivenPart = 0.95;

/// Chance below which counts are no accident: one false alarm in ten thousand looks, of which a file takes some hundreds.
inline constexpr double kByChance = 1e-4;
/// The same where each latency, or each address, is a look: some ten thousand in a file.
inline constexpr double kByChanceAnywhere = 1e-6;

/// Share of accesses that something else makes look like misses, at least, where none was seen to: a recorder's own stores, an interrupt.
inline constexpr double kLeastInterference = 1e-4;
/// The same, usually: of an H200's accesses one in a thousand.
inline constexpr double kInterfered = 1e-3;
/// The same at worst, and the chance of a measurement that is off for a cause of its own: one in a hundred. Not fitted.
inline constexpr double kAccident = 0.01;
/// Share of all up to which some are few: interference, a tail of a level's latencies, visits to a far slice. And the share by which a curve
/// rises beyond its usual change where that is no jump that is asked for. Not fitted.
inline constexpr double kMinority = 0.05;
/// Share of all from which on some stand for them. Not fitted.
inline constexpr double kEnoughShare = 0.25;

/// Share, at most, of the laps over more lines than fit in which none of them misses: another level may hold the one that is absent.
inline constexpr double kMostSilence = 0.5;
/// Within which that share lies.
struct Silence {
  double least = 0;            ///< scatter makes as many misses as fast as hits
  double most = kMostSilence;  ///< unless that makes more of them; where no other level is faster, it is an error of the measurement
};

/// Share by which measurements of one thing may scatter, or differ for where it lies: what differs more has another cause. Parts of an L2 are
/// nearer than others by up to a quarter of a latency (drawn devices, an H200).
inline constexpr double kOneThing = 0.25;
/// Share of a latency, or of a curve's height, that noise may hide: one in ten values is off by as much. The noise is calibrated on curves
/// drawn with it. And the share of a run's accesses, the fastest, that tell its level.
inline constexpr double kHidden = 0.1;

// Of curves and of outstanding requests.

/// Share of a curve's height that a textbook's curve leaves out of a device's. Not fitted: devices follow no formula to the percent.
inline constexpr double kTextbook = 0.01;

/// Degrees of freedom of Student's t, as noise of which a few values are wild (Lange, Little and Taylor 1989).
inline constexpr double kOutlierFreedom = 4;

/// Odds against each power of x that is not the textbook's, 1 where nothing is full and 0 where something is. Calibrated on throughputs
/// drawn with 10 % noise (tests/infer/saturation_test.cpp): nine in ten are recognised.
inline constexpr double kDeparture = 6;
/// Share by which two figures of one throughput may differ: a plateau and the end of the sweep, what is under way at the knee and what
/// Little's law asks for (published ones differ as much: Mei17, section 6.1).
inline constexpr double kReached = 0.2;
/// Latencies, at least, of the largest rise that issuing makes of itself, however smooth a curve was so far. Not fitted.
inline constexpr double kIssueRise = 0.02;
/// Most confidence where one other cause would have made the same records, and nothing was measured that tells them apart. Not fitted.
inline constexpr double kUntested = 0.9;
/// Confidence in a limit that one curve alone shows: nothing tests it. Not fitted.
inline constexpr double kOneCurveAlone = 0.8;

/// Share of some things from which on most of them are of one kind: misses of a line to one level, accesses of a run that agree on its
/// pace. Not fitted.
inline constexpr double kMostly = 0.8;

// Of latencies.

/// Cycles: levels that are nearer are not told apart, whatever the evidence, and what is measured twice differs by less.
inline constexpr double kLeastApart = 3;
/// Share of a latency, and cycles where it is short, within which two peaks may be one mode's comb or slices. Calibrated on an H200.
inline constexpr double kNearPeaks = 0.025, kNearPeaksCycles = 4;
/// Share of a latency by which slices of one level are nearer (of an H200's L2, about a tenth from the mean).
inline constexpr double kFar = 0.12;
/// Share of the lower of two peaks up to which a valley parts them; and where addresses may differ for where they lie.
inline constexpr double kDeep = 0.5, kDeepAmongPlaces = 0.2;
/// Share of a latency over which peaks are smoothed, on each side. Calibrated on drawn devices.
inline constexpr double kSmooth = 0.0025;
/// Times the slowest class: beyond it is no access of this hierarchy. Not fitted.
inline constexpr double kFarOut = 2;
/// Share of the way from a border to the nearer class's centre, within which a visit may be of either. Not fitted.
inline constexpr double kUnsure = 0.5;
/// Share by which a clock may change its pace unnoticed (an H200: boost and throttling).
inline constexpr double kMostClockChange = 0.15;

/// Visits that hit, at least, that tell how hits are spread: a border that one in a hundred passes is seen five times. Not fitted.
inline constexpr double kEnoughVisits = 500;
/// Share of all accesses: a slowest class as rare is there in one run and not in the next (an H200).
inline constexpr double kRareClass = 0.005;

// Of what is usual among things of one kind.

/// Things, at most, that may be an accident: points, misses, visits, turns. More show something.
inline constexpr std::size_t kFewest = 3;
/// Points on each side of a jump whose middle must jump, too. Not fitted.
inline constexpr std::size_t kBeside = 5;

/// Things, at least, that show it: slow touches at units that are fetched whole (pages are as even, and fewer do not show that nothing
/// reaches from one to the next), blocks of a footprint, points of a curve. Not fitted.
inline constexpr std::size_t kFewestAlike = 8;

// Of places.

/// Standard deviations beyond halves drawn by chance, from which on the lines of a place are of two, and up to which two places are one.
/// Tried on drawn places (tests/infer/places_test.cpp).
inline constexpr double kTwoPlaces = 6, kOnePlace = 3;

/// Ratio of two things of one kind, at least, that differ: miss rates of one policy within a set, changes of a curve. Calibrated on drawn
/// devices.
inline constexpr double kUnlike = 1.5;

// Of sets and of ways.

/// Bits that say that no function chooses the sets: of GPUs in the literature, few.
inline constexpr double kNoFunction = 7;
/// Times that the rarest way's chance may be below the mean one: it says when all ways were replaced. Not fitted.
inline constexpr double kRarestWay = 2.5;
/// Evictions for each way, by which a history tells ways apart. Not fitted.
inline constexpr double kLongPerWay = 10;

// Of a clock's pace, from run to run of a point.

/// Share within which two runs have one pace, noise included, and by which a sliding clock moves at most from a run to the next; share of lines
/// that change by accident. Boost and throttling move by some percent in a stage (an H200).
inline constexpr double kSamePace = 0.02;
/// Share by which latencies differ that are one: conflicts of as many ways (devices that were measured), levels of runs (not fitted).
inline constexpr double kSameLatency = 0.003;

// Of two measurements of the same.

/// Chance of missing the true difference of one pair, beyond which nothing is called the same.
inline constexpr double kSameChance = 0.05;
/// Repetitions of which one on each side is left out (Yuen 1974).
inline constexpr std::size_t kTrimFrom = 10;

}  // namespace gexp::infer::model
