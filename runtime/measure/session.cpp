// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "compiler/plan/cost.h"
#include "compiler/plan/points.h"
#include "lang/base/stopwatch.h"
#include "runtime/infer/analysis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/measure/answers.h"
#include "runtime/measure/device_pool.h"
#include "runtime/measure/file_kernel.h"
#include "runtime/measure/judge_all.h"
#include "runtime/measure/kept.h"
#include "runtime/measure/point_log.h"
#include "runtime/measure/stage_run.h"
#include "runtime/result/judge.h"

namespace gexp::measure {
namespace {

using compiler::Names;

/// Before its first kernel a run has used none of the device's time. Inside a container other processes may not be listed, but
/// the time that they use is told, over up to a second: what one's own last run used is gone from it after that.
constexpr int kBusy = 25, kBusyLooks = 4;  // percent
constexpr double kBusyPause = 0.35;        // seconds
constexpr const char* kBegin = "begin";

// Once a run was told to end: seconds for questions, and for what is said of all of them.
constexpr double kAnswering = 0.4, kConcluding = 0.3;

/// Why a stage cannot be planned: the findings that it reads and that are not known. Empty where there is none.
std::string missing_input(const compiler::Stage& stage, const compiler::Program& program, const Names& scope) {
  // A point is planned with unknowns only where `??` replaces them, so it is enough to look for formulas that stay unknown.
  std::vector<std::string> missing;
  const auto look = [&](std::size_t index, const std::string& wanted) {
    const auto& from = program.stages[index];
    for (const auto& find : from.finds) {
      const auto name = find.id.substr(from.name.size() + 1);
      if (!wanted.empty() && wanted != name) continue;
      const auto* answer = answer_in(scope, from.name, name);
      if (!answer || !answer->known()) missing.push_back(find.id);
    }
  };
  for (const auto& read : stage.reads) look(read.stage, read.finding);
  if (missing.empty()) {  // what is no part of what it measures
    for (const auto index : stage.after) look(index, "");
  }
  return missing.empty() ? "" : infer::not_found(missing);
}

/// How many points a stage measures, where no record has a say in it.
std::optional<std::size_t> known_points(const compiler::Stage& stage, const Names& scope) {
  constexpr double kMostSkipsTried = 20'000;
  const auto count = compiler::count_points(stage, scope);
  if (!count || count->about || count->least != count->most || (!stage.skips.empty() && count->most > kMostSkipsTried)) return std::nullopt;
  auto points = static_cast<std::size_t>(count->most);
  if (stage.skips.empty()) return points;
  const auto visited = compiler::each_point(stage, scope, [&](const Names& names) {
    points -= compiler::point_skipped(stage, names).value_or(false) ? 1 : 0;
    return true;
  });
  return visited ? std::optional(points) : std::nullopt;
}

/// How long a run may take, and what it is called when that is over.
struct TimeBudget {
  double seconds = kDefaultTimeLimit;
  result::RunResult::End over = result::RunResult::End::OutOfDefaultTime;
};

Result<TimeBudget> time_budget(const compiler::Program& program, const compiler::Scope& scope, const SessionOptions& options) {
  using End = result::RunResult::End;
  TimeBudget budget;
  if (options.time_limit) {
    budget = {*options.time_limit, End::OutOfSetTime};
  } else if (program.budget_time) {
    auto value = compiler::evaluate(*program.budget_time, scope);
    if (!value) return value.error();
    if (const auto* n = value->get<Number>()) budget = {options.patience * n->number, End::OutOfTime};
  }
  if (options.time_left && *options.time_left < budget.seconds) budget = {*options.time_left, End::OutOfSetTime};
  return budget;
}

class Session {
 public:
  Session(const compiler::Program& program, device::Backend& backend, Kernels& kernels, const SessionOptions& options, Progress& progress,
          result::RunResult& so_far, Names scope, TimeBudget budget)
      : program_(program), backend_(backend), options_(options), progress_(progress), so_far_(so_far), scope_(std::move(scope)), budget_(budget),
        limits_({.seconds = budget.seconds, .interrupted = options.interrupted}), answering_({.grace = kAnswering}, &limits_), concluding_({.grace = kConcluding}, &answering_),
        kernels_(kernels), benches_(std::in_place, program, scope_, backend, kernels, options.jobs, [this] { return over(); }),
        context_{program, *benches_, options, progress, limits_, so_far.kernels, measured_, source_, so_far.device} {}

  /// All that needs the device, which is free for another run afterwards.
  void measure_all() {
    const Budget::Use use(limits_);
    so_far_.stages.reserve(program_.stages.size());
    if (options_.turn) turn_ = std::unique_lock(*options_.turn);
    look(kBegin);
    problem_ = check_file_kernels(program_, scope_, kernels_, [this] { return over(); });
    for (std::size_t i = 0; i < program_.stages.size() && !problem_; ++i) stage(i);
    progress_.finished();
    benches_.reset();
    if (options_.turn) turn_.unlock();
    measuring_ = watch_.seconds();
  }

  /// What is said of the records; any thread.
  Result<> conclude() {
    const Stopwatch watch;
    const Budget::Use use(limits_);
    if (last_) answer(*last_);
    const Budget::Use concluding(concluding_);
    if (so_far_.end == result::RunResult::End::Complete && faulted_) so_far_.end = result::RunResult::End::Faulted;
    reconcile_answers(program_, measured_, scope_, so_far_.findings);
    judge_all(program_, scope_, so_far_);
    so_far_.seconds = measuring_ + watch.seconds();
    if (problem_) return std::move(*problem_);
    return Ok{};
  }

 private:
  [[nodiscard]] bool over() const {
    const auto end = limits_.look();
    return end == Budget::End::Time || end == Budget::End::Interrupted;
  }

  /// What a run that is over ends as.
  [[nodiscard]] result::RunResult::End ending() const {
    return limits_.look() == Budget::End::Interrupted ? result::RunResult::End::Interrupted : budget_.over;
  }

  void stage(std::size_t number) {
    const auto& stage = program_.stages[number];
    result::StageResult result;
    result.name = stage.name;
    const auto ran = stage.leader ? beside_.find(number) : beside_.end();
    const bool has_records = ran != beside_.end() && !ran->second.table.points.empty();  // of a launch before the run ended
    if (so_far_.end != result::RunResult::End::Complete && !has_records) {
      result.status = result::StageResult::Status::Stopped;
      return leave(stage, result, fmt::format("the run ended before it ({})", word(so_far_.end)));
    }
    for (const auto index : stage.after) {
      if (const auto* value = scope_.lookup(program_.stages[index].name)) result.inputs[program_.stages[index].name] = *value;
    }
    const auto key = stage_key(program_, stage, scope_, so_far_, options_.toolchain);
    const bool alone = !stage.leader && stage.beside.empty();
    const bool measured = !alone || !keep(number, key, result);
    if (stage.leader) take_over(number, result);
    else if (measured && !measure(number, result)) return;
    const auto why = why_unanswered(stage, result);
    if (!why.empty()) return leave(stage, result, why, alone ? &key : nullptr);
    {
      const Budget::Use use(answering_);
      end_stage(result, alone ? &key : nullptr);
    }
    if (number + 1 == program_.stages.size()) last_ = number;  // no other stage waits for its answers
    else beside_others([&] { answer(number); });
  }

  /// What needs no device: another run may have it meanwhile.
  void beside_others(const std::function<void()>& work) {
    if (options_.turn) turn_.unlock();
    work();
    if (options_.turn) turn_.lock();
  }

  void answer(std::size_t number) {
    const auto& stage = program_.stages[number];
    const Stopwatch answering;
    const Budget::Use use(answering_);
    auto& ended = so_far_.stages[number];
    const auto refusals = Budget::refusals();
    answer_questions(stage, ended.table, scope_, so_far_.findings, measured_);
    if (Budget::refusals() != refusals && over() && so_far_.end == result::RunResult::End::Complete) so_far_.end = ending();
    ended.answering = answering.seconds();
  }

  /// Takes the stage's records from an earlier result. False: there is none that holds them.
  bool keep(std::size_t number, const StageKey& key, result::StageResult& result) {
    if (!options_.kept) return false;
    const Budget::Use use(answering_);  // nothing is measured: it takes no time of the budget
    const auto& stage = program_.stages[number];
    const Stopwatch watch;
    auto kept = keep_stage(program_, stage, scope_, *options_.kept, key);
    if (!kept || (options_.log && !options_.log->take(*kept, stage.name))) return false;
    auto inputs = std::move(result.inputs);
    result = std::move(kept->stage);
    result.name = result.table.stage = stage.name;
    result.inputs = std::move(inputs);
    result.seconds = watch.seconds();
    add_kernels(so_far_.kernels, std::move(kept->kernels));
    progress_.kept(stage.name, number + 1, program_.stages.size(), kept_text(*result.kept, so_far_.device.kind == "simulated", so_far_.date));
    return true;
  }

  /// What the launch of another stage measured of this one.
  void take_over(std::size_t number, result::StageResult& result) {
    const auto& leader = so_far_.stages[*program_.stages[number].leader];
    auto inputs = std::move(result.inputs);
    result = std::move(beside_[number]);
    result.inputs = std::move(inputs);
    result.name = program_.stages[number].name;
    result.status = leader.status, result.why = leader.why, result.skipped = leader.skipped;
    result.no_room = leader.no_room, result.why_no_room = leader.why_no_room, result.clocks = leader.clocks;
  }

  /// False: the stage, or the run, ended without records to ask.
  bool measure(std::size_t number, result::StageResult& result) {
    const auto& stage = program_.stages[number];
    progress_.stage(stage.name, number + 1, program_.stages.size(), known_points(stage, scope_));
    const Stopwatch watch;
    benches_->begin_stage();
    std::vector<result::StageResult*> beside;
    for (const auto index : stage.beside) {
      beside.push_back(&beside_[index]);
      beside.back()->name = program_.stages[index].name;
    }
    StageRun run(context_, stage, scope_, result, beside);
    const auto begin = [&](std::size_t which, result::StageResult begun) {
      begun.status = result::StageResult::Status::Stopped, begun.why = "the run was broken off";
      options_.log->stage(which, begun);
    };
    if (options_.log) {
      begin(number, result);
      for (const auto index : stage.beside) begin(index, beside_[index]);
    }
    auto done = run.run();
    result.seconds = watch.seconds();
    look("after " + stage.name);
    if (done && *done) beside_others([&] { result.spent = run.spent(); });
    faulted_ = faulted_ || run.faulted();
    if (!done && Budget::ends_run(done.error())) {
      result.status = result::StageResult::Status::Stopped;
      so_far_.end = ending();
      result.why = word(so_far_.end);
    } else if (!done) {
      const auto missing = missing_input(stage, program_, scope_);
      if (!missing.empty() && result.table.points.empty()) {
        // The plan could not be made because findings that it reads are unknown: blocked, not wrong.
        result.status = result::StageResult::Status::Blocked;
        leave(stage, result, missing);
        return false;
      }
      problem_ = done.error();
    } else if (!*done) {
      result.status = result::StageResult::Status::Stopped;
      result.why = run.given_up();
      if (result.why.empty()) {
        so_far_.end = run.stopped_by();
        if (so_far_.end == result::RunResult::End::OutOfTime) so_far_.end = budget_.over;
        result.why = word(so_far_.end);
      }
    }
    return true;
  }

  /// Of a stage that came to its end without a point. Empty: its questions can be asked.
  static std::string why_unanswered(const compiler::Stage& stage, result::StageResult& result) {
    if (!result.table.points.empty() || result.status != result::StageResult::Status::Done) return {};
    if (result.no_room > 0) {
      result.status = result::StageResult::Status::Blocked;
      return "the device has not enough memory for any of its points: " + result.why_no_room;
    }
    if (result.skipped == 0) return {};
    std::vector<std::string> reasons;
    for (const auto& skip : stage.skips) reasons.push_back(skip.why);
    return fmt::format("every point of the stage was left out: {}", fmt::join(reasons, "; or "));
  }

  void leave(const compiler::Stage& stage, result::StageResult& result, const std::string& why, const StageKey* key = nullptr) {
    result.why = why;
    leave_unanswered(stage, why, scope_, so_far_.findings);
    end_stage(result, key);
  }

  /// `key`: null where it was not measured, or not kept.
  void end_stage(result::StageResult& result, const StageKey* key) {
    const auto number = so_far_.stages.size();
    if (options_.log) {
      options_.log->stage(number, result);
      if (key && !problem_ && is_whole(result, so_far_.device.kind == "simulated", others_)) options_.log->whole(number, *key, result);
    }
    so_far_.stages.push_back(std::move(result));
  }

  /// How the device does. Others that compute on it are told once.
  void look(std::string when) {
    auto now = backend_.condition(false);
    const bool fresh = when == kBegin && !options_.device_used;
    for (int i = 0; i < kBusyLooks && now && fresh && now->others.empty() && now->busy > kBusy; ++i) {
      std::this_thread::sleep_for(std::chrono::duration<double>(kBusyPause));
      now = backend_.condition(false);
    }
    if (!now) return;
    const auto& id = backend_.device().id;
    if (fresh && now->others.empty() && now->busy > kBusy)
      progress_.notice(fmt::format("{} was busy before the run's first kernel ({} % of the time): something else computes on it", id, now->busy));
    if (!now->others.empty() && !others_) {
      const bool one = now->others.size() == 1;
      progress_.notice(fmt::format("{} other {} on {}: times and rates may be {} doing", now->others.size(),
                                   one ? "process computes" : "processes compute", id, one ? "its" : "their"));
    }
    others_ = others_ || !now->others.empty();
    so_far_.seen.push_back({std::move(when), std::move(*now)});
  }

  const compiler::Program& program_;
  device::Backend& backend_;
  const SessionOptions& options_;
  Progress& progress_;
  result::RunResult& so_far_;
  Names scope_;
  std::map<std::size_t, result::StageResult> beside_;  ///< by stage: what was measured of it in the launch of another
  infer::MeasuredStages measured_;  ///< of so_far_.stages, which do not move
  TimeBudget budget_;
  const Source source_{so_far_.spec_path, so_far_.spec_text};
  const Stopwatch watch_;
  const Budget limits_;      ///< of measuring
  const Budget answering_;   ///< of what is made of the records: a little longer
  const Budget concluding_;  ///< of what is said of all findings, a little longer still
  Kernels& kernels_;
  std::optional<DevicePool> benches_;  ///< while something is measured
  const RunContext context_;
  std::unique_lock<std::mutex> turn_;
  std::optional<std::size_t> last_;  ///< the stage whose questions are answered at the end
  double measuring_ = 0;             ///< seconds
  std::optional<Diagnostic> problem_;
  bool faulted_ = false, others_ = false;
};

}  // namespace

Conclusion begin_session(const compiler::Program& program, device::Backend& backend, Kernels& kernels, const SessionOptions& options, Progress& progress,
                         result::RunResult& so_far) {
  auto scope = compiler::file_scope(program);
  const auto budget = scope ? time_budget(program, *scope, options) : Result<TimeBudget>(scope.error());
  if (!budget) return [problem = budget.error()]() -> Result<> { return problem; };
  const auto session = std::make_shared<Session>(program, backend, kernels, options, progress, so_far, std::move(*scope), *budget);
  session->measure_all();
  return [session] { return session->conclude(); };
}

Result<> run_session(const compiler::Program& program, device::Backend& backend, Kernels& kernels, const SessionOptions& options, Progress& progress,
                     result::RunResult& so_far) {
  return begin_session(program, backend, kernels, options, progress, so_far)();
}

Result<> infer_again(const compiler::Program& program, result::RunResult& result) {
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  result.findings.clear();
  infer::MeasuredStages measured;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const auto& stage = program.stages[i];
    const auto kept = std::find_if(result.stages.begin(), result.stages.end(), [&](const result::StageResult& s) { return s.name == stage.name; });
    if (kept == result.stages.end() || kept->table.points.empty()) {
      leave_unanswered(stage, kept == result.stages.end() || kept->why.empty() ? "the result holds no records of this stage" : kept->why,
                       *scope, result.findings);
      continue;
    }
    // Patterns are not kept: the spec and the findings that the stage ran with make them again.
    Names then(&*scope);
    for (const auto& [name, value] : kept->inputs) then.set(name, value);
    if (auto made = restore_points(program, stage, then, kept->table); !made) {
      if (!Budget::ends_run(made.error())) return made.error();
      leave_unanswered(stage, infer::why_cut_short(), *scope, result.findings);
      continue;
    }
    Names asking(&then);
    std::vector<infer::Finding> findings;
    answer_questions(stage, kept->table, asking, findings, measured);
    scope->set(stage.name, *asking.lookup(stage.name));
    result.findings.insert(result.findings.end(), findings.begin(), findings.end());
  }
  const Budget concluding({.grace = kAnswering});
  const Budget::Use use(concluding);
  reconcile_answers(program, measured, *scope, result.findings);
  judge_all(program, *scope, result);
  return Ok{};
}

Result<> judge_again(const compiler::Program& program, result::RunResult& result) {
  const auto scope = result::findings_scope(program, result);
  if (!scope) return scope.error();
  judge_all(program, *scope, result);
  return Ok{};
}

}  // namespace gexp::measure
