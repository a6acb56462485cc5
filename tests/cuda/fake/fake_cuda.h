// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

/// What a test can ask of the stand-in for libcuda, beside the driver API.
inline constexpr std::uint32_t kFakeNeverEnds = 0xffffffff;        ///< as a kernel's first argument
inline constexpr int kFakePages = 10, kFakePeerCopies = 11, kFakeCluster = 12, kFakeStreamFlags = 13, kFakeBankConfig = 14, kFakeCacheConfig = 15;  ///< for fake_last_set, beside the function attributes

extern "C" {
int fake_last_set(int attribute);
int fake_contexts_made();
int fake_allocations();
void fake_reset();  ///< a kernel that never ends has ended
}
