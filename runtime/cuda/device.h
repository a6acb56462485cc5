// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/cuda/driver.h"
#include "runtime/device/backend.h"

namespace gexp::cuda {

/// A device with the limits that launches need beyond DeviceInfo.
struct Device {
  int handle = 0;
  device::DeviceInfo info;
  std::uint64_t max_threads_per_block = 0;
  std::uint64_t max_blocks = 0;                 ///< grid x
  bool maps_host_memory = false;                ///< its threads can access pinned memory of the host
  bool manages_memory = false;                  ///< pages can move between it and the host
  bool moves_pages = false;                     ///< when either touches them, or is told to
  std::uint64_t shared_without_optin = 0;       ///< per block, bytes
  std::uint64_t shared_reserved_per_block = 0;  ///< by the driver, bytes
};

/// E0705 when there is no such ordinal.
Result<Device> query_device(const Driver& driver, int ordinal);

/// How `expect … on SEL` names a GPU: "h200" of "NVIDIA H200", "gtx780" of "GeForce GTX 780", "a100" of "NVIDIA
/// A100-SXM4-40GB". Lower-case letters and digits; vendor, brand, package and memory words dropped.
std::string selector_of(std::string_view name);

/// The percentage for CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT that makes an SM set aside at least `bytes` and no
/// more than it must. `per_sm`: the most that an SM can set aside.
int carveout_percent(int compute_major, int compute_minor, std::uint64_t per_sm, std::uint64_t bytes);

/// Most registers of a thread.
std::uint32_t registers_per_thread(int compute_major, int compute_minor);

}  // namespace gexp::cuda
