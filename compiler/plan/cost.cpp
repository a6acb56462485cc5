// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/cost.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "compiler/codegen/emit.h"
#include "compiler/formula/pattern.h"
#include "compiler/lower/ops.h"

// A pattern of a million steps takes long to make and its length does not: constructors and comprehensions are counted by their
// arguments, and only what is left is evaluated.
namespace gexp::compiler {
namespace {

using Kind = Formula::Kind;
using Count = std::optional<double>;

Count number(const FormulaPtr& formula, const Scope& scope, double otherwise) {
  if (!formula) return otherwise;
  const auto value = evaluate(*formula, scope);
  const auto* n = value ? value->get<Number>() : nullptr;
  return n && std::isfinite(n->number) ? Count(n->number) : std::nullopt;
}

class Lengths {
 public:
  Lengths(const Program& program, const Stage& stage, const Scope& scope) : program_(program), stage_(stage), scope_(scope) {}

  Count named(const std::string& name) const {
    for (const auto* bindings : {&stage_.bindings, &program_.lets}) {
      for (const auto& binding : *bindings) {
        if (binding.name == name) return of(*binding.formula);
      }
    }
    const auto* value = scope_.lookup(name);
    return value ? known(*value) : std::nullopt;
  }

  Count of(const Formula& formula) const {
    if (formula.kind == Kind::Name) return named(formula.text);
    if (formula.kind == Kind::List) return static_cast<double>(formula.operands.size());
    if (formula.kind == Kind::Comprehension) return comprehension(formula);
    if (formula.kind == Kind::Call) {
      const auto& name = formula.text;
      if (name == "uniform") {
        const auto stride = number(argument(formula, "stride", 0), scope_, 0), span = number(argument(formula, "span", 1), scope_, 0);
        return stride && span && *stride > 0 ? Count(std::ceil(*span / *stride)) : std::nullopt;
      }
      if (name == "bank") return 1;
      if (name == "nonuniform") return sum(formula);
      const auto times = name == "repeat" ? number(argument(formula, "", 1), scope_, 1) : Count(1);
      if (name == "shuffle" || name == "repeat") {
        const auto source = argument(formula, "", 0);
        const auto length = source ? of(*source) : std::nullopt;
        return length && times ? Count(*length * *times) : std::nullopt;
      }
    }
    return by_making(formula);
  }

  /// Steps that were made to be counted.
  [[nodiscard]] double made() const { return made_; }

 private:
  Count by_making(const Formula& formula) const {
    const auto value = evaluate(formula, scope_);
    const auto length = value ? known(*value) : std::nullopt;
    made_ += length.value_or(0);
    return length;
  }

  static Count known(const Value& value) {
    if (const auto* pattern = value.get<std::shared_ptr<const Pattern>>()) return static_cast<double>((*pattern)->steps);
    const auto* list = value.get<List>();
    return list ? Count(static_cast<double>(list->size())) : std::nullopt;
  }

  static FormulaPtr argument(const Formula& call, const std::string& label, std::size_t position) {
    for (const auto& each : call.arguments) {
      if (!label.empty() && each.label == label) return each.value;
    }
    return position < call.arguments.size() ? call.arguments[position].value : nullptr;
  }

  Count sum(const Formula& call) const {
    double all = 0;
    for (const auto& part : call.arguments) {
      const auto length = of(*part.value);
      if (!length) return std::nullopt;
      all += *length;
    }
    return all;
  }

  Count comprehension(const Formula& formula) const {
    double all = 1;
    std::vector<std::string> bound;
    for (const auto& loop : formula.loops) {
      for (const auto& part : {loop.from, loop.to, loop.step}) {
        if (!part) continue;
        const auto names = free_names(*part);
        if (std::find_first_of(names.begin(), names.end(), bound.begin(), bound.end()) == names.end()) continue;
        return by_making(formula);  // an inner loop follows an outer one
      }
      bound.push_back(loop.name);
      if (!loop.to) {
        const auto length = of(*loop.from);
        if (!length) return std::nullopt;
        all *= *length;
        continue;
      }
      const auto from = number(loop.from, scope_, 0), to = number(loop.to, scope_, 0), step = number(loop.step, scope_, 1);
      if (!from || !to || !step || *step <= 0) return std::nullopt;
      all *= std::max(0.0, std::floor((*to - *from) / *step) + 1);
    }
    return all;
  }

  const Program& program_;
  const Stage& stage_;
  const Scope& scope_;
  mutable double made_ = 0;
};

struct Work {
  double steps = 0, loads = 0, instructions = 0;
};

class Bodies {
 public:
  Bodies(const Lengths& lengths, const Scope& scope) : lengths_(lengths), scope_(scope) {}

  std::optional<Work> of(const Body& body, const Scope& scope) const {
    Work all;
    for (const auto& op : body) {
      const auto work = of(op, scope);
      if (!work) return std::nullopt;
      all.steps += work->steps;
      all.loads += work->loads;
      all.instructions += work->instructions;
    }
    return all;
  }

 private:
  std::optional<Work> of(const Op& op, const Scope& scope) const {
    switch (op.kind) {
      case Op::Kind::Chase: {
        const auto count = number(op.count, scope_, 0);
        const auto length = op.laps ? lengths_.named(op.pattern) : Count(1);
        return count && length ? std::optional(Work{*count * *length, 0, 0}) : std::nullopt;
      }
      case Op::Kind::Load:
      case Op::Kind::Store: return Work{0, 1, 0};
      case Op::Kind::Alu: {
        const auto chain = number(op.chain, scope, 1), ilp = number(op.ilp, scope, 1);
        return chain && ilp ? std::optional(Work{0, 0, *chain * *ilp}) : std::nullopt;
      }
      case Op::Kind::Barrier: return Work{0, 0, 1};
      case Op::Kind::Branch: return of(op.body, scope);
      case Op::Kind::Unroll:
      case Op::Kind::Loop: {
        const auto from = number(op.from, scope, 0), to = number(op.to, scope, 0);
        if (!from || !to) return std::nullopt;
        const double rounds = std::max(0.0, *to - *from + 1);
        Names middle(&scope);  // an inner loop may follow this one: its middle round stands for all
        middle.set(op.variable, Value(std::floor((*from + *to) / 2)));
        const auto inner = of(op.body, middle);
        return inner ? std::optional(Work{rounds * inner->steps, rounds * inner->loads, rounds * inner->instructions}) : std::nullopt;
      }
    }
    return Work{};
  }

  const Lengths& lengths_;
  const Scope& scope_;
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
  for_each_op(stage, [&](const Op& op) { read.insert(read.end(), {op.count, op.chain, op.ilp, op.from, op.to}); });
  for (const auto& binding : stage.bindings) {
    if (binding.kind != Binding::Kind::Let) continue;
    auto own = std::make_shared<Formula>();
    own->kind = Kind::Name;
    own->text = binding.name;
    read.push_back(std::move(own));
  }
  bind_read(stage, read, names);
}

}  // namespace

std::optional<PointCost> point_cost(const Program& program, const Stage& stage, const Names& at) {
  Names names(&at);
  bind_counts(stage, names);
  const auto grid = number(stage.launch.grid, names, 1), block = number(stage.launch.block, names, 1);
  const Lengths lengths(program, stage, names);
  const Bodies bodies(lengths, names);
  const auto warm = bodies.of(stage.warm, names), timed = bodies.of(stage.timed, names);
  if (!grid || !block || !warm || !timed) return std::nullopt;
  PointCost cost;
  cost.threads = *grid * *block;
  cost.made = lengths.made();
  cost.launches = stage.timing == Timing::Wall && !stage.warm.empty() ? 2 : 1;
  cost.timed = (timed->steps + timed->loads) * cost.threads;
  cost.steps = warm->steps + timed->steps;
  cost.loads = warm->loads + timed->loads;
  cost.instructions = warm->instructions + timed->instructions;
  if (stage.timing != Timing::Each) return cost;
  const double warps = std::ceil(*block / 32), window = std::max(1.0, std::floor(static_cast<double>(kTraceBytes) / 2 / warps));
  cost.launches = std::max(1.0, std::ceil((timed->steps + timed->loads) / window));
  const bool lone = cost.threads == 1 && only_chase(stage.timed) && (stage.warm.empty() || only_chase(stage.warm));
  // A lone chase goes as far as its window; other bodies run whole each time and keep a part.
  const double walked = lone ? timed->steps + window * cost.launches * (cost.launches - 1) / 2 : timed->steps * cost.launches;
  cost.steps = warm->steps * cost.launches + walked;
  cost.loads *= cost.launches;
  cost.instructions *= cost.launches;
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
