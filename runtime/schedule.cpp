// SPDX-License-Identifier: Apache-2.0
#include "runtime/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/points.h"

namespace gexp::runtime {
namespace {

using compiler::Coordinates;
using compiler::Names;

constexpr double kNoise = 0.02;  // relative difference of two values that refining looks into

class Visit {
 public:
  Visit(const compiler::Stage& stage, const Measure& measure) : stage_(stage), measure_(measure) {}

  /// All points below `at`, which fixes the sweeps above `depth`.
  Result<bool> sweep(std::size_t depth, const Coordinates& at, const Names& names) {
    if (depth == stage_.sweeps.size()) {
      if (static_cast<double>(visited_.size()) >= compiler::kMaxPoints) {
        auto problem = failure("E0440", fmt::format("stage `{}` has more than {:.0f} points", stage_.name, compiler::kMaxPoints), "refine less far, or split the stage");
        problem.span = stage_.sweeps.front().span;
        return problem;
      }
      visited_.push_back(at);
      return measure_.point(at);
    }
    const auto& sweep_of = stage_.sweeps[depth];
    auto values = compiler::sweep_values(sweep_of, names);
    if (!values) return values.error();
    std::vector<double> numbers;
    for (const auto& value : *values) {
      const auto first = visited_.size();
      auto more = one(depth, at, names, value);
      if (!more || !*more) return more;
      if (const auto* n = value.get<Number>()) numbers.push_back(n->number);
      if (sweep_of.until) {
        auto done = all_hold(*sweep_of.until, first);
        if (!done) return done;
        if (*done) break;
      }
    }
    if (sweep_of.refine_to && numbers.size() == values->size()) return refine(depth, at, names, *values);
    return true;
  }

 private:
  Result<bool> one(std::size_t depth, const Coordinates& at, const Names& names, const Value& value) {
    const auto& sweep_of = stage_.sweeps[depth];
    Names inner = names;
    compiler::bind_sweep(sweep_of, value, inner);
    Coordinates next = at;
    for (const auto& name : sweep_of.names) next.emplace_back(name, *inner.lookup(name));
    return sweep(depth + 1, next, inner);
  }

  Result<bool> all_hold(const compiler::Formula& condition, std::size_t first) {
    for (std::size_t i = first; i < visited_.size(); ++i) {
      auto value = measure_.value(condition, visited_[i]);
      if (!value) return value.error();
      if (const auto* flag = value->get<bool>(); !flag || !*flag) return false;
    }
    return true;
  }

  /// What the formula is at the points that were visited for this value of the sweep, in the order of the inner sweeps.
  Result<std::vector<Value>> seen_at(const compiler::Formula& formula, const Coordinates& at, const std::string& name, double value) {
    std::vector<std::pair<Coordinates, Value>> seen;
    for (const auto& visited : visited_) {
      if (!std::equal(at.begin(), at.end(), visited.begin())) continue;
      const auto& [coordinate, at_value] = visited[at.size()];
      const auto* n = at_value.get<Number>();
      if (coordinate != name || !n || n->number != value) continue;
      auto here = measure_.value(formula, visited);
      if (!here) return here.error();
      seen.emplace_back(Coordinates(visited.begin() + static_cast<std::ptrdiff_t>(at.size()) + 1, visited.end()), std::move(*here));
    }
    std::vector<Value> values;
    for (auto& [inner, here] : seen) values.push_back(std::move(here));
    return values;
  }

  /// Conditions: whether one holds somewhere and the other nowhere. Numbers: whether some pair is further apart than noise.
  static bool differ(const std::vector<Value>& a, const std::vector<Value>& b) {
    const auto holds = [](const Value& value) { return value.get<bool>() && *value.get<bool>(); };
    if (std::any_of(a.begin(), a.end(), holds) != std::any_of(b.begin(), b.end(), holds)) return true;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      const auto* list_a = a[i].get<List>();
      const auto* list_b = b[i].get<List>();
      if (list_a && list_b && differ(*list_a, *list_b)) return true;
      const auto* x = a[i].get<Number>();
      const auto* y = b[i].get<Number>();
      if (x && y && std::fabs(x->number - y->number) > kNoise * std::max(std::fabs(x->number), std::fabs(y->number))) return true;
    }
    return false;
  }

  Result<bool> refine(std::size_t depth, const Coordinates& at, const Names& names, const std::vector<Value>& values) {
    const auto& sweep_of = stage_.sweeps[depth];
    auto width = compiler::evaluate(*sweep_of.refine_to, names);
    if (!width) return width.error();
    const auto* to = width->get<Number>();
    if (!to || to->number <= 0) {
      auto problem = failure("E0407", "the width to refine to must be a number above zero");
      problem.span = sweep_of.refine_to->span;
      return problem;
    }
    const auto dimension = values[0].get<Number>()->dimension;
    std::vector<std::pair<double, double>> gaps;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      gaps.emplace_back(values[i].get<Number>()->number, values[i + 1].get<Number>()->number);
    }
    while (!gaps.empty()) {
      const auto [low, high] = gaps.front();
      gaps.erase(gaps.begin());
      if (high - low <= to->number) continue;
      auto below = seen_at(*sweep_of.refine_on, at, sweep_of.names[0], low);
      if (!below) return below.error();
      auto above = seen_at(*sweep_of.refine_on, at, sweep_of.names[0], high);
      if (!above) return above.error();
      if (!differ(*below, *above)) continue;
      // Midpoints stay on the grid of the width, counted from the gap's lower end.
      const double middle = low + std::max(1.0, std::round((high - low) / to->number / 2)) * to->number;
      if (middle >= high) continue;
      auto more = one(depth, at, names, Value(middle, dimension));
      if (!more || !*more) return more;
      gaps.emplace_back(low, middle);
      gaps.emplace_back(middle, high);
    }
    return true;
  }

  const compiler::Stage& stage_;
  const Measure& measure_;
  std::vector<Coordinates> visited_;
};

}  // namespace

Result<bool> visit_points(const compiler::Stage& stage, const compiler::Scope& scope, const Measure& measure) {
  if (const auto count = compiler::count_points(stage, scope)) {  // its mistakes are told where they matter
    if (auto accepted = compiler::accept_points(stage, *count); !accepted) return accepted.error();
  }
  return Visit(stage, measure).sweep(0, {}, Names(&scope));
}

}  // namespace gexp::runtime
