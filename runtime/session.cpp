// SPDX-License-Identifier: Apache-2.0
#include "runtime/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "compiler/access.h"
#include "compiler/ops.h"
#include "compiler/plan.h"
#include "runtime/infer/infer.h"
#include "runtime/judge.h"
#include "runtime/schedule.h"
#include "runtime/trial.h"

namespace gexp::runtime {
namespace {

using Clock = std::chrono::steady_clock;
using compiler::Coordinates;
using compiler::Names;

constexpr int kMaxFaults = 3;  // a stage whose points keep faulting is given up

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Answers a stage's questions and makes the answers readable as `stage.name`. Fields of what was not found stay unknown.
void answer_questions(const compiler::Stage& stage, const infer::Table& table, Names& scope, std::vector<infer::Finding>& findings) {
  Fields fields;
  Names inner(&scope);  // with the stage's findings so far: common_limit reads spikes
  for (const auto& question : stage.finds) {
    auto finding = infer::answer(question, table, stage, inner);
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
void judge_stage(const compiler::Stage& stage, const Names& scope, const DeviceInfo& device, std::vector<Judgement>& out) {
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
  for (const auto& expect : stage.expects) out.push_back(judge(expect, inner, device));
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

bool same_coordinates(const infer::Point& point, const Coordinates& at) {
  return std::all_of(at.begin(), at.end(), [&](const auto& coordinate) {
    const auto found = point.at.find(coordinate.first);
    return found != point.at.end() && found->second == coordinate.second;
  });
}

/// Measures one stage.
class StageRun {
 public:
  StageRun(const compiler::Program& program, const compiler::Stage& stage, const Names& scope, Bench& bench,
           const SessionOptions& options, Progress& progress, StageResult& result, std::function<bool()> out_of_time)
      : program_(program), stage_(stage), scope_(scope), bench_(bench), options_(options), progress_(progress), result_(result),
        out_of_time_(std::move(out_of_time)) {
    result_.table.stage = stage.name;
    result_.table.timed = stage.timed_name;
    result_.table.timing = stage.timing == compiler::Timing::Each    ? infer::Table::Timing::Each
                           : stage.timing == compiler::Timing::Total ? infer::Table::Timing::Total
                                                                     : infer::Table::Timing::Wall;
    for (const auto& sweep : stage.sweeps) {
      result_.table.columns.insert(result_.table.columns.end(), sweep.names.begin(), sweep.names.end());
    }
  }

  /// False: stopped early, `stopped_by` says why.
  Result<bool> run() {
    const Measure measure{[this](const Coordinates& at) { return measure_point(at); },
                          [this](const compiler::Formula& condition, const Coordinates& at) { return value_at(condition, at); }};
    auto visited = visit_points(stage_, scope_, measure);
    if (!visited) return visited;
    auto complete = *visited ? converge() : Result<bool>(false);
    sort_points();
    return complete;
  }

  [[nodiscard]] RunResult::End stopped_by() const { return stopped_by_; }
  [[nodiscard]] bool faulted() const { return faults_ > 0; }

 private:
  bool must_stop() {
    if (options_.interrupted && options_.interrupted()) stopped_by_ = RunResult::End::Interrupted;
    else if (out_of_time_()) stopped_by_ = RunResult::End::OutOfTime;
    return stopped_by_ != RunResult::End::Complete;
  }

  Result<bool> measure_point(const Coordinates& at) {
    if (must_stop()) return false;
    bool skipped = false;
    auto plan = compiler::plan_point(program_, stage_, at, scope_, skipped);
    if (!plan) return plan.error();
    if (skipped) {
      ++result_.skipped;
      return true;
    }
    std::string where;
    for (const auto& [name, value] : at) where += fmt::format("{}{} = {}", where.empty() ? "" : ", ", name, show(value));
    progress_.point(where, result_.table.points.size());

    infer::Point point;
    for (const auto& [name, value] : at) point.at[name] = value;
    for (const auto& [name, value] : plan->lets) point.at[name] = value;
    if (stage_.keep == compiler::Keep::Raw) point.walk = plan->timed;  // else the accesses have no order
    point.warm_walk = plan->warm;
    point.warm_steps = plan->warm_steps;
    point.steps = plan->steps;
    point.moved = static_cast<double>(plan->moved);
    result_.table.points.push_back(std::move(point));
    plans_.push_back(std::move(*plan));
    return add_runs(result_.table.points.size() - 1, stage_.repeat.at_least);
  }

  Result<bool> add_runs(std::size_t index, std::int64_t runs) {
    for (std::int64_t i = 0; i < runs; ++i) {
      if (must_stop()) return false;
      auto& point = result_.table.points[index];
      auto done = bench_.repeat(plans_[index], point, options_.launch_limit);
      if (!done) return done.error();
      if (!point.outcome.done()) {
        if (point.outcome.status == Outcome::Status::Interrupted) {
          stopped_by_ = RunResult::End::Interrupted;
          return false;
        }
        if (++faults_ < kMaxFaults && bench_.usable()) return true;
        stopped_by_ = RunResult::End::Faulted;
        return false;
      }
      keep(point.runs.back());
    }
    return true;
  }

  /// `record … histogram|summary`: what is not kept is gone before anything reads it, so that a result file answers alike.
  void keep(infer::Run& run) const {
    if (stage_.keep == compiler::Keep::Raw || run.ticks.empty()) return;
    std::sort(run.ticks.begin(), run.ticks.end());
    run.windows = {0};
    if (stage_.keep == compiler::Keep::Summary) run.ticks = {run.ticks[run.ticks.size() / 2]};
  }

  /// The stage's latency classes, renewed when the records have grown by a tenth: new classes need new points to show.
  const infer::Classes& classes() {
    std::size_t runs = 0;
    for (const auto& point : result_.table.points) runs += point.runs.size();
    if (10 * runs > 11 * classified_runs_) {
      classes_ = infer::classify(result_.table);
      classified_runs_ = runs;
    }
    return classes_;
  }

  std::optional<std::size_t> find_point(const Coordinates& at) const {
    for (std::size_t i = 0; i < result_.table.points.size(); ++i) {
      if (same_coordinates(result_.table.points[i], at)) return i;
    }
    return std::nullopt;
  }

  Result<Value> value_at(const compiler::Formula& formula, const Coordinates& at) {
    const auto index = find_point(at);
    if (!index || result_.table.points[*index].runs.empty()) return Value();
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

  /// The stopping rule, once every point has its least repetitions: only then are all latency classes of the stage in sight.
  Result<bool> converge() {
    if (!stage_.repeat.until) return true;
    for (std::size_t i = 0; i < result_.table.points.size(); ++i) {
      for (;;) {
        const auto& point = result_.table.points[i];
        if (!point.outcome.done() || point.runs.empty()) break;
        auto value = infer::at_point(*stage_.repeat.until, result_.table, classes(), i, stage_, scope_);
        if (!value) return value.error();
        const auto* flag = value->get<bool>();
        if (flag && *flag) break;
        if (static_cast<std::int64_t>(point.runs.size()) >= stage_.repeat.at_most) {
          result_.table.points[i].converged = false;
          break;
        }
        auto more = add_runs(i, 1);
        if (!more || !*more) return more;
      }
    }
    return true;
  }

  /// Refined points were measured last; the table is in the order of the sweeps.
  void sort_points() {
    std::stable_sort(result_.table.points.begin(), result_.table.points.end(), [&](const infer::Point& a, const infer::Point& b) {
      for (const auto& column : result_.table.columns) {
        const auto* x = a.at.at(column).get<Number>();
        const auto* y = b.at.at(column).get<Number>();
        if (!x || !y) return false;  // names keep the order in which they were measured
        if (x->number != y->number) return x->number < y->number;
      }
      return false;
    });
  }

  const compiler::Program& program_;
  const compiler::Stage& stage_;
  const Names& scope_;
  Bench& bench_;
  const SessionOptions& options_;
  Progress& progress_;
  StageResult& result_;
  std::function<bool()> out_of_time_;
  std::vector<compiler::PointPlan> plans_;
  infer::Classes classes_;
  std::size_t classified_runs_ = 0;
  RunResult::End stopped_by_ = RunResult::End::Complete;
  int faults_ = 0;
};

void judge_all(const compiler::Program& program, const Names& scope, RunResult& result) {
  result.expectations.clear();
  for (const auto& stage : program.stages) judge_stage(stage, scope, result.device, result.expectations);
  for (const auto& expect : program.expects) result.expectations.push_back(judge(expect, scope, result.device));
}

}  // namespace

Result<> run_session(const compiler::Program& program, Backend& backend, jit::Compiler& compiler, const SessionOptions& options,
                     Progress& progress, RunResult& so_far) {
  const auto start = Clock::now();
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  double budget = kDefaultTimeLimit;
  auto out_of_time = RunResult::End::OutOfDefaultTime;
  if (options.time_limit) {
    budget = *options.time_limit;
    out_of_time = RunResult::End::OutOfSetTime;
  } else if (program.budget_time) {
    auto value = compiler::evaluate(*program.budget_time, *scope);
    if (!value) return value.error();
    if (const auto* n = value->get<Number>()) budget = n->number, out_of_time = RunResult::End::OutOfTime;
  }
  Bench bench(program, *scope, backend, compiler, options.template_folder);
  std::optional<Diagnostic> problem;
  bool faulted = false;
  for (std::size_t i = 0; i < program.stages.size() && !problem; ++i) {
    const auto& stage = program.stages[i];
    StageResult result;
    result.name = stage.name;
    if (so_far.end != RunResult::End::Complete) {
      result.status = StageResult::Status::Stopped;
      result.why = fmt::format("the run ended before it ({})", word(so_far.end));
      leave_unanswered(stage, result.why, *scope, so_far.findings);
      so_far.stages.push_back(std::move(result));
      continue;
    }
    progress.stage(stage.name, i + 1, program.stages.size());
    for (const auto index : stage.after) {
      if (const auto* value = scope->lookup(program.stages[index].name)) result.inputs[program.stages[index].name] = *value;
    }
    const auto stage_start = Clock::now();
    StageRun run(program, stage, *scope, bench, options, progress, result, [&] { return since(start) > budget; });
    auto done = run.run();
    result.seconds = since(stage_start);
    faulted = faulted || run.faulted();
    if (!done) {
      const auto missing = missing_input(stage, program, *scope);
      if (!missing.empty() && result.table.points.empty()) {
        // The plan could not be made because findings that it reads are unknown: blocked, not wrong.
        result.status = StageResult::Status::Blocked;
        result.why = fmt::format("it needs {}, which was not found", missing);
        leave_unanswered(stage, result.why, *scope, so_far.findings);
        so_far.stages.push_back(std::move(result));
        continue;
      }
      problem = done.error();
    } else if (!*done) {
      so_far.end = run.stopped_by();
      if (so_far.end == RunResult::End::OutOfTime) so_far.end = out_of_time;
      result.status = StageResult::Status::Stopped;
      result.why = word(so_far.end);
    }
    answer_questions(stage, result.table, *scope, so_far.findings);
    so_far.stages.push_back(std::move(result));
  }
  progress.finished();
  if (so_far.end == RunResult::End::Complete && faulted) so_far.end = RunResult::End::Faulted;
  judge_all(program, *scope, so_far);
  so_far.kernels = bench.kernels();
  so_far.seconds = since(start);
  if (problem) return std::move(*problem);
  return Ok{};
}

Result<> infer_again(const compiler::Program& program, RunResult& result) {
  auto scope = compiler::file_scope(program);
  if (!scope) return scope.error();
  result.findings.clear();
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const auto& stage = program.stages[i];
    const auto kept = std::find_if(result.stages.begin(), result.stages.end(), [&](const StageResult& s) { return s.name == stage.name; });
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

void check_requirements(const compiler::Program& program, const Backend& backend, Diagnostics& diagnostics) {
  const auto need = [&](Requirement requirement) {
    if (auto accepted = backend.accepts(requirement); !accepted) diagnostics.add(accepted.error());
  };
  auto scope = compiler::file_scope(program);
  if (!scope) return diagnostics.add(scope.error());
  double total = 0;
  for (const auto& memory : program.memories) {
    auto bytes = compiler::memory_bytes(memory, *scope);
    if (!bytes) {
      diagnostics.add(bytes.error());
      continue;
    }
    using compiler::Space;
    if (memory.space == Space::Constant || memory.space == Space::Texture || memory.space == Space::Local) {
      need({Requirement::Kind::Space, compiler::word(memory.space), 0, memory.span});
    }
    const bool shared = memory.space == Space::Shared;
    if (!shared) total += static_cast<double>(*bytes);
    need({shared ? Requirement::Kind::SharedBytes : Requirement::Kind::MemoryBytes, "", *bytes, memory.span});
  }
  if (program.budget_memory) {
    auto budget = compiler::evaluate(*program.budget_memory, *scope);
    const auto* n = budget ? budget->get<Number>() : nullptr;
    if (n && total > n->number) {
      diagnostics.error("E0427", program.budget_memory->span,
                        fmt::format("the memories take {}, the budget is {}", show(total, kBytes), show(n->number, kBytes)));
    }
  } else if (const auto whole = static_cast<double>(backend.device().memory_bytes); whole > 0 && total > kDefaultMemoryShare * whole && !diagnostics.has_errors()) {
    diagnostics.error("E0442", program.memories.front().span,
                      fmt::format("the memories take {}, more than {:.0f} % of the {} that {} has", show(total, kBytes), 100 * kDefaultMemoryShare,
                                  show(whole, kBytes), backend.device().id),
                      "a file that means to take more says so with `budget memory`");
  }
  for (const auto& stage : program.stages) {
    compiler::for_each_op(stage, [&](const compiler::Op& op) {
      const auto memory = std::find_if(program.memories.begin(), program.memories.end(), [&](const auto& m) { return m.name == op.memory; });
      if (memory == program.memories.end() || memory->space != compiler::Space::Global) return;
      const std::string via = compiler::word(compiler::path_of(*memory, op.via));
      if (!via.empty()) need({Requirement::Kind::LoadPath, via, 0, op.span});
    });
    for (const auto& flush : stage.flushes) need({Requirement::Kind::Flush, flush.level, 0, flush.span});
    if (!stage.launch.place.empty() && stage.launch.place != "any") need({Requirement::Kind::Place, stage.launch.place, 0, stage.launch.span});
    const auto number = [&](const compiler::FormulaPtr& formula) -> std::optional<double> {
      if (!formula) return std::nullopt;
      Names names(&*scope);
      for (const auto& sweep : stage.sweeps) {  // the largest value of each sweep
        auto values = compiler::sweep_values(sweep, names);
        if (!values) return std::nullopt;
        compiler::bind_sweep(sweep, values->back(), names);
      }
      for (const auto& binding : stage.bindings) {  // what reads threads or findings has no value yet
        auto bound = binding.kind == compiler::Binding::Kind::Let ? compiler::evaluate(*binding.formula, names) : Result<Value>(Value());
        if (bound) names.set(binding.name, std::move(*bound));
      }
      auto value = compiler::evaluate(*formula, names);
      const auto* n = value ? value->get<Number>() : nullptr;
      return n ? std::optional(n->number) : std::nullopt;
    };
    if (const auto cluster = number(stage.launch.cluster)) {
      need({Requirement::Kind::Cluster, "", static_cast<std::uint64_t>(*cluster), stage.launch.span});
    }
    if (const auto bank = number(stage.launch.bank)) {
      need({Requirement::Kind::BankWidth, "", static_cast<std::uint64_t>(*bank), stage.launch.span});
    }
    if (const auto block = number(stage.launch.block)) {
      need({Requirement::Kind::Threads, "", static_cast<std::uint64_t>(*block), stage.launch.span});
    }
    if (const auto grid = number(stage.launch.grid)) {
      need({Requirement::Kind::Blocks, "", static_cast<std::uint64_t>(*grid), stage.launch.span});
    }
  }
}

const char* word(RunResult::End end) {
  switch (end) {
    case RunResult::End::Complete: return "complete";
    case RunResult::End::Interrupted: return "interrupted";
    case RunResult::End::Faulted: return "a kernel faulted or timed out";
    case RunResult::End::OutOfTime: return "the time budget is used up";
    case RunResult::End::OutOfDefaultTime: return "the 10 minutes of a file without `budget time` are used up; --time-limit gives more";
    case RunResult::End::OutOfSetTime: return "the time of --time-limit is used up";
  }
  return "";
}

const char* word(Outcome::Status status) {
  switch (status) {
    case Outcome::Status::Done: return "done";
    case Outcome::Status::Fault: return "fault";
    case Outcome::Status::Timeout: return "timeout";
    case Outcome::Status::Interrupted: return "interrupted";
  }
  return "";
}

}  // namespace gexp::runtime
