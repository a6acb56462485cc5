// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/counters.h"

#include <algorithm>

namespace gexp::device {

void add_counts(Counters& to, const Counters& more) {
  for (std::size_t k = 0; k < more.size(); ++k) {
    const auto& [name, count] = more[k];
    // Devices of one kind count the same in the same order.
    auto at = k < to.size() && to[k].first == name
                  ? to.begin() + static_cast<std::ptrdiff_t>(k)
                  : std::find_if(to.begin(), to.end(), [&, &wanted = name](const auto& each) { return each.first == wanted; });
    if (at == to.end())
      to.push_back(more[k]);
    else
      at->second += count;
  }
}

std::uint64_t count_of(const Counters& counters, std::string_view name) {
  const auto at = std::find_if(counters.begin(), counters.end(), [&](const auto& each) { return each.first == name; });
  return at == counters.end() ? 0 : at->second;
}

const std::vector<CounterRow>& counter_rows() {
  static const std::vector<CounterRow> rows{
#define COUNT(name, unit, meaning) {#name, unit, meaning},
#define REPLAY(name, unit, meaning) {"replays." #name, unit, meaning},
#define STALL(Id, name, meaning) {"stalled." name, "cycle", meaning},
#define LEVEL(name, unit, meaning) {"LEVEL." #name, unit, meaning},
#define TRAFFIC(name, unit, meaning) {"dram." #name, unit, meaning},
#include "runtime/device/counters.def"
  };
  return rows;
}

const CounterRow* counter_row(std::string_view name) {
  const auto& rows = counter_rows();
  const auto named = [&](const std::string& wanted) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const CounterRow& row) { return row.name == wanted; });
    return at == rows.end() ? nullptr : &*at;
  };
  const auto dot = name.rfind('.');
  if (const auto* own = named(std::string(name)); own || dot == std::string_view::npos) return own;
  return named("LEVEL" + std::string(name.substr(dot)));
}

}  // namespace gexp::device
