// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include "lang/base/budget.h"
#include "compiler/formula/formula_key.h"
#include "compiler/formula/thread_range.h"
#include "compiler/lower/ops.h"
#include "compiler/plan/plan.h"
#include "compiler/plan/point_planner.h"

// Which kernels a stage needs: sweeps that no text depends on are not walked.
namespace gexp::compiler {
namespace {

constexpr std::int64_t kPlaceUnits = 8;  // of a point whose text is looked at

/// Visits the divisors in a formula of threads: one that is a power of two makes another text (codegen/thread_code.cpp).
template <class Visit> void for_each_divisor(const FormulaPtr& formula, const Visit& visit) {
  if (!formula) return;
  if (formula->kind == Formula::Kind::Div || formula->kind == Formula::Kind::Mod) visit(formula->operands[1]);
  for (const auto& operand : formula->operands) for_each_divisor(operand, visit);
  for (const auto& argument : formula->arguments) for_each_divisor(argument.value, visit);
}

/// What decides a kernel's text at a point: points with the same answers have the same text.
struct Deciders {
  std::set<std::string> names;  ///< that these read, and what those are computed from
  std::vector<FormulaPtr> values;
  std::vector<std::pair<FormulaPtr, FormulaPtr>> rounds;  ///< of a loop: its text hangs on whether it has one
};

void add_deciders(const Program& program, const Stage& stage, Deciders& deciders) {
  auto& wanted = deciders.names;
  const auto read = [&](const FormulaPtr& formula) {
    if (!formula) return;
    for (const auto& name : free_names(*formula)) wanted.insert(name);
  };
  const auto want = [&](const FormulaPtr& formula) {
    if (!formula || formula->kind == Formula::Kind::Constant) return;
    read(formula);
    deciders.values.push_back(formula);
  };
  for_each_op(stage, [&](const Op& op) {
    want(op.width);
    want(op.named);
    want(op.fetch);
    want(op.rows), want(op.pitch);
    want(op.ilp);
    for_each_divisor(op.at, want);
    for_each_divisor(op.rank, want);
    for_each_divisor(op.condition, want);
    for_each_divisor(op.value, want);
    want(op.chain);  // what is left of whole blocks is text
    if (op.kernel) {
      for (const auto& value : op.kernel->templates) want(value);
      for (const auto& define : op.kernel->defines) want(define.value);
      for (const auto& argument : op.kernel->arguments) {
        if (stage.transform) want(argument.entries), want(argument.width);
      }
    }
    if (op.kind != Op::Kind::Loop) want(op.from), want(op.to);
    else if (op.from && op.to) read(op.from), read(op.to), deciders.rounds.emplace_back(op.from, op.to);  // without a round it has no text
  });
  want(stage.launch.cluster), want(stage.launch.registers);
  if (stage.transform) {  // a cache's lines are as many as the launch leaves room for
    want(stage.transform->line), want(stage.transform->monitor);
    want(stage.launch.grid), want(stage.launch.block), want(stage.launch.smem);
  }
  ThreadLets lets;
  for (const auto* bindings : {&program.lets, &stage.bindings}) {
    for (const auto& binding : *bindings) {
      if (binding.kind != Binding::Kind::Let || !varies(*binding.formula, lets)) continue;
      lets.add(binding.name, binding.formula);
      for_each_divisor(binding.formula, want);
    }
  }
  for (const auto* bindings : {&stage.bindings, &program.lets}) {
    for (auto binding = bindings->rbegin(); binding != bindings->rend(); ++binding) {  // what one reads is declared before it
      if (wanted.contains(binding->name)) read(binding->formula);
    }
  }
}

/// The answers at a point, as text. What cannot be told there, such as the round of an `unroll`, stands as the values that it reads.
std::string answers(const Deciders& deciders, const Stage& stage, Names names) {
  for (const auto& binding : stage.bindings) {
    if (binding.kind != Binding::Kind::Let || !deciders.names.contains(binding.name)) continue;
    if (auto value = evaluate(*binding.formula, names)) names.set(binding.name, std::move(*value));
  }
  std::string text;
  const auto write = [&](const FormulaPtr& formula) {
    if (const auto value = evaluate(*formula, names)) return void(text += value_key(*value));
    for (const auto& name : free_names(*formula)) {
      const auto* known = names.lookup(name);
      text += known ? value_key(*known) : "?";
    }
  };
  for (const auto& formula : deciders.values) write(formula);
  for (const auto& [from, to] : deciders.rounds) {
    const auto first = evaluate(*from, names), last = evaluate(*to, names);
    const auto* low = first ? first->get<Number>() : nullptr;
    const auto* high = last ? last->get<Number>() : nullptr;
    if (low && high) text += low->number <= high->number ? "+" : "-";
    else write(from), write(to);
  }
  return text;
}

}  // namespace

Result<std::vector<Shape>> stage_shapes(const Program& program, const Stage& stage, const Scope& scope) {
  if (stage.leader) return std::vector<Shape>{};  // its kernel is that of the stage beside which it runs
  Deciders deciders;
  add_deciders(program, stage, deciders);
  for (const auto beside : stage.beside) add_deciders(program, program.stages[beside], deciders);
  std::vector<std::pair<Names, Coordinates>> places{{Names(&scope), {}}};
  for (const auto& sweep : stage.sweeps) {
    const bool matters = std::any_of(sweep.names.begin(), sweep.names.end(),
                                     [&](const std::string& name) { return deciders.names.contains(name); });
    std::vector<std::pair<Names, Coordinates>> more;
    for (const auto& [names, at] : places) {
      auto values = sweep_values(sweep, names);
      if (!values && !matters) {  // it reads a finding that is not there yet
        more.emplace_back(names, at);
        continue;
      }
      if (!values) return values.error();
      if (!Budget::spend_bytes(values->size() * sizeof(Value))) return Budget::exceeded(sweep.span);
      if (!matters && values->size() > 2) values->erase(values->begin() + 1, values->end() - 1);
      if (!Budget::spend(kPlaceUnits * static_cast<std::int64_t>(values->size() * (at.size() + 1)))) return Budget::exceeded(sweep.span);
      for (const auto& value : *values) {
        more.emplace_back(names, at);
        bind_sweep(sweep, value, more.back().first);
        for (const auto& name : sweep.names) more.back().second.emplace_back(name, *more.back().first.lookup(name));
      }
    }
    places = std::move(more);
  }
  std::vector<Shape> shapes;
  const auto keep = [&](Shape shape) {
    if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(std::move(shape));
  };
  std::map<std::string, std::size_t> last;  // of the places with the same text: the ends of a sweep have the mistakes
  std::vector<std::string> texts;
  for (const auto& [names, at] : places) texts.push_back(places.size() > 2 ? answers(deciders, stage, names) : "");
  for (std::size_t i = 0; i < places.size(); ++i) last[texts[i]] = i;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (seen.contains(texts[i]) && last[texts[i]] != i) continue;
    const auto& at = places[i].second;
    if (auto early = PointPlanner(program, stage, at, scope).early_shape()) {
      keep(std::move(*early));
      seen.insert(texts[i]);
      continue;
    }
    bool skipped = false;
    auto plan = plan_point(program, stage, at, scope, skipped);
    if (!plan) return plan.error();
    if (skipped) continue;
    seen.insert(texts[i]);
    keep(std::move(plan->shape));
    for (auto& before : plan->before) keep(std::move(before.shape));
  }
  return shapes;
}

}  // namespace gexp::compiler
