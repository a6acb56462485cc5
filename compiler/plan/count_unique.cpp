// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unordered_set>

#include "compiler/formula/thread_range.h"
#include "compiler/lower/lower_stage.h"
#include "compiler/plan/point_planner.h"

// `unique(x)` is counted over all threads of a launch, when its point is planned.
namespace gexp::compiler {
namespace {

constexpr std::int64_t kMaxThreads = std::int64_t{1} << 26;  // that `unique` counts over

}  // namespace

std::optional<Diagnostic> PointPlanner::count(const Formula& formula) {
  std::vector<const Formula*> calls;
  find_unique(formula, calls);
  if (calls.empty()) return std::nullopt;
  if (auto problem = launch()) return problem;
  for (const auto* call : calls) {
    const auto name = show(*call);
    if (names_.values().contains(name)) continue;
    const auto& counted = *call->arguments[0].value;
    std::unordered_set<double> values;
    ThreadNames threads(names_, lets_, {&counted});
    const auto count = std::int64_t{threads.tells_blocks() ? plan_.grid : 1} * plan_.block;
    if (count > kMaxThreads) return error("E0406", call->span, fmt::format("unique counts over at most {} threads", kMaxThreads));
    for (std::uint32_t thread = 0; thread < count; ++thread) {
      if (auto bound = threads.bind(thread / plan_.block, thread % plan_.block, plan_.block); !bound) return bound.error();
      auto value = evaluate(counted, threads.names());
      if (!value) return value.error();
      if (const auto* n = value->get<Number>()) values.insert(n->number);
    }
    names_.set(name, Value(static_cast<double>(values.size())));
    plan_.lets[name] = Value(static_cast<double>(values.size()));
  }
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::count_unique() {
  for (const auto& formula : stage_.counting) {
    if (auto problem = count(*formula)) return problem;
  }
  return std::nullopt;
}

}  // namespace gexp::compiler
