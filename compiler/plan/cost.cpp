// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/cost.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "compiler/codegen/emit.h"
#include "compiler/codegen/instructions.h"
#include "compiler/formula/each_thread.h"
#include "compiler/lower/ops.h"
#include "compiler/plan/lengths.h"

namespace gexp::compiler {
namespace {

/// `more` of the work in `all`, with what the same threads do already.
void add_work(std::vector<Work>& all, const std::vector<Work>& more, double times = 1) {
  for (const auto& work : more) {
    auto same = std::find_if(all.begin(), all.end(), [&](const Work& known) { return known.threads == work.threads; });
    if (same == all.end()) same = all.insert(all.end(), Work{work.threads, 0, 0, 0});
    same->steps += times * work.steps;
    same->loads += times * work.loads;
    same->instructions += times * work.instructions;
  }
}

/// A body's work, by how many threads do it, and how many operations its text has.
struct BodyWork {
  std::vector<Work> parts;
  double operations = 0;

  [[nodiscard]] Work all() const {
    Work sum;
    for (const auto& part : parts) sum.steps += part.steps, sum.loads += part.loads, sum.instructions += part.instructions;
    return sum;
  }
};

class Bodies {
 public:
  Bodies(const Lengths& lengths, const Scope& scope, const ThreadLets& lets, double grid, double block)
      : lengths_(lengths), scope_(scope), lets_(lets), grid_(grid), block_(block) {}

  std::optional<BodyWork> of(const Body& body) {
    made_ = {};
    conditions_.clear();
    if (!add(body, scope_, 1, grid_ * block_)) return std::nullopt;
    return std::move(made_);
  }

 private:
  /// `times`: how often the body runs; `threads`: that run it. False: a count is not known.
  bool add(const Body& body, const Scope& scope, double times, double threads) {
    return std::all_of(body.begin(), body.end(), [&](const Op& op) { return add(op, scope, times, threads); });
  }

  bool add(const Op& op, const Scope& scope, double times, double threads) {
    switch (op.kind) {
      case Op::Kind::Chase: {
        const auto count = number(op.count, scope_, 0);
        const auto length = op.laps ? lengths_.named(op.pattern) : Count(1);
        return count && length && done({threads, *count * *length, 0, 0}, times, 1);
      }
      case Op::Kind::Load:
      case Op::Kind::Store:
        if (!op.gives.empty()) variables_.insert(op.gives);
        return done({threads, 0, 1, 0}, times, 1);
      case Op::Kind::Atomic: return done({threads, 0, 1, 0}, times, 1);
      case Op::Kind::Alu: {
        const auto chain = number(op.chain, scope, 1), ilp = number(op.ilp, scope, 1);
        if (!chain || !ilp || std::fabs(*chain) > kMostCounted || std::fabs(*ilp) > kMostCounted) return false;
        return done({threads, 0, 0, *chain * *ilp}, times, static_cast<double>(alu_text(static_cast<std::int64_t>(*chain), static_cast<std::int64_t>(*ilp))) * *ilp);
      }
      case Op::Kind::Fence:
      case Op::Kind::Discard:
      case Op::Kind::Drain:
      case Op::Kind::Barrier: return done({threads, 0, 0, 1}, times, 1);
      case Op::Kind::Signal:
      case Op::Kind::Wait: return done({threads, 0, 1, 0}, times, 1);
      case Op::Kind::Kernel: {  // what it does is not known, but what it records is
        const auto entries = recorded(*op.kernel, scope, threads);
        return entries && done({1, 0, *entries, 0}, times, 1);
      }
      case Op::Kind::Var: variables_.insert(op.variable); return done({threads, 0, 0, 1}, times, 1);
      case Op::Kind::Stamp: variables_.insert(op.variable); return done({threads, 0, 0, 1}, times, 1);
      case Op::Kind::Keep: return done({threads, 0, 1, 0}, times, 1);
      case Op::Kind::Assign: return done({threads, 0, 0, 1}, times, 1);
      case Op::Kind::Interleave: return interleaved(op, scope, times, threads);
      case Op::Kind::Branch: {
        if (reads_variable(*op.condition)) return add(op.body, scope, times, threads) && add(op.otherwise, scope, times, threads);
        if (!op.otherwise.empty() && !add(op.otherwise, scope, times, threads)) return false;
        conditions_.push_back(op.condition.get());
        const auto here = threads_here(scope);
        const bool known = here && add(op.body, scope, times, *here);
        conditions_.pop_back();
        return known;
      }
      case Op::Kind::Unroll:
      case Op::Kind::Loop: {
        if (op.condition) {  // as many rounds as it may have
          const auto laps = number(op.count, scope, 1);
          return laps && add(op.body, scope, times * *laps, threads);
        }
        const auto from = number(op.from, scope, 0), to = number(op.to, scope, 0);
        if (!from || !to) return false;
        const double rounds = std::max(0.0, *to - *from + 1);
        Names middle(&scope);  // an inner loop may follow this one: its middle round stands for all
        middle.set(op.variable, Value(std::floor((*from + *to) / 2)));
        const double before = made_.operations;
        const bool known = add(op.body, middle, times * rounds, threads);
        if (op.kind == Op::Kind::Unroll) made_.operations = before + rounds * (made_.operations - before);
        return known;
      }
    }
    return true;
  }

  /// Steps of a round are under way together: those of all chases but one count as loads.
  bool interleaved(const Op& op, const Scope& scope, double times, double threads) {
    for (std::size_t i = 0; i < op.body.size(); ++i) {
      const auto count = number(op.body[i].count, scope, 0);
      const auto length = op.body[i].laps ? lengths_.named(op.body[i].pattern) : Count(1);
      if (!count || !length) return false;
      done(i == 0 ? Work{threads, *count * *length, 0, 0} : Work{threads, 0, *count * *length, 0}, times, 1);
    }
    return true;
  }

  [[nodiscard]] bool reads_variable(const Formula& formula) const {
    const auto names = free_names(formula);
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return variables_.contains(name); });
  }

  bool done(const Work& work, double times, double operations) {
    add_work(made_.parts, {work}, times);
    made_.operations += operations;
    return true;
  }

  static Count recorded(const FileKernel& kernel, const Scope& scope, double threads) {
    Count all = 0;
    for (const auto& each : kernel.arguments)
      if (const auto more = number(each.entries, scope, threads); each.kind == ArgumentKind::Record) all = all && more ? Count(*all + *more) : std::nullopt;
    return all;
  }

  /// Threads for which the conditions around an operation hold. Blocks that do not differ are counted by one of them, too many by
  /// the first ones. Nothing where a condition reads what is not known.
  [[nodiscard]] Count threads_here(const Scope& scope) const {
    const Names names(&scope);
    ThreadNames thread(names, lets_, conditions_);
    if (!thread.bind(0, 0, static_cast<std::uint32_t>(block_))) return std::nullopt;
    for (const auto* condition : conditions_) {
      const auto holds = evaluate(*condition, thread.names());
      if (!holds || !holds->get<bool>()) return std::nullopt;
    }
    const bool blocks_differ = thread.tells_blocks();
    const double looked_at = blocks_differ ? std::clamp(std::floor(kMostThreads / block_), 1.0, grid_) : 1;
    const Threads threads{scope, lets_, static_cast<std::uint32_t>(looked_at), static_cast<std::uint32_t>(block_)};
    return threads_where(conditions_, threads, {}) * grid_ / looked_at;
  }

  static constexpr double kMostCounted = 1e12;
  static constexpr double kMostThreads = 16384;  // of which a condition is looked at

  const Lengths& lengths_;
  const Scope& scope_;
  const ThreadLets& lets_;
  double grid_, block_;
  BodyWork made_;
  std::vector<const Formula*> conditions_;
  std::set<std::string> variables_;
};

/// What `read` names of the stage's lets and patterns, and what those name.
void bind_read(const Stage& stage, const std::vector<FormulaPtr>& read, Names& names) {
  std::set<std::string> wanted;
  const auto want = [&](const FormulaPtr& formula) {
    if (!formula) return;
    for (const auto& name : free_names(*formula)) wanted.insert(name);
  };
  for (const auto& formula : read) want(formula);
  for (auto binding = stage.bindings.rbegin(); binding != stage.bindings.rend(); ++binding) {
    if (wanted.contains(binding->name)) want(binding->formula);
  }
  for (const auto& binding : stage.bindings) {
    if (!wanted.contains(binding.name)) continue;
    if (auto value = evaluate(*binding.formula, names)) names.set(binding.name, std::move(*value));
  }
}

/// As `bind_read`, for the counts of a stage. A let has a value here; a pattern only where a value (`count(ring)`) reads it.
void bind_counts(const Stage& stage, Names& names) {
  std::vector<FormulaPtr> read{stage.launch.grid, stage.launch.block};
  for (const auto& warm : stage.warm_launches) read.insert(read.end(), {warm.grid, warm.block});
  for_each_op(stage, [&](const Op& op) {
    read.insert(read.end(), {op.count, op.chain, op.ilp, op.from, op.to, op.condition, op.signals, op.bound});
    for (const auto& argument : op.kernel ? op.kernel->arguments : std::vector<FileKernel::Argument>()) read.push_back(argument.entries);
  });
  for (const auto& binding : stage.bindings) {
    if (binding.kind != Binding::Kind::Let) continue;
    auto own = std::make_shared<Formula>();
    own->kind = Formula::Kind::Name;
    own->text = binding.name;
    read.push_back(std::move(own));
  }
  bind_read(stage, read, names);
}

}  // namespace

namespace {

/// Lets that have no value yet, since it differs between threads.
ThreadLets thread_lets(const Program& program, const Stage& stage, const Scope& scope) {
  ThreadLets lets;
  for (const auto* bindings : {&program.lets, &stage.bindings}) {
    for (const auto& binding : *bindings) {
      if (binding.kind == Binding::Kind::Let && !scope.lookup(binding.name)) lets.add(binding.name, binding.formula);
    }
  }
  return lets;
}

bool is_launch(const Count& grid, const Count& block) { return grid && block && *grid >= 1 && *block >= 1 && *grid <= 4294967295.0 && *block <= 1024; }

}  // namespace

std::optional<PointCost> point_cost(const Program& program, const Stage& stage, const Names& at) {
  Names names(&at);
  bind_counts(stage, names);
  const auto grid = number(stage.launch.grid, names, 1), block = number(stage.launch.block, names, 1);
  if (!is_launch(grid, block)) return std::nullopt;
  const Lengths lengths(program, stage, names);
  const auto lets = thread_lets(program, stage, names);
  Bodies bodies(lengths, names, lets, *grid, *block);
  const auto warm = bodies.of(stage.warm), timed = bodies.of(stage.timed);
  if (!warm || !timed) return std::nullopt;
  const auto timed_all = timed->all();
  PointCost cost;
  cost.threads = *grid * *block;
  cost.operations = warm->operations + timed->operations;
  for (const auto& part : timed->parts) cost.timed += part.threads * (part.steps + part.loads);
  double windows = 1, walked = 1;  // launches, and how much of the timed chases these follow in all
  cost.launches = (stage.timing == Timing::Wall || only_kernel(stage.timed)) && !stage.warm.empty() ? 2 : 1;
  if (stage.timing == Timing::Each && !only_kernel(stage.timed)) {
    const double warps = std::ceil(*block / 32), window = std::max(1.0, std::floor(static_cast<double>(kTraceBytes) / 2 / warps));
    windows = std::max(1.0, std::ceil((timed_all.steps + timed_all.loads) / window));
    const bool lone = cost.threads == 1 && only_chase(stage.timed) && (stage.warm.empty() || only_chase(stage.warm));
    // A lone chase goes as far as its window; other bodies run whole each time and keep a part.
    walked = lone && timed_all.steps > 0 ? 1 + window * windows * (windows - 1) / 2 / timed_all.steps : windows;
    cost.launches = windows;
  }
  add_work(cost.parts, warm->parts, windows);
  for (auto part : timed->parts) {
    part.steps *= walked;
    part.loads *= windows, part.instructions *= windows;
    add_work(cost.parts, {part});
  }
  for (const auto& launch : stage.warm_launches) {
    const auto own_grid = number(launch.grid, names, 1), own_block = number(launch.block, names, 1);
    if (!is_launch(own_grid, own_block)) return std::nullopt;
    const auto work = Bodies(lengths, names, lets, *own_grid, *own_block).of(launch.body);
    if (!work) return std::nullopt;
    add_work(cost.parts, work->parts, windows);
    cost.launches += windows;
    cost.operations = std::max(cost.operations, work->operations);
  }
  cost.made = lengths.made();
  return cost;
}

std::optional<bool> point_skipped(const Stage& stage, const Names& at) {
  Names names(&at);
  std::vector<FormulaPtr> read;
  for (const auto& skip : stage.skips) read.push_back(skip.condition);
  bind_read(stage, read, names);
  for (const auto& skip : stage.skips) {
    const auto holds = evaluate(*skip.condition, names);
    const auto* flag = holds ? holds->get<bool>() : nullptr;
    if (!flag) return std::nullopt;
    if (*flag) return true;
  }
  return false;
}

}  // namespace gexp::compiler
