// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/infer/infer.h"

// Functions of a record are evaluated where formulas meet records. Hit or miss is decided by the classes of the whole stage: a
// point whose every access hits looks like one whose every access misses, until both are seen.
namespace gexp::infer {
namespace {

constexpr double kStray = 1e-3;   // share of accesses that interference may strike at a point that otherwise never misses
constexpr std::uint32_t kSettledMisses = 5;
constexpr double kSettled = 0.01; // relative change that still counts as stable

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

bool is_record_function(const std::string& name) {
  static const std::vector<std::string> kNames = {"median", "mean", "min", "max", "stddev", "elapsed", "misses", "missed"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// How often each access of a run missed, over the runs.
std::vector<std::uint32_t> miss_counts(const Point& point, std::size_t first_run, std::size_t runs, const MissRange& range) {
  std::vector<std::uint32_t> counts;
  for (std::size_t r = first_run; r < first_run + runs; ++r) {
    const auto& ticks = point.runs[r].ticks;
    counts.resize(std::max(counts.size(), ticks.size()));
    for (std::size_t i = 0; i < ticks.size(); ++i) counts[i] += range(ticks[i]) ? 1 : 0;
  }
  return counts;
}

/// Whether what missed here is interference: a few accesses, none of them twice, at a point that otherwise hits.
bool only_strays(const std::vector<std::uint32_t>& counts, std::size_t runs, std::size_t lap) {
  std::uint64_t all = 0;
  std::map<std::size_t, std::uint32_t> positions;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    all += counts[i];
    if ((positions[i % lap] += counts[i]) >= 2) return false;
  }
  return static_cast<double>(all) <= std::max(1.0, kStray * static_cast<double>(counts.size() * runs));
}

std::size_t lap_of(const Point& point) {
  return point.walk && point.walk->steps > 0 ? static_cast<std::size_t>(point.walk->steps) : std::size_t{1} << 40;
}

/// Misses of the position that misses least among those that miss; many where nothing misses.
std::uint32_t rarest_miss(const Point& point, std::size_t runs, const MissRange& range) {
  const auto counts = miss_counts(point, 0, runs, range);
  const auto lap = std::min(lap_of(point), std::max<std::size_t>(1, counts.size()));
  if (only_strays(counts, runs, lap)) return UINT32_MAX;
  std::vector<std::uint32_t> positions(lap);
  for (std::size_t i = 0; i < counts.size(); ++i) positions[i % lap] += counts[i];
  std::uint32_t least = UINT32_MAX;
  for (const auto count : positions) least = count > 0 ? std::min(least, count) : least;
  return least;
}

}  // namespace

double count_misses(const Point& point, std::size_t first_run, std::size_t runs, const MissRange& range) {
  const auto counts = miss_counts(point, first_run, runs, range);
  if (runs >= 2 && only_strays(counts, runs, lap_of(point))) return 0;
  // A deterministic cache misses at the same accesses in every run; what few runs add to that is interference.
  std::size_t ever = 0, always = 0, often = 0;
  for (const auto count : counts) {
    ever += count > 0 ? 1 : 0;
    always += count == runs ? 1 : 0;
    often += 2 * count > runs ? 1 : 0;
  }
  if (runs >= 3 && 2 * always >= ever) return static_cast<double>(often);
  std::vector<double> per_run;
  for (std::size_t r = first_run; r < first_run + runs; ++r) {
    const auto& ticks = point.runs[r].ticks;
    per_run.push_back(static_cast<double>(std::count_if(ticks.begin(), ticks.end(), range)));
  }
  return median(per_run);
}

double share_missed(const Point& point, std::size_t first_run, std::size_t runs, const MissRange& range) {
  const auto counts = miss_counts(point, first_run, runs, range);
  const auto lap = std::min(lap_of(point), std::max<std::size_t>(1, counts.size()));
  if (runs >= 2 && only_strays(counts, runs, lap)) return 0;
  std::vector<bool> missed(lap);
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) missed[i % lap] = true;
  }
  return static_cast<double>(std::count(missed.begin(), missed.end(), true)) / static_cast<double>(lap);
}

PointScope::PointScope(const Table& table, const Classes& classes, std::size_t point, const compiler::Stage& stage,
                       const compiler::Scope& outer, std::size_t runs)
    : table_(table), classes_(classes), point_(point), stage_(stage), outer_(outer), runs_(runs) {}

std::size_t PointScope::runs() const { return runs_ ? runs_ : point().runs.size(); }

const Value* PointScope::lookup(const std::string& name) const {
  if (const auto found = point().at.find(name); found != point().at.end()) return &found->second;
  if (const auto found = derived_.find(name); found != derived_.end()) return &found->second;
  for (const auto& derive : stage_.derives) {
    if (derive.name != name) continue;
    auto value = compiler::evaluate(*derive.formula, *this);
    return &(derived_[name] = value ? *value : Value());
  }
  return outer_.lookup(name);
}

std::optional<MissRange> PointScope::misses(const compiler::Formula& call) const {
  std::optional<double> slower_than;
  for (const auto& argument : call.arguments) {
    if (argument.label != "above") continue;
    const auto value = compiler::evaluate(*argument.value, *this);
    const auto* n = value ? value->get<Number>() : nullptr;
    if (!n) return std::nullopt;
    slower_than = n->number;
  }
  return miss_range(table_, classes_, slower_than);
}

std::optional<Result<Value>> PointScope::call(const compiler::Formula& call) const {
  if (call.arguments.empty()) return outer_.call(call);
  const auto& inner = *call.arguments[0].value;
  if (call.text == "ci") return spread(inner);
  if (call.text == "stable") return stable(inner);
  const bool of_timed = inner.kind == compiler::Formula::Kind::Name && inner.text == table_.timed;
  if (of_timed && is_record_function(call.text)) return of_record(call);
  if (call.text == "median" || call.text == "mean" || call.text == "elapsed") return compiler::evaluate(inner, *this);  // of a scalar
  return std::nullopt;
}

Result<Value> PointScope::of_record(const compiler::Formula& call) const {
  if (runs() == 0) return Value();
  const auto& name = call.text;
  if (name == "misses" || name == "missed") {
    if (table_.timing != Table::Timing::Each) return Value();
    for (const auto& argument : call.arguments) {
      if (argument.label != "above") continue;
      const auto value = compiler::evaluate(*argument.value, *this);
      if (!value || !value->known()) return Value();
    }
    const auto border = misses(call);
    if (!border) return Value(0.0);  // one class only: nothing is slower
    return Value(name == "misses" ? count_misses(point(), first_run_, runs(), *border) : share_missed(point(), first_run_, runs(), *border));
  }
  std::vector<double> values;
  for (std::size_t r = first_run_; r < first_run_ + runs(); ++r) {
    for (const auto tick : point().runs[r].ticks) values.push_back(static_cast<double>(tick) - point().overhead);
  }
  if (values.empty()) return Value();
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  if (name == "median") return Value(median(std::move(values)), kCycles);
  if (name == "mean") return Value(mean, kCycles);
  if (name == "min") return Value(*std::min_element(values.begin(), values.end()), kCycles);
  if (name == "max" || name == "elapsed") return Value(*std::max_element(values.begin(), values.end()), kCycles);
  double squares = 0;
  for (const auto value : values) squares += (value - mean) * (value - mean);
  return Value(values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0.0, kCycles);
}

Result<Value> PointScope::spread(const compiler::Formula& inner) const {
  std::vector<double> values;
  for (std::size_t r = 0; r < runs(); ++r) {
    PointScope one(table_, classes_, point_, stage_, outer_, 1);
    one.first_run_ = r;
    auto value = compiler::evaluate(inner, one);
    if (!value) return value;
    const auto* n = value->get<Number>();
    if (!n) return Value();
    values.push_back(n->number);
  }
  if (values.size() < 3) return Value();
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const auto value : values) squares += (value - mean) * (value - mean);
  const double half = 1.96 * std::sqrt(squares / (count - 1) / count);
  if (half == 0) return Value(0.0);
  return mean == 0 ? Value() : Value(half / std::fabs(mean));
}

Result<Value> PointScope::stable(const compiler::Formula& inner) const {
  if (runs() < 3) return Value(false);
  auto now = compiler::evaluate(inner, *this);
  if (!now) return now;
  const PointScope before(table_, classes_, point_, stage_, outer_, runs() - 1);
  auto then = compiler::evaluate(inner, before);
  if (!then) return then;
  const auto* a = now->get<Number>();
  const auto* b = then->get<Number>();
  if (!a || !b) return Value(*now == *then);
  if (inner.kind == compiler::Formula::Kind::Call && inner.text == "missed") {
    // Which positions miss is settled when none is new and none was seen so rarely that others may still be unseen.
    const auto border = misses(inner);
    return Value(a->number == b->number && (!border || rarest_miss(point(), runs(), *border) >= kSettledMisses));
  }
  return Value(std::fabs(a->number - b->number) <= kSettled * std::fabs(a->number));
}

Result<Value> at_point(const compiler::Formula& formula, const Table& table, const Classes& classes, std::size_t point,
                       const compiler::Stage& stage, const compiler::Scope& outer) {
  return compiler::evaluate(formula, PointScope(table, classes, point, stage, outer));
}

}  // namespace gexp::infer
