// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/outcomes.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/infer/record_functions.h"
#include "runtime/result/judge.h"

namespace gexp::measure {
namespace {

using Status = device::Outcome::Status;

const char* name_of(Status end) { return end == Status::Timeout ? "hang" : "fault"; }

bool reads(const compiler::Expectation& expect, Status end) {
  const auto names = compiler::free_names(*expect.condition);
  return std::find(names.begin(), names.end(), name_of(end)) != names.end();
}

bool has_finding(const compiler::Stage& stage, Status end) {
  return std::any_of(stage.finds.begin(), stage.finds.end(), [&](const auto& find) { return find.id == stage.name + "." + name_of(end); });
}

/// Whether what is made of the records of single points reads it.
bool reads_in_rows(const compiler::Stage& stage, Status end) {
  std::vector<compiler::FormulaPtr> rows{stage.repeat.until};
  for (const auto& sweep : stage.sweeps) rows.insert(rows.end(), {sweep.until, sweep.refine_on});
  for (const auto& derive : stage.derives) rows.push_back(derive.formula);
  for (const auto& find : stage.finds) {
    for (const auto& argument : find.arguments) rows.insert(rows.end(), {argument.value, argument.over, argument.where});
  }
  return std::any_of(rows.begin(), rows.end(), [&](const auto& row) { return row && infer::reads_outcome(stage, *row, name_of(end)); });
}

}  // namespace

bool asks_about(const compiler::Stage& stage, const compiler::Scope& scope, const device::DeviceInfo& device, Status end) {
  if ((end != Status::Timeout && end != Status::Fault) || has_finding(stage, end) || scope.lookup(name_of(end))) return false;
  if (reads_in_rows(stage, end)) return true;
  return std::any_of(stage.expects.begin(), stage.expects.end(), [&](const compiler::Expectation& expect) {
    if (!reads(expect, end)) return false;
    const auto& on = expect.on;
    if (!on.empty() && std::none_of(on.begin(), on.end(), [&](const auto& selector) { return result::selects(selector, device); })) return false;
    if (!expect.where) return true;
    const auto here = compiler::evaluate(*expect.where, scope);
    const auto* holds = here ? here->get<bool>() : nullptr;
    return !holds || *holds;
  });
}

void set_outcomes(const compiler::Stage& stage, const records::Table* table, compiler::Names& inner) {
  for (const auto end : {Status::Timeout, Status::Fault}) {
    if (has_finding(stage, end) || inner.lookup(name_of(end))) continue;
    const auto points = table ? static_cast<std::ptrdiff_t>(table->points.size()) : 0;
    const auto ended = table ? std::count_if(table->points.begin(), table->points.end(), [&](const auto& point) { return point.outcome.status == end; }) : 0;
    // Of a launch that was broken off, or never ran where it was to, nothing is known.
    const bool known = points > 0 && std::all_of(table->points.begin(), table->points.end(), [](const auto& point) {
      return point.outcome.status != Status::Unplaced && point.outcome.status != Status::Interrupted;
    });
    inner.set(name_of(end), known && (ended == points || ended == 0) ? Value(ended > 0) : Value());
  }
}

std::string told_outcome(const compiler::Expectation& expect, const records::Table& table) {
  if (!reads(expect, Status::Timeout) && !reads(expect, Status::Fault)) return {};
  const auto bad = std::count_if(table.points.begin(), table.points.end(), [](const auto& point) { return !point.outcome.done(); });
  const auto first = std::find_if(table.points.begin(), table.points.end(), [](const auto& point) { return !point.outcome.done(); });
  if (bad == 0) return fmt::format("all {} points ended well", table.points.size());
  return fmt::format("{} of {} points ended otherwise; the first by {}: {}", bad, table.points.size(), word(first->outcome.status), first->outcome.what);
}

}  // namespace gexp::measure
