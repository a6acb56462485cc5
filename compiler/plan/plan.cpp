// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "compiler/compile_budget.h"
#include "compiler/formula/pattern.h"
#include "compiler/formula/thread_range.h"
#include "compiler/lower/lower_stage.h"
#include "compiler/lower/ops.h"
#include "compiler/plan/access.h"

namespace gexp::compiler {
namespace {

constexpr std::int64_t kMaxSteps = std::int64_t{1} << 32;
constexpr std::int64_t kStepUnits = 2;  // of a link: its entries in two tables
constexpr std::int64_t kPlaceUnits = 8;  // of a point whose text is looked at
constexpr std::int64_t kMaxThreads = std::int64_t{1} << 26;  // that `unique` counts over

Diagnostic error(std::string code, Span span, std::string message, std::string hint = {}) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = span;
  return diagnostic;
}

Result<std::int64_t> whole(const FormulaPtr& formula, const Scope& scope, std::int64_t low, std::int64_t high, const char* what) {
  auto value = evaluate(*formula, scope);
  if (!value) return value.error();
  const auto* n = value->get<Number>();
  if (!n || !std::isfinite(n->number)) return error("E0401", formula->span, fmt::format("a number is wanted here, not {}", show(*value)));
  if (n->number != std::floor(n->number) || n->number < static_cast<double>(low) || n->number > static_cast<double>(high)) {
    return error("E0418", formula->span, fmt::format("{} is {}: a whole number from {} to {} is wanted", what, n->number, low, high),
                 n->number != std::floor(n->number) ? "`div` divides without a rest, floor(x) and ceil(x) round" : "");
  }
  return static_cast<std::int64_t>(n->number);
}

const Memory* find_memory(const Program& program, const std::string& name) {
  for (const auto& memory : program.memories) {
    if (memory.name == name) return &memory;
  }
  return nullptr;
}

constexpr std::int64_t kLastLink = 0xffffffff;  // an index of 4 bytes

/// Collects the links of all rings of one memory and refuses what a chase cannot follow.
class Linker {
 public:
  Linker(const Memory& memory, std::uint64_t bytes, int width) : memory_(memory), bytes_(bytes) {
    links.memory = memory.name;
    links.width = width;
  }
  Links links;

  std::optional<Diagnostic> add(const Op& chase, const Pattern& ring) {
    const int width = links.width;
    for (std::int64_t thread = 0; thread < ring.threads; ++thread) {
      seen_.clear();
      if (!CompileBudget::spend(kStepUnits * ring.steps)) return CompileBudget::exceeded(chase.span);
      for (std::int64_t step = 0; step < ring.steps; ++step) {
        const auto offset = ring.at(thread, step);
        const auto next = ring.at(thread, (step + 1) % ring.steps);
        if (offset < 0 || static_cast<std::uint64_t>(offset) + static_cast<std::uint64_t>(width) > bytes_) {
          return error("E0420", chase.span,
                       fmt::format("step {} of `{}` reads {} B at offset {}, beyond the {} of `{}`", step, chase.pattern, width,
                                   offset, show(static_cast<double>(bytes_), kBytes), memory_.name),
                       fmt::format("make `{}` longer or the pattern's span smaller", memory_.name));
        }
        if (link_bytes(width) == 4 && offset / width > kLastLink) {
          return error("E0420", chase.span, fmt::format("step {} of `{}` is at offset {}, beyond the {} that links of 4 B lead to", step, chase.pattern, offset,
                                                        show(static_cast<double>((kLastLink + 1) * width), kBytes)),
                       "chase `as 8B`");
        }
        if (offset % width != 0) {
          return error("E0421", chase.span,
                       fmt::format("step {} of `{}` is at offset {}, which is no multiple of the {} B that it reads", step,
                                   chase.pattern, offset, width),
                       fmt::format("take offsets that are multiples of {} B, or a narrower load with `as`", width));
        }
        if (seen_.insert_or_assign(offset, step).second == false) {
          return error("E0422", chase.span, fmt::format("`{}` visits offset {} twice: a link has one successor", chase.pattern, offset),
                       "visit another word of the same line instead, `offset + 1elem`");
        }
        const auto [link, fresh] = successors_.try_emplace(offset, next);
        if (!fresh && link->second != next) {
          return error("E0423", chase.span,
                       fmt::format("offset {} leads to {} in one ring and to {} in `{}`: a link has one successor", offset,
                                   link->second, next, chase.pattern),
                       "visit another word of the same line in one of the two, `offset + 1elem`");
        }
        if (fresh) {
          links.offsets.push_back(offset);
          links.targets.push_back(next);
        }
      }
    }
    return std::nullopt;
  }

 private:
  const Memory& memory_;
  std::uint64_t bytes_;
  std::unordered_map<std::int64_t, std::int64_t> successors_;
  std::unordered_map<std::int64_t, std::int64_t> seen_;
};

/// Calls of `unique` in a formula.
void find_counts(const Formula& formula, std::vector<const Formula*>& found) {
  if (formula.kind == Formula::Kind::Call && formula.text == "unique" && formula.arguments.size() == 1) found.push_back(&formula);
  for (const auto& operand : formula.operands) find_counts(*operand, found);
  for (const auto& argument : formula.arguments) {
    for (const auto& part : {argument.value, argument.over, argument.where}) {
      if (part) find_counts(*part, found);
    }
  }
  for (const auto& loop : formula.loops) {
    for (const auto& part : {loop.from, loop.to, loop.step}) {
      if (part) find_counts(*part, found);
    }
  }
}

/// Makes a point's names, then its patterns, links and kernel.
class Planner {
 public:
  Planner(const Program& program, const Stage& stage, const Coordinates& at, const Scope& outer)
      : program_(program), stage_(stage), outer_(outer), names_(&outer) {
    plan_.at = at;
    plan_.timing = stage.timing;
    for (const auto& flush : stage.flushes) plan_.flushes.push_back(flush.level);
    for (const auto& [name, value] : at) names_.set(name, value);
  }

  Result<PointPlan> run(bool& skipped) {
    using Step = std::optional<Diagnostic> (Planner::*)();
    if (auto problem = bind()) return std::move(*problem);
    auto skip = skips();
    if (!skip) return skip.error();
    if ((skipped = *skip)) return std::move(plan_);
    for (const Step step : {&Planner::require, &Planner::launch, &Planner::count_unique, &Planner::chases, &Planner::launches_before, &Planner::shape}) {
      if (auto problem = (this->*step)()) return std::move(*problem);
    }
    return std::move(plan_);
  }

  /// The one shape where it can be told without patterns and without values that only earlier findings give.
  std::optional<Shape> early_shape() {
    if (!stage_.warm_launches.empty()) return std::nullopt;
    for (const auto& binding : stage_.bindings) {
      if (binding.kind != Binding::Kind::Let || varies(*binding.formula, {}, thread_ranges(1, 1))) continue;
      if (auto value = evaluate(*binding.formula, names_)) names_.set(binding.name, std::move(*value));
    }
    const auto* timed = only_chase(stage_.timed);
    if (!timed || launch()) return std::nullopt;
    auto width = access_width(*timed, *find_memory(program_, timed->memory), names_);
    return width ? chase_template(program_, stage_, plan_.grid, plan_.block, *width) : std::nullopt;
  }

 private:
  using Problem = std::optional<Diagnostic>;

  Problem bind() {
    for (const auto& let : program_.lets) {
      if (varies(*let.formula, lets_, thread_ranges(1, 1))) lets_.add(let.name, let.formula);
    }
    for (const auto& binding : stage_.bindings) {
      if (auto problem = count(*binding.formula)) return problem;
      if (varies(*binding.formula, lets_, thread_ranges(1, 1))) {
        if (binding.kind == Binding::Kind::Let) lets_.add(binding.name, binding.formula);
        continue;
      }
      auto value = evaluate(*binding.formula, names_);
      if (!value) return value.error();
      plan_.lets[binding.name] = *value;
      names_.set(binding.name, std::move(*value));
    }
    return std::nullopt;
  }

  Result<bool> skips() {
    for (const auto& skip : stage_.skips) {
      auto holds = evaluate(*skip.condition, names_);
      if (!holds) return holds.error();
      if (const auto* flag = holds->get<bool>(); flag && *flag) return true;
    }
    return false;
  }

  Problem require() {
    for (const auto& each : stage_.requires_) {
      auto holds = evaluate(*each.condition, names_);
      if (!holds) return holds.error();
      if (const auto* flag = holds->get<bool>(); flag && !*flag) {
        return error("E0419", each.condition->span, each.otherwise.empty() ? fmt::format("{} does not hold", show(*each.condition)) : each.otherwise);
      }
    }
    return std::nullopt;
  }

  /// A clause of a launch: a whole number of the range, or what it is where it is not written.
  Result<std::int64_t> number(const FormulaPtr& formula, std::int64_t otherwise, std::int64_t low, std::int64_t high, const char* what) const {
    return formula ? whole(formula, names_, low, high, what) : Result<std::int64_t>(otherwise);
  }
  Result<std::int64_t> grid_of(const FormulaPtr& grid) const { return number(grid, 1, 1, 1 << 30, "the grid"); }
  Result<std::int64_t> block_of(const FormulaPtr& block) const { return number(block, 1, 1, 1024, "the block"); }

  /// Whether the multiprocessors that are chosen are there, and one block is all that they run.
  Problem chosen(std::int64_t first, std::int64_t count, std::int64_t grid) const {
    const auto& launch = stage_.launch;
    if (count == 0) return std::nullopt;
    const auto span = (launch.sm ? launch.sm : launch.sms)->span;
    if (grid != 1) return error("E0418", launch.grid->span, fmt::format("a chosen multiprocessor runs one block, not {}", grid), "write `grid 1`");
    if (launch.cluster) return error("E0418", launch.cluster->span, "clusters are not placed on a chosen multiprocessor", "leave `cluster` out");
    if (stage_.timing == Timing::Wall) return error("E0418", span, "`wall` times a whole launch, of which the chosen multiprocessor's part is not known", "time `each` or `total`");
    const auto* device = program_.device.get<Fields>();
    const auto known = device ? device->find("sms") : Fields::const_iterator{};
    const auto* there = device && known != device->end() ? known->second.get<Number>() : nullptr;
    if (there && static_cast<double>(first + count) > there->number) {
      return error("E0418", span, fmt::format("there is no multiprocessor {}: the device has {}, from 0 on", first + count - 1, there->number), "`device.sms` is how many there are");
    }
    return std::nullopt;
  }

  Problem launch() {
    const auto& launch = stage_.launch;
    const auto grid = grid_of(launch.grid), block = block_of(launch.block);
    const auto carveout = number(launch.carveout, -1, 0, std::int64_t{1} << 30, "the carve-out");
    const auto bank = number(launch.bank, 0, 1, 1 << 10, "the bank width");
    const auto smem = number(launch.smem, 0, 0, std::int64_t{1} << 30, "the shared memory");
    const auto persm = number(launch.persm, 0, 1, 64, "the number of blocks a multiprocessor");
    const auto sm = number(launch.sm, 0, 0, 1 << 16, "the multiprocessor"), sms = number(launch.sms, launch.sm ? 1 : 0, 1, 1 << 16, "the number of multiprocessors");
    for (const auto* part : {&grid, &block, &carveout, &bank, &smem, &persm, &sm, &sms}) {
      if (!*part) return part->error();
    }
    if (*bank != 0 && *bank != 4 && *bank != 8) {
      return error("E0418", launch.bank->span, fmt::format("the bank width is {} B: banks are 4 or 8 bytes wide", *bank), "write `bank 4B` or `bank 8B`");
    }
    if (auto problem = chosen(*sm, *sms, *grid)) return problem;
    plan_.grid = static_cast<std::uint32_t>(*grid);
    plan_.block = static_cast<std::uint32_t>(*block);
    plan_.carveout = *carveout;
    plan_.bank = static_cast<std::uint32_t>(*bank);
    plan_.smem = static_cast<std::uint64_t>(*smem);
    plan_.persm = static_cast<std::uint32_t>(*persm);
    plan_.sm = static_cast<std::uint32_t>(*sm);
    plan_.sms = static_cast<std::uint32_t>(*sms);
    return std::nullopt;
  }

  /// `unique(x)`: the different values that the threads of the launch have, under its own text as a name.
  Problem count(const Formula& formula) {
    std::vector<const Formula*> calls;
    find_counts(formula, calls);
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
  Problem count_unique() {
    for (const auto& formula : stage_formulas(stage_)) {
      if (auto problem = count(*formula)) return problem;
    }
    return std::nullopt;
  }

  Result<std::shared_ptr<const Pattern>> pattern_of(const Op& chase) {
    const auto* known = names_.lookup(chase.pattern);
    for (const auto* bindings : {&stage_.bindings, &program_.lets}) {
      for (const auto& binding : *bindings) {
        if (binding.name != chase.pattern) continue;
        if (known) return as_pattern(*known, binding.formula->span);
        return evaluate_pattern(*binding.formula, names_, lets_, plan_.grid, plan_.block);  // it differs between threads
      }
    }
    return error("E0408", chase.span, fmt::format("`{}` is no pattern here", chase.pattern));
  }

  Result<std::int64_t> steps_of(const Op& chase, const Pattern& pattern) {
    auto count = whole(chase.count, names_, 0, kMaxSteps, chase.laps ? "the number of laps" : "the number of steps");
    if (!count) return count;
    if (pattern.steps == 0) return std::int64_t{0};
    if (chase.laps && *count > kMaxSteps / pattern.steps) return error("E0406", chase.span, fmt::format("this chase has more than {} steps", kMaxSteps), "fewer laps tell as much");
    return chase.laps ? *count * pattern.steps : *count;
  }

  Problem chases() {
    std::map<std::string, std::shared_ptr<const Pattern>> known;
    Problem problem;
    for_each_op(stage_, [&](const Op& op) {
      if (op.kind != Op::Kind::Chase || problem) return;
      auto& pattern = known[op.pattern];
      if (!pattern) {
        auto made = pattern_of(op);
        if (!made) return problem.emplace(made.error()), void();
        pattern = *made;
      }
      problem = follow(op, pattern);
    });
    for_each_op(stage_, [&](const Op& op) {
      if (op.kind != Op::Kind::Store || problem || !linkers_.contains(op.memory)) return;
      problem = error("E0434", op.span, fmt::format("`{}` holds the links of a chase, and a store would break them", op.memory), "store to a memory of its own");
    });
    for (auto& [name, linker] : linkers_) plan_.links.push_back(std::move(linker.links));
    return problem;
  }

  Problem follow(const Op& op, const std::shared_ptr<const Pattern>& pattern) {
    const auto* memory = find_memory(program_, op.memory);
    GEXP_CHECK(memory != nullptr);
    auto width = access_width(op, *memory, names_);
    if (!width) return width.error();
    if (auto fine = accepts(op, *memory, *width); !fine) return fine.error();
    auto steps = steps_of(op, *pattern);
    if (!steps) return steps.error();
    if (pattern->threads != 1 && pattern->threads != plan_.block && pattern->threads != static_cast<std::int64_t>(plan_.block) * plan_.grid) {
      return error("E0413", op.span, fmt::format("`{}` is a pattern of {} threads, the block has {}", op.pattern, pattern->threads, plan_.block),
                   fmt::format("write `launch block {}`, or make the pattern of `tid`", pattern->threads));
    }
    auto linker = linkers_.find(memory->name);
    if (linker == linkers_.end()) {
      auto bytes = memory_bytes(*memory, outer_);
      if (!bytes) return bytes.error();
      linker = linkers_.emplace(memory->name, Linker(*memory, *bytes, *width)).first;
    }
    if (linker->second.links.width != *width) {
      return error("E0433", op.span, fmt::format("`{}` is followed {} B wide here and {} B wide elsewhere: a link has one width", memory->name, *width, linker->second.links.width),
                   "give the two chases memories of their own");
    }
    chased_.push_back({&op, pattern, *steps});
    const bool linked = std::any_of(chased_.begin(), chased_.end() - 1, [&](const Chased& c) { return c.pattern == pattern && c.op->memory == op.memory; });
    return linked ? std::nullopt : linker->second.add(op, *pattern);
  }

  /// The warm-ups that are launches of their own.
  Problem launches_before() {
    for (const auto& warm : stage_.warm_launches) {
      const auto grid = grid_of(warm.grid), block = block_of(warm.block);
      if (!grid) return grid.error();
      if (!block) return block.error();
      if (auto problem = launch_before(warm.body, static_cast<std::uint32_t>(*grid), static_cast<std::uint32_t>(*block))) return problem;
    }
    return stage_.timing == Timing::Wall && !stage_.warm.empty() ? launch_before(stage_.warm, plan_.grid, plan_.block) : std::nullopt;
  }

  Problem launch_before(const Body& warm, std::uint32_t grid, std::uint32_t block) {
    const Body none;
    LaunchBefore before;
    auto made = body_shape({program_, stage_, names_, lets_, grid, block, none, warm, Timing::Wall}, chased_, before.body);
    if (!made) return made.error();
    before.shape = std::move(*made), before.grid = grid, before.block = block;
    plan_.before.push_back(std::move(before));
    return std::nullopt;
  }

  Problem shape() {
    const auto* timed = only_chase(stage_.timed);
    if (timed) {
      const auto& chased = chased_.back();
      if (chased.pattern->steps == 0) return error("E0426", timed->span, fmt::format("`{}` is empty here", timed->pattern), "give the pattern a span above zero");
      if (chased.steps == 0) return error("E0426", timed->count->span, "nothing is timed: the count is zero", "write `laps 1` or more");
      plan_.timed = chased.pattern;
      plan_.steps = chased.steps;
      auto width = access_width(*timed, *find_memory(program_, timed->memory), names_);
      if (!width) return width.error();
      plan_.width = *width;
      plan_.moved = static_cast<std::uint64_t>(chased.steps) * static_cast<std::uint64_t>(plan_.width) * plan_.grid * plan_.block;
    }
    if (stage_.timed.empty() && stage_.timing != Timing::Total) return error("E0426", stage_.span, "the timed region is empty", "put an operation between its braces; only `total {}` may be empty, it times the clock reads");
    if (const auto simple = chase_template(program_, stage_, plan_.grid, plan_.block, plan_.width)) {
      if (!stage_.warm.empty() && chased_.front().steps > 0) {
        plan_.warm = chased_.front().pattern;
        plan_.warm_steps = chased_.front().steps;
      }
      plan_.shape = *simple;
      return std::nullopt;
    }
    if (stage_.timing == Timing::Each && plan_.grid != 1) {
      return error("E0435", stage_.launch.span, "`timed … each` records the accesses of one block", "write `grid 1`, or time the `total` of each warp");
    }
    const Body none;
    const bool wall = stage_.timing == Timing::Wall;
    auto made = body_shape({program_, stage_, names_, lets_, plan_.grid, plan_.block, wall ? none : stage_.warm, stage_.timed, stage_.timing, plan_.sms > 0}, chased_, plan_.body);
    if (!made) return made.error();
    plan_.shape = std::move(*made);
    plan_.moved = plan_.body.moved;
    if (stage_.timing == Timing::Each) plan_.steps = plan_.body.accesses;
    // Only one thread's accesses have one order, which analyses of addresses read.
    if (plan_.grid * plan_.block != 1 || !timed || stage_.timing != Timing::Each) plan_.timed = nullptr;
    else if (const auto* warm = only_chase(stage_.warm); warm && warm->memory == timed->memory) {
      plan_.warm = chased_.front().pattern;
      plan_.warm_steps = chased_.front().steps;
    }
    return std::nullopt;
  }

  const Program& program_;
  const Stage& stage_;
  const Scope& outer_;
  Names names_;
  ThreadLets lets_;
  PointPlan plan_;
  std::vector<Chased> chased_;
  std::map<std::string, Linker> linkers_;
};

/// Names whose values are part of a kernel's text, and what these are computed from.
std::set<std::string> names_in_text(const Program& program, const Stage& stage) {
  std::set<std::string> wanted;
  const auto want = [&](const FormulaPtr& formula) {
    if (!formula) return;
    for (const auto& name : free_names(*formula)) wanted.insert(name);
  };
  for_each_op(stage, [&](const Op& op) {
    want(op.width);
    want(op.ilp);
    want(op.chain);  // what is left of whole blocks is text
    if (op.kind == Op::Kind::Unroll || op.kind == Op::Kind::Loop) want(op.from), want(op.to);  // a loop without a round has no text
  });
  want(stage.launch.cluster);
  for (std::size_t before = 0; before != wanted.size();) {
    before = wanted.size();
    for (const auto* bindings : {&stage.bindings, &program.lets}) {
      for (const auto& binding : *bindings) {
        if (wanted.contains(binding.name)) want(binding.formula);
      }
    }
  }
  return wanted;
}

}  // namespace

std::uint64_t reach_of(const PointPlan& plan, const std::string& memory) {
  std::uint64_t reach = 0;
  std::vector<const BodyPlan*> bodies{&plan.body};
  for (const auto& before : plan.before) bodies.push_back(&before.body);
  for (const auto* body : bodies) {
    if (const auto found = body->reach.find(memory); found != body->reach.end()) reach = std::max(reach, found->second);
  }
  for (const auto& links : plan.links) {
    if (links.memory != memory || links.offsets.empty()) continue;
    reach = std::max(reach, static_cast<std::uint64_t>(*std::max_element(links.offsets.begin(), links.offsets.end()) + links.width));
  }
  return reach;
}

Result<PointPlan> plan_point(const Program& program, const Stage& stage, const Coordinates& at, const Scope& outer, bool& skipped) {
  skipped = false;
  auto plan = Planner(program, stage, at, outer).run(skipped);
  if (plan || at.empty()) return plan;
  auto problem = plan.error();
  std::string where;
  for (const auto& [name, value] : at) where += fmt::format("{}{} = {}", where.empty() ? "" : ", ", name, show(value));
  problem.notes.push_back({{}, "at the point " + where});
  return problem;
}

Result<std::vector<Shape>> stage_shapes(const Program& program, const Stage& stage, const Scope& scope) {
  const auto wanted = names_in_text(program, stage);
  std::vector<std::pair<Names, Coordinates>> places{{Names(&scope), {}}};
  for (const auto& sweep : stage.sweeps) {
    const bool matters = std::any_of(sweep.names.begin(), sweep.names.end(), [&](const std::string& name) { return wanted.contains(name); });
    std::vector<std::pair<Names, Coordinates>> more;
    for (const auto& [names, at] : places) {
      auto values = sweep_values(sweep, names);
      if (!values && !matters) {  // it reads a finding that is not there yet
        more.emplace_back(names, at);
        continue;
      }
      if (!values) return values.error();
      if (!CompileBudget::spend_bytes(values->size() * sizeof(Value))) return CompileBudget::exceeded(sweep.span);
      if (!matters && values->size() > 2) values->erase(values->begin() + 1, values->end() - 1);
      if (!CompileBudget::spend(kPlaceUnits * static_cast<std::int64_t>(values->size() * (at.size() + 1)))) return CompileBudget::exceeded(sweep.span);
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
  for (const auto& [names, at] : places) {
    if (auto early = Planner(program, stage, at, scope).early_shape()) {
      keep(std::move(*early));
      continue;
    }
    bool skipped = false;
    auto plan = plan_point(program, stage, at, scope, skipped);
    if (!plan) return plan.error();
    if (skipped) continue;
    keep(std::move(plan->shape));
    for (auto& before : plan->before) keep(std::move(before.shape));
  }
  return shapes;
}

}  // namespace gexp::compiler
