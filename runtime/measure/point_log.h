// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "compiler/plan/expand.h"
#include "runtime/measure/kept.h"
#include "runtime/result/result.h"

namespace gexp::measure {

/// Repetitions of a point that were measured one right after the other, on one device in one go: what is kept of a run as it goes.
/// Whether a point needs more is decided between such rounds.
struct Round {
  compiler::Coordinates at;
  std::size_t first = 0;              ///< number of its first repetition
  records::Point point;                 ///< `runs`: this round's alone; the rest as it was once they were there
  std::vector<result::KernelRecord> kernels;  ///< loaded for it
  bool whole = true;                  ///< false: broken off by a fault, a limit or an interrupt
};

/// Keeps what a run measures as soon as it is measured, and knows what was kept of a run that goes on. Called by any thread but for
/// stage().
class PointLog {
 public:
  virtual ~PointLog() = default;
  /// A stage begins (its points are still to come), or has ended.
  virtual void stage(std::size_t number, const result::StageResult& stage) = 0;
  virtual void keep(const std::string& stage, const Round& round) = 0;
  /// The stage that has just ended is whole: it may stand for later ones of that key.
  virtual void whole(std::size_t number, const StageKey& key, const result::StageResult& stage) { (void)number, (void)key, (void)stage; }
  /// The records of an earlier result's stage become this run's. False: they are gone meanwhile.
  virtual bool take(const KeptStage& kept, const std::string& stage) { (void)kept, (void)stage; return true; }
  /// The points of the stage were measured anew: those of before are not to be found any more.
  virtual void forget(const std::string& stage, const compiler::Coordinates& at) = 0;
  /// Null: it was not measured, or not to its end.
  [[nodiscard]] virtual std::shared_ptr<const Round> known(const std::string& stage, const compiler::Coordinates& at, std::size_t first) const = 0;
};

}  // namespace gexp::measure
