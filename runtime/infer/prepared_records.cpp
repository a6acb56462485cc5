// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/prepared_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/infer/paired_visits.h"

#include "runtime/infer/cut_short.h"

namespace gexp::infer {
namespace {

/// The chase that a stage times, where that is all it times, and nothing else runs beside it.
const compiler::Op* timed_chase(const compiler::Stage& stage) {
  if (stage.leader || !stage.beside.empty()) return nullptr;
  const bool chases = stage.timing == compiler::Timing::Each && stage.timed.size() == 1 && stage.timed[0].kind == compiler::Op::Kind::Chase;
  return chases ? &stage.timed[0] : nullptr;
}

std::string written(const compiler::FormulaPtr& formula) { return formula ? show(*formula) : std::string(); }

/// How the cache is set up: a formula is taken for what is written.
std::string setup(const compiler::Stage& stage) { return written(stage.launch.carveout) + " " + written(stage.launch.smem); }

/// How it was at a point: the bytes set aside, which are no fewer than the blocks ask for.
std::string setup_at(const compiler::Stage& stage, const records::Point& point, const compiler::Scope& outer) {
  compiler::Names names(&outer);
  for (const auto& [name, value] : point.at) names.set(name, value);
  double bytes = 0;
  for (const auto& formula : {stage.launch.carveout, stage.launch.smem}) {
    if (!formula) continue;
    const auto value = compiler::evaluate(*formula, names);
    if (const auto* number = value ? value->get<Number>() : nullptr) bytes = std::max(bytes, number->number);
  }
  return fmt::format("{}", bytes);
}

std::string launch(const compiler::Stage& stage) { return written(stage.launch.grid) + " " + written(stage.launch.block); }

/// Whether both time a chase through one memory by one path, with the cache set up alike.
bool same_access(const compiler::Stage& a, const compiler::Stage& b) {
  const auto *one = timed_chase(a), *other = timed_chase(b);
  return one && other && one->memory == other->memory && one->via == other->via && setup(a) == setup(b);
}

}  // namespace

PreparedRecords::PreparedRecords(const records::Table& table, const std::vector<const records::Table*>& others) : table_(table) {
  const auto refusals = Budget::refusals();
  corrected_ = correct_drift(table);
  classes_ = corrected_ ? classify(this->table()) : classify(table, others);
  classes_.cut_short = Budget::refusals() != refusals;
}

const PreparedRecords& MeasuredStages::Measured::records() const {
  if (!prepared) prepared = std::make_shared<const PreparedRecords>(*table);
  if (prepared->classes().cut_short) cut_short();
  return *prepared;
}

compiler::Names names_in(const records::Table& table, const compiler::Scope& outer) {
  compiler::Names names(&outer);
  if (table.points.empty()) return names;
  for (const auto& [name, value] : table.points.front().at) {
    const bool agreed = std::all_of(table.points.begin(), table.points.end(), [&, name = name, value = value](const records::Point& point) {
      const auto at = point.at.find(name);
      return at != point.at.end() && at->second == value;
    });
    if (agreed) names.set(name, value);
  }
  return names;
}

std::vector<MeasuredStages> MeasuredStages::by_setup(const compiler::Scope& outer) const {
  std::vector<MeasuredStages> parts(1);
  std::map<std::string, std::size_t> part_of;  // by what is written, and what it was
  for (const auto& measured : all_) {
    const auto& all = *measured.table;
    std::map<std::string, std::vector<const records::Point*>> points;
    for (const auto& point : all.points) points[setup_at(*measured.stage, point, outer)].push_back(&point);
    if (points.size() < 2) {
      parts.front().all_.push_back(measured);
      continue;
    }
    for (const auto& [values, alike] : points) {
      const auto number = part_of.try_emplace(setup(*measured.stage) + values, parts.size()).first->second;
      if (number == parts.size()) parts.emplace_back();
      records::Table table{all.stage, all.timed, all.timing, all.columns, {}};
      for (const auto* point : alike) table.points.push_back(*point);
      const auto held = std::make_shared<const records::Table>(std::move(table));
      parts[number].all_.push_back({measured.stage, held.get(), nullptr, held});
    }
  }
  return parts;
}

compiler::Names MeasuredStages::names_of(const compiler::Stage& stage, const compiler::Scope& outer) const {
  const auto own = std::find_if(all_.begin(), all_.end(), [&](const Measured& each) { return each.stage == &stage; });
  return own == all_.end() ? compiler::Names(&outer) : names_in(*own->table, outer);
}

std::vector<const MeasuredStages::Measured*> MeasuredStages::of_same_access(const compiler::Stage& stage) const {
  std::vector<const Measured*> same;
  for (const auto& measured : all_) {
    if (measured.stage->flushes.empty() && same_access(*measured.stage, stage)) same.push_back(&measured);
  }
  return same;
}

std::vector<const records::Table*> MeasuredStages::of_same_levels(const compiler::Stage& stage) const {
  std::vector<const records::Table*> same;
  for (const auto& measured : all_) {
    if (same_access(*measured.stage, stage) && launch(*measured.stage) == launch(stage)) same.push_back(measured.table);
  }
  return same;
}

bool PreparedRecords::has_untold_misses() const {
  if (!untold_) untold_ = infer::has_untold_misses(table(), classes_);
  return *untold_;
}

}  // namespace gexp::infer
