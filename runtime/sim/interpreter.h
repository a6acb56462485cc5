// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/sim/device_memory.h"
#include "runtime/sim/device_model.h"
#include "runtime/sim/hierarchy.h"
#include "runtime/sim/ptx.h"
#include "runtime/sim/texture.h"

namespace gexp::sim {

class Observer;

/// Handles of textures count from here.
inline constexpr std::uint64_t kFirstTexture = 0x7e70'0000;

/// What one launch needs of the world around it.
struct LaunchContext {
  const DeviceModel& model;
  const Kernel& kernel;
  DeviceMemory& memory;
  Hierarchy& hierarchy;
  const std::vector<std::uint64_t>& globals;  ///< device addresses of the kernel's module variables
  const std::vector<Texture>& textures;
  const device::LaunchShape& shape;
  std::vector<std::byte> parameters;
  std::uint64_t carveout;                      ///< shared memory that an SM sets aside, bytes
  std::uint64_t code;                          ///< address of the kernel's first instruction
  double time_limit;                           ///< wall-clock seconds
  const std::atomic<bool>* interrupt;
  Observer* observer = nullptr;                ///< who is told what happens, if anybody
};

struct LaunchResult {
  device::Outcome outcome;
  std::uint64_t cycles = 0;        ///< simulated
  std::uint64_t instructions = 0;  ///< of all warps; predicated-off ones included
};

/// Runs a grid from cycle `start` on. Blocks go to SMs that have room for them. A scheduler issues in order, an instruction of one of
/// its warps at a time; an instruction issues once the one before it has, and once its operands are ready; its result is ready a
/// latency later. Nothing else waits, a clock least of all.
LaunchResult interpret(const LaunchContext& context, std::uint64_t start);

/// Blocks of a cluster of this launch; 1: there are none.
std::uint32_t cluster_size(const Kernel& kernel, const device::LaunchShape& shape);

/// Blocks of this launch that an SM holds at one time; 0: not one.
std::uint32_t blocks_per_sm(const DeviceModel& model, const Kernel& kernel, const device::LaunchShape& shape, std::uint64_t carveout);

}  // namespace gexp::sim
