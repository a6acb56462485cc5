// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/memory/memory_space.h"
#include "compiler/plan/expand.h"
#include "compiler/plan/point_planner.h"
#include "compiler/plan/residency.h"
#include "lang/kernel_file.h"

// Kernels of files. What a template or a macro is given is part of the text that is compiled; arguments are not.
namespace gexp::compiler {
namespace {

constexpr std::int64_t kMostEntries = std::int64_t{1} << 26;
constexpr double kExact = 9007199254740992.0;  // 2^53
constexpr double kStaticShared = 48 << 10;     // fact: bytes that a block's variables in shared memory may have
constexpr double kOldestCompute = 3.5;

}  // namespace

Result<std::string> PointPlanner::kernel_text(const FormulaPtr& formula) const {
  auto value = evaluate(*formula, names_);
  if (!value) return value.error();
  if (const auto* text = value->get<std::string>()) {
    if (lang::reads_of_files(*text).empty()) return *text;
    return error("E0127", formula->span, "a kernel's file is compiled alone: it reads no other", "leave it out");
  }
  const auto* n = value->get<Number>();
  if (!n || !std::isfinite(n->number)) return error("E0401", formula->span, fmt::format("a number is wanted here, not {}", show(*value)));
  if (n->number == std::floor(n->number) && std::fabs(n->number) <= kExact) return fmt::format("{}", static_cast<std::int64_t>(n->number));
  return fmt::format("{:.17g}", n->number);
}

std::optional<Diagnostic> PointPlanner::kernel_argument(const FileKernel::Argument& argument, std::uint64_t threads,
                                                        KernelPlan& plan) const {
  KernelPlan::Argument made;
  made.kind = argument.kind;
  made.span = argument.span;
  if (argument.kind == ArgumentKind::Memory) {
    made.memory = argument.name;
    const auto* memory = find_memory(argument.name);
    GEXP_CHECK(memory != nullptr);
    if (!memory->space->by_pointer()) {
      return error("E0226", argument.span,
                   fmt::format("`{}` is in {} memory, to which a kernel of a file is given no pointer", argument.name, memory->space->word),
                   "give it a memory in global; the kernel declares its other memories itself");
    }
  } else if (argument.kind == ArgumentKind::Record) {
    auto entries = number(argument.entries, static_cast<std::int64_t>(std::min<std::uint64_t>(threads, kMostEntries + 1)), 1, kMostEntries,
                          "the number of entries");
    if (!entries) return entries.error();
    auto width = number(argument.width, 4, 4, 8, "the width of an entry");
    if (!width) return width.error();
    if (*width != 4 && *width != 8)
      return error("E0418", argument.width->span, fmt::format("the width of an entry is {} B: it is 4 or 8 bytes", *width),
                   "write `as 8B`");
    if (!argument.entries && threads > kMostEntries)
      return error("E0418", argument.span, fmt::format("an entry for each of {} threads: at most {} are recorded", threads, kMostEntries),
                   fmt::format("write how many the kernel writes, such as `{}[256]`", argument.name));
    if (plan.entries > 0 && plan.width != *width)
      return error("E0418", argument.span,
                   fmt::format("entries of {} B here, of {} B in the argument before it: a record has one width", *width, plan.width),
                   "give both the same `as`");
    made.first = plan.entries;
    plan.entries += static_cast<std::uint64_t>(*entries);
    plan.width = static_cast<std::uint32_t>(*width);
    if (plan.entries > kMostEntries)
      return error("E0418", argument.span,
                   fmt::format("the parts of the record have {} entries, and {} is the most", plan.entries, kMostEntries),
                   "let the kernel write fewer");
  } else {
    auto value = evaluate(*argument.value, names_);
    if (!value) return value.error();
    const auto* n = value->get<Number>();
    if (!n || !std::isfinite(n->number)) return error("E0401", argument.span, fmt::format("a number is wanted here, not {}", show(*value)));
    made.value = n->number;
  }
  plan.arguments.push_back(std::move(made));
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::kernel(const FileKernel& kernel, std::uint64_t threads, Shape& shape, KernelPlan& plan) const {
  for (const auto& argument : kernel.arguments) {
    if (auto problem = kernel_argument(argument, threads, plan)) return problem;
  }
  shape.made_from = &kFileKernel;
  shape.text = kernel.source;
  shape.span = {kernel.path_span.begin, kernel.entry_span.end};
  shape.holes = {{"file", kernel.path}, {"sha256", kernel.sha256}, {"entry", kernel.entry}};
  std::string values;
  for (const auto& formula : kernel.templates) {
    auto text = kernel_text(formula);
    if (!text) return text.error();
    values += (values.empty() ? "" : ", ") + *text;
  }
  if (!values.empty()) shape.holes["entry"] += fmt::format("<{}>", values);
  for (const auto& [name, formula] : kernel.defines) {
    auto text = kernel_text(formula);
    if (!text) return text.error();
    shape.holes["define " + name] = *text;
  }
  return std::nullopt;
}

// A multiprocessor holds as many blocks as it has threads and block slots for, and no more than the grid brings. What their registers leave is
// known when the kernel is compiled (ptx/soft_l1.h).
ptx::Multiprocessor PointPlanner::multiprocessor() const {
  const auto* device = program_.device.get<Fields>();
  const auto known = [&](const char* name) { return device ? device_fact(*device, name) : std::nullopt; };
  const double compute = known("compute").value_or(kOldestCompute);
  const auto limit = per_sm(compute);
  double blocks = std::min(limit.blocks, std::floor(limit.threads / plan_.block));
  if (const auto sms = known("sms"); sms && *sms > 0) blocks = std::min(blocks, std::ceil(plan_.grid / *sms));
  const auto shared = device ? shared_per_sm(*device) : std::nullopt;
  ptx::Multiprocessor made;
  made.shared = static_cast<std::uint64_t>(shared && *shared > 0 ? *shared : kStaticShared);
  made.reserved = static_cast<std::uint64_t>(reserved_shared(known("compute").value_or(0)));
  made.blocks = static_cast<std::uint64_t>(std::max(blocks, 1.0));
  made.registers = static_cast<std::uint64_t>(limit.registers);
  return made;
}

// One memory behind two parameters is one data structure, so no alias is unknown.
std::optional<Diagnostic> PointPlanner::soft_cache(const FileKernel& own, const SoftCache& cache) {
  ptx::SoftL1 made;
  const auto line = number(cache.line, 16, -(1 << 20), 1 << 20, "the line");
  if (!line) return line.error();
  if (*line == 0) return std::nullopt;
  made.line = static_cast<std::uint32_t>(std::max<std::int64_t>(0, *line));
  if (std::find(std::begin(ptx::kSoftL1Lines), std::end(ptx::kSoftL1Lines), made.line) == std::end(ptx::kSoftL1Lines))
    return error("E0418", cache.line->span, fmt::format("a line of {} B: lines have 8, 16, 24 or 32 bytes", *line), "write `line: 16B`, or `line: 0B` for none");
  const auto monitor = number(cache.monitor, made.monitor, 0, 1 << 30, "the number of accesses");
  if (!monitor) return monitor.error();
  made.monitor = static_cast<std::uint32_t>(*monitor);
  made.threads = plan_.block;
  made.sm = multiprocessor();
  made.smem = plan_.smem;
  std::vector<std::string> names;
  for (const auto& argument : own.arguments) {
    if (argument.kind == ArgumentKind::Value) {
      made.structures.emplace_back();
      continue;
    }
    const auto at = std::find(names.begin(), names.end(), argument.name);
    made.structures.emplace_back(static_cast<std::size_t>(at - names.begin()));
    if (at != names.end()) continue;
    names.push_back(argument.name);
    auto bytes = argument.kind == ArgumentKind::Record ? Result<std::uint64_t>(plan_.kernel.entries * plan_.kernel.width)
                                                       : memory_bytes(*find_memory(argument.name), names_);
    if (!bytes) return bytes.error();
    made.bytes.push_back(*bytes);
  }
  if (cache.hits) {
    const auto place = number(cache.hits, 0, 0, static_cast<std::int64_t>(own.arguments.size()) - 1, "a place among the arguments");
    if (!place) return place.error();
    if (own.arguments[static_cast<std::size_t>(*place)].kind != ArgumentKind::Memory)
      return error("E0418", cache.hits->span, fmt::format("argument {} of the kernel is no memory; the first one is 0", *place), "give the place of a memory");
    if (own.arguments.back().kind != ArgumentKind::Record || plan_.kernel.width != 4 || plan_.kernel.entries != std::uint64_t{plan_.grid} * plan_.block)
      return error("E0418", cache.hits->span, "hits are written into the record, a value for each thread", "name the record behind the kernel's own arguments");
    made.hits = made.structures[static_cast<std::size_t>(*place)];
    made.structures.pop_back();
  }
  plan_.shape.soft_l1 = std::move(made);
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::timed_kernel(const FileKernel& own) {
  const auto threads = std::uint64_t{plan_.grid} * plan_.block;
  if (auto problem = kernel(own, threads, plan_.shape, plan_.kernel)) return problem;
  if (stage_.transform) {
    if (auto problem = soft_cache(own, *stage_.transform)) return problem;
  }
  if (stage_.timing != Timing::Each) return std::nullopt;
  plan_.steps = static_cast<std::int64_t>(plan_.kernel.entries);
  // One thread's entries have an order. Where it follows a pattern, they are that pattern's accesses.
  const auto linked = std::find_if(own.arguments.begin(), own.arguments.end(), [](const auto& argument) { return argument.linked; });
  if (threads != 1 || linked == own.arguments.end()) return std::nullopt;
  const auto chased = std::find_if(chased_.begin(), chased_.end(), [&](const Chased& each) { return each.op->span == linked->span; });
  GEXP_CHECK(chased != chased_.end());
  if (chased->pattern->steps > 0) plan_.timed = chased->pattern;
  return std::nullopt;
}

}  // namespace gexp::compiler
