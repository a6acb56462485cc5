// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/provenance.h"

namespace gexp::result {

TimeSpent& TimeSpent::operator+=(const TimeSpent& more) {
  launches += more.launches;
  compiling += more.compiling, launching += more.launching, on_device += more.on_device, measuring += more.measuring;
  return *this;
}

}  // namespace gexp::result
