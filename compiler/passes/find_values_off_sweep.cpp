// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lang/base/budget.h"
#include "compiler/passes/passes.h"
#include "compiler/plan/cost.h"
#include "compiler/plan/points.h"

namespace gexp::compiler::passes {
namespace {

constexpr double kMostPoints = 4'000;  // that are looked at
constexpr std::size_t kFewValues = 8;   // that a hint lists

struct Wanted {
  std::string sweep;
  Value value;
  Span span;
  std::vector<Value> taken;  ///< what the sweep gives, each once
  bool found = false;
};

bool same(const Value& a, const Value& b) {
  const auto* x = a.get<Number>();
  const auto* y = b.get<Number>();
  return x && y ? x->number == y->number : a == b;
}

/// Sweeps whose values are all known: none up to this one is refined by what is measured.
std::set<std::string> fixed_sweeps(const Stage& stage) {
  std::set<std::string> names;
  for (const auto& sweep : stage.sweeps) {
    if (sweep.refine_to) break;
    names.insert(sweep.names.begin(), sweep.names.end());
  }
  return names;
}

/// The coordinates that a `value(…)` names, as far as they are of sweeps; nothing where one is not known.
std::vector<Wanted> wanted_by(const Question& question, const Stage& stage, const Scope& scope) {
  const auto fixed = fixed_sweeps(stage);
  std::vector<Wanted> all;
  for (const auto& argument : question.arguments) {
    if (!fixed.contains(argument.label)) continue;
    auto value = evaluate(*argument.value, scope);
    if (!value || !value->known()) return {};
    all.push_back({argument.label, std::move(*value), argument.value->span, {}, false});
  }
  return all;
}

std::string hint(const Wanted& wanted) {
  const auto* to = wanted.value.get<Number>();
  auto taken = wanted.taken;
  if (to && taken.size() > kFewValues && std::all_of(taken.begin(), taken.end(), [](const Value& v) { return v.get<Number>(); })) {
    const auto distance = [&](const Value& value) { return std::fabs(value.get<Number>()->number - to->number); };
    std::stable_sort(taken.begin(), taken.end(), [&](const Value& a, const Value& b) { return distance(a) < distance(b); });
    return fmt::format("the nearest is {}", show(taken.front()));
  }
  std::vector<std::string> texts;
  for (const auto& value : taken) texts.push_back(show(value));
  if (texts.size() > kFewValues) return "";
  return fmt::format("`{}` is {}", wanted.sweep, fmt::join(texts, ", "));
}

void look(const Question& question, const Stage& stage, const Scope& scope, bool only_warn, Diagnostics& diagnostics) {
  auto wanted = wanted_by(question, stage, scope);
  if (wanted.empty()) return;
  bool there = false;
  const auto visited = each_point(stage, scope, [&](const Names& point) {
    if (point_skipped(stage, point).value_or(false)) return true;
    bool here = true;
    for (auto& one : wanted) {
      const auto* value = point.lookup(one.sweep);
      const bool matches = value && same(*value, one.value);
      one.found = one.found || matches;
      here = here && matches;
      const bool seen = !value || std::any_of(one.taken.begin(), one.taken.end(), [&](const Value& v) { return same(v, *value); });
      if (!seen && one.taken.size() < 1000) one.taken.push_back(*value);
    }
    there = there || here;
    return !there;
  });
  if (!visited || there) return;
  const auto missing = std::find_if(wanted.begin(), wanted.end(), [](const Wanted& one) { return !one.found; });
  const auto span = missing == wanted.end() ? question.span : missing->span;
  const auto message = missing == wanted.end() ? std::string("the sweeps have no point with these values together")
                                               : fmt::format("no point of the sweep has `{}` at {}", missing->sweep, show(missing->value));
  const auto advice = missing == wanted.end() ? std::string("name a point that is measured") : hint(*missing);
  auto& problem = only_warn ? diagnostics.warning("E0445", span, message, advice) : diagnostics.error("E0445", span, message, advice);
  for (const auto& sweep : stage.sweeps) {
    const bool meant = missing == wanted.end() || std::find(sweep.names.begin(), sweep.names.end(), missing->sweep) != sweep.names.end();
    if (meant) problem.notes.push_back({sweep.span, "the sweep"});
  }
}

}  // namespace

void find_values_off_sweep(Ir& ir, const Source&, Diagnostics& diagnostics) {
  const Budget::Work budget(kCompileUnits / 16);  // most is left for what a run needs
  const auto scope = file_scope(ir.program);
  if (!scope) return;  // told by a later pass
  for (const auto& stage : ir.program.stages) {
    const auto asks = [](const Question& question) { return question.analysis == "value"; };
    if (std::none_of(stage.finds.begin(), stage.finds.end(), asks)) continue;
    const auto count = count_points(stage, *scope);
    if (!count || count->about || count->base > kMostPoints) continue;  // what reads a finding or the device is known later
    for (const auto& question : stage.finds) {
      if (asks(question)) look(question, stage, *scope, ir.points_given, diagnostics);
    }
  }
}

}  // namespace gexp::compiler::passes
