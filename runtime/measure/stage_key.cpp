// SPDX-License-Identifier: Apache-2.0
#include "lang/base/sha256.h"
#include "runtime/measure/kept.h"

namespace gexp::measure {

std::string StageKey::whole() const {
  Sha256 all;
  for (const auto* part : {&text, &inputs, &seed, &device, &toolchain}) all.add_field(*part);
  return all.hex();
}

}  // namespace gexp::measure
