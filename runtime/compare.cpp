// SPDX-License-Identifier: Apache-2.0
#include "runtime/compare.h"

#include <algorithm>
#include <cmath>

namespace gexp::runtime {
namespace {

constexpr double kAlike = 0.02;  // of the larger: launches of one device differ by as much

struct Told {
  const Value* value = nullptr;  ///< null: not found
  const infer::Finding* finding = nullptr;
};

bool alike(const Value& a, const Value& b) {
  if (const auto *x = a.get<List>(), *y = b.get<List>(); x && y) {
    return std::equal(x->begin(), x->end(), y->begin(), y->end(), [](const Value& p, const Value& q) { return alike(p, q); });
  }
  const auto *x = a.get<Number>(), *y = b.get<Number>();
  if (!x || !y) return a == b;
  return std::fabs(x->number - y->number) <= kAlike * std::max(std::fabs(x->number), std::fabs(y->number));
}

bool alike(const Told& a, const Told& b) {
  if (!a.value || !b.value) return !a.value && !b.value;
  if (alike(*a.value, *b.value)) return true;
  const auto *x = a.value->get<Number>(), *y = b.value->get<Number>();
  // An interval of a latency is the width of its class, not how well it is known.
  if (!x || !y || x->dimension == kCycles) return false;
  const auto &i = a.finding->interval, &j = b.finding->interval;
  return i && j && i->first <= j->second && j->first <= i->second;
}

Compared compared(std::string id, const std::vector<Told>& told) {
  Compared row{std::move(id), {}, true};
  for (const auto& each : told) {
    row.values.push_back(each.value ? show(*each.value) : "undetermined");
    for (const auto& other : told) row.same = row.same && alike(each, other);
  }
  return row;
}

const infer::Finding* find(const RunResult& result, const std::string& id) {
  const auto found = std::find_if(result.findings.begin(), result.findings.end(), [&](const auto& finding) { return finding.id == id; });
  return found == result.findings.end() || !found->value.known() ? nullptr : &*found;
}

}  // namespace

std::vector<Compared> compare(const std::vector<const RunResult*>& results) {
  std::vector<Compared> rows;
  std::vector<std::string> ids;  // of all results, in their order
  for (const auto* result : results) {
    for (const auto& finding : result->findings) {
      if (std::find(ids.begin(), ids.end(), finding.id) == ids.end()) ids.push_back(finding.id);
    }
  }
  for (const auto& id : ids) {
    std::vector<Told> told;
    std::vector<std::string> fields;  // of all devices, in their order
    for (const auto* result : results) {
      const auto* finding = find(*result, id);
      told.push_back({finding ? &finding->value : nullptr, finding});
      const auto* own = finding ? finding->value.get<Fields>() : nullptr;
      if (!own) continue;
      for (const auto& [name, value] : *own) {
        if (value.known() && std::find(fields.begin(), fields.end(), name) == fields.end()) fields.push_back(name);
      }
    }
    if (fields.empty()) rows.push_back(compared(id, told));
    for (const auto& name : fields) {
      auto of_field = told;
      for (auto& device : of_field) {
        const auto* own = device.value ? device.value->get<Fields>() : nullptr;
        const auto field = own ? own->find(name) : Fields::const_iterator{};
        device.value = own && field != own->end() && field->second.known() ? &field->second : nullptr;
      }
      rows.push_back(compared(id + "." + name, of_field));
    }
  }
  return rows;
}

}  // namespace gexp::runtime
