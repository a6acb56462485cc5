// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

// What std::round and std::ceil give, without a call of the library's: of values that are not negative and below 2^53.
namespace gexp::sim {

inline std::uint64_t nearest(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<std::uint64_t>(whole + (value - static_cast<double>(whole) >= 0.5));
}

inline std::uint64_t not_below(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<std::uint64_t>(whole + (static_cast<double>(whole) < value));
}

}  // namespace gexp::sim
