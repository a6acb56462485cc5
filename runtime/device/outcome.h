// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace gexp::device {

/// How one launch ended. A fault is a fact about the experiment, kept with its point, not an error of gexp.
struct Outcome {
  enum class Status {
    Done, Fault, Timeout, Interrupted,
    Unplaced,  ///< its blocks did not come where the experiment wants them
  };
  Status status = Status::Done;
  std::string what;          ///< for a human: "load of 4 B at 0x… is outside every allocation (PTX line 41)"
  double elapsed_seconds = 0;  ///< device time of the launch; simulated time on a simulator

  [[nodiscard]] bool done() const { return status == Status::Done; }
};

/// The word for a result file: "done", "fault", "timeout", "interrupted", "unplaced".
const char* word(Outcome::Status status);

}  // namespace gexp::device
