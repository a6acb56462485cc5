// SPDX-License-Identifier: Apache-2.0
// A run's findings are changed one after the other: a number is halved or doubled, then nothing, a tenth, ten or a hundred times as much; a
// truth is its contrary, a name another, a list lacks its last item; launches that ended hang, and those that hung end; at last a finding is
// what another one of its kind is. A published result that holds under all of this says nothing of the device, so it is told. can_fail.py
// changes the model, and runs everything again.
#include "tests/experiments/can_fail.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "runtime/cli/saved.h"
#include "runtime/measure/session.h"

namespace gexp::papers {
namespace {

using Status = result::Judgement::Status;

constexpr double kNear[] = {0.5, 2}, kFar[] = {0, 0.1, 10, 100};
constexpr std::size_t kMostItems = 64;  // of a list, from either end, that are changed each on its own

/// Calls `use` with each value that `value` becomes where one number, truth or name of it is changed.
void each_change(const Value& value, std::span<const double> factors, const std::function<void(Value)>& use) {
  if (const auto* n = value.get<Number>()) {
    for (const double factor : factors) use(Value(n->number == 0 ? factor : n->number * factor, n->dimension));
  } else if (const auto* b = value.get<bool>()) {
    use(Value(!*b));
  } else if (value.get<std::string>()) {
    use(Value("another"));
  } else if (const auto* list = value.get<List>()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (i >= kMostItems && i + kMostItems < list->size()) continue;
      each_change((*list)[i], factors, [&](Value item) {
        auto changed = *list;
        changed[i] = std::move(item);
        use(Value(std::move(changed)));
      });
    }
    if (!list->empty()) use(Value(List(list->begin(), list->end() - 1)));
  } else if (const auto* fields = value.get<Fields>()) {
    for (const auto& [name, field] : *fields) {
      each_change(field, factors, [&](Value part) {
        auto changed = *fields;
        changed[name] = std::move(part);
        use(Value(std::move(changed)));
      });
    }
  }
}

bool of_one_kind(const Value& a, const Value& b) {
  const auto *m = a.get<Number>(), *n = b.get<Number>();
  return a.of.index() == b.of.index() && a.known() && (!m || m->dimension == n->dimension);
}

/// The places of those that hold in `result` and no longer where something of one finding is changed. `others`: or is another finding's value.
std::set<std::size_t> failing(const compiler::Program& program, const result::RunResult& result, std::span<const double> factors, bool others) {
  std::set<std::size_t> failed;
  const auto judge = [&](result::RunResult other) {
    if (!measure::judge_again(program, other)) return;
    for (std::size_t k = 0; k < other.expectations.size(); ++k) {
      if (other.expectations[k].status != Status::Pass) failed.insert(k);
    }
  };
  for (std::size_t i = 0; i < result.findings.size(); ++i) {
    const auto use = [&](Value changed) {
      auto other = result;
      other.findings[i].value = std::move(changed);
      other.findings[i].exact = true;
      judge(std::move(other));
    };
    each_change(result.findings[i].value, factors, use);
    for (const auto& another : result.findings) {
      if (others && of_one_kind(result.findings[i].value, another.value)) use(another.value);
    }
  }
  using End = device::Outcome::Status;
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    auto other = result;
    for (auto& point : other.stages[i].table.points) point.outcome.status = point.outcome.done() ? End::Timeout : End::Done;
    judge(std::move(other));
  }
  return failed;
}

}  // namespace

Margins margins_of(const std::filesystem::path& path) {
  Margins margins;
  const auto refuse = [&](const std::string& why) {
    margins.held.push_back(why);
    return margins;
  };
  auto saved = cli::read_saved(path.string(), cli::kNoStore);
  if (!saved) return refuse(saved.error().message);
  auto& [program, result] = *saved;
  for (auto& stage : result.stages) {  // only how its first point ended is read, and there are many copies
    if (stage.table.points.size() > 1) stage.table.points.resize(1);
    for (auto& point : stage.table.points) point.runs.clear();
  }
  if (auto done = measure::judge_again(program, result); !done) return refuse(done.error().message);
  const auto near = failing(program, result, kNear, false), further = failing(program, result, kFar, true);
  for (std::size_t k = 0; k < result.expectations.size(); ++k) {
    const auto& each = result.expectations[k];
    if (each.from.empty() || each.status != Status::Pass) continue;
    if (near.contains(k)) ++margins.near;
    else if (further.contains(k)) ++margins.further;
    else margins.held.push_back(each.text);
  }
  return margins;
}

}  // namespace gexp::papers
