// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/outcome.h"

#include <fmt/format.h>

namespace gexp::device {

std::optional<Outcome> other_registers(std::uint32_t compiled, std::uint32_t wanted, std::uint32_t most) {
  if (wanted == 0) return std::nullopt;
  if (wanted > most) return Outcome{Outcome::Status::Fault, fmt::format("a thread has at most {} registers, not {}", most, wanted), 0};
  if (compiled == wanted) return std::nullopt;
  return Outcome{Outcome::Status::Unplaced, fmt::format("the compiler gave a thread {} registers, not {}", compiled, wanted), 0};
}

const char* word(Outcome::Status status) {
  switch (status) {
    case Outcome::Status::Done: return "done";
    case Outcome::Status::Fault: return "fault";
    case Outcome::Status::Timeout: return "timeout";
    case Outcome::Status::Unplaced: return "unplaced";
    case Outcome::Status::Interrupted: return "interrupted";
  }
  return "";
}

}  // namespace gexp::device
