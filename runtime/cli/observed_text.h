// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cli/json.h"
#include "runtime/sim/observed.h"

/// What a launch on a simulated device did, for people, for programs and for a trace viewer.
namespace gexp::cli {

/// Lines of the text from which a PTX text was made, by line of the PTX (from 1): 0 where nothing says it (`.loc` notes do).
std::vector<std::uint32_t> source_lines(std::string_view ptx);

/// A name for a line of the PTX: "saxpy.cu:7", "saxpy.ptx:41".
struct Places {
  std::string ptx_file, source_file;
  std::vector<std::uint32_t> lines;  ///< source_lines(); empty: the PTX is all there is
  [[nodiscard]] std::string of(std::uint32_t ptx_line) const;
};

/// Of a load's span: the name of a cache, or of the memory behind all.
std::string level_name(const sim::Observed& launch, std::uint32_t level);

/// A table a few lines long. `busiest`: how many lines of the kernel are shown, those at which warps waited longest first.
std::string counters_text(const sim::Observed& observed, const Places& places, double clock_hz, std::size_t busiest);
/// The counters by name, and `lines`.
Json counters_json(const sim::Observed& observed, const Places& places);
/// In the trace format that Chrome's viewer and Perfetto open: a process an SM, a thread a warp, a microsecond a cycle, one
/// launch behind the other. `of`: what they are launches of.
std::string trace_events(const std::vector<sim::Observed>& launches, const Places& places, const std::string& of);
inline constexpr std::size_t kMostSpans = 500'000;  ///< limit: a viewer takes no more with comfort

}  // namespace gexp::cli
