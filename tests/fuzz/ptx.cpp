// SPDX-License-Identifier: Apache-2.0
// Any bytes, loaded as PTX and run by one warp for a moment: what a cache entry that somebody poisoned could hold.
#include <cstdint>
#include <string>

#include "runtime/jit/ptx_entries.h"
#include "tests/fuzz/try_device.h"

using namespace gexp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Source model = *sim::read_model("gtx780");
  static const auto opened = sim::open(model, "sim:fuzz");
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const auto& entry : jit::ptx_entries(text)) (void)jit::short_name(entry.name);
  try_kernel(*(*opened)->another(1), text);
  return 0;
}
