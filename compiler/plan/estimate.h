// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/points.h"

/// What a run would do and about how long it would take, without running or planning it.
namespace gexp::compiler {

/// Seconds that things take on a device, between the best and the worst case. A model, for a plan to be refused or waited for;
/// no answer is made from it.
struct SpeedEstimate {
  double launch[2];       ///< with what the host does around it
  double access[2];       ///< one of a chain of dependent ones
  double load[2];         ///< one that may overlap with others
  double instruction[2];
  double compile[2];      ///< a kernel; nothing from the cache
  double operation[2];    ///< each operation of its text, besides
  double at_once;         ///< threads that run beside each other
};

struct Interval {
  double least = 0, most = 0;
};

struct StageEstimate {
  std::vector<std::string> needs;    ///< findings of other stages that its points and patterns read
  std::optional<PointCount> points;  ///< nothing: they depend on `needs`
  std::optional<double> skipped;     ///< of points->base; nothing: it depends on `needs`
  bool skipped_about = false;        ///< some points stood for all
  std::optional<Interval> accesses;  ///< of one run, all threads; nothing: they depend on `needs`
  std::optional<std::size_t> kernels;  ///< to compile that no stage before it has; nothing: they depend on `needs`
  Interval seconds;                  ///< `most` is infinite where the estimate depends on `needs`
};

struct Estimate {
  std::vector<StageEstimate> stages;  ///< as in the program
  std::size_t kernels = 0;
  double memory = 0;                  ///< bytes of all memories on the device but those in shared memory
  double host_memory = 0;             ///< bytes of those in the host's
  double managed_memory = 0;          ///< of `memory`, what may be in the host's instead
  double peer_memory = 0;             ///< bytes of those on another device
  std::optional<double> budget_memory, budget_seconds;
  Interval seconds;
};

/// What is known before the run: stages whose records an earlier result holds.
struct KnownStages {
  std::map<std::string, Value> findings;  ///< of those stages, by their names; they are not measured
};

/// E04xx of the file's values and of sweeps that read no finding; E0440 for too many points. `program.device` is set.
Result<Estimate> estimate(const Program& program, const SpeedEstimate& pace, const KnownStages& known = {});

/// E0443: the least time is more than twice the file's `budget time`.
Result<> accept_time(const Program& program, const Estimate& estimate);

}  // namespace gexp::compiler
