// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "runtime/infer/analysis.h"
#include "runtime/infer/model/flat_level.h"

/// Walks that come to each sector twice in a row. The second visit finds everything at hand and costs what the place costs, so what the first
/// one takes beyond it is the time of what was absent, however far the place is. On average that tells misses too cheap to be told one by one.
namespace gexp::infer {

/// Of first visits less the second ones just after them.
using Excess = model::MeanDifference;

/// Of all pairs of some runs of a point; none above `outlier` ticks. No pairs: the walk does not come to a sector twice in a row.
Excess excess_of(const records::Point& point, double outlier, std::size_t first_run, std::size_t runs);
/// By point and step of its walk: whether a first visit takes longer than the second one, on average over the runs. Empty where one level
/// explains all of them as well as two.
std::vector<std::vector<bool>> missed_by_pairs(const records::Table& table, double outlier);

/// Visits and misses: [1] in the sector of the step before, where everything is cached; [0] of all others.
struct RepeatedMisses {
  double visits[2] = {0, 0}, misses[2] = {0, 0};
  void add(const records::Point& point, const MissRange& range);
  /// Whether second visits miss more often than interference makes them: then what is told apart is places and no misses.
  [[nodiscard]] bool are_places(const MissRange& range) const;
};

/// Whether first visits take longer at some of the points at which nothing is told apart as a miss: then those tell nothing of what fits.
bool has_untold_misses(const records::Table& table, const Classes& classes);

/// The border from which on first visits take longer.
struct PairedBorder {
  double last = 0;        ///< the largest x at which they take no longer than at smaller ones
  double sure = 0;        ///< the largest that surely lies before the border: those from there to `last` may lie beyond it, too
  double level = 0;       ///< by how much first visits take longer up to there, in ticks
  double above = 0;       ///< the next at which they surely do
  double ticks = 0;       ///< by how much, on average, there
  double confidence = 0;  ///< posterior of a border, beside one level of all
  std::optional<double> back;  ///< a larger x at which they do not, again
  Dimension dimension;         ///< of x
};

/// nullopt where one level explains all x, or walks have no pairs. What points scatter about their level is told from those below the border.
/// Of several borders the first one.
std::optional<PairedBorder> paired_border(const Context& context);

/// An x up to the border from which on what a lap visits once takes longer, by half of `ticks` or more: a policy may keep what is visited twice.
std::optional<double> others_rise(const Context& context, const PairedBorder& border);

/// How much likelier, as a natural logarithm, what a walk shows is where it fits as others do than where its first visits take `longer` ticks
/// more on average, or more than that. Student's t, by how the others scatter.
double log_of_fitting(const std::vector<Excess>& fitting, const Excess& other, double longer);

}  // namespace gexp::infer
