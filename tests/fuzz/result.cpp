// SPDX-License-Identifier: Apache-2.0
// Any bytes, read as a result file: what is read is written, read again and written alike.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "lang/base/budget.h"
#include "runtime/result/result_json.h"

using namespace gexp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Budget budget({.memory = std::uint64_t{512} << 20});  // what is read may unfold to half of it
  const Budget::Use use(budget);
  const auto result = result::from_json(std::string(reinterpret_cast<const char*>(data), size), "fuzz.json");
  if (!result) {
    GEXP_CHECK(result.error().code.starts_with("E09") && !render(result.error(), nullptr).empty());
    return 0;
  }
  const auto once = result::to_json(*result);
  const auto again = result::from_json(once, "again.json");
  GEXP_CHECK(again && result::to_json(*again) == once);
  return 0;
}
