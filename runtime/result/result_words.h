// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "runtime/result/result.h"

/// What the writer and the reader of a result file agree on.
namespace gexp::result {

inline constexpr const char* kSchema = "gexp.result/1";
inline constexpr std::uint64_t kMaxTicks = std::uint64_t{1} << 31;  ///< of one run

inline const char* stage_word(StageResult::Status status) {
  switch (status) {
    case StageResult::Status::Done: return "done";
    case StageResult::Status::Blocked: return "blocked";
    case StageResult::Status::Stopped: return "stopped";
  }
  return "";
}

inline const char* timing_word(records::Table::Timing timing) {
  return timing == records::Table::Timing::Each ? "each" : timing == records::Table::Timing::Total ? "total" : timing == records::Table::Timing::Values ? "values" : "wall";
}

}  // namespace gexp::result
