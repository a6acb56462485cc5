// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <cstdint>

namespace gexp::sim {

/// SplitMix64's finaliser: a good 64-bit mix, the same on every machine.
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// SplitMix64: seeded and portable, unlike the distributions of <random>.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(mix(seed)) {}
  std::uint64_t next() { return mix(state_++); }
  /// Below `n`, evenly but for 2^-32.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(((next() >> 32) * n) >> 32); }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// Standard normal, by Box and Muller.
  double normal() { return std::sqrt(-2 * std::log(1 - unit())) * std::cos(6.283185307179586 * unit()); }

 private:
  std::uint64_t state_;
};

}  // namespace gexp::sim
