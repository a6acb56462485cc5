// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/program.h"
#include "lang/base/budget.h"
#include "runtime/measure/kernels.h"
#include "runtime/result/result.h"

namespace gexp::measure {

class KeptStages;
class PointLog;

/// Hears how a run goes, from one thread at a time. Default: silence.
class Progress {
 public:
  virtual ~Progress() = default;
  /// Of several: which is next.
  virtual void experiment(const std::string& name) { (void)name; }
  /// `points`: how many it has, where no measurement decides that.
  virtual void stage(const std::string& name, std::size_t number, std::size_t of, std::optional<std::size_t> points) { (void)name, (void)number, (void)of, (void)points; }
  /// `done`: those of the stage that began before this one.
  virtual void point(const std::string& where, std::size_t done) { (void)where, (void)done; }
  /// A stage that is not measured: `from` says where its records are from.
  virtual void kept(const std::string& name, std::size_t number, std::size_t of, const std::string& from) { (void)name, (void)number, (void)of, (void)from; }
  /// Something that whoever reads the result should know, as soon as it is seen.
  virtual void notice(const std::string& text) { (void)text; }
  virtual void finished() {}
};

struct SessionOptions {
  double launch_limit = 60;           ///< seconds for one launch
  std::optional<double> time_limit;   ///< seconds for the run, instead of the file's budget or the default
  double patience = 1;                ///< the run may take so many times the file's budget
  std::optional<double> time_left;    ///< seconds that whatever it is a part of has left: no run takes more
  std::function<bool()> interrupted;  ///< asked between launches, by any thread
  PointLog* log = nullptr;            ///< where what is measured is kept as it goes; null: nowhere
  const KeptStages* kept = nullptr;   ///< where stages are looked for that need no measuring; null: all are measured
  std::string toolchain;              ///< what decides records besides the versions of gexp and NVRTC: the program's build, templates
  /// What a device that was made for some repetitions has counted since; empty: nobody asks.
  std::function<device::Counters(const device::Backend&)> count;
  std::mutex* turn = nullptr;         ///< held while the device is asked; null: no other run shares it
  bool device_used = false;           ///< by an earlier run of this process: how busy it was then tells nothing of others
  bool tells_spared = true;           ///< the result says what refined sweeps spared, for which all points are planned that were not measured
  std::size_t jobs = 0;               ///< points measured at once on a simulated device; 0: as many as the machine has cores
};

/// Whether the device can run the program at all: every missing capability, at its statement (E0501), and the memory budget.
void check_requirements(const compiler::Program& program, const device::Backend& backend, Diagnostics& diagnostics);

inline constexpr double kDefaultTimeLimit = 600;    ///< seconds, of a file without `budget time`
inline constexpr double kHostMemoryShare = 0.25;    ///< of what is free of this machine's memory, for memories in host and managed
inline constexpr double kDefaultMemoryShare = 0.8;  ///< of the device's memory, for a file without `budget memory`

/// Runs every stage, asks its questions, judges the expectations. Errors of the environment (no memory, no compiler, a template
/// missing) and of the spec at run time are Result errors; then `so_far` still holds what was measured before.
Result<> run_session(const compiler::Program& program, device::Backend& backend, Kernels& kernels, const SessionOptions& options, Progress& progress,
                     result::RunResult& so_far);

/// What is left of a run when all is measured: its last answers, what is said of all findings, the expectations. It needs no device.
using Conclusion = std::function<Result<>()>;
/// The run as far as it needs the device. All that it is given outlives what it gives, which is to be called once, by any thread.
Conclusion begin_session(const compiler::Program& program, device::Backend& backend, Kernels& kernels, const SessionOptions& options, Progress& progress,
                         result::RunResult& so_far);

/// The findings and judgements again, from the records alone.
Result<> infer_again(const compiler::Program& program, result::RunResult& result);
/// The judgements again, of the findings as they stand.
Result<> judge_again(const compiler::Program& program, result::RunResult& result);

}  // namespace gexp::measure
