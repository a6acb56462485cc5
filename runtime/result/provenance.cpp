// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/provenance.h"

#include <algorithm>

namespace gexp::result {

void add_kernels(std::vector<KernelRecord>& kernels, std::vector<KernelRecord> more) {
  for (auto& kernel : more) {
    const bool known = std::any_of(kernels.begin(), kernels.end(), [&](const KernelRecord& k) { return k.key == kernel.key; });
    if (!known) kernels.push_back(std::move(kernel));
  }
}

TimeSpent& TimeSpent::operator+=(const TimeSpent& more) {
  launches += more.launches;
  compiling += more.compiling, launching += more.launching, on_device += more.on_device, measuring += more.measuring;
  return *this;
}

}  // namespace gexp::result
