// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "compiler/lower/ops.h"
#include "compiler/plan/access.h"
#include "compiler/plan/point_planner.h"

// The chases of a point: their patterns, their steps, and the links that they follow.
namespace gexp::compiler {
namespace {

constexpr std::int64_t kMaxSteps = std::int64_t{1} << 32;

}  // namespace

Result<std::shared_ptr<const Pattern>> PointPlanner::pattern_of(const Op& chase) {
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

Result<std::int64_t> PointPlanner::steps_of(const Op& chase, const Pattern& pattern) {
  auto count = whole(chase.count, names_, 0, kMaxSteps, chase.laps ? "the number of laps" : "the number of steps");
  if (!count) return count;
  if (pattern.steps == 0) return std::int64_t{0};
  if (chase.laps && *count > kMaxSteps / pattern.steps) return error("E0406", chase.span, fmt::format("this chase has more than {} steps", kMaxSteps), "fewer laps tell as much");
  return chase.laps ? *count * pattern.steps : *count;
}

std::optional<Diagnostic> PointPlanner::chases() {
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
    if (problem || !((writes(op) && linkers_.contains(op.memory)) || linkers_.contains(op.into))) return;
    problem = error("E0434", op.span, fmt::format("`{}` holds the links of a chase, and a store would break them", writes(op) ? op.memory : op.into), "store to a memory of its own");
  });
  for_each_op(stage_, [&](const Op& op) {
    if (problem) return;
    const auto holds = [&](const std::string& name) {
      const auto* memory = find_memory(name);
      return memory && memory->holds;
    };
    if ((writes(op) || op.kind == Op::Kind::Chase) && holds(op.memory)) {
      problem = error("E0434", op.span, fmt::format("`{}` holds given numbers, and {} would write over them", op.memory, op.kind == Op::Kind::Chase ? "the links of a chase" : "this operation"),
                      op.kind != Op::Kind::Chase ? "write to a memory of its own" : "follow what it holds with `load … into` in a `loop while`");
    }
    for (const auto& argument : op.kernel ? op.kernel->arguments : std::vector<FileKernel::Argument>()) {
      if (problem || argument.kind != FileKernel::Argument::Kind::Memory || !holds(argument.name)) continue;
      problem = error("E0434", argument.span, fmt::format("`{}` holds given numbers, and this kernel may write over them", argument.name), "give it a memory of its own");
    }
  });
  for_each_op(stage_, [&](const Op& op) {
    if (!op.kernel || problem) return;
    for (const auto& argument : op.kernel->arguments) {
      if (argument.linked || argument.kind != FileKernel::Argument::Kind::Memory || !linkers_.contains(argument.name)) continue;
      const auto& name = argument.name;
      problem = error("E0434", argument.span, fmt::format("`{}` holds the links of a chase, and this kernel may write over them", name),
                      fmt::format("write `{} by PATTERN` where the kernel is to follow the links; else give it a memory of its own", name));
      return;
    }
  });
  for (auto& [name, linker] : linkers_) plan_.links.push_back(std::move(linker.links));
  return problem;
}

std::optional<Diagnostic> PointPlanner::follow(const Op& op, const std::shared_ptr<const Pattern>& pattern) {
  const auto* memory = find_memory(op.memory);
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

}  // namespace gexp::compiler
