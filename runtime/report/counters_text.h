// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <vector>

#include "runtime/result/result.h"

namespace gexp::report {

/// "12,345".
std::string grouped(std::uint64_t number);
/// "61.0 %"; of nothing, 0.
std::string share(std::uint64_t part, std::uint64_t whole);

/// The stalls among counters, longest first: "memory 61.0 %, arithmetic 3.2 %" of `warp_cycles`.
std::string stalls_text(const device::Counters& counters, std::uint64_t warp_cycles);

/// What launches did, a row a subject: what it is, and the counts in words. `clock_hz`: of the SM.
std::vector<std::array<std::string, 2>> counter_lines(const device::Counters& counters, double clock_hz);

/// Of each stage that was counted, or of each of its points; empty where none was.
enum class CountsOf { Stages, Points };
std::string counters_text(const result::RunResult& result, CountsOf of);

}  // namespace gexp::report
