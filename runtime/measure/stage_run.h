// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/plan/plan.h"
#include "runtime/infer/prepared_records.h"
#include "runtime/measure/clock_watch.h"
#include "runtime/measure/device_pool.h"
#include "runtime/measure/schedule.h"
#include "runtime/measure/session.h"

namespace gexp::measure {

/// What the stages of a run have in common.
struct RunContext {
  const compiler::Program& program;
  DevicePool& benches;
  const SessionOptions& options;
  Progress& progress;
  const Budget& budget;                ///< of the run; asked by any thread
  std::vector<result::KernelRecord>& kernels;  ///< that recorded points ran, each once, in the order of the points
  const infer::MeasuredStages& measured;       ///< before the stage
  const Source& source;                        ///< of the spec: a fault names its lines
  const device::DeviceInfo& device;
};

/// Measures one stage. Workers run the repetitions; only the thread that called run() touches the stage's records, point by point
/// in the order of the schedule, so they do not depend on how many workers there are.
class StageRun {
 public:
  /// `beside`: where the records of the stages in its launch go, in their order.
  StageRun(const RunContext& run, const compiler::Stage& stage, const compiler::Scope& scope, result::StageResult& result,
           std::vector<result::StageResult*> beside = {});

  /// False: stopped early, `stopped_by` says why.
  Result<bool> run();
  /// What a refined stage cost, which came to its end, and its full sweep would. It needs no device.
  [[nodiscard]] std::optional<result::RefinementCost> spent() const;
  [[nodiscard]] result::RunResult::End stopped_by() const { return stopped_by_; }
  [[nodiscard]] bool faulted() const { return faults_ > 0; }
  /// Why the stage alone was given up, while the run goes on: its points keep faulting. Empty: it was not.
  [[nodiscard]] const std::string& given_up() const { return given_up_; }

 private:
  /// Repetitions of one point, as a worker hands them over.
  struct Measured {
    bool skipped = false;
    std::string no_room;     ///< why there is no memory for it; empty: there is
    bool to_record = false;  ///< `point` holds something new
    bool faulted = false;
    bool expected = false;   ///< it did not end well, as an expect of the stage may have it
    bool usable = true;      ///< the device, after a fault
    device::Outcome end;             ///< of the last launch
    compiler::PointPlan plan;
    records::Point point;
    std::vector<result::KernelRecord> kernels;
    result::TimeSpent effort;
    device::Counters counts;
    std::optional<Diagnostic> problem;
    result::RunResult::End stopped = result::RunResult::End::Complete;
  };
  enum class Next { On, NotWanted, Stop };

  // Any thread.
  /// Whether a stage of the launch asks about launches that end so.
  [[nodiscard]] bool is_expected(device::Outcome::Status end) const;
  [[nodiscard]] result::RunResult::End must_stop() const;
  /// Seconds for the next launch.
  [[nodiscard]] double launch_limit() const;
  void measure_point(const compiler::Coordinates& at, Measured& measured);
  void measure_further(std::size_t index, Measured& measured);
  void add_runs(const compiler::PointPlan& plan, records::Point& point, Measured& measured, const std::function<Result<bool>()>& enough);
  bool recall(const compiler::Coordinates& at, records::Point& point, Measured& measured);
  /// The repetitions from `first` on, to the log.
  void log_round(const compiler::Coordinates& at, std::size_t first, const records::Point& point, const Measured& measured) const;
  void keep(records::Run& run, compiler::Keep how) const;
  /// The point as the plan makes it, before anything is measured; of each stage in the launch.
  void begin_point(const compiler::Stage& stage, const compiler::PointPlan& plan, records::Point& point) const;
  [[nodiscard]] const compiler::Stage& beside(std::size_t i) const { return run_.program.stages[stage_.beside[i]]; }
  /// The stages beside it get their part of a point: a new one, or in place of the one of that number.
  void share(records::Point& point, std::optional<std::size_t> number = std::nullopt);
  void tell(const compiler::Coordinates& at);
  /// The lines of the spec that a launch may have ended badly at: "cache.gexp:7".
  [[nodiscard]] std::string lines_of(const std::string& fault) const;

  // The thread that called run().
  Result<bool> measure(const Batch& batch);
  Result<bool> converge();
  /// Has workers fill what `take` takes in order, as in_order() does. False: stop; then what other workers had measured meanwhile is
  /// taken too, unless a fault is the reason.
  Result<bool> in_parallel(std::size_t count, std::size_t ahead, const std::function<void(std::size_t, Measured&)>& work,
                           const std::function<Result<Next>(std::size_t, Measured&)>& take);
  /// Points that were measured at another clock than the stage's others, or while something held the clocks down, once more.
  Result<bool> measure_unsteady_again();
  void forget(const compiler::Coordinates& at) const;
  void put_back(const compiler::Coordinates& at, std::size_t number) const;
  /// What repetitions mean for the stage, besides their records.
  Result<Next> account(Measured& measured);
  /// What the launches of a point that is recorded did.
  void count(const records::Point& point, const device::Counters& counts);
  void keep_counts();
  Result<Value> value_at(const compiler::Formula& formula, const compiler::Coordinates& at);
  [[nodiscard]] std::optional<std::size_t> find_point(const compiler::Coordinates& at) const;
  const infer::Classes& classes();

  const RunContext& run_;
  const compiler::Stage& stage_;
  const compiler::Scope& scope_;
  result::StageResult& result_;
  std::vector<result::StageResult*> beside_;
  std::vector<compiler::PointPlan> plans_;  ///< by point; of a stage with a stopping rule
  std::optional<ClockWatch> clocks_;        ///< of a device that all points share
  std::set<std::size_t> unsteady_;          ///< points whose clock was judged
  std::size_t measured_again_ = 0;
  std::map<std::string, device::Counters> counted_;  ///< by coordinates
  infer::Classes classes_;
  std::size_t classified_accesses_ = 0, classified_points_ = 0;
  double strange_ = 0;  ///< the most of a point that was classified and that no class has
  result::RunResult::End stopped_by_ = result::RunResult::End::Complete;
  int faults_ = 0, faults_in_a_row_ = 0;
  std::string given_up_;
  std::atomic<double> launch_limit_;
  std::mutex telling_;
  std::size_t told_ = 0;
};

}  // namespace gexp::measure
