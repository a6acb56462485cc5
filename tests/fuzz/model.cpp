// SPDX-License-Identifier: Apache-2.0
// Any bytes, read as a device model: refused with a place, or opened, drawn, and run on.
#include <cstdint>
#include <string>

#include "runtime/sim/sim.h"
#include "tests/fuzz/try_device.h"

using namespace gexp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_model(Source("fuzz.toml", std::string(reinterpret_cast<const char*>(data), size)));
  return 0;
}
