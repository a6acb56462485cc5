// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gexp {

/// Exponents of the base units: a bandwidth is {bytes: 1, seconds: -1}. A plain number has none.
struct Dimension {
  std::int8_t bytes = 0;
  std::int8_t cycles = 0;
  std::int8_t seconds = 0;
  std::int8_t ops = 0;

  [[nodiscard]] bool none() const { return *this == Dimension{}; }
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

Dimension operator*(Dimension a, Dimension b);
Dimension operator/(Dimension a, Dimension b);

inline constexpr Dimension kBytes{.bytes = 1};
inline constexpr Dimension kCycles{.cycles = 1};
inline constexpr Dimension kSeconds{.seconds = 1};
inline constexpr Dimension kOps{.ops = 1};

/// "B", "cycles", "B/s", "ops/cycle"; "count" for a plain number.
std::string name(Dimension dimension);

/// A unit as written against a number: its dimension and what one of it is in base units
/// (bytes, cycles, seconds, ops). `elem` has dimension bytes and scale 0: its size is the memory's.
struct Unit {
  std::string_view text;
  Dimension dimension;
  double scale = 1;
};

/// KiB MiB GiB GB B elem cycles ops ns us ms s MHz GHz %, and each of them "/cycle" or "/s".
std::optional<Unit> find_unit(std::string_view text);
/// Every unit word, for hints.
std::vector<std::string_view> unit_words();

/// A number in the shortest exact form with its unit: "12 KiB", "12288 B" when asked plainly, "96 cycles", "34.9 GB/s", "2 %".
std::string show(double value, Dimension dimension);

/// The word of `words` nearest to `word` by edit distance, when it is near enough to be meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace gexp
