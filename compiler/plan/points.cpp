// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gexp::compiler {
namespace {

constexpr double kMostCounted = 20'000;  // values of outer sweeps for which inner ones are counted one by one
constexpr std::size_t kSampled = 1'000;  // of more of them, so many are


/// A condition changes once between two values that differ, so halving follows one of the halves; a number may change in both.
bool is_condition(const Formula& formula) {
  switch (formula.kind) {
    case Formula::Kind::Not: case Formula::Kind::Equal: case Formula::Kind::NotEqual: case Formula::Kind::Less: case Formula::Kind::LessEqual: case Formula::Kind::Greater:
    case Formula::Kind::GreaterEqual: case Formula::Kind::And: case Formula::Kind::Or: case Formula::Kind::Within: case Formula::Kind::InRange: return true;
    case Formula::Kind::Constant: return formula.constant.get<bool>() != nullptr;
    default: return false;
  }
}

/// Values that refining a gap adds at most: the midpoints that runtime/schedule would visit.
double most_between(double low, double high, double width, bool condition) {
  if (!condition) return std::max(0.0, std::ceil((high - low) / width) - 1);
  double added = 0;
  while (high - low > width) {
    const double middle = low + std::max(1.0, std::round((high - low) / width / 2)) * width;
    if (middle <= low || middle >= high) break;  // numbers have no more digits
    ++added;
    if (middle - low >= high - middle) high = middle;
    else low = middle;
  }
  return added;
}

/// Whether a sweep's own values read one of these names.
bool reads(const Sweep& sweep, const std::vector<std::string>& outer) {
  for (const auto& formula : {sweep.from, sweep.to, sweep.by, sweep.list, sweep.refine_to}) {
    if (!formula) continue;
    const auto names = free_names(*formula);
    if (std::find_first_of(names.begin(), names.end(), outer.begin(), outer.end()) != names.end()) return true;
  }
  return false;
}

class Counter {
 public:
  explicit Counter(const Stage& stage) : stage_(stage) {}

  /// `names` gets the values of the sweeps from `depth` on, each time anew: copies would take memory with the square of their number.
  Result<PointCount> below(std::size_t depth, Names& names) {
    if (depth == stage_.sweeps.size()) return PointCount{1, 1, 1, false};
    const auto& sweep = stage_.sweeps[depth];
    auto values = sweep_values(sweep, names);
    if (!values) return values.error();
    if (values->empty()) return PointCount{};
    const auto number = static_cast<double>(values->size());
    PointCount all;
    double largest = 0;
    const auto tried = chosen(depth, values->size());
    for (std::size_t i = 0; i < tried; ++i) {
      bind_sweep(sweep, (*values)[tried == 1 ? 0 : i * (values->size() - 1) / (tried - 1)], names);
      auto part = below(depth + 1, names);
      if (!part) return part;
      const double stands_for = number / static_cast<double>(tried);
      if (!sweep.until || i == 0) all.least += part->least * (sweep.until ? 1 : stands_for);
      all.most += part->most * stands_for;
      all.base += part->base * stands_for;
      all.about = all.about || part->about;
      largest = std::max(largest, part->most);
    }
    if (tried > 1 && tried < values->size()) {
      all.about = true;
      all.least = std::round(all.least), all.most = std::round(all.most), all.base = std::round(all.base);
    }
    if (!sweep.refine_to) return all;
    auto width = evaluate(*sweep.refine_to, names);
    if (!width) return width.error();
    const auto* to = width->get<Number>();
    if (!to || to->number <= 0) {
      auto problem = failure("E0407", "the width to refine to must be a number above zero");
      problem.span = sweep.refine_to->span;
      return problem;
    }
    double widest = 0;
    for (std::size_t i = 0; i + 1 < values->size(); ++i) {
      const auto* low = (*values)[i].get<Number>();
      const auto* high = (*values)[i + 1].get<Number>();
      if (!low || !high) continue;
      widest = std::max(widest, std::fabs(high->number - low->number));
      if (!sweep.refine_highest) all.most += largest * most_between(low->number, high->number, to->number, is_condition(*sweep.refine_on));
    }
    if (sweep.refine_highest) all.most += largest * 2 * most_between(0, widest, to->number, true);  // on both sides of the highest
    return all;
  }

 private:
  /// How many of a sweep's values the sweeps inside it are counted for: one where they do not depend on it.
  std::size_t chosen(std::size_t depth, std::size_t values) {
    const auto& outer = stage_.sweeps[depth].names;
    const auto inside = stage_.sweeps.begin() + static_cast<std::ptrdiff_t>(depth) + 1;
    const bool matters = std::any_of(inside, stage_.sweeps.end(), [&](const Sweep& sweep) { return reads(sweep, outer); });
    if (!matters) return 1;
    counted_ += static_cast<double>(values);
    return counted_ <= kMostCounted ? values : std::min(values, depth == 0 ? kSampled : std::size_t{8});
  }

  const Stage& stage_;
  double counted_ = 0;
};

Result<bool> visit_below(const Stage& stage, std::size_t depth, Names& names, const std::function<bool(const Names&)>& visit) {
  if (depth == stage.sweeps.size()) return visit(names);
  auto values = sweep_values(stage.sweeps[depth], names);
  if (!values) return values.error();
  for (const auto& value : *values) {
    bind_sweep(stage.sweeps[depth], value, names);
    auto more = visit_below(stage, depth + 1, names, visit);
    if (!more || !*more) return more;
  }
  return true;
}

void collect(const Program& program, const Formula& formula, std::vector<std::string>& found) {
  if (formula.kind == Formula::Kind::Field && formula.operands[0]->kind == Formula::Kind::Name) {
    const auto& root = formula.operands[0]->text;
    const bool stage = std::any_of(program.stages.begin(), program.stages.end(), [&](const Stage& each) { return each.name == root; });
    const auto name = root + "." + formula.text;
    if (stage && std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
    return;
  }
  const auto look = [&](const FormulaPtr& part) {
    if (part) collect(program, *part, found);
  };
  for (const auto& operand : formula.operands) look(operand);
  for (const auto& argument : formula.arguments) look(argument.value), look(argument.over), look(argument.where);
  for (const auto& loop : formula.loops) look(loop.from), look(loop.to), look(loop.step);
}

}  // namespace

Result<PointCount> count_points(const Stage& stage, const Scope& scope) {
  Names names(&scope);
  return Counter(stage).below(0, names);
}

Result<> accept_points(const Stage& stage, const PointCount& count) {
  if (count.least <= kMaxPoints) return Ok{};
  auto problem = failure("E0440", fmt::format("stage `{}` has {}{} points: a stage has at most {:.0f}", stage.name, count.about ? "about " : "", gexp::show(count.least, {}), kMaxPoints),
                         "take larger steps, or split the stage");
  problem.span = stage.sweeps.front().span;
  return problem;
}

Result<> each_point(const Stage& stage, const Scope& scope, const std::function<bool(const Names&)>& visit) {
  Names names(&scope);
  auto done = visit_below(stage, 0, names, visit);
  if (!done) return done.error();
  return Ok{};
}

Result<std::vector<Names>> sample_points(const Stage& stage, const Scope& scope, int wanted) {
  std::vector<Names> samples;
  std::vector<std::vector<Value>> fixed(stage.sweeps.size());  // values of sweeps that read no other: listed once
  for (int i = 0; i < wanted; ++i) {
    // A share of the whole: its part above the outer sweep's value is the share of the sweeps inside it.
    double share = wanted == 1 ? 0 : std::min(static_cast<double>(i) / (wanted - 1), 1 - 1e-9);
    Names names(&scope);
    std::vector<std::string> outer;
    for (std::size_t depth = 0; depth < stage.sweeps.size(); ++depth) {
      const auto& sweep = stage.sweeps[depth];
      if (fixed[depth].empty() || reads(sweep, outer)) {
        auto listed = sweep_values(sweep, names);
        if (!listed) return listed.error();
        if (listed->empty()) return std::vector<Names>{};
        fixed[depth] = std::move(*listed);
      }
      const auto& values = fixed[depth];
      const double at = share * static_cast<double>(values.size());
      const auto index = std::min(static_cast<std::size_t>(at), values.size() - 1);
      share = std::min(at - static_cast<double>(index), 1 - 1e-9);
      bind_sweep(sweep, values[index], names);
      outer.insert(outer.end(), sweep.names.begin(), sweep.names.end());
    }
    samples.push_back(std::move(names));
  }
  return samples;
}

std::vector<std::string> findings_read(const Program& program, const std::vector<FormulaPtr>& formulas) {
  std::vector<std::string> found;
  for (const auto& formula : formulas) {
    if (formula) collect(program, *formula, found);
  }
  return found;
}

}  // namespace gexp::compiler
