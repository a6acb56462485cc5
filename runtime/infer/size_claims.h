// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/program.h"
#include "runtime/infer/finding.h"
#include "runtime/infer/granularity.h"
#include "runtime/infer/model/walks.h"
#include "runtime/infer/prepared_records.h"

/// Sizes that a file found, held against everything that it walked.
namespace gexp::infer {

/// A size that `last_flat` found by counting misses.
struct SizeClaim {
  const compiler::Stage* stage;
  const MeasuredStages::Measured* measured;
  const compiler::Question* question;
  Finding* finding;
  std::optional<double> slower_than;
  bool counts = true;  ///< the column is the misses themselves: the size is where none is
  std::vector<std::pair<double, const records::Point*>> within;  ///< points up to the size, by it
  std::vector<const records::Point*> fits, misses;  ///< points at the size, and beyond it, up to twice as large
  std::int64_t low = 0, high = 0;                   ///< bytes: what it says to fit, as offsets
  bool spans = true;                                ///< the walk at the size has that extent
  Extent extent{};                                  ///< of the walk at the size
  std::pair<double, const records::Point*> least{}; ///< the smallest footprint that was tried
  std::vector<std::pair<double, const records::Point*>> beyond{};  ///< all that are larger than the size
};

/// Of every `last_flat` over a sweep in bytes.
std::vector<SizeClaim> size_claims(const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& scope, Findings& findings);

/// What misses beyond a size, told one by one; both empty where they are not.
struct ToldMisses {
  std::optional<MissRange> range;
  std::optional<Granularity> granularity;
};
ToldMisses told_misses(const SizeClaim& claim);

/// Why a size may be that of a level behind, hardly slower or faster than the one that was asked for; empty where hits take as long in all
/// that fits.
std::string other_hits(const SizeClaim& claim, const ToldMisses& told);

/// Says the size as so many units that come in at once, where the misses beyond it show those and the walk's addresses are further apart
/// than the smallest sector. x counts what lies between and behind the addresses, too.
void count_units(const SizeClaim& claim, const ToldMisses& told);

/// Why a size is none; empty where everything that was walked agrees with it. `sets_are_known`: they were told line by line.
std::string contradiction(const SizeClaim& claim, const ToldMisses& told, const compiler::Program& program, const MeasuredStages& measured,
                          model::WalksByStage& walks, Findings& findings, bool sets_are_known);

}  // namespace gexp::infer
