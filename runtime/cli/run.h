// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lang/base/budget.h"
#include "runtime/cli/app.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/kernels.h"
#include "runtime/measure/session.h"

namespace gexp::cli {

/// A device, and what its kernels are compiled by. For any number of runs.
struct Opened {
  std::unique_ptr<device::Backend> backend;
  std::unique_ptr<jit::Compiler> compiler;
  std::unique_ptr<measure::Kernels> kernels;
  bool used = false;  ///< a run has computed on it
  std::unique_ptr<std::mutex> turn = std::make_unique<std::mutex>();  ///< whose thread may ask the device, and say how it goes

  [[nodiscard]] bool simulated() const { return backend->device().kind == "simulated"; }
};
/// `seed`: of a simulated device. E0701, E0703 to E0708: no such device, or no compiler.
Result<Opened> open_for_runs(const std::string& device, std::uint64_t seed, const std::string& templates);

/// On a simulated device: confines it to where its result, its store and its kernels are kept (sandbox.h).
void confine_run(const Opened& opened, const Common& common);

/// Its --memory-limit, and so many seconds.
Budget::Limits limits_of(const Common& common, std::optional<double> seconds);

/// The kernels of a file that are known before it runs.
std::vector<compiler::Shape> known_shapes(const Opened& opened, const Loaded& loaded);

/// What each warp of a point did when: a file for trace viewers, and what to say of it.
struct TraceFile {
  std::string text, said;
};

/// A run on one device.
struct Ran {
  int exit = kDone;
  std::vector<Diagnostic> problems;  ///< why it was not run, or what ended it; about the spec's text
  compiler::Program program;         ///< with the device's facts
  std::optional<result::RunResult> result;
  std::optional<Result<TraceFile>> trace;  ///< where common.timeline names a file, and there is a result
};
/// A run in three parts, so that the device measures for the next one while something is made of what it measured for this one.
class Running {
 public:
  /// Checks what the program needs of the device, and measures. What is handed in outlives it.
  Running(Opened& opened, const Common& common, const Loaded& loaded, measure::Progress& progress, std::optional<double> time_left = std::nullopt);
  Running(Running&&) noexcept;
  ~Running();
  /// Last answers and judgements; once, by any thread.
  void conclude();
  /// Ends it in the store; once, after that, by the thread that began it.
  Ran end();

 private:
  struct State;
  bool prepare(const Loaded& loaded);
  void measure(std::optional<double> time_left);

  Opened& opened_;
  measure::Progress& progress_;
  std::unique_ptr<State> state_;
};
/// Checks what the program needs of the device, runs. `time_left`: seconds at most, besides what the file allows.
Ran run_on(Opened& opened, const Common& common, const Loaded& loaded, measure::Progress& progress, std::optional<double> time_left = std::nullopt);

/// UTC, as results have it.
std::string now();

/// The exit code of a run that came to some end.
int exit_of(const result::RunResult& result);

/// Saves what could not be written where it was to be, in the temporary folder, and says so.
void rescue(const result::RunResult& result);

/// Saves a result; where that fails, in the temporary folder. An exit code.
int save_result(const result::RunResult& result, const std::string& path);

/// The run on every GPU of this machine at once, and how what they show differs.
int run_on_all(const Common& common, const Loaded& loaded);

}  // namespace gexp::cli
