// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "runtime/infer/infer.h"
#include "runtime/result/point_table.h"

namespace gexp::result {
namespace {

constexpr double kSure = 0.9;  // confidence of a finding that can contradict another

const infer::Finding* find(const RunResult& result, const std::string& id) {
  const auto found = std::find_if(result.findings.begin(), result.findings.end(), [&](const auto& finding) { return finding.id == id; });
  return found == result.findings.end() ? nullptr : &*found;
}

const compiler::Stage* stage_of(const compiler::Program& program, const std::string& id) {
  const auto found = std::find_if(program.stages.begin(), program.stages.end(), [&](const auto& stage) { return id.starts_with(stage.name + "."); });
  return found == program.stages.end() ? nullptr : &*found;
}

const StageResult* records_of(const RunResult& result, const compiler::Stage* stage) {
  const auto found = std::find_if(result.stages.begin(), result.stages.end(), [&](const auto& kept) { return stage && kept.name == stage->name && !kept.table.points.empty(); });
  return found == result.stages.end() ? nullptr : &*found;
}

/// The least repetitions of a point; 0: there are no records.
std::size_t repetitions(const StageResult* records) {
  if (!records) return 0;
  std::size_t least = records->table.points[0].runs.size();
  for (const auto& point : records->table.points) least = std::min(least, point.runs.size());
  return least;
}

/// A stage's records as if each repetition were all that there is.
struct Repetition {
  records::Table table;
  std::optional<infer::PreparedRecords> prepared;  ///< of `table`
};

/// Asks a result's questions of each repetition alone. What questions share is made once a stage, and an answer once a finding,
/// however many of its fields are compared.
class Repetitions {
 public:
  explicit Repetitions(const ComparedResult& side) : side_(side) {}
  /// What a finding is by each repetition alone; empty where one does not answer.
  const std::vector<Value>& ask(const std::string& id) {
    const auto [answer, fresh] = answers_.try_emplace(id);
    if (fresh) answer->second = answer_of(id);
    return answer->second;
  }

 private:
  std::vector<Value> answer_of(const std::string& id) {
    const auto* stage = stage_of(side_.program, id);
    const auto* records = records_of(side_.result, stage);
    const auto runs = repetitions(records);
    if (runs < 2) return {};
    const auto asked = std::find_if(stage->finds.begin(), stage->finds.end(), [&](const auto& question) { return question.id == id; });
    const auto outer = scope_of(side_.program, *records);
    if (asked == stage->finds.end() || !outer) return {};
    if (asked->combined) return combined(*asked, *outer, runs);
    auto question = *asked;
    question.need = 0;
    compiler::Names scope(&*outer);
    for (const auto& other : stage->finds) {
      if (const auto* finding = find(side_.result, other.id)) scope.set(other.id.substr(stage->name.size() + 1), finding->value), scope.set(other.id, finding->value);
    }
    std::vector<Value> values;
    auto& all = of_stage(*stage, *records, runs);
    for (auto& repetition : all) {
      if (!repetition.prepared) repetition.prepared.emplace(repetition.table);
      auto finding = infer::answer(question, *repetition.prepared, *stage, scope);
      if (!finding.value.known()) return {};
      values.push_back(std::move(finding.value));
    }
    return values;
  }

  /// What an analysis of one's own gives, of what its parts are by each repetition.
  std::vector<Value> combined(const compiler::Question& question, const compiler::Scope& outer, std::size_t runs) {
    std::vector<Value> values;
    for (std::size_t run = 0; run < runs; ++run) {
      compiler::Names scope(&outer);
      for (const auto& part : question.parts) {
        const auto& answers = ask(part);
        if (answers.size() != runs) return {};
        scope.set(part, answers[run]);
      }
      auto value = question.each ? Result<Value>(Value()) : compiler::evaluate(*question.combined, scope);
      if (!value || !value->known()) return {};
      values.push_back(std::move(*value));
    }
    return values;
  }

  std::deque<Repetition>& of_stage(const compiler::Stage& stage, const StageResult& records, std::size_t runs) {
    if (stage_ == &stage) return all_;
    stage_ = &stage;
    all_.clear();
    const auto corrected = infer::correct_drift(records.table);
    const auto& whole = corrected ? corrected->table : records.table;
    auto empty = whole;
    for (auto& point : empty.points) point.runs.clear();
    for (std::size_t run = 0; run < runs; ++run) {
      auto& one = all_.emplace_back(Repetition{empty, {}});
      for (std::size_t i = 0; i < one.table.points.size(); ++i) one.table.points[i].runs = {whole.points[i].runs[run]};
    }
    return all_;
  }

  const ComparedResult& side_;
  std::map<std::string, std::vector<Value>> answers_;
  const compiler::Stage* stage_ = nullptr;  ///< whose repetitions `all_` holds: findings come stage by stage
  std::deque<Repetition> all_;
};

/// One finding, or one field of it, on one side.
struct Told {
  const ComparedResult* side = nullptr;
  Repetitions* repetitions = nullptr;
  const infer::Finding* finding = nullptr;  ///< null: not asked there
  std::string field;
  const Value* value = nullptr;             ///< null: not found
};

const Value* field_of(const Value& value, const std::string& field) {
  if (field.empty()) return value.known() ? &value : nullptr;
  const auto* fields = value.get<Fields>();
  const auto found = fields ? fields->find(field) : Fields::const_iterator{};
  return fields && found != fields->end() && found->second.known() ? &found->second : nullptr;
}

/// A number, or those of a list; nothing else has a margin.
std::optional<std::vector<Number>> numbers_of(const Value& value) {
  if (const auto* n = value.get<Number>()) return std::vector{*n};
  const auto* list = value.get<List>();
  if (!list) return std::nullopt;
  std::vector<Number> numbers;
  for (const auto& item : *list) {
    const auto* n = item.get<Number>();
    if (!n) return std::nullopt;
    numbers.push_back(*n);
  }
  return numbers;
}

/// Times, rates and shares; sizes and counts are what they are.
bool measured(const std::vector<Number>& numbers) {
  return std::any_of(numbers.begin(), numbers.end(), [](const Number& n) {
    return n.dimension.cycles != 0 || n.dimension.seconds != 0 || (n.dimension.none() && n.number != std::floor(n.number));
  });
}

/// By element, by repetition; empty where the repetitions do not answer alike.
std::vector<std::vector<double>> by_repetition(const Told& told, std::size_t elements) {
  std::vector<std::vector<double>> values(elements);
  for (const auto& again : told.repetitions->ask(told.finding->id)) {
    const auto* field = field_of(again, told.field);
    const auto numbers = field ? numbers_of(*field) : std::nullopt;
    if (!numbers || numbers->size() != elements) return {};
    for (std::size_t i = 0; i < elements; ++i) values[i].push_back((*numbers)[i].number);
  }
  return values.empty() || values[0].empty() ? std::vector<std::vector<double>>{} : values;
}

struct Judged {
  Agreement agreement = Agreement::Same;
  std::string why;
};

std::string interval_text(const std::pair<double, double>& interval) { return fmt::format("[{:g}, {:g}]", interval.first, interval.second); }

/// What is left where repetitions do not help: the values as they are.
Judged by_value(const Told& a, const Told& b, const std::vector<Number>& x, const std::vector<Number>& y, double margin, double resolution) {
  bool near = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    near = near && std::fabs(x[i].number - y[i].number) <= std::max(margin * std::max(std::fabs(x[i].number), std::fabs(y[i].number)), resolution);
  }
  for (const auto* told : {&a, &b}) {
    if (repetitions(records_of(told->side->result, stage_of(told->side->program, told->finding->id))) == 1) return {Agreement::Ambiguous, "too few repetitions: one on " + told->side->name};
  }
  // An interval of a latency is the width of its class, not how well it is known.
  const auto &i = a.finding->interval, &j = b.finding->interval;
  const bool known = a.field.empty() && x.size() == 1 && x[0].dimension != kCycles && i && j;
  if (!known) return near ? Judged{} : Judged{Agreement::Different, "by the values alone"};
  const double low = j->first - i->second, high = j->second - i->first;
  const double zero_floor = margin * std::max(std::fabs(x[0].number), std::fabs(y[0].number));
  const auto why = fmt::format("their intervals are {} and {}", interval_text(*i), interval_text(*j));
  if (low >= -zero_floor && high <= zero_floor) return {};
  return {low > zero_floor || high < -zero_floor ? Agreement::Different : Agreement::Ambiguous, why};
}

Judged by_measure(const Told& a, const Told& b, const std::vector<Number>& x, const std::vector<Number>& y, double margin) {
  const auto* records = records_of(a.side->result, stage_of(a.side->program, a.finding->id));
  // One cycle is what a clock can tell, where it timed each access.
  const double resolution = x[0].dimension == kCycles && records && records->table.timing == records::Table::Timing::Each ? 1 : 0;
  const auto p = by_repetition(a, x.size()), q = p.empty() ? p : by_repetition(b, x.size());
  if (q.empty()) return by_value(a, b, x, y, margin, resolution);
  std::vector<infer::Pair> pairs;
  for (std::size_t i = 0; i < x.size(); ++i) pairs.push_back({p[i], q[i]});
  const auto all = infer::differences(pairs, {margin, resolution, 0, kCurveChance});
  const auto worse = [](const infer::Difference& one, const infer::Difference& other) { return std::pair(one.agreement, std::fabs(one.b - one.a)) < std::pair(other.agreement, std::fabs(other.b - other.a)); };
  const auto worst = *std::max_element(all.begin(), all.end(), worse);
  if (worst.agreement == Agreement::Same) return {};
  const auto unit = x[0].dimension;
  const auto where = x.size() > 1 ? fmt::format("{} and {}: ", show(worst.a, unit), show(worst.b, unit)) : std::string();
  if (worst.exact()) return {worst.agreement, where + "in every repetition"};
  return {worst.agreement, where + fmt::format("apart by {} to {} ({:g} %, {} repetitions)", show(worst.low, unit), show(worst.high, unit), 100 * (1 - kCurveChance), worst.repetitions)};
}

std::string why_not(const Told& told) {
  if (!told.finding) return "not asked on " + told.side->name;
  return fmt::format("undetermined on {}{}{}", told.side->name, told.finding->why.empty() || told.finding->value.known() ? "" : ": ", told.finding->value.known() ? "" : told.finding->why);
}

Judged judge(const Told& a, const Told& b, double margin) {
  if (!a.value && !b.value) return {Agreement::Undetermined, "undetermined on both" + (a.finding && !a.finding->why.empty() ? ": " + a.finding->why : "")};
  if (!a.value || !b.value) return {Agreement::Ambiguous, why_not(a.value ? b : a)};
  if (*a.value == *b.value) return {};
  const auto x = numbers_of(*a.value), y = numbers_of(*b.value);
  if (x && y && !x->empty() && x->size() == y->size() && (measured(*x) || measured(*y))) {
    const bool one_unit = x->front().dimension == y->front().dimension;
    return one_unit ? by_measure(a, b, *x, *y, margin) : Judged{Agreement::Different, "another unit"};
  }
  const auto &i = a.finding->interval, &j = b.finding->interval;
  if (a.field.empty() && i && j && i->first <= j->second && j->first <= i->second) {
    return {Agreement::Ambiguous, fmt::format("their intervals meet: {} and {}", interval_text(*i), interval_text(*j))};
  }
  const auto& least = a.finding->confidence < b.finding->confidence ? a : b;
  if (least.finding->confidence < kSure) return {Agreement::Ambiguous, fmt::format("at {:.4g} % confidence on {}", 100 * least.finding->confidence, least.side->name)};
  return {Agreement::Different, {}};
}

ComparedFinding row_of(const std::string& id, const std::vector<Told>& told, double margin) {
  ComparedFinding row;
  row.id = id;
  for (const auto& each : told) row.values.push_back(each.value ? show(*each.value) : "undetermined");
  for (std::size_t i = 0; i < told.size(); ++i) {
    for (std::size_t j = i + 1; j < told.size(); ++j) {
      auto judged = judge(told[i], told[j], margin);
      if (judged.agreement <= row.agreement) continue;
      row.agreement = judged.agreement;
      row.why = std::move(judged.why);
    }
  }
  return row;
}

}  // namespace

std::vector<ComparedFinding> compare(const std::vector<ComparedResult>& sides, double margin) {
  std::vector<ComparedFinding> rows;
  std::vector<Repetitions> repetitions;
  for (const auto& side : sides) repetitions.emplace_back(side);
  std::vector<std::string> ids;  // those that all have, in their order
  for (const auto& finding : sides.front().result.findings) {
    if (std::all_of(sides.begin(), sides.end(), [&](const ComparedResult& side) { return find(side.result, finding.id); })) ids.push_back(finding.id);
  }
  for (const auto& id : ids) {
    std::vector<Told> told;
    std::vector<std::string> fields;  // of all sides, in their order
    for (const auto& side : sides) {
      const auto* finding = find(side.result, id);
      told.push_back({&side, &repetitions[told.size()], finding, {}, field_of(finding->value, {})});
      const auto* own = finding->value.get<Fields>();
      if (!own) continue;
      for (const auto& [name, value] : *own) {
        if (value.known() && std::find(fields.begin(), fields.end(), name) == fields.end()) fields.push_back(name);
      }
    }
    if (fields.empty()) rows.push_back(row_of(id, told, margin));
    for (const auto& name : fields) {
      auto of_field = told;
      for (auto& each : of_field) each.field = name, each.value = field_of(each.finding->value, name);
      rows.push_back(row_of(id + "." + name, of_field, margin));
    }
  }
  return rows;
}

std::vector<Change> provenance(const RunResult& a, const RunResult& b) {
  std::vector<Change> changes;
  const auto change = [&](const char* what, const std::string& x, const std::string& y) {
    if (x != y) changes.push_back({what, x.empty() ? "none" : x, y.empty() ? "none" : y});
  };
  const auto settings = [](const RunResult& result) {
    std::string text;
    for (const auto& [name, value] : result.settings) text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
  };
  const auto megahertz = [](double hertz) { return fmt::format("{:.0f} MHz", hertz / 1e6); };
  const auto on = [](bool is) { return std::string(is ? "on" : "off"); };
  const auto &x = a.device, &y = b.device;
  change("device", fmt::format("{} ({})", x.id, x.name), fmt::format("{} ({})", y.id, y.name));
  change("GPU", x.uuid, y.uuid);
  change("model file", x.model_sha256.substr(0, 12), y.model_sha256.substr(0, 12));
  change("driver", x.driver, y.driver);
  change("SM clock", megahertz(x.sm_clock_hz), megahertz(y.sm_clock_hz));
  change("memory clock", megahertz(x.memory_clock_hz), megahertz(y.memory_clock_hz));
  change("ECC", on(x.ecc), on(y.ecc));
  change("MIG", on(x.mig), on(y.mig));
  change("NVRTC", a.nvrtc, b.nvrtc);
  change("gexp", a.gexp_version, b.gexp_version);
  change("spec", a.spec_sha256.substr(0, 12), b.spec_sha256.substr(0, 12));
  change("seed", std::to_string(a.seed), std::to_string(b.seed));
  change("settings", settings(a), settings(b));
  change("end", word(a.end), word(b.end));
  return changes;
}

namespace {

bool same_records(const records::Table& a, const records::Table& b) {
  return std::equal(a.points.begin(), a.points.end(), b.points.begin(), b.points.end(), [](const records::Point& x, const records::Point& y) {
    return std::equal(x.runs.begin(), x.runs.end(), y.runs.begin(), y.runs.end(),
                      [](const records::Run& r, const records::Run& s) { return r.ticks == s.ticks && r.elapsed == s.elapsed; });
  });
}

/// The result in which a stage was measured is known by its date; its own result need not know the number that it has in a store.
std::string measured_at(const RunResult& result, const StageResult& stage) { return stage.kept ? stage.kept->date : result.date; }

}  // namespace

std::vector<std::string> same_measurement(const RunResult& a, const RunResult& b) {
  std::vector<std::string> stages;
  for (const auto& stage : a.stages) {
    const auto other = std::find_if(b.stages.begin(), b.stages.end(), [&](const StageResult& s) { return s.name == stage.name; });
    if (other == b.stages.end() || (!stage.kept && !other->kept)) continue;
    if (measured_at(a, stage) == measured_at(b, *other) && same_records(stage.table, other->table)) stages.push_back(stage.name);
  }
  return stages;
}

std::vector<std::string> only_in(const ComparedResult& a, const ComparedResult& b) {
  std::vector<std::string> missing;
  for (const auto& finding : a.result.findings) {
    if (!find(b.result, finding.id)) missing.push_back(finding.id);
  }
  for (const auto& stage : a.program.stages) {
    const auto other = std::find_if(b.program.stages.begin(), b.program.stages.end(), [&](const auto& s) { return s.name == stage.name; });
    if (other == b.program.stages.end()) {
      missing.push_back("stage " + stage.name);
      continue;
    }
    const auto columns = columns_of(*other);
    for (const auto& column : columns_of(stage)) {
      if (std::none_of(columns.begin(), columns.end(), [&](const Column& own) { return own.name == column.name; })) missing.push_back("column " + stage.name + "." + column.name);
    }
  }
  return missing;
}

}  // namespace gexp::result
