// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace gexp::device {

/// How one launch ended. A fault is a fact about the experiment, kept with its point, not an error of gexp.
struct Outcome {
  enum class Status {
    Done, Fault, Timeout, Interrupted,
    Unplaced,  ///< it would not be what the experiment asks for: its blocks came elsewhere, its threads have other registers
  };
  Status status = Status::Done;
  std::string what;          ///< for a human: "load of 4 B at 0x… is outside every allocation (PTX line 41)"
  double elapsed_seconds = 0;  ///< device time of the launch; simulated time on a simulator

  [[nodiscard]] bool done() const { return status == Status::Done; }
};

/// What a launch comes to whose threads were to have `wanted` registers each (0: any number), and have others. More than `most` are a fault, as
/// of any launch that the device cannot hold. Otherwise the compiler took others, and the launch would not be the one that was asked for.
std::optional<Outcome> other_registers(std::uint32_t compiled, std::uint32_t wanted, std::uint32_t most);

/// The word for a result file: "done", "fault", "timeout", "interrupted", "unplaced".
const char* word(Outcome::Status status);

}  // namespace gexp::device
