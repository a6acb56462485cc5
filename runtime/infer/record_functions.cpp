// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/record_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/infer.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/paired_visits.h"
#include "runtime/infer/record_parts.h"
#include "runtime/infer/statistics.h"

// Functions of a record are evaluated where formulas meet records. Hit or miss is decided by the classes of the whole stage: a
// point whose every access hits looks like one whose every access misses, until both are seen.
namespace gexp::infer {
namespace {

constexpr double kConvergedMisses = 4;  // limit: of repetitions
constexpr double kConverged = 0.01;     // limit: of repetitions, a relative change that still counts as stable

bool is_record_function(const std::string& name) {
  static const std::vector<std::string> kNames = {"median", "mean", "min", "max", "stddev", "elapsed", "misses", "missed", "missed_ever",
                                                  "missed_once", "slower", "excess", "overhead", "sm", "begin", "end"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::size_t steps_of_lap(const records::Point& point) {
  return point.walk && point.walk->steps > 0 ? static_cast<std::size_t>(point.walk->steps) : std::size_t{1} << 40;
}

/// How often a point's accesses were slow.
struct Slow {
  std::vector<std::uint32_t> accesses;   ///< by index in the run, over the runs
  std::vector<std::uint32_t> positions;  ///< by step of the walk, over laps and runs
  std::vector<double> per_run;
  double all = 0;
};

Slow count_slow(const records::Point& point, std::size_t first_run, std::size_t runs, const MissRange& range) {
  Slow slow;
  const Misses missed(range, point);
  for (std::size_t r = first_run; r < first_run + runs; ++r) {
    const auto& run = point.runs[r].ticks;
    slow.accesses.resize(std::max(slow.accesses.size(), run.size()));
    double here = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (missed(i, run[i])) ++slow.accesses[i], ++here;
    }
    slow.per_run.push_back(here);
    slow.all += here;
  }
  const auto lap = std::min(steps_of_lap(point), std::max<std::size_t>(1, slow.accesses.size()));
  slow.positions.resize(lap);
  for (std::size_t i = 0; i < slow.accesses.size(); ++i) slow.positions[i % lap] += slow.accesses[i];
  return slow;
}

double visits(const Slow& slow) {
  return static_cast<double>(slow.accesses.size() * slow.per_run.size()) / static_cast<double>(slow.positions.size());
}

/// Whether what was slow here is interference: no more of it than elsewhere, and no position singled out; where none is known,
/// a few accesses at positions that were slow once, unless most runs have some and as many accesses elsewhere have none.
bool only_interference(const Slow& slow, const MissRange& range) {
  if (slow.all == 0) return true;
  const double all = static_cast<double>(slow.accesses.size() * slow.per_run.size());
  const auto most = *std::max_element(slow.positions.begin(), slow.positions.end());
  if (range.interference.share > 0) {
    return poisson_at_least(slow.all, range.interference.share * all) > model::kByChance && most <= most_interference(range, visits(slow), slow.positions.size());
  }
  if (slow.per_run.size() < 2 || most >= 2 || slow.all > std::max(1.0, model::kInterfered * all)) return false;
  return median(slow.per_run) < 1 || share_at_least(slow.all, slow.all, all / (all + range.interference.quiet)) >= model::kByChance;
}

/// Misses of the position that misses least among those that miss; many where nothing misses.
double rarest_miss(const records::Point& point, std::size_t runs, const MissRange& range) {
  const auto slow = count_slow(point, 0, runs, range);
  double least = INFINITY;
  if (only_interference(slow, range)) return least;
  const double interference = most_interference(range, visits(slow), slow.positions.size());
  for (const auto count : slow.positions) {
    if (count > interference) least = std::min(least, count - interference);
  }
  return least;
}

/// By step of the walk: whether it missed more often than interference explains.
std::vector<bool> missed_positions(const Slow& slow, const MissRange& range) {
  std::vector<bool> missed(slow.positions.size());
  if (only_interference(slow, range)) return missed;
  const double interference = most_interference(range, visits(slow), slow.positions.size());
  for (std::size_t step = 0; step < missed.size(); ++step) missed[step] = slow.positions[step] > interference;
  return missed;
}

}  // namespace

bool reads_outcome(const compiler::Stage& stage, const compiler::Formula& formula, std::string_view end) {
  const auto names = compiler::free_names(formula);
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    if (name == end) return true;
    const auto derive = std::find_if(stage.derives.begin(), stage.derives.end(), [&](const compiler::Binding& each) { return each.name == name; });
    return derive != stage.derives.end() && derive->formula.get() != &formula && reads_outcome(stage, *derive->formula, end);
  });
}

bool reads_outcome(const compiler::Stage& stage, const compiler::Formula& formula) { return reads_outcome(stage, formula, "hang") || reads_outcome(stage, formula, "fault"); }

const compiler::Formula* above_of(const std::vector<compiler::Formula::Argument>& arguments) {
  const auto above = std::find_if(arguments.begin(), arguments.end(), [](const auto& each) { return each.label == "above"; });
  return above == arguments.end() ? nullptr : above->value.get();
}

bool read_above(const compiler::Formula& call, const compiler::Scope& scope, std::optional<double>& slower_than) {
  const auto* above = above_of(call.arguments);
  if (!above) return true;
  const auto value = compiler::evaluate(*above, scope);
  const auto* n = value ? value->get<Number>() : nullptr;
  if (!n) return false;
  slower_than = n->number;
  return true;
}

double count_misses(const records::Point& point, std::size_t first_run, std::size_t runs, const MissRange& range) {
  const auto slow = count_slow(point, first_run, runs, range);
  if (only_interference(slow, range)) return 0;
  // A deterministic cache misses at the same accesses in every run; what few runs add to that is interference.
  double ever = 0, always = 0, often = 0;
  for (const auto count : slow.accesses) {
    ever += count > 0 ? 1 : 0;
    always += count == runs ? 1 : 0;
    often += 2 * count > runs ? 1 : 0;
  }
  const double chance = static_cast<double>(slow.accesses.size()) * std::min(1.0, static_cast<double>(runs) * range.interference.share);
  if (runs >= 3 && 2 * always >= ever - chance) return often;
  return std::max(0.0, median(slow.per_run) - range.interference.share * static_cast<double>(slow.accesses.size()));
}

std::vector<bool> positions_missed(const records::Point& point, const MissRange& range) {
  auto sure = range;  // of many points, some show more than one may
  sure.above += range.unsure;
  return missed_positions(count_slow(point, 0, point.runs.size(), sure), sure);
}

double share_missed(const records::Point& point, std::size_t first_run, std::size_t runs, const MissRange& range) {
  const auto missed = missed_positions(count_slow(point, first_run, runs, range), range);
  return static_cast<double>(std::count(missed.begin(), missed.end(), true)) / static_cast<double>(missed.size());
}

PointScope::PointScope(const records::Table& table, const Classes& classes, std::size_t point, const compiler::Stage& stage,
                       const compiler::Scope& outer, OneClass one_class, std::size_t runs)
    : table_(table), classes_(classes), point_(point), stage_(stage), outer_(outer), one_class_(one_class), runs_(runs) {}

std::size_t PointScope::runs() const { return runs_ ? runs_ : point().runs.size(); }

const Value* PointScope::lookup(const std::string& name) const {
  if (const auto found = point().at.find(name); found != point().at.end()) return &found->second;
  if (const auto found = derived_.find(name); found != derived_.end()) return &found->second;
  if (name == table_.timed) {  // a record where a value is meant: its median
    return &(derived_[name] = of_samples("median"));
  }
  for (const auto& derive : stage_.derives) {
    if (derive.name != name) continue;
    auto value = compiler::evaluate(*derive.formula, *this);
    return &(derived_[name] = value ? *value : Value());
  }
  const auto* outside = outer_.lookup(name);
  if (outside || (name != "fault" && name != "hang")) return outside;
  using Status = device::Outcome::Status;
  const auto end = point().outcome.status;
  const bool known = end == Status::Done || end == Status::Fault || end == Status::Timeout;
  return &(derived_[name] = known ? Value(end == (name == "hang" ? Status::Timeout : Status::Fault)) : Value());
}

std::optional<MissRange> PointScope::misses(const compiler::Formula& call) const {
  std::optional<double> slower_than;
  return read_above(call, *this, slower_than) ? miss_range(table_, classes_, slower_than) : std::nullopt;
}

std::optional<Result<Value>> PointScope::call(const compiler::Formula& call) const {
  try {
    return answer(call);
  } catch (const CutShort&) {
    return Budget::exceeded(call.span);
  }
}

std::optional<Result<Value>> PointScope::answer(const compiler::Formula& call) const {
  if (call.arguments.empty()) return outer_.call(call);
  const auto& inner = *call.arguments[0].value;
  if (call.text == "moved") return point().moved < 0 ? Value() : Value(point().moved, kBytes);
  if (call.text == "ci") return spread(inner);
  if (call.text == "stable") return stable(inner);
  if (call.arguments[0].where || !call.arguments[0].by.empty()) return of_parts(call);
  const bool of_timed = inner.kind == compiler::Formula::Kind::Name && inner.text == table_.timed;
  if (of_timed && is_record_function(call.text)) return of_record(call);
  if (call.text == "median" || call.text == "mean" || call.text == "elapsed") return compiler::evaluate(inner, *this);  // of a scalar
  return std::nullopt;
}

Result<Value> PointScope::of_record(const compiler::Formula& call) const {
  if (runs() == 0) return Value();
  const auto& name = call.text;
  if (name == "overhead") return table_.timing == records::Table::Timing::Wall || table_.timing == records::Table::Timing::Values ? Value() : Value(point().overhead, kCycles);
  if (name == "sm" || name == "begin" || name == "end") return clocks(name);
  if (stage_.keep == compiler::Keep::Summary && name != "median" && name != "elapsed") return Value();  // one value a run is left: its median
  if (name == "misses" || name == "missed" || name == "missed_ever" || name == "missed_once") {
    if (classes_.cut_short) cut_short();
    if (table_.timing != records::Table::Timing::Each) return Value();
    bool above = false;
    for (const auto& argument : call.arguments) {
      if (argument.label != "above") continue;
      const auto value = compiler::evaluate(*argument.value, *this);
      if (!value || !value->known()) return Value();
      above = true;
    }
    const auto border = misses(call);
    if (!border) return above || one_class_ == OneClass::NoMiss ? Value(0.0) : Value();  // nothing is slower than `above:`
    if (name == "missed_ever" || name == "missed_once") {
      const auto shares = classes_.cumulative ? classes_.cumulative->shares(table_, *border) : CumulativeMisses::Shares();
      return Value(name == "missed_ever" ? shares.ever : shares.once);
    }
    return Value(name == "misses" ? count_misses(point(), first_run_, runs(), *border) : share_missed(point(), first_run_, runs(), *border));
  }
  if (name == "slower") return slower(call);
  if (name == "excess") {
    const auto excess = table_.timing == records::Table::Timing::Each ? excess_of(point(), classes_.outlier(), first_run_, runs()) : Excess();
    return excess.pairs > 0 ? Value(excess.mean(), kCycles) : Value();
  }
  return of_samples(name);
}

Value PointScope::clocks(const std::string& name) const {
  const auto& run = point().runs[first_run_ + runs() - 1];
  work(1 + run.sms.size());
  if (run.sms.empty()) return Value();
  List list;
  for (std::size_t warp = 0; warp < run.sms.size(); ++warp) {
    if (name == "sm") list.push_back(Value(static_cast<double>(run.sms[warp])));
    else list.push_back(Value(static_cast<double>(name == "begin" ? run.begins[warp] : run.ends[warp]), kCycles));
  }
  return Value(std::move(list));
}

Result<Value> PointScope::of_parts(const compiler::Formula& call) const {
  auto plain = call;
  auto& data = plain.arguments[0];
  const auto where = std::exchange(data.where, nullptr);
  const auto by = std::exchange(data.by, "");
  Selection selection{where.get(), {}, first_run_, runs()};
  if (!by.empty()) selection.by = {by};
  if (runs() == 0) return Value();
  auto parts = infer::parts_of(point(), table_, stage_, selection, *this);
  if (!parts) return parts.error();
  List all;
  for (auto& part : *parts) {
    const bool whole = part.runs.size() == point().runs.size();  // a condition of the point alone left it as it was
    const records::Table table{table_.stage, table_.timed, table_.timing, table_.columns, {std::move(part)}};
    PointScope one(table, classes_, 0, stage_, outer_, one_class_, runs());
    one.first_run_ = whole ? first_run_ : 0;
    auto value = compiler::evaluate(plain, one);
    if (!value) return value;
    all.push_back(std::move(*value));
  }
  if (!by.empty()) return Value(std::move(all));
  return all.empty() ? Value() : std::move(all.front());
}

Result<Value> PointScope::slower(const compiler::Formula& call) const {
  const auto limit = compiler::evaluate(*call.arguments[1].value, *this);
  const auto* cycles = limit ? limit->get<Number>() : nullptr;
  if (!cycles || table_.timing != records::Table::Timing::Each) return Value();
  double all = 0, beyond = 0;
  for (std::size_t r = first_run_; r < first_run_ + runs(); ++r) {
    work(1 + point().runs[r].ticks.size() / 32);
    for (const auto tick : point().runs[r].ticks) ++all, beyond += static_cast<double>(tick) - point().overhead > cycles->number ? 1 : 0;
  }
  return all > 0 ? Value(beyond / all) : Value();
}

Value PointScope::of_samples(const std::string& name) const {
  std::vector<double> values;
  for (std::size_t r = first_run_; r < first_run_ + runs(); ++r) {
    work(1 + point().runs[r].ticks.size() / 16);
    if (name == "elapsed" && point().runs[r].elapsed < 0) return Value();  // of some warps: when they began is not kept
    if (name == "elapsed" && point().runs[r].elapsed > 0) {
      values.push_back(point().runs[r].elapsed - point().overhead);
      continue;
    }
    for (const auto tick : point().runs[r].ticks) values.push_back(static_cast<double>(tick) - point().overhead);
  }
  const bool wall = table_.timing == records::Table::Timing::Wall;
  const auto unit = wall ? kSeconds : table_.timing == records::Table::Timing::Values ? Dimension{} : kCycles;
  for (auto& value : values) value *= wall ? 1e-9 : 1;
  if (values.empty()) return Value();
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  if (name == "median") return Value(median(std::move(values)), unit);
  if (name == "mean") return Value(mean, unit);
  if (name == "min") return Value(*std::min_element(values.begin(), values.end()), unit);
  if (name == "elapsed") return Value(median(std::move(values)), unit);
  if (name == "max") return Value(*std::max_element(values.begin(), values.end()), unit);
  double squares = 0;
  for (const auto value : values) squares += (value - mean) * (value - mean);
  return Value(values.size() > 1 ? std::sqrt(squares / static_cast<double>(values.size() - 1)) : 0.0, unit);
}

Result<std::vector<Value>> PointScope::by_run(const compiler::Formula& formula) const {
  std::vector<Value> values;
  for (std::size_t r = 0; r < runs(); ++r) {
    PointScope one(table_, classes_, point_, stage_, outer_, one_class_, 1);
    one.first_run_ = r;
    auto value = compiler::evaluate(formula, one);
    if (!value) return value.error();
    values.push_back(std::move(*value));
  }
  return values;
}

Result<Value> PointScope::spread(const compiler::Formula& inner) const {
  std::vector<double> values;
  const auto each = by_run(inner);
  if (!each) return each.error();
  for (const auto& value : *each) {
    const auto* n = value.get<Number>();
    if (!n) return Value();
    values.push_back(n->number);
  }
  if (values.size() < 3) return Value();
  const double count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const auto value : values) squares += (value - mean) * (value - mean);
  const double half = student_95(count - 1) * std::sqrt(squares / (count - 1) / count);
  if (half == 0) return Value(0.0);
  return mean == 0 ? Value() : Value(half / std::fabs(mean));
}

Result<Value> PointScope::stable(const compiler::Formula& inner) const {
  if (runs() < 3) return Value(false);
  auto now = compiler::evaluate(inner, *this);
  if (!now) return now;
  const PointScope before(table_, classes_, point_, stage_, outer_, one_class_, runs() - 1);
  auto then = compiler::evaluate(inner, before);
  if (!then) return then;
  const auto* a = now->get<Number>();
  const auto* b = then->get<Number>();
  if (!a || !b) return Value(*now == *then);
  if (inner.kind == compiler::Formula::Kind::Call && inner.text == "missed") {
    // Which positions miss is settled when none is new and none was seen so rarely that others may still be unseen.
    const auto border = misses(inner);
    return Value(a->number == b->number && (!border || rarest_miss(point(), runs(), *border) >= kConvergedMisses));
  }
  return Value(std::fabs(a->number - b->number) <= kConverged * std::fabs(a->number));
}

Result<Value> at_point(const compiler::Formula& formula, const records::Table& table, const Classes& classes, std::size_t point,
                       const compiler::Stage& stage, const compiler::Scope& outer) {
  return compiler::evaluate(formula, PointScope(table, classes, point, stage, outer, OneClass::NoMiss));
}

Result<std::vector<Value>> at_point_by_run(const compiler::Formula& formula, const records::Table& table, const Classes& classes, std::size_t point,
                                           const compiler::Stage& stage, const compiler::Scope& outer) {
  return PointScope(table, classes, point, stage, outer, OneClass::NoMiss).by_run(formula);
}

}  // namespace gexp::infer
