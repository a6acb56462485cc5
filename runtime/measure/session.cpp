// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "compiler/plan/cost.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/points.h"
#include "lang/base/stopwatch.h"
#include "runtime/infer/infer.h"
#include "runtime/measure/device_pool.h"
#include "runtime/measure/point_log.h"
#include "runtime/measure/stage_run.h"
#include "runtime/result/judge.h"

namespace gexp::measure {
namespace {

using compiler::Coordinates;
using compiler::Names;

/// Before its first kernel a run has used none of the device's time. Inside a container other processes may not be listed, but
/// the time that they use is told, over up to a second: what one's own last run used is gone from it after that.
constexpr int kBusy = 25, kBusyLooks = 4;  // percent
constexpr double kBusyPause = 0.35;        // seconds
constexpr const char* kBegin = "begin";

/// Answers a stage's questions and makes the answers readable as `stage.name`. Fields of what was not found stay unknown.
void answer_questions(const compiler::Stage& stage, const records::Table& table, Names& scope, std::vector<infer::Finding>& findings) {
  Fields fields;
  Names inner(&scope);  // with the stage's findings so far: common_limit reads spikes
  const infer::PreparedRecords prepared(table);
  for (const auto& question : stage.finds) {
    auto finding = infer::answer(question, prepared, stage, inner);
    const auto name = question.id.substr(stage.name.size() + 1);
    fields[name] = finding.value;
    inner.set(name, finding.value);
    findings.push_back(std::move(finding));
  }
  scope.set(stage.name, Value(std::move(fields)));
}

void leave_unanswered(const compiler::Stage& stage, const std::string& why, Names& scope, std::vector<infer::Finding>& findings) {
  for (const auto& question : stage.finds) {
    infer::Finding finding;
    finding.id = question.id;
    finding.unit = question.type;
    finding.why = why;
    findings.push_back(std::move(finding));
  }
  scope.set(stage.name, Value(Fields{}));
}

/// A stage's expectations name its own finds without the stage.
void judge_stage(const compiler::Stage& stage, const Names& scope, const device::DeviceInfo& device, std::vector<result::Judgement>& out) {
  Names inner(&scope);
  if (const auto* own = scope.lookup(stage.name)) {
    if (const auto* fields = own->get<Fields>()) {
      for (const auto& find : stage.finds) {
        const auto name = find.id.substr(stage.name.size() + 1);
        const auto value = fields->find(name);
        inner.set(name, value == fields->end() ? Value() : value->second);
      }
    }
  }
  for (const auto& expect : stage.expects) out.push_back(result::judge(expect, inner, device));
}

/// Whether a value, and everything in a structure of it that a formula could read, is known.
std::string missing_input(const compiler::Stage& stage, const compiler::Program& program, const Names& scope) {
  // A point is planned with unknowns only where `??` replaces them, so it is enough to look for formulas that stay unknown.
  std::string missing;
  for (const auto index : stage.after) {
    const auto& from = program.stages[index];
    const auto* value = scope.lookup(from.name);
    const auto* fields = value ? value->get<Fields>() : nullptr;
    for (const auto& find : from.finds) {
      const auto name = find.id.substr(from.name.size() + 1);
      const auto at = fields ? fields->find(name) : Fields::const_iterator{};
      if (!fields || at == fields->end() || !at->second.known()) missing += (missing.empty() ? "" : ", ") + find.id;
    }
  }
  return missing;
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

void judge_all(const compiler::Program& program, const Names& scope, result::RunResult& result) {
  result.expectations.clear();
  for (const auto& stage : program.stages) judge_stage(stage, scope, result.device, result.expectations);
  Names knowing(&scope);
  if (result.structure.known()) knowing.set("model", result.structure);
  for (const auto& expect : program.expects) result.expectations.push_back(result::judge(expect, knowing, result.device));
}

}  // namespace

Result<> run_session(const compiler::Program& program, device::Backend& backend, Kernels& kernels, const SessionOptions& options, Progress& progress,
                     result::RunResult& so_far) {
  const Stopwatch watch;
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  double budget = kDefaultTimeLimit;
  auto out_of_time = result::RunResult::End::OutOfDefaultTime;
  if (options.time_limit) {
    budget = *options.time_limit;
    out_of_time = result::RunResult::End::OutOfSetTime;
  } else if (program.budget_time) {
    auto value = compiler::evaluate(*program.budget_time, *scope);
    if (!value) return value.error();
    if (const auto* n = value->get<Number>()) budget = options.patience * n->number, out_of_time = result::RunResult::End::OutOfTime;
  }
  if (options.time_left && *options.time_left < budget) budget = *options.time_left, out_of_time = result::RunResult::End::OutOfSetTime;
  const auto over = [&] { return (options.interrupted && options.interrupted()) || budget < watch.seconds(); };
  DevicePool benches(program, *scope, backend, kernels, options.jobs, over);
  const RunContext context{program, benches, options, progress, [&] { return budget - watch.seconds(); }, so_far.kernels};
  std::optional<Diagnostic> problem;
  bool faulted = false;
  bool told_of_others = false;
  const auto look = [&](std::string when) {
    auto now = backend.condition(false);
    for (int i = 0; i < kBusyLooks && now && when == kBegin && now->others.empty() && now->busy > kBusy; ++i) {
      std::this_thread::sleep_for(std::chrono::duration<double>(kBusyPause));
      now = backend.condition(false);
    }
    if (!now) return;
    if (when == kBegin && now->others.empty() && now->busy > kBusy)
      progress.notice(fmt::format("{} was busy before the run's first kernel ({} % of the time): something else computes on it", backend.device().id, now->busy));
    if (!now->others.empty() && !told_of_others) {
      told_of_others = true;
      progress.notice(fmt::format("{} other {} on {}: times and rates may be {} doing", now->others.size(), now->others.size() == 1 ? "process computes" : "processes compute",
                                  backend.device().id, now->others.size() == 1 ? "its" : "their"));
    }
    so_far.seen.push_back({std::move(when), std::move(*now)});
  };
  look(kBegin);
  const auto end_stage = [&](result::StageResult& result) {
    if (options.log) options.log->stage(so_far.stages.size(), result);
    so_far.stages.push_back(std::move(result));
  };
  for (std::size_t i = 0; i < program.stages.size() && !problem; ++i) {
    const auto& stage = program.stages[i];
    result::StageResult result;
    result.name = stage.name;
    if (so_far.end != result::RunResult::End::Complete) {
      result.status = result::StageResult::Status::Stopped;
      result.why = fmt::format("the run ended before it ({})", word(so_far.end));
      leave_unanswered(stage, result.why, *scope, so_far.findings);
      end_stage(result);
      continue;
    }
    progress.stage(stage.name, i + 1, program.stages.size(), known_points(stage, *scope));
    for (const auto index : stage.after) {
      if (const auto* value = scope->lookup(program.stages[index].name)) result.inputs[program.stages[index].name] = *value;
    }
    const Stopwatch stage_watch;
    StageRun run(context, stage, *scope, result);
    if (options.log) {
      auto begun = result;
      begun.status = result::StageResult::Status::Stopped;
      begun.why = "the run was broken off";
      options.log->stage(i, begun);
    }
    auto done = run.run();
    result.seconds = stage_watch.seconds();
    look("after " + stage.name);
    faulted = faulted || run.faulted();
    if (!done) {
      const auto missing = missing_input(stage, program, *scope);
      if (!missing.empty() && result.table.points.empty()) {
        // The plan could not be made because findings that it reads are unknown: blocked, not wrong.
        result.status = result::StageResult::Status::Blocked;
        result.why = fmt::format("it needs {}, which was not found", missing);
        leave_unanswered(stage, result.why, *scope, so_far.findings);
        end_stage(result);
        continue;
      }
      problem = done.error();
    } else if (!*done) {
      result.status = result::StageResult::Status::Stopped;
      result.why = run.given_up();
      if (result.why.empty()) {
        so_far.end = run.stopped_by();
        if (so_far.end == result::RunResult::End::OutOfTime) so_far.end = out_of_time;
        result.why = word(so_far.end);
      }
    }
    if (result.no_room > 0 && result.table.points.empty() && result.status == result::StageResult::Status::Done) {
      result.status = result::StageResult::Status::Blocked;
      result.why = "the device has not enough memory for any of its points: " + result.why_no_room;
      leave_unanswered(stage, result.why, *scope, so_far.findings);
      end_stage(result);
      continue;
    }
    if (result.skipped > 0 && result.table.points.empty() && result.status == result::StageResult::Status::Done) {
      std::vector<std::string> reasons;
      for (const auto& skip : stage.skips) reasons.push_back(skip.why);
      result.why = fmt::format("every point of the stage was left out: {}", fmt::join(reasons, "; or "));
      leave_unanswered(stage, result.why, *scope, so_far.findings);
      end_stage(result);
      continue;
    }
    const Stopwatch answering;
    answer_questions(stage, result.table, *scope, so_far.findings);
    result.answering = answering.seconds();
    end_stage(result);
  }
  progress.finished();
  if (so_far.end == result::RunResult::End::Complete && faulted) so_far.end = result::RunResult::End::Faulted;
  judge_all(program, *scope, so_far);
  so_far.seconds = watch.seconds();
  if (problem) return std::move(*problem);
  return Ok{};
}

Result<> infer_again(const compiler::Program& program, result::RunResult& result) {
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  result.findings.clear();
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
    for (auto& point : kept->table.points) {
      Coordinates at;
      for (const auto& column : kept->table.columns) at.emplace_back(column, point.at.at(column));
      bool skipped = false;
      auto plan = compiler::plan_point(program, stage, at, then, skipped);
      if (!plan) return plan.error();
      if (stage.keep == compiler::Keep::Raw) point.walk = plan->timed;
      point.warm_walk = plan->warm;
      point.warm_steps = plan->warm_steps;
      point.steps = plan->steps;
      point.moved = static_cast<double>(plan->moved);
      for (const auto& [name, value] : plan->lets) point.at.try_emplace(name, value);  // patterns are not kept
    }
    Names asking(&then);
    std::vector<infer::Finding> findings;
    answer_questions(stage, kept->table, asking, findings);
    scope->set(stage.name, *asking.lookup(stage.name));
    result.findings.insert(result.findings.end(), findings.begin(), findings.end());
  }
  judge_all(program, *scope, result);
  return Ok{};
}

}  // namespace gexp::measure
