// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "runtime/infer/replacement_emission.h"
#include "runtime/infer/way_tracking.h"

/// How well chance predicts a walk: the victim is drawn among the ways.
namespace gexp::infer::replacing {

/// Every way is as likely. The set is filtered: with one line more than ways, which line is absent is a distribution that each access
/// changes (a hidden Markov model's forward algorithm). The rates of both errors are fitted.
struct ChanceFit {
  double log_likelihood = 0;     ///< tempered nats
  bool stale = false;            ///< a launch begins with a set full of other lines
  LookAlikes rates;              ///< of both errors
  Outcomes expected;             ///< hits and misses by their posterior, where one line is absent
  std::vector<double> by_block;  ///< log-likelihood at the end of each
};
/// `stale`: a launch begins with a set full of other lines; else with an empty one, or as its warm-up leaves it.
ChanceFit fit_chance(const Walk& walk, bool stale);

/// Tempered nats by which 'victims of the half that was used least recently are preferred, or avoided', and the same of the line that came
/// in last, predict a walk better than chance alone with every way alike.
struct Tilts {
  double older = 0, last = 0;
};
Tilts tilts_of(const Walk& walk, const ChanceFit& fit);

/// The evictions of a walk, followed way by way where it is clear which accesses missed.
Evictions evictions_of(const Walk& walk, const ChanceFit& fit);

/// Tempered log-likelihood of 'each access, by its place in the run, misses at its own rate', without any policy: a hit or a miss that
/// recurs in each run is then predicted, whatever it hangs on.
double log_of_own_rates(const Walk& walk);
/// The same by what came before each access, at the end of each block.
std::vector<double> course_of_own_rates(const Walk& walk);
/// Tempered nats by which errors of a prediction recur at the same access in each run, more than errors at any access would.
double recurring_errors(const Walk& walk, const std::vector<Bits>& hits);
/// Accesses of a walk that are judged, the same ones of several runs as one.
std::size_t accesses_of(const Walk& walk);

}  // namespace gexp::infer::replacing
