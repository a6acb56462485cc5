// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "runtime/records/table.h"

namespace gexp::infer {

/// By step of one thread's walk: whether the step before it, in turn, was in the same sector, so that the access always hits.
std::vector<bool> repeated_sector_steps(const Pattern& walk);

/// How much slower, in ticks, each address answers than the mean one for where it lies (a far part, another slice), and not for being
/// absent from something.
class AddressBias {
 public:
  /// nullopt where walks do not come to each sector again within a lap; none where addresses do not differ by more than one differs
  /// from itself.
  static std::optional<AddressBias> of(const records::Table& table);
  [[nodiscard]] bool none() const { return ticks_.empty(); }
  /// By step of the point's walk; empty where there are none. Where other points were measured since, by their own visits that come again.
  [[nodiscard]] std::vector<double> by_step(const records::Point& point) const;
  /// What it costs to say so much of the places: half the log of the visits for each (BIC, Schwarz 1978).
  [[nodiscard]] double nats() const { return nats_; }
  /// The table as if every address lay in one place, to whole ticks.
  [[nodiscard]] records::Table without(const records::Table& table) const;

 private:
  std::unordered_map<std::int64_t, double> ticks_;  ///< by sector
  double apart_ = 0;   ///< ticks by which visits of one step differ, those that hit
  double middle_ = 0;  ///< ticks of the mean address
  double nats_ = 0;
};

}  // namespace gexp::infer
