// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/result.h"

namespace gexp::result {

StageResult::StageResult() = default;
StageResult::StageResult(const StageResult&) = default;
StageResult::StageResult(StageResult&&) noexcept = default;
StageResult& StageResult::operator=(const StageResult&) = default;
StageResult& StageResult::operator=(StageResult&&) noexcept = default;
StageResult::~StageResult() = default;

RunResult::RunResult() = default;
RunResult::RunResult(const RunResult&) = default;
RunResult::RunResult(RunResult&&) noexcept = default;
RunResult& RunResult::operator=(const RunResult&) = default;
RunResult& RunResult::operator=(RunResult&&) noexcept = default;
RunResult::~RunResult() = default;

const char* word(RunResult::End end) {
  switch (end) {
    case RunResult::End::Complete: return "complete";
    case RunResult::End::Interrupted: return "interrupted";
    case RunResult::End::Faulted: return "a kernel faulted or timed out";
    case RunResult::End::OutOfTime: return "the time budget is used up";
    case RunResult::End::OutOfDefaultTime: return "the 10 minutes of a file without `budget time` are used up; --time-limit gives more";
    case RunResult::End::OutOfSetTime: return "the time of --time-limit is used up";
  }
  return "";
}

}  // namespace gexp::result
