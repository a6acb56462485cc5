// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <functional>
#include <memory>

#include "runtime/device/backend.h"
#include "tests/differential/generate.h"

namespace gexp::differential {

/// The kernels of a range of seeds on one device, and what to say of them.
struct Campaign {
  std::uint64_t first = 0, last = 0;  ///< inclusive
  Limits limits;
  int shrunk = 3;   ///< failing kernels that are made small before they are shown
  int shown = 10;   ///< after so many failures it ends
  std::function<Result<std::unique_ptr<device::Backend>>()> open;  ///< afresh for some dozens of kernels: devices keep the code they load
  bool soft_l1 = false;  ///< kernels are given a software cache (soft_l1.h)
  std::FILE* log = stdout;
};

struct Totals {
  std::uint64_t kernels = 0, threads = 0, values = 0;
  std::uint64_t differ = 0, fault = 0, refused = 0;  ///< kernels
  std::uint64_t different_values = 0;
  std::uint64_t cached = 0, slices = 0;  ///< kernels with a software cache, and loops of these
  std::uint64_t without_too = 0;         ///< kernels that differ or fault in the same way without the cache: faults of the compiler
  std::uint64_t corrected = 0;  ///< instructions that the compiler is known to get wrong
  bool broken = false;  ///< the campaign could not go on
  [[nodiscard]] bool good() const { return !broken && differ + fault + refused == 0; }
};

Totals run(const Campaign& campaign);

/// "A..B" or "A"; false when it is neither.
bool parse_seeds(const char* text, Campaign& campaign);
/// The options that every front end has.
inline constexpr const char* kOptions = "[--seeds A..B] [--block N] [--grid N] [--walks] [--soft-l1]";
/// One of them: 2: with its value (a range, or a power of two up to 512), 1: without one; 0: it is none.
int parse_option(const char* option, const char* value, Campaign& campaign);
void report(const Totals& totals, std::FILE* log);

}  // namespace gexp::differential
