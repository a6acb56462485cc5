// SPDX-License-Identifier: Apache-2.0
#include "compiler/expand.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "compiler/pattern.h"

namespace gexp::compiler {
namespace {

constexpr std::size_t kMaxSweepValues = 1 << 20;
constexpr std::int64_t kMaxSteps = std::int64_t{1} << 32;

Diagnostic error(std::string code, Span span, std::string message, std::string hint = {}) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = span;
  return diagnostic;
}

Result<double> number(const FormulaPtr& formula, const Scope& scope) {
  auto value = evaluate(*formula, scope);
  if (!value) return value.error();
  const auto* n = value->get<Number>();
  if (!n || !std::isfinite(n->number)) {
    return error("E0401", formula->span, fmt::format("a number is wanted here, not {}", show(*value)));
  }
  return n->number;
}

Result<std::int64_t> whole(const FormulaPtr& formula, const Scope& scope, std::int64_t low, std::int64_t high, const char* what) {
  auto n = number(formula, scope);
  if (!n) return n.error();
  if (*n != std::floor(*n) || *n < static_cast<double>(low) || *n > static_cast<double>(high)) {
    return error("E0418", formula->span, fmt::format("{} is {}: a whole number from {} to {} is wanted", what, *n, low, high));
  }
  return static_cast<std::int64_t>(*n);
}

const Memory* find_memory(const Program& program, const std::string& name) {
  for (const auto& memory : program.memories) {
    if (memory.name == name) return &memory;
  }
  return nullptr;
}

/// Collects the links of all rings of one memory and refuses what a chase cannot follow.
class Linker {
 public:
  Linker(const Memory& memory, std::uint64_t bytes, PointPlan& plan) : memory_(memory), bytes_(bytes), plan_(plan) {}

  std::optional<Diagnostic> add(const Chase& chase, const Pattern& ring, int width) {
    for (std::int64_t thread = 0; thread < ring.threads; ++thread) {
      seen_.clear();
      for (std::int64_t step = 0; step < ring.steps; ++step) {
        const auto offset = ring.at(thread, step);
        const auto next = ring.at(thread, (step + 1) % ring.steps);
        if (offset < 0 || static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(width) > bytes_) {
          return error("E0420", chase.span,
                       fmt::format("step {} of `{}` reads {} B at offset {}, beyond the {} of `{}`", step, chase.pattern, width,
                                   offset, show(static_cast<double>(bytes_), kBytes), memory_.name),
                       fmt::format("make `{}` longer or the pattern's span smaller", memory_.name));
        }
        if (offset % width != 0) {
          return error("E0421", chase.span,
                       fmt::format("step {} of `{}` is at offset {}, which is no multiple of the {} B that it reads", step,
                                   chase.pattern, offset, width));
        }
        if (seen_.insert_or_assign(offset, step).second == false) {
          return error("E0422", chase.span, fmt::format("`{}` visits offset {} twice: a link has one successor", chase.pattern, offset),
                       "visit another word of the same line instead, `offset + 1elem`");
        }
        const auto [link, fresh] = links_.try_emplace(offset, next);
        if (!fresh && link->second != next) {
          return error("E0423", chase.span,
                       fmt::format("offset {} is followed by {} in one ring and by {} in `{}`: a link has one successor", offset,
                                   link->second, next, chase.pattern),
                       "visit another word of the same line in one of the two, `offset + 1elem`");
        }
        if (fresh) {
          plan_.link_offsets.push_back(offset);
          plan_.link_targets.push_back(next);
        }
      }
    }
    return std::nullopt;
  }

 private:
  const Memory& memory_;
  std::uint64_t bytes_;
  PointPlan& plan_;
  std::unordered_map<std::int64_t, std::int64_t> links_;
  std::unordered_map<std::int64_t, std::int64_t> seen_;
};

/// The stage's lets and patterns in order. Patterns a thread each need the block size, so they are evaluated on demand.
Result<std::shared_ptr<const Pattern>> find_pattern(const Program& program, const Stage& stage, const Chase& chase,
                                                    const Names& scope, std::int64_t threads) {
  for (const auto* bindings : {&stage.bindings, &program.lets}) {
    for (const auto& binding : *bindings) {
      if (binding.name == chase.pattern) return evaluate_pattern(*binding.formula, scope, threads);
    }
  }
  return error("E0408", chase.span, fmt::format("`{}` is no pattern here", chase.pattern));
}

Result<std::int64_t> chase_steps(const Chase& chase, const Pattern& pattern, const Scope& scope) {
  auto count = whole(chase.count, scope, 0, kMaxSteps, chase.laps ? "the number of laps" : "the number of steps");
  if (!count) return count;
  const auto steps = chase.laps ? *count * pattern.steps : *count;
  if (steps > kMaxSteps) return error("E0406", chase.span, fmt::format("a chase of {} steps is too long", steps));
  return steps;
}

bool mentions_thread(const Formula& formula) {
  for (const auto& name : free_names(formula)) {
    if (name == "lane" || name == "tid" || name == "warp" || name == "gtid") return true;
  }
  return false;
}

}  // namespace

Result<Names> file_scope(const Program& program) {
  Names names;
  for (const auto& parameter : program.parameters) names.set(parameter.name, parameter.value);
  for (const auto& let : program.lets) {
    if (mentions_thread(*let.formula)) continue;
    auto value = evaluate(*let.formula, names);
    if (!value) return value.error();
    names.set(let.name, std::move(*value));
  }
  for (const auto& require : program.requires_) {
    auto holds = evaluate(*require.condition, names);
    if (!holds) return holds.error();
    const auto* flag = holds->get<bool>();
    if (flag && !*flag) {
      return error("E0419", require.condition->span,
                   require.otherwise.empty() ? fmt::format("{} does not hold", show(*require.condition)) : require.otherwise);
    }
  }
  return names;
}

Result<std::uint64_t> memory_bytes(const Memory& memory, const Scope& scope) {
  auto value = evaluate(*memory.length, scope);
  if (!value) return value.error();
  const auto* n = value->get<Number>();
  if (!n) return error("E0401", memory.span, "the length of a memory must be known before anything runs");
  const double bytes = n->dimension == kBytes ? n->number : n->number * memory.element_bytes;
  if (bytes < 1 || bytes != std::floor(bytes) || bytes > 1e13) {
    return error("E0424", memory.span, fmt::format("`{}` has {} bytes: a whole number from 1 to 10^13 is wanted", memory.name, bytes));
  }
  return static_cast<std::uint64_t>(bytes);
}

Result<std::vector<Value>> sweep_values(const Sweep& sweep, const Scope& scope) {
  if (sweep.kind == Sweep::Kind::List) {
    auto list = evaluate(*sweep.list, scope);
    if (!list) return list.error();
    if (const auto* items = list->get<List>()) return *items;
    return error("E0401", sweep.list->span, fmt::format("a list is wanted here, not {}", show(*list)));
  }
  auto from = evaluate(*sweep.from, scope);
  if (!from) return from.error();
  auto low = number(sweep.from, scope);
  if (!low) return low.error();
  auto high = number(sweep.to, scope);
  if (!high) return high.error();
  Result<double> by = sweep.by ? number(sweep.by, scope) : Result<double>(sweep.kind == Sweep::Kind::Times ? 2.0 : 1.0);
  if (!by) return by.error();
  const auto dimension = from->get<Number>()->dimension;
  const auto refuse = [&](const char* what) { return error("E0407", sweep.by ? sweep.by->span : sweep.span, what); };
  std::vector<Value> values;
  const auto push = [&](double value) { values.emplace_back(value, dimension); };
  switch (sweep.kind) {
    case Sweep::Kind::Times:
      if (*by <= 1) return refuse("a factor must be above one");
      if (*low <= 0) return refuse("a sweep by a factor must begin above zero");
      for (double v = *low; v <= *high && values.size() <= kMaxSweepValues; v *= *by) push(v);
      break;
    case Sweep::Kind::Points:
    case Sweep::Kind::LogPoints: {
      if (*by < 2 || *by != std::floor(*by)) return refuse("a sweep has two points or more");
      const bool log = sweep.kind == Sweep::Kind::LogPoints;
      if (log && *low <= 0) return refuse("a logarithmic sweep must begin above zero");
      for (double i = 0; i < *by && values.size() <= kMaxSweepValues; ++i) {
        const double share = i / (*by - 1);
        const double v = std::round(log ? *low * std::pow(*high / *low, share) : *low + (*high - *low) * share);
        if (values.empty() || values.back().get<Number>()->number != v) push(v);
      }
      break;
    }
    default:
      if (*by <= 0) return refuse("a step must be above zero");
      for (std::size_t i = 0; i <= kMaxSweepValues; ++i) {
        const double v = *low + *by * static_cast<double>(i);
        if (v > *high) break;
        push(v);
      }
  }
  if (values.size() > kMaxSweepValues) {
    return error("E0406", sweep.span, fmt::format("this sweep has more than {} values", kMaxSweepValues));
  }
  if (values.empty()) {
    return error("E0425", sweep.span, fmt::format("this sweep is empty: it runs from {} to {}", show(*low, dimension), show(*high, dimension)));
  }
  return values;
}

void bind_sweep(const Sweep& sweep, const Value& value, Names& names) {
  if (sweep.names.size() == 1) {
    names.set(sweep.names[0], value);
    return;
  }
  const auto* items = value.get<List>();
  for (std::size_t i = 0; i < sweep.names.size(); ++i) {
    names.set(sweep.names[i], items && i < items->size() ? (*items)[i] : Value());
  }
}

Result<int> chase_width(const Program& program, const Chase& chase, const Scope& scope) {
  const auto* memory = find_memory(program, chase.memory);
  GEXP_CHECK(memory != nullptr);
  if (!chase.width) return memory->element_bytes;
  auto width = whole(chase.width, scope, 1, 16, "the width of a load");
  if (!width) return width.error();
  return static_cast<int>(*width);
}

Result<PointPlan> plan_point(const Program& program, const Stage& stage, const Coordinates& at, const Scope& outer, bool& skipped) {
  skipped = false;
  PointPlan plan;
  plan.at = at;
  Names names(&outer);
  for (const auto& [name, value] : at) names.set(name, value);
  for (const auto& binding : stage.bindings) {
    if (mentions_thread(*binding.formula)) continue;
    auto value = evaluate(*binding.formula, names);
    if (!value) return value.error();
    if (binding.kind == Binding::Kind::Let) plan.lets[binding.name] = *value;
    names.set(binding.name, std::move(*value));
  }
  for (const auto& skip : stage.skips) {
    auto holds = evaluate(*skip.condition, names);
    if (!holds) return holds.error();
    if (const auto* flag = holds->get<bool>(); flag && *flag) {
      skipped = true;
      return plan;
    }
  }
  for (const auto& require : stage.requires_) {
    auto holds = evaluate(*require.condition, names);
    if (!holds) return holds.error();
    if (const auto* flag = holds->get<bool>(); flag && !*flag) {
      return error("E0419", require.condition->span,
                   require.otherwise.empty() ? fmt::format("{} does not hold", show(*require.condition)) : require.otherwise);
    }
  }
  const auto launch_number = [&](const FormulaPtr& formula, std::int64_t otherwise, std::int64_t low, std::int64_t high,
                                 const char* what) -> Result<std::int64_t> {
    return formula ? whole(formula, names, low, high, what) : Result<std::int64_t>(otherwise);
  };
  auto grid = launch_number(stage.launch.grid, 1, 1, 1 << 30, "the grid");
  auto block = launch_number(stage.launch.block, 1, 1, 1024, "the block");
  auto carveout = launch_number(stage.launch.carveout, -1, 0, std::int64_t{1} << 30, "the carve-out");
  auto bank = launch_number(stage.launch.bank, 0, 4, 8, "the bank width");
  for (const auto* part : {&grid, &block, &carveout, &bank}) {
    if (!*part) return part->error();
  }
  plan.grid = static_cast<std::uint32_t>(*grid);
  plan.block = static_cast<std::uint32_t>(*block);
  plan.carveout = *carveout;
  plan.bank = static_cast<std::uint32_t>(*bank);

  const auto* memory = find_memory(program, stage.timed.memory);
  GEXP_CHECK(memory != nullptr);
  plan.memory = memory->name;
  auto bytes = memory_bytes(*memory, outer);
  if (!bytes) return bytes.error();
  auto width = chase_width(program, stage.timed, names);
  if (!width) return width.error();
  plan.width = *width;

  Linker linker(*memory, *bytes, plan);
  if (stage.warm.size() > 1) {
    return error("E0502", stage.warm[1].span, "a warm-up of several chases cannot be run yet", "chase one pattern, made by nonuniform(…)");
  }
  for (const auto& warm : stage.warm) {
    if (warm.memory != memory->name || warm.via != stage.timed.via) {
      return error("E0502", warm.span, "a warm-up of another memory or load path than the timed chase's cannot be run yet");
    }
    auto pattern = find_pattern(program, stage, warm, names, plan.block);
    if (!pattern) return pattern.error();
    auto steps = chase_steps(warm, **pattern, names);
    if (!steps) return steps.error();
    plan.warm = *pattern;
    plan.warm_steps = *steps;
    if (auto problem = linker.add(warm, **pattern, plan.width)) return std::move(*problem);
  }
  auto timed = find_pattern(program, stage, stage.timed, names, plan.block);
  if (!timed) return timed.error();
  plan.timed = *timed;
  if (plan.timed->steps == 0) return error("E0426", stage.timed.span, fmt::format("`{}` is empty here", stage.timed.pattern));
  auto steps = chase_steps(stage.timed, *plan.timed, names);
  if (!steps) return steps.error();
  if (*steps == 0) return error("E0426", stage.timed.count->span, "nothing is timed: the count is zero");
  plan.steps = *steps;
  if (!stage.warm.empty() && plan.warm_steps == 0) plan.warm = nullptr;
  const bool same_ring = !stage.warm.empty() && stage.warm[0].pattern == stage.timed.pattern;
  if (!same_ring) {
    if (auto problem = linker.add(stage.timed, *plan.timed, plan.width)) return std::move(*problem);
  }
  if (plan.timed->threads != 1 && plan.timed->threads != plan.block) {
    return error("E0413", stage.timed.span, fmt::format("`{}` is a pattern of {} threads, the block has {}", stage.timed.pattern,
                                                        plan.timed->threads, plan.block));
  }
  if (stage.timing == Timing::Each && (plan.block != 1 || plan.grid != 1)) {
    return error("E0502", stage.launch.span, "`timed … each` by more than one thread cannot be run yet", "launch grid 1 block 1");
  }
  auto shape = shape_of(program, stage, plan.width);
  if (!shape) return shape.error();
  plan.shape = std::move(*shape);
  return plan;
}

}  // namespace gexp::compiler
