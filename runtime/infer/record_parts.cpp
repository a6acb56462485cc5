// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/record_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string_view>

#include "runtime/infer/cut_short.h"

// A record of `each` holds a trace for each warp, one after the other; one of `total` a value for each warp of each block; one of `values`
// what each thread kept; that of a kernel of a file an entry for each thread, or steps of no thread in particular. From a value's place among them follow its warp,
// its step, its lap and its part. A selection keeps the values and the steps of the walk that they belong to, so that whatever looks
// at both still finds them side by side.
namespace gexp::infer {
namespace {

using records::Point;
using records::Run;
using records::Table;

constexpr std::uint32_t kWarp = 32;       // fact: threads of a warp
constexpr std::size_t kMostParts = 4096;  // limit: points that one may become

struct PartName {
  std::string_view name;
  bool within_trace;
};
constexpr auto kParts = std::to_array<PartName>({  // fact: the names that the language has
#define GEXP_PART(name, within_trace, about) {#name, within_trace},
#include "lang/parts.def"
#undef GEXP_PART
});

const PartName* find_part(const std::string& name) {
  const auto found = std::find_if(kParts.begin(), kParts.end(), [&](const PartName& part) { return part.name == name; });
  return found == kParts.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> threads_of(const compiler::FormulaPtr& formula, const compiler::Scope& scope) {
  if (!formula) return 1;
  const auto value = compiler::evaluate(*formula, scope);
  const auto* n = value ? value->get<Number>() : nullptr;
  return n && n->number >= 1 ? std::optional(static_cast<std::uint32_t>(n->number)) : std::nullopt;
}

/// Which value of a run is whose.
struct Layout {
  std::size_t values = 0;       ///< of a run
  std::size_t in_trace = 0;     ///< values of one trace
  std::uint32_t block = 1;      ///< threads
  std::uint32_t step_threads = kWarp;  ///< threads from one trace to the next: a warp, or one thread of `values` or of a kernel's entries
  bool traces_known = true;     ///< which trace is whose
  bool one_trace = false;       ///< all values are of one thread or warp in turn, whoever it is
  std::string why;              ///< not known: why not

  [[nodiscard]] std::size_t trace(std::size_t value) const { return value / in_trace; }
  [[nodiscard]] std::uint32_t traces_a_block() const { return (block + step_threads - 1) / step_threads; }
};

/// Whether threads may keep different numbers of values.
bool keeps_unevenly(const compiler::Body& body, bool inside) {
  return std::any_of(body.begin(), body.end(), [&](const compiler::Op& op) {
    const bool some = inside || op.condition != nullptr;
    return (op.kind == compiler::Op::Kind::Keep && some) || keeps_unevenly(op.body, some) || keeps_unevenly(op.otherwise, some);
  });
}

Layout layout_of(const Point& point, const Table& table, const compiler::Stage& stage, const compiler::Scope& scope) {
  Layout layout;
  layout.values = point.runs.front().ticks.size();
  layout.in_trace = std::max<std::size_t>(1, layout.values);
  const auto unknown = [&](std::string why) {
    layout.traces_known = false;
    layout.why = std::move(why);
    return layout;
  };
  const auto alike = [&](const Run& run) { return run.ticks.size() == layout.values; };
  if (!std::all_of(point.runs.begin(), point.runs.end(), alike)) return unknown("the runs of a point recorded different numbers of accesses");
  const auto block = threads_of(stage.launch.block, scope), grid = threads_of(stage.launch.grid, scope);
  if (!block || !grid) return unknown("the size of the launch is not known");
  layout.block = *block;
  if (table.timing == Table::Timing::Values) {
    layout.step_threads = 1;
    const std::size_t threads = std::size_t{*block} * *grid;
    if (keeps_unevenly(stage.timed, false) || layout.values % threads != 0)
      return unknown("a `keep` within a `branch` or a `loop while` may give threads different numbers of values");
    layout.in_trace = layout.values / threads;
    return layout;
  }
  layout.one_trace = *block <= kWarp;
  const bool kernel = stage.timed.size() == 1 && stage.timed[0].kind == compiler::Op::Kind::Kernel;
  if (kernel) {
    layout.step_threads = 1;
    if (layout.values != std::size_t{*block} * *grid) return unknown("the kernel's record has other entries than one a thread");
    layout.in_trace = 1;
    return layout;
  }
  const std::size_t traces = std::size_t{layout.traces_a_block()} * (table.timing == Table::Timing::Each ? 1 : *grid);
  if (table.timing == Table::Timing::Each && *grid != 1) return unknown("several blocks that time `each` write over each other's values");
  if (table.timing == Table::Timing::Total && layout.values != traces) return unknown("the record has other values than one a warp");
  if (traces > 1 && (layout.values % traces != 0 || (point.steps > 0 && table.timing == Table::Timing::Each &&
                                                      layout.values != traces * static_cast<std::size_t>(point.steps))))
    return unknown("warps recorded different numbers of accesses, so which value is whose is not known");
  layout.in_trace = std::max<std::size_t>(1, layout.values / traces);
  return layout;
}

/// What the parts' names are for each value of a point's runs.
class Parts {
 public:
  Parts(const Point& point, Layout layout) : point_(point), layout_(std::move(layout)) {
    if (!point.walk) return;
    lap_ = static_cast<std::size_t>(std::max<std::int64_t>(point.walk->steps, 1));
    for (const auto& segment : point.walk->segments) {
      labels_.resize(static_cast<std::size_t>(segment.first), labels_.empty() ? "" : labels_.back());
      labels_.push_back(segment.label);
    }
    if (!labels_.empty()) labels_.resize(lap_, labels_.back());
  }

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::size_t lap() const { return lap_; }
  [[nodiscard]] std::size_t step(std::size_t value) const { return lap_ ? value % layout_.in_trace % lap_ : value % layout_.in_trace; }
  [[nodiscard]] const std::vector<std::string>& labels() const { return labels_; }

  /// Why a part is not known; empty where it is.
  [[nodiscard]] std::string unknown(const std::string& name) const {
    const auto* part = find_part(name);
    if (name == "seg" && labels_.empty()) return "`seg` is the part of a pattern, and what is timed follows none that has parts";
    if (name == "lap" && !lap_) return "`lap` is a round of a chase, and what is timed is no single chase";
    if (!layout_.traces_known && !(part->within_trace && layout_.in_trace == layout_.values && layout_.one_trace)) {
      return fmt::format("`{}` is not known: {}", name, layout_.why);
    }
    return {};
  }

  [[nodiscard]] Value of(const std::string& name, std::size_t value) const {
    const auto in_trace = value % layout_.in_trace, trace = layout_.trace(value);
    const auto in_block = trace % layout_.traces_a_block(), cta = trace / layout_.traces_a_block();
    const auto tid = in_block * layout_.step_threads;
    const auto number = [](std::size_t n) { return Value(static_cast<double>(n)); };
    if (name == "step") return number(step(value));
    if (name == "lap") return number(in_trace / lap_);
    if (name == "seg") return Value(labels_[step(value)]);
    if (name == "warp") return number(tid / kWarp);
    if (name == "tid") return number(tid);
    if (name == "gtid") return number(cta * layout_.block + tid);
    return number(cta);
  }

  /// The address that a value's access went to.
  [[nodiscard]] std::int64_t offset(std::size_t value) const {
    const auto& walk = *point_.walk;
    const auto thread = static_cast<std::int64_t>(layout_.trace(value) * layout_.step_threads);
    return walk.at(std::min(thread, walk.threads - 1), static_cast<std::int64_t>(step(value)));
  }

 private:
  const Point& point_;
  Layout layout_;
  std::size_t lap_ = 0;
  std::vector<std::string> labels_;
};

/// One value of a record as a scope: the names of parts, then those of the point.
class ValueScope final : public compiler::Scope {
 public:
  ValueScope(const compiler::Scope& point, std::vector<std::string> names) : point_(point), names_(std::move(names)), values_(names_.size()) {}
  void set(const Parts& parts, std::size_t value) {
    for (std::size_t i = 0; i < names_.size(); ++i) values_[i] = parts.of(names_[i], value);
  }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }
  [[nodiscard]] const Value* lookup(const std::string& name) const override {
    const auto found = std::find(names_.begin(), names_.end(), name);
    return found == names_.end() ? point_.lookup(name) : &values_[static_cast<std::size_t>(found - names_.begin())];
  }
  [[nodiscard]] std::optional<Result<Value>> call(const compiler::Formula& call) const override { return point_.call(call); }

 private:
  const compiler::Scope& point_;
  std::vector<std::string> names_;
  std::vector<Value> values_;
};

bool before(const Value& a, const Value& b) {
  const auto *m = a.get<Number>(), *n = b.get<Number>();
  if (m && n) return m->number < n->number;
  const auto *s = a.get<std::string>(), *t = b.get<std::string>();
  return s && t && *s < *t;
}
struct Before {
  bool operator()(const std::vector<Value>& a, const std::vector<Value>& b) const {
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), before);
  }
};

/// The values that `where` keeps; each combination of what it reads is judged once.
Result<std::vector<std::size_t>> kept_by(const compiler::Formula* where, const Parts& parts, const compiler::Scope& scope) {
  std::vector<std::size_t> kept;
  const auto values = parts.layout().values;
  work(1 + values / 8);
  ValueScope at(scope, where ? parts_in(*where, scope) : std::vector<std::string>());
  std::map<std::vector<Value>, bool, Before> judged;
  for (std::size_t i = 0; i < values; ++i) {
    if (where) {
      at.set(parts, i);
      auto known = judged.find(at.values());
      if (known == judged.end()) {
        work();
        auto keeps = compiler::evaluate(*where, at);
        if (!keeps) return keeps.error();
        const auto* flag = keeps->get<bool>();
        known = judged.emplace(at.values(), flag && *flag).first;
      }
      if (!known->second) continue;
    }
    kept.push_back(i);
  }
  return kept;
}

/// The walk whose step i belongs to value i of the selection: the selected steps of a lap where all laps that are selected agree in
/// them and all traces follow one ring, else every selected access in turn.
std::shared_ptr<const Pattern> walk_of(const Parts& parts, const std::vector<std::size_t>& kept) {
  const auto in_trace = parts.layout().in_trace;
  std::vector<std::size_t> steps;  // of the first lap that is selected
  const auto first_lap = kept.front() / in_trace * in_trace + kept.front() % in_trace / parts.lap() * parts.lap();
  for (const auto value : kept) {
    if (value >= first_lap + parts.lap() || value / in_trace != kept.front() / in_trace) break;
    steps.push_back(parts.step(value));
  }
  const auto same = [&](std::size_t i) {
    return parts.step(kept[i]) == steps[i % steps.size()] && parts.offset(kept[i]) == parts.offset(kept[i % steps.size()]);
  };
  std::size_t length = steps.size();
  for (std::size_t i = 0; i < kept.size() && length == steps.size(); ++i) length = same(i) ? length : kept.size();
  Pattern walk;
  walk.steps = static_cast<std::int64_t>(length);
  for (std::size_t i = 0; i < length; ++i) {
    walk.offsets.push_back(parts.offset(kept[i]));
    if (parts.labels().empty()) continue;
    const auto& label = parts.labels()[parts.step(kept[i])];
    if (walk.segments.empty() || walk.segments.back().label != label) walk.segments.push_back({label, static_cast<std::int64_t>(i)});
  }
  return std::make_shared<const Pattern>(std::move(walk));
}

/// A point without its runs.
Point without_runs(const Point& point) {
  Point part;
  part.at = point.at;
  part.warm_steps = point.warm_steps, part.warm_walk = point.warm_walk;
  part.overhead = point.overhead, part.overhead_error = point.overhead_error;
  part.converged = point.converged, part.outcome = point.outcome;
  part.moved = -1;
  return part;
}

Point part_of(const Point& point, const Parts& parts, const std::vector<std::size_t>& kept, std::span<const Run> runs) {
  work(1 + kept.size() * runs.size() / 8);
  Point part = without_runs(point);
  if (point.walk) part.walk = walk_of(parts, kept);
  const auto traces = parts.layout().trace(kept.back()) - parts.layout().trace(kept.front()) + 1;
  part.steps = static_cast<std::int64_t>(kept.size() / traces);
  for (const auto& run : runs) {
    Run made;
    made.ticks.reserve(kept.size());
    made.elapsed = run.elapsed > 0 && traces > 1 ? -1 : 0;
    for (const auto value : kept) {
      if (value < run.ticks.size()) made.ticks.push_back(run.ticks[value]);
    }
    made.windows.clear();
    for (const auto begin : run.windows) {
      const auto at = static_cast<std::uint32_t>(std::lower_bound(kept.begin(), kept.end(), begin) - kept.begin());
      if (made.windows.empty() || at > made.windows.back()) made.windows.push_back(at);
    }
    if (made.windows.size() > 1 && made.windows.back() == made.ticks.size()) made.windows.pop_back();
    part.runs.push_back(std::move(made));
  }
  return part;
}

}  // namespace

bool may_be_part(const std::string& name) { return find_part(name) != nullptr; }

bool is_part(const std::string& name, const compiler::Scope& point) { return find_part(name) && !point.lookup(name); }

std::vector<std::string> parts_in(const compiler::Formula& formula, const compiler::Scope& point) {
  auto names = compiler::free_names(formula);
  std::erase_if(names, [&](const std::string& name) { return !is_part(name, point); });
  return names;
}

Result<std::vector<Point>> parts_of(const Point& point, const Table& table, const compiler::Stage& stage, const Selection& selection,
                                    const compiler::Scope& scope) {
  if (point.runs.empty() || point.runs.front().ticks.empty()) return std::vector<Point>();
  auto read = selection.where ? parts_in(*selection.where, scope) : std::vector<std::string>();
  read.insert(read.end(), selection.by.begin(), selection.by.end());
  if (read.empty()) {  // a condition of the point alone
    const auto keeps = selection.where ? compiler::evaluate(*selection.where, scope) : Result<Value>(Value(true));
    if (!keeps) return keeps.error();
    const auto* flag = keeps->get<bool>();
    return flag && *flag ? std::vector<Point>{point} : std::vector<Point>{};
  }
  if (table.timing == Table::Timing::Wall) return failure("E0403", "`wall` keeps one value a launch, and no parts of it");
  if (stage.keep != compiler::Keep::Raw) return failure("E0403", "the record is not kept `raw`, so which value is of which access is not known");
  const Parts parts(point, layout_of(point, table, stage, scope));
  for (const auto& name : read) {
    if (auto why = parts.unknown(name); !why.empty()) return failure("E0403", std::move(why));
  }
  auto kept = kept_by(selection.where, parts, scope);
  if (!kept) return kept.error();
  std::vector<Point> made;
  if (kept->empty()) return made;
  const auto runs = std::span(point.runs).subspan(selection.first_run, selection.runs ? selection.runs : std::dynamic_extent);
  std::map<std::vector<Value>, std::size_t, Before> found;
  std::vector<std::pair<std::vector<Value>, std::vector<std::size_t>>> groups;
  ValueScope at(scope, selection.by);
  for (const auto value : *kept) {
    at.set(parts, value);
    const auto [group, fresh] = found.emplace(at.values(), groups.size());
    if (fresh) groups.push_back({at.values(), {}});
    groups[group->second].second.push_back(value);
    if (groups.size() > kMostParts) {
      return failure("E0403", fmt::format("a point would become more than {} parts; a `where` that keeps fewer of them would decide", kMostParts));
    }
  }
  for (const auto& [values, own] : groups) {
    made.push_back(part_of(point, parts, own, runs));
    for (std::size_t i = 0; i < values.size(); ++i) made.back().at[selection.by[i]] = values[i];
  }
  return made;
}

}  // namespace gexp::infer
