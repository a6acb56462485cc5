// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/selections.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/record_parts.h"

// An analysis sees a table of points and knows of no selection. A part of a record, a warp say, is made a coordinate: each point becomes
// one for each warp, with that warp's values and walk. What is slower than what still is decided by all records of the stage.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostAnswers = 256;  // limit: answers of one finding
constexpr std::size_t kMostPoints = 65536; // limit: points of a stage with the parts of its records
constexpr std::size_t kShown = 16;         // limit: answers that the evidence tells

const compiler::Formula::Argument* data_of(const compiler::Question& question) { return labelled(question, ""); }

PointScope scope_of(const Asked& asked, std::size_t point) {
  return {asked.prepared.table(), asked.prepared.classes(), point, asked.stage, asked.outer, OneClass::Unknown};
}

/// What makes parts of a record coordinates: `by`, unless the analysis looks at the walk's parts itself, and `over`.
Selection selection_of(const Asked& asked, const compiler::Formula::Argument& data, const compiler::Scope& scope) {
  Selection selection{data.where.get(), {}};
  const bool own = asked.question.analysis == "clusters" && data.by == "seg";
  if (!data.by.empty() && !own && is_part(data.by, scope)) selection.by.push_back(data.by);
  if (data.over && data.over->kind == compiler::Formula::Kind::Name && data.over->text != data.by && is_part(data.over->text, scope)) {
    selection.by.push_back(data.over->text);
  }
  return selection;
}

struct Selected {
  records::Table table;
  bool parts = false;  ///< they are told of the values of a point, not of points alone
};

/// Whether `where` keeps a point that has no record.
Result<bool> of_point(const compiler::Formula::Argument& data, const compiler::Scope& scope) {
  if (!data.where) return true;
  const auto kept = compiler::evaluate(*data.where, scope);
  if (!kept) return kept.error();
  const auto* holds = kept->get<bool>();
  return holds && *holds;
}

Result<Selected> selected(const Asked& asked, const compiler::Formula::Argument& data) {
  const auto& table = asked.prepared.table();
  Selected kept{{table.stage, table.timed, table.timing, table.columns, {}}};
  const bool of_outcomes = reads_outcome(asked.stage, *data.value);
  for (std::size_t i = 0; i < table.points.size(); ++i) {
    if (table.points[i].runs.empty() && !of_outcomes) continue;
    work();
    const auto scope = scope_of(asked, i);
    if (table.points[i].runs.empty()) {
      if (auto whole = of_point(data, scope); !whole) return whole.error();
      else if (*whole) kept.table.points.push_back(table.points[i]);
      continue;
    }
    const auto selection = selection_of(asked, data, scope);
    kept.parts = kept.parts || !selection.by.empty() || (data.where && !parts_in(*data.where, scope).empty());
    if (kept.table.columns.size() == table.columns.size()) kept.table.columns.insert(kept.table.columns.end(), selection.by.begin(), selection.by.end());
    auto parts = parts_of(table.points[i], table, asked.stage, selection, scope);
    if (!parts) return parts.error();
    std::move(parts->begin(), parts->end(), std::back_inserter(kept.table.points));
    if (kept.table.points.size() > kMostPoints) {
      return failure("E0403", fmt::format("the stage would have more than {} points with the parts of its records; a `where` that keeps fewer would decide", kMostPoints));
    }
  }
  return kept;
}

Finding undetermined_of(const Asked& asked, std::string why) {
  Finding finding;
  finding.id = asked.question.id;
  finding.unit = asked.question.type;
  finding.why = std::move(why);
  return finding;
}

Finding nothing_kept(const Asked& asked, const Selected& kept) {
  const auto measured = asked.prepared.table().points.size();
  return undetermined_of(asked, kept.parts ? fmt::format("`where` keeps none of the record's values at any of the {} points; a condition that some of them meet would decide", measured)
                                           : fmt::format("`where` keeps none of the {} points; a condition that some of them meet would decide", measured));
}

Finding ask(Analysis analysis, const Asked& asked, const records::Table& table, const Classes& own) {
  const auto& prepared = asked.prepared;
  return analysis({asked.question, table, asked.stage, asked.outer, prepared.classes(), own, prepared.drift(), &asked.earlier, &prepared.table()});
}

/// The value of `by` at a point; unknown where it has none there.
Value value_of(const records::Point& point, const std::string& by) {
  const auto found = point.at.find(by);
  return found == point.at.end() ? Value() : found->second;
}

Finding each_answer(Analysis analysis, const Asked& asked, const std::string& by, const records::Table& table) {
  std::vector<std::pair<Value, records::Table>> groups;
  const auto* data = data_of(asked.question);
  const bool of_outcomes = data && reads_outcome(asked.stage, *data->value);
  for (const auto& point : table.points) {
    if (point.runs.empty() && !of_outcomes) continue;
    const auto value = value_of(point, by);
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& each) { return each.first == value; });
    if (group == groups.end()) group = groups.insert(groups.end(), {value, {table.stage, table.timed, table.timing, table.columns, {}}});
    group->second.points.push_back(point);
    work();
    if (groups.size() > kMostAnswers) {
      return undetermined_of(asked, fmt::format("`{}` has more than {} values, and each would have an answer of its own; a `where` that keeps fewer would decide", by, kMostAnswers));
    }
  }
  auto made = undetermined_of(asked, {});
  made.confidence = 1;
  List answers;
  std::string missing;
  std::size_t shown = 0;
  for (const auto& [value, own] : groups) {
    auto answer = ask(analysis, asked, own, classes_of(own));
    const auto name = fmt::format("{} = {}", by, show(value));
    if (answer.status != Finding::Status::Found) {
      if (missing.empty()) missing = fmt::format("{}: {}", name, answer.why);
      continue;
    }
    made.confidence = std::min(made.confidence, answer.confidence);
    if (++shown <= kShown) made.evidence += fmt::format("{}{}: {} ({:.2f} %)", made.evidence.empty() ? "" : "; ", name, show(answer.value), 100 * answer.confidence);
    answers.push_back(std::move(answer.value));
  }
  if (shown > kShown) made.evidence += fmt::format("; and {} more", shown - kShown);
  if (!missing.empty()) {
    made.confidence = 0;
    made.why = fmt::format("{} of {} answers are missing; {}", groups.size() - answers.size(), groups.size(), missing);
    return made;
  }
  made.why = groups.size() == 1 ? fmt::format("`{}` has one value, {}", by, show(groups.front().first))
                                : fmt::format("an answer for each of {} values of `{}`; the confidence is that of the least sure one", groups.size(), by);
  made.status = Finding::Status::Found;
  made.value = Value(std::move(answers));
  return made;
}

}  // namespace

Finding answer_selected(Analysis analysis, const Asked& asked) {
  const auto* data = data_of(asked.question);
  const bool each = data && !data->by.empty() && asked.question.each;
  const auto& prepared = asked.prepared;
  const bool all = !data || (!data->where && data->by.empty() && !(data->over && data->over->kind == compiler::Formula::Kind::Name && may_be_part(data->over->text)));
  if (all) return ask(analysis, asked, prepared.table(), prepared.classes());
  const auto kept = selected(asked, *data);
  if (!kept) return undetermined_of(asked, kept.error().message);
  if (kept->table.points.empty()) return nothing_kept(asked, *kept);
  if (each) return each_answer(analysis, asked, data->by, kept->table);
  const bool whole = !data->where && !kept->parts;
  return ask(analysis, asked, whole ? prepared.table() : kept->table, whole ? prepared.classes() : classes_of(kept->table));
}

}  // namespace gexp::infer
