// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "runtime/backend.h"
#include "runtime/sim/device_memory.h"
#include "runtime/sim/device_model.h"
#include "runtime/sim/hierarchy.h"
#include "runtime/sim/ptx.h"

namespace gexp::sim {

/// What one launch needs of the world around it.
struct LaunchContext {
  const DeviceModel& model;
  const Kernel& kernel;
  DeviceMemory& memory;
  Hierarchy& hierarchy;
  const std::vector<std::uint64_t>& globals;  ///< device addresses of the kernel's module variables
  const runtime::LaunchShape& shape;
  std::vector<std::byte> parameters;
  double time_limit;                           ///< wall-clock seconds
  const std::atomic<bool>* interrupt;
};

struct LaunchResult {
  runtime::Outcome outcome;
  std::uint64_t cycles = 0;        ///< simulated
  std::uint64_t instructions = 0;  ///< of all warps; predicated-off ones included
};

/// Runs one CTA of up to 32 threads from cycle `start` on. In-order issue with a scoreboard: an instruction issues once the one
/// before it has, and once its operands are ready; its result is ready a latency later. Nothing else waits, a clock least of all.
LaunchResult interpret(const LaunchContext& context, std::uint64_t start);

}  // namespace gexp::sim
