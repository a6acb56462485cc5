// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "compiler/plan/points.h"

namespace gexp::measure {
namespace {

using compiler::Coordinates;
using compiler::Names;

constexpr double kNoise = 0.02;  // relative difference of two values that refining looks into

constexpr std::size_t kBatch = 4096;  // points that are listed before they are measured

// Points join a batch until what is measured has a say in which come next: where a sweep with `until` may end, and before each
// round of refining.
class Visit {
 public:
  Visit(const compiler::Stage& stage, const PointMeasurer& measure) : stage_(stage), measure_(measure) {}

  Result<bool> all(const Names& names) {
    for (;;) {
      const auto before = known_.size();
      auto more = finish(sweep(0, {}, names));
      if (!more || !*more) return more;
      if (known_.size() == before) return true;
      auto settled = measure_.converge();
      if (!settled || !*settled || !decided_from(0)) return settled;
      visited_.clear();
    }
  }

 private:
  /// All points below `at`, which fixes the sweeps above `depth`. The last of them may still be in the batch.
  Result<bool> sweep(std::size_t depth, const Coordinates& at, const Names& names) {
    if (depth == stage_.sweeps.size()) return add(at);
    auto values = compiler::sweep_values(stage_.sweeps[depth], names);
    if (!values) return values.error();
    if (decided_from(depth)) return decided(depth, at, names, std::move(*values));
    for (const auto& value : *values) {
      auto more = one(depth, at, names, value);
      if (!more || !*more || ended_) return more;
    }
    return true;
  }

  /// Whether records decide about the points of this sweep or one inside it.
  [[nodiscard]] bool decided_from(std::size_t depth) const {
    return std::any_of(stage_.sweeps.begin() + static_cast<std::ptrdiff_t>(depth), stage_.sweeps.end(),
                       [](const compiler::Sweep& sweep_of) { return sweep_of.until || sweep_of.refine_to; });
  }

  Result<bool> decided(std::size_t depth, const Coordinates& at, const Names& names, std::vector<Value> values) {
    const auto& sweep_of = stage_.sweeps[depth];
    auto visited = decided_from(depth + 1) ? one_by_one(depth, at, names, values) : together(depth, at, names, values);
    if (!visited) return visited.error();
    if (*visited == 0) return false;
    values.resize(*visited);  // what lies beyond `until` is not refined
    const bool numbers = std::all_of(values.begin(), values.end(), [](const Value& value) { return value.get<Number>(); });
    return sweep_of.refine_to && numbers ? refine(depth, at, names, values) : true;
  }

  /// How many values were visited; 0: stop everything.
  Result<std::size_t> one_by_one(std::size_t depth, const Coordinates& at, const Names& names, const std::vector<Value>& values) {
    const auto& until = stage_.sweeps[depth].until;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto first = visited_.size();
      auto more = one(depth, at, names, values[i]);
      if (!more) return more.error();
      if (!*more) return 0;
      if (!until) continue;
      auto done = all_hold(*until, first);
      if (!done) return done.error();
      if (*done) return i + 1;
    }
    return values.size();
  }

  /// The same where nothing inside the sweep is decided by records: only its end is.
  Result<std::size_t> together(std::size_t depth, const Coordinates& at, const Names& names, const std::vector<Value>& values) {
    until_ = stage_.sweeps[depth].until.get();
    value_begins_ = visited_.size();
    values_visited_ = 0;
    Result<bool> more = true;
    for (std::size_t i = 0; i < values.size() && more && *more && !ended_; ++i) {
      more = one(depth, at, names, values[i]);
      if (more && *more && !batch_.empty()) value_ends_.back() = true;
    }
    more = finish(std::move(more));
    until_ = nullptr;
    ended_ = false;
    if (!more) return more.error();
    return *more ? values_visited_ : 0;
  }

  Result<bool> add(const Coordinates& at) {
    if (static_cast<double>(visited_.size() + batch_.size()) >= compiler::kMaxPoints) {
      auto problem = failure("E0440", fmt::format("stage `{}` has more than {:.0f} points", stage_.name, compiler::kMaxPoints), "refine less far, or split the stage");
      problem.span = stage_.sweeps.front().span;
      return problem;
    }
    if (batch_.size() == kBatch) {
      auto more = measure_batch();
      if (!more || !*more || ended_) return more;
    }
    batch_.push_back(at);
    value_ends_.push_back(false);
    return true;
  }

  /// Measures what is still in the batch; after a failure to list points (`more`), those listed before it.
  Result<bool> finish(Result<bool> more) {
    auto measured = measure_batch();
    if (!measured || !*measured) return measured;
    return ended_ ? Result<bool>(true) : more;  // what failed beyond the end is not wanted
  }

  Result<bool> measure_batch() {
    if (batch_.empty()) return true;
    Batch batch;
    batch.points = std::exchange(batch_, {});
    batch.all_wanted = until_ == nullptr;
    const auto ends = std::exchange(value_ends_, {});
    std::vector<std::string> keys;
    for (const auto& point : batch.points) {
      keys.push_back(key(point));
      batch.known.push_back(known_.contains(keys.back()));
    }
    batch.measured = [&](std::size_t i) -> Result<bool> {
      visited_.push_back(batch.points[i]);
      known_.insert(std::move(keys[i]));
      if (!ends[i]) return true;
      ++values_visited_;
      if (!until_) return true;
      auto done = all_hold(*until_, value_begins_);
      if (!done) return done;
      value_begins_ = visited_.size();
      ended_ = *done;
      return !ended_;
    };
    return measure_.points(batch);
  }

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

  /// Between two values, on the grid of the width, counted from the lower one; nothing of a gap that is as narrow as the width.
  static std::optional<double> middle(double low, double high, double width) {
    const double made = low + std::max(1.0, std::round((high - low) / width / 2)) * width;
    if (high - low <= width || made <= low || made >= high) return std::nullopt;  // or numbers have no more digits
    return made;
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
    if (sweep_of.refine_highest) return around_highest(depth, at, names, values, *to);
    std::vector<std::pair<double, double>> gaps;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
      gaps.emplace_back(values[i].get<Number>()->number, values[i + 1].get<Number>()->number);
    }
    while (!gaps.empty()) {  // a round: all gaps of one generation
      std::vector<std::pair<double, double>> halves;
      Result<bool> more = true;
      for (const auto& [low, high] : gaps) {
        const auto between = middle(low, high, to->number);
        if (!between) continue;
        auto below = seen_at(*sweep_of.refine_on, at, sweep_of.names[0], low);
        if (!below) return below.error();
        auto above = seen_at(*sweep_of.refine_on, at, sweep_of.names[0], high);
        if (!above) return above.error();
        if (!differ(*below, *above)) continue;
        halves.emplace_back(low, *between);
        halves.emplace_back(*between, high);
      }
      for (std::size_t i = 0; i < halves.size() && more && *more; i += 2) {
        more = one(depth, at, names, Value(halves[i].second, dimension));
      }
      more = finish(std::move(more));
      if (!more || !*more) return more;
      gaps = std::move(halves);
    }
    return true;
  }

  /// Each round halves the gaps on both sides of where the value is highest by now, at any point of the inner sweeps.
  Result<bool> around_highest(std::size_t depth, const Coordinates& at, const Names& names, const std::vector<Value>& first, const Number& width) {
    const auto& sweep_of = stage_.sweeps[depth];
    std::map<double, double> highest;  // by value of the sweep
    std::vector<double> added;
    for (const auto& value : first) added.push_back(value.get<Number>()->number);
    while (!added.empty()) {
      for (const double value : added) {
        auto seen = seen_at(*sweep_of.refine_on, at, sweep_of.names[0], value);
        if (!seen) return seen.error();
        auto& here = highest[value] = -std::numeric_limits<double>::infinity();
        for (const auto& one_of : *seen) {
          if (const auto* n = one_of.get<Number>()) here = std::max(here, n->number);
        }
      }
      added.clear();
      const auto top = std::max_element(highest.begin(), highest.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      const auto between = [&](auto low, auto high) {
        if (const auto made = middle(low->first, high->first, width.number)) added.push_back(*made);
      };
      if (top != highest.begin()) between(std::prev(top), top);
      if (std::next(top) != highest.end()) between(top, std::next(top));
      Result<bool> more = true;
      for (std::size_t i = 0; i < added.size() && more && *more; ++i) more = one(depth, at, names, Value(added[i], first[0].get<Number>()->dimension));
      more = finish(std::move(more));
      if (!more || !*more) return more;
    }
    return true;
  }

  static std::string key(const Coordinates& at) {
    std::string all;
    for (const auto& [name, value] : at) {
      const auto* n = value.get<Number>();
      all += n ? fmt::format("{};", n->number) : show(value) + ";";
    }
    return all;
  }

  const compiler::Stage& stage_;
  const PointMeasurer& measure_;
  std::unordered_set<std::string> known_;  // what was measured, in this round or before
  std::vector<Coordinates> visited_;  // in this round, in order
  std::vector<Coordinates> batch_;
  std::vector<bool> value_ends_;      // by point of the batch: whether it is the last one of a value of the sweep that may end
  const compiler::Formula* until_ = nullptr;  // of that sweep
  std::size_t value_begins_ = 0;      // in visited_
  std::size_t values_visited_ = 0;
  bool ended_ = false;                // its condition held
};

}  // namespace

Result<bool> visit_points(const compiler::Stage& stage, const compiler::Scope& scope, const PointMeasurer& measure) {
  if (const auto count = compiler::count_points(stage, scope)) {  // its mistakes are told where they matter
    if (auto accepted = compiler::accept_points(stage, *count); !accepted) return accepted.error();
  }
  return Visit(stage, measure).all(Names(&scope));
}

}  // namespace gexp::measure
