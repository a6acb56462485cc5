// SPDX-License-Identifier: Apache-2.0
// Any bytes, loaded as PTX and run by one warp for a moment: what a cache entry that somebody poisoned could hold.
#include <cstdint>
#include <string>

#include "tests/fuzz/try_device.h"

using namespace gexp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Source model = *sim::read_model("gtx780");
  static const auto opened = sim::open(model, "sim:fuzz");
  try_kernel(*(*opened)->another(1), std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
