// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gexp::device {

/// What launches did on a device that counts, by name and in a fixed order: for people and other programs. No record and no
/// finding reads it.
using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

/// Counts of one name become their sum; names that `to` lacks come behind its own.
void add_counts(Counters& to, const Counters& more);
/// 0 where there is none.
std::uint64_t count_of(const Counters& counters, std::string_view name);

/// A row of counters.def: "replays.bank"; "LEVEL.hits" stands for the hits of each cache and TLB.
struct CounterRow {
  std::string name, unit, meaning;
};
const std::vector<CounterRow>& counter_rows();
/// What a counter means; null: no counter has that name.
const CounterRow* counter_row(std::string_view name);

}  // namespace gexp::device
