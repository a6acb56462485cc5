// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

namespace gexp {

/// Bytes of this machine's memory that nobody uses, or that the system gives back when asked (MemAvailable of /proc/meminfo),
/// within the limits that the process and its control group have; 0: nobody tells.
std::uint64_t free_host_memory();

}  // namespace gexp
