// SPDX-License-Identifier: Apache-2.0
#include "lang/base/in_order.h"
#include "runtime/measure/stage_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "compiler/lower/ops.h"
#include "runtime/infer/infer.h"
#include "runtime/infer/record_functions.h"
#include "runtime/measure/outcomes.h"
#include "runtime/measure/point_log.h"
#include "runtime/result/point_table.h"

namespace gexp::measure {
namespace {

using compiler::Coordinates;
using End = result::RunResult::End;

// A stage whose points keep faulting is given up: after so many in a row, or in all.
constexpr int kMostFaultsInARow = 3, kMostFaults = 10;
constexpr double kAfterTimeout = 6;  // of a GPU: once a launch of a stage has hung, the others get this part of the limit
constexpr double kLate = 0.5;        // seconds beyond the run's time that a launch may take
constexpr double kStrange = 0.02;    // of a point's accesses, whose latencies no class has: a class that is not known yet

bool same_coordinates(const records::Point& point, const Coordinates& at) {
  return std::all_of(at.begin(), at.end(), [&](const auto& coordinate) {
    const auto found = point.at.find(coordinate.first);
    return found != point.at.end() && found->second == coordinate.second;
  });
}

std::size_t accesses_of(const records::Point& point) {
  std::size_t all = 0;
  for (const auto& run : point.runs) all += run.ticks.size();
  return all;
}

/// What part of a point's accesses has latencies that no class has.
double share_of_none(const records::Point& point, const infer::Classes& classes) {
  std::size_t none = 0, all = 0;
  for (const auto& run : point.runs) {
    for (const auto tick : run.ticks) {
      const auto has = [tick](const auto& known) { return tick >= known.low && tick <= known.high; };
      none += std::none_of(classes.list.begin(), classes.list.end(), has) ? 1 : 0;
    }
    all += run.ticks.size();
  }
  return all == 0 ? 0 : static_cast<double>(none) / static_cast<double>(all);
}

void begin_table(const compiler::Stage& stage, records::Table& table) {
  table.stage = stage.name;
  table.timed = stage.timed_name;
  table.timing = stage.timing == compiler::Timing::Each    ? records::Table::Timing::Each
                 : stage.timing == compiler::Timing::Total ? records::Table::Timing::Total
                 : stage.timing == compiler::Timing::Values ? records::Table::Timing::Values
                                                           : records::Table::Timing::Wall;
  for (const auto& sweep : stage.sweeps) table.columns.insert(table.columns.end(), sweep.names.begin(), sweep.names.end());
}

}  // namespace

StageRun::StageRun(const RunContext& run, const compiler::Stage& stage, const compiler::Scope& scope, result::StageResult& result,
                   std::vector<result::StageResult*> beside)
    : run_(run), stage_(stage), scope_(scope), result_(result), beside_(std::move(beside)), launch_limit_(run.options.launch_limit) {
  begin_table(stage, result_.table);
  for (std::size_t i = 0; i < beside_.size(); ++i) begin_table(this->beside(i), beside_[i]->table);
  if (run.benches.shared()) clocks_.emplace([&benches = run.benches] { return benches.condition(); });
}

Result<bool> StageRun::run() {
  const PointMeasurer how{[this](const Batch& batch) { return measure(batch); },
                    [this](const compiler::Formula& condition, const Coordinates& at) { return value_at(condition, at); },
                    [this]() -> Result<bool> {
                      auto steady = measure_unsteady_again();
                      return steady && *steady ? converge() : steady;
                    }};
  auto complete = visit_points(stage_, scope_, how);
  result::sort_points(result_.table);
  keep_counts();
  for (auto* other : beside_) result::sort_points(other->table);
  return complete;
}

/// Both counts by the plan's own figures, so that they compare.
std::optional<result::RefinementCost> StageRun::spent() const {
  if (!compiler::is_refined(stage_) || !run_.options.tells_spared) return std::nullopt;
  result::RefinementCost spent;
  std::map<std::string, double> furthest;
  for (const auto& point : result_.table.points) {
    compiler::Names names(&scope_);
    for (const auto& column : result_.table.columns) {
      const auto& value = point.at.at(column);
      names.set(column, value);
      if (const auto* n = value.get<Number>()) furthest[column] = std::max(furthest.try_emplace(column, n->number).first->second, n->number);
    }
    const auto timed = compiler::timed_accesses(run_.program, stage_, names);
    if (!timed) return std::nullopt;
    ++spent.points;
    spent.accesses += *timed * static_cast<double>(point.runs.size());
  }
  auto full = compiler::full_sweep(run_.program, stage_, scope_, furthest);
  if (!full) return std::nullopt;
  spent.full = *full;
  return spent;
}

End StageRun::must_stop() const {
  switch (run_.budget.look()) {
    case Budget::End::Interrupted: return End::Interrupted;
    case Budget::End::Time: return End::OutOfTime;
    default: return End::Complete;  // without memory a part of the run ends, and says so
  }
}

double StageRun::launch_limit() const { return std::min(launch_limit_.load(), std::max(run_.budget.seconds_left(), 0.0) + kLate); }

void StageRun::tell(const Coordinates& at) {
  const std::lock_guard lock(telling_);
  run_.progress.point(records::coordinates_text(at), told_++);
}

/// The least repetitions of a point.
void StageRun::measure_point(const Coordinates& at, Measured& measured) {
  measured.stopped = must_stop();
  if (measured.stopped != End::Complete) return;
  auto plan = compiler::plan_point(run_.program, stage_, at, scope_, measured.skipped);
  if (!plan) measured.stopped = must_stop();
  if (!plan && measured.stopped == End::Complete) measured.problem = plan.error();
  if (!plan || measured.skipped) return;
  tell(at);
  auto& point = measured.point;
  begin_point(stage_, *plan, point);
  point.beside.resize(plan->beside.size());
  for (std::size_t i = 0; i < plan->beside.size(); ++i) begin_point(beside(i), plan->beside[i], point.beside[i]);
  measured.plan = std::move(*plan);
  add_runs(measured.plan, point, measured, [&]() -> Result<bool> { return static_cast<std::int64_t>(point.runs.size()) >= stage_.repeat.at_least; });
  const bool cut_off = measured.stopped == End::Interrupted;  // within the first repetition: there is nothing of it
  measured.to_record = !point.runs.empty() || (!point.outcome.done() && !cut_off) || measured.problem;
}

/// Further repetitions of a point until the stopping rule holds. It sees the latency classes of the stage, which stay as they are
/// meanwhile, and this point alone: how often one point is repeated does not depend on another.
void StageRun::measure_further(std::size_t index, Measured& measured) {
  const auto& before = result_.table.points[index];
  if (!before.outcome.done() || before.runs.empty()) return;
  records::Table own{result_.table.stage, result_.table.timed, result_.table.timing, result_.table.columns, {before}};
  auto& point = own.points[0];
  add_runs(plans_[index], point, measured, [&]() -> Result<bool> {
    if (point.runs.size() > before.runs.size()) set_overhead(point);
    auto value = infer::at_point(*stage_.repeat.until, own, classes_, 0, stage_, scope_);
    if (!value) return value.error();
    const auto* flag = value->get<bool>();
    const bool holds = flag && *flag, last = static_cast<std::int64_t>(point.runs.size()) >= stage_.repeat.at_most;
    point.converged = holds || !last;
    return holds || last;
  });
  measured.to_record = point.runs.size() != before.runs.size() || point.converged != before.converged || !point.outcome.done();
  if (measured.to_record) measured.point = std::move(point);
}

void StageRun::add_runs(const compiler::PointPlan& plan, records::Point& point, Measured& measured, const std::function<Result<bool>()>& enough) {
  const auto done = [&] {
    auto finished = enough();
    if (!finished) measured.problem = finished.error();
    return !finished || *finished;
  };
  do {
    if (done()) return;
  } while (recall(plan.at, point, measured));
  const auto first = point.runs.size();
  run_.benches.use(batch_number(stage_, plan.at, first), [&](PointRunner& bench) {
    do {
      measured.stopped = must_stop();
      if (measured.stopped != End::Complete) break;
      const auto before = point.runs.size();
      const auto repeated = bench.repeat(plan, point, [this] { return launch_limit(); });
      if (!repeated || !point.outcome.done()) {
        // What a run was told to end in the middle of is not the kernel's fault.
        const bool unfinished = point.outcome.status != device::Outcome::Status::Fault;
        measured.stopped = must_stop();
        if (point.outcome.status == device::Outcome::Status::Interrupted) measured.stopped = End::Interrupted;
        if (measured.stopped == End::Interrupted && repeated) point.outcome.status = device::Outcome::Status::Interrupted;
        if (measured.stopped == End::Interrupted || (measured.stopped == End::OutOfTime && unfinished)) break;
        if (!repeated && repeated.error().code == "E0802") measured.no_room = repeated.error().message;
        else if (!repeated) measured.problem = repeated.error();
        else if (is_expected(point.outcome.status)) measured.expected = true;
        else measured.faulted = true;
        if (measured.faulted || measured.expected) point.outcome.what += lines_of(point.outcome.what);
        break;
      }
      for (auto run = before; run < point.runs.size(); ++run) keep(point.runs[run], stage_.keep);
      for (std::size_t i = 0; i < point.beside.size(); ++i) {
        for (auto run = before; run < point.beside[i].runs.size(); ++run) keep(point.beside[i].runs[run], beside(i).keep);
      }
    } while (!done());
    measured.usable = bench.usable();
    measured.end = point.outcome;
    auto kernels = bench.new_kernels();
    measured.kernels.insert(measured.kernels.end(), std::make_move_iterator(kernels.begin()), std::make_move_iterator(kernels.end()));
    measured.effort = bench.new_effort();
    if (run_.options.count) measured.counts = run_.options.count(bench.device());
  });
  set_overhead(point);
  for (auto& other : point.beside) set_overhead(other);
  if (run_.options.log && (point.runs.size() > first || !point.outcome.done())) log_round(plan.at, first, point, measured);
}

Result<bool> StageRun::in_parallel(std::size_t count, std::size_t ahead, const std::function<void(std::size_t, Measured&)>& work,
                                   const std::function<Result<Next>(std::size_t, Measured&)>& take) {
  std::vector<Measured> slots(count);
  std::size_t taken = 0;
  Result<Next> next = Next::On;
  const auto take_next = [&](std::size_t i) {
    auto measured = std::exchange(slots[i], {});
    ++taken;
    return take(i, measured);
  };
  in_order(count, run_.benches.workers(), ahead, [&](std::size_t i) { work(i, slots[i]); },
           [&](std::size_t i) {
             next = take_next(i);
             return next && *next == Next::On;
           });
  if (!next) return next.error();
  // What other workers had measured when the run was told to end is kept.
  const bool told = *next == Next::Stop && stopped_by_ != End::Faulted;
  for (std::size_t i = taken; told && i < count; ++i) {
    if (!slots[i].to_record) continue;
    if (auto more = take_next(i); !more || *more == Next::NotWanted) break;
  }
  return *next != Next::Stop;
}

Result<bool> StageRun::measure(const Batch& batch) {
  const auto work = [&](std::size_t i, Measured& measured) {
    if (!batch.known[i]) measure_point(batch.points[i], measured);
  };
  const auto take = [&](std::size_t i, Measured& measured) -> Result<Next> {
    if (measured.skipped) ++result_.skipped;
    if (!measured.no_room.empty() && ++result_.no_room == 1) result_.why_no_room = measured.no_room;
    if (measured.to_record) {
      count(measured.point, measured.counts);
      share(measured.point);
      result_.table.points.push_back(std::move(measured.point));
      if (stage_.repeat.until) plans_.push_back(std::move(measured.plan));
      if (clocks_) clocks_->point(result_.table.points.size());
    }
    auto next = account(measured);
    if (!next || *next != Next::On) return next;
    auto wanted = batch.measured(i);
    if (!wanted) return wanted.error();
    return *wanted ? Next::On : Next::NotWanted;
  };
  return in_parallel(batch.points.size(), batch.all_wanted ? batch.points.size() : run_.benches.workers(), work, take);
}

Result<bool> StageRun::measure_unsteady_again() {
  if (!clocks_) return true;
  auto unsteady = clocks_->unsteady(result_.table.points.size());
  std::erase_if(unsteady, [&](std::size_t i) { return !unsteady_.insert(i).second; });  // once each
  if (unsteady.empty()) return true;
  const auto before = clocks_->range();
  const auto slowed = clocks_->slowed_by();
  // What holds most points down is how the device does under this load: to measure them again would give the same.
  if (2 * unsteady.size() > result_.table.points.size() || !clocks_->wait_until_steady()) {
    result_.clocks = fmt::format("{} of {} points were measured while the clocks were held down ({}): they stand as they are", unsteady_.size(),
                                 result_.table.points.size(), slowed);
    return true;
  }
  for (const auto i : unsteady) {
    auto& point = result_.table.points[i];
    if (!point.outcome.done()) continue;  // a lost point stays lost
    Coordinates at;
    for (const auto& column : result_.table.columns) at.emplace_back(column, point.at.at(column));
    if (run_.options.log) forget(at);
    Measured measured;
    measure_point(at, measured);
    auto next = account(measured);
    if (!next) return next.error();
    // What was measured first is better than nothing.
    if (measured.to_record && measured.point.outcome.done() && measured.point.runs.size() >= point.runs.size()) share(measured.point, i), point = std::move(measured.point), ++measured_again_;
    else if (run_.options.log) put_back(at, i);
    if (*next == Next::Stop) return false;
  }
  result_.clocks = fmt::format("{} of {} points were measured again: the SM clock went from {:.0f} to {:.0f} MHz{}", measured_again_, result_.table.points.size(), before.first / 1e6,
                               before.second / 1e6, slowed.empty() ? "" : " (" + slowed + ")");
  if (!clocks_->steady_now()) result_.clocks += ", and was held down then too";
  return true;
}

/// The stopping rule, once every point has its least repetitions: only then are all latency classes of the stage in sight. Once
/// more where what was added has renewed the classes.
Result<bool> StageRun::converge() {
  if (!stage_.repeat.until) return true;
  const auto work = [&](std::size_t i, Measured& measured) { measure_further(i, measured); };
  const auto take = [&](std::size_t i, Measured& measured) {
    if (measured.to_record) count(measured.point, measured.counts), result_.table.points[i] = std::move(measured.point);
    return account(measured);
  };
  for (std::size_t judged_by = 0;;) {
    classes();
    if (judged_by == classified_accesses_) return true;
    judged_by = classified_accesses_;
    auto more = in_parallel(result_.table.points.size(), result_.table.points.size(), work, take);
    if (!more || !*more) return more;
  }
}

Result<StageRun::Next> StageRun::account(Measured& measured) {
  result_.effort += measured.effort;
  result::add_kernels(run_.kernels, std::move(measured.kernels));
  if (measured.problem) return *measured.problem;
  faults_in_a_row_ = measured.faulted ? faults_in_a_row_ + 1 : 0;
  if (measured.faulted) {
    ++faults_;
    const auto& end = measured.end;
    if (end.status == device::Outcome::Status::Timeout && run_.benches.shared()) launch_limit_ = run_.options.launch_limit / kAfterTimeout;
    if (!measured.usable) {
      measured.stopped = End::Faulted;
    } else if (faults_in_a_row_ == kMostFaultsInARow || faults_ == kMostFaults) {
      measured.stopped = End::Faulted;
      given_up_ = faults_in_a_row_ == kMostFaultsInARow ? fmt::format("given up after {} faults in a row", faults_in_a_row_) : fmt::format("given up after {} faults", faults_);
      given_up_ += fmt::format("; the last: {}: {}", word(end.status), end.what);
    }
  }
  if (measured.expected && !measured.usable) measured.stopped = End::Faulted;  // nothing more can be run, whoever expected it
  if (measured.stopped == End::Complete) return Next::On;
  if (stopped_by_ == End::Complete) stopped_by_ = measured.stopped;
  return Next::Stop;
}

/// Renewed when the records of all stages that tell these levels have grown by a quarter, or a point has latencies that no class knows:
/// looking for classes takes as long as all these records are.
const infer::Classes& StageRun::classes() {
  std::size_t accesses = 0;
  for (const auto& point : result_.table.points) accesses += accesses_of(point);
  double strange = 0;
  for (auto i = classified_points_; i < result_.table.points.size(); ++i) {
    strange = std::max(strange, share_of_none(result_.table.points[i], classes_));
  }
  const auto others = run_.measured.of_same_levels(stage_);
  std::size_t of_others = 0;
  for (const auto* table : others) {
    for (const auto& point : table->points) of_others += accesses_of(point);
  }
  const bool grown = classified_accesses_ == 0 || 4 * (accesses + of_others) > 5 * (classified_accesses_ + of_others);
  if (accesses > classified_accesses_ && (grown || strange > std::max(kStrange, 2 * strange_))) {
    classes_ = infer::classify(result_.table, others);
    classified_accesses_ = accesses;
    strange_ = 0;
    for (const auto& point : result_.table.points) strange_ = std::max(strange_, share_of_none(point, classes_));
  }
  classified_points_ = result_.table.points.size();
  return classes_;
}

std::optional<std::size_t> StageRun::find_point(const Coordinates& at) const {
  for (std::size_t i = result_.table.points.size(); i-- > 0;) {  // mostly it is among the latest
    if (same_coordinates(result_.table.points[i], at)) return i;
  }
  return std::nullopt;
}

Result<Value> StageRun::value_at(const compiler::Formula& formula, const Coordinates& at) {
  const auto index = find_point(at);
  if (!index || (result_.table.points[*index].runs.empty() && !infer::reads_outcome(stage_, formula))) return Value();
  const auto value_of = [&](const compiler::Formula& wanted) {
    return infer::at_point(wanted, result_.table, classes(), *index, stage_, scope_);
  };
  if (formula.kind != compiler::Formula::Kind::Name || formula.text != stage_.timed_name) return value_of(formula);
  // A whole record: its level, its weight, and whether anything misses.
  List all;
  for (const char* function : {"median", "mean", "misses"}) {
    auto value = value_of(compiler::call_of(function, formula));
    if (!value) return value;
    const auto* misses = function == std::string("misses") ? value->get<Number>() : nullptr;
    all.push_back(misses ? Value(misses->number > 0) : std::move(*value));
  }
  return Value(std::move(all));
}

}  // namespace gexp::measure
