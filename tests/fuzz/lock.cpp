// SPDX-License-Identifier: Apache-2.0
// Any bytes, read as a lock file.
#include <cstdint>
#include <string>

#include "runtime/result/lockfile.h"

using namespace gexp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto locked = result::read_lock_text(std::string(reinterpret_cast<const char*>(data), size), "fuzz.lock");
  if (!locked) {
    GEXP_CHECK(locked.error().code == "E0917" && !render(locked.error(), nullptr).empty());
    return 0;
  }
  const auto once = result::lockfile(locked->made_of);
  const auto again = result::read_lock_text(once, "again.lock");
  GEXP_CHECK(again && result::lockfile(again->made_of) == once && result::differences(locked->made_of, again->made_of).empty());
  return 0;
}
