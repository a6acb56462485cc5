// SPDX-License-Identifier: Apache-2.0
#include "runtime/device/outcome.h"

namespace gexp::device {

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
