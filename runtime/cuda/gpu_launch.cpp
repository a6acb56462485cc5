// SPDX-License-Identifier: Apache-2.0
// Launching, and what can end a launch. The time is the device's own, between two events around the kernel.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <tuple>
#include <vector>

#include "runtime/cuda/cuda.h"
#include "runtime/cuda/gpu.h"

namespace gexp::cuda {
namespace {

using device::Outcome;

/// Above this a kernel must say beforehand how much dynamic shared memory it may be given.
constexpr std::uint64_t kSharedWithoutOptin = 48 * 1024;

std::atomic<bool> any_hung = false;

/// CUfunc_cache: before compute capability 7.0 an SM splits 64 KiB into L1 and 16, 32 or 48 KiB of shared memory.
int cache_config(std::uint64_t shared) {
  constexpr int kPreferShared = 1, kPreferL1 = 2, kPreferEqual = 3;
  return shared <= 16 * 1024 ? kPreferL1 : shared <= 32 * 1024 ? kPreferEqual : kPreferShared;
}

}  // namespace

bool hung() { return any_hung.load(); }

int Gpu::set_limits(Kernel& kernel, const device::LaunchShape& shape) {
  int status = kSuccess;
  const auto set = [&](FunctionAttribute which, int value, int& last) {
    if (status != kSuccess || value == last) return;
    status = driver_->function_set(kernel.function, which, value);
    if (status == kSuccess) last = value;
  };
  if (kernel.static_shared + shape.shared_bytes > kSharedWithoutOptin) {
    set(FunctionAttribute::MaxDynamicShared, static_cast<int>(shape.shared_bytes), kernel.dynamic_limit);
  }
  const auto own = kernel.static_shared + shape.shared_bytes;
  const auto needed = own > 0 ? own + device_.shared_reserved_per_block : 0;
  const auto set_aside = shape.carveout_bytes < 0 ? needed : std::max(needed, static_cast<std::uint64_t>(shape.carveout_bytes));
  const auto& info = device_.info;
  if (info.compute_major >= 7) {
    set(FunctionAttribute::CarveoutPercent,
        carveout_percent(info.compute_major, info.compute_minor, info.shared_per_sm, set_aside), kernel.carveout);
  } else if (driver_->function_cache_config != nullptr && status == kSuccess && kernel.carveout != cache_config(set_aside)) {
    status = driver_->function_cache_config(kernel.function, cache_config(set_aside));
    if (status == kSuccess) kernel.carveout = cache_config(set_aside);
  }
  // CUsharedconfig: 0 default, 1 four bytes, 2 eight bytes. Devices other than 3.x have nothing to choose (see accepts()).
  const int bank_config = shape.bank_bytes == 8 ? 2 : shape.bank_bytes == 4 ? 1 : 0;
  if (info.compute_major == 3 && driver_->function_bank_width != nullptr && status == kSuccess &&
      kernel.bank_config != bank_config) {
    status = driver_->function_bank_width(kernel.function, bank_config);
    if (status == kSuccess) kernel.bank_config = bank_config;
  }
  return status;
}

Outcome Gpu::refused(const std::string& what, int status) {
  Outcome outcome;
  outcome.status = Outcome::Status::Fault;
  outcome.what = fmt::format("{}: {}", what, driver_->text(status));
  // A shape that the driver refuses leaves the context whole; a fault shows in every later call.
  const int state = driver_->stream_query(stream_);
  if (state != kSuccess && state != kNotReady) replace_context();
  return outcome;
}

Outcome Gpu::ended(WaitEnd end, int status, double time_limit) {
  Outcome outcome;
  if (end == WaitEnd::Failed) {
    outcome.status = Outcome::Status::Fault;
    outcome.what = driver_->text(status);
    replace_context();
    return outcome;
  }
  outcome.status = end == WaitEnd::TimedOut      ? Outcome::Status::Timeout
                   : end == WaitEnd::Interrupted ? Outcome::Status::Interrupted
                                                 : Outcome::Status::Done;
  if (status == kNotReady) {
    outcome.what = end == WaitEnd::TimedOut ? fmt::format("the kernel did not end within {:g} s", time_limit)
                                            : fmt::format("interrupted; the kernel did not end within {} s", kInterruptGrace);
    lost_ = "it still runs a kernel that did not end within its time limit; only a new process can go on";
    lost_status_ = Outcome::Status::Timeout;
    any_hung = true;
    return outcome;
  }
  if (end == WaitEnd::Interrupted) outcome.what = "interrupted";
  float milliseconds = 0;
  if (const int timed = driver_->event_elapsed(&milliseconds, begin_, end_); timed != kSuccess)
    return refused("the launch was not timed", timed);
  outcome.elapsed_seconds = static_cast<double>(milliseconds) * 1e-3;
  return outcome;
}

Outcome Gpu::start(const Kernel& kernel, const device::LaunchShape& shape, void** arguments, double time_limit, bool interruptible) {
  const auto& [grid, block] = std::tie(shape.grid, shape.block);
  int status = driver_->event_record(begin_, stream_);
  if (status == kSuccess && shape.cluster > 1) {
    LaunchAttribute clusters;
    clusters.cluster[0] = shape.cluster;
    const LaunchConfig with{{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shape.shared_bytes, stream_, &clusters, 1};
    status = driver_->launch_with(&with, kernel.function, arguments, nullptr);
  } else if (status == kSuccess) {
    status = driver_->launch(kernel.function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shape.shared_bytes, stream_, arguments, nullptr);
  }
  if (status == kSuccess) status = driver_->event_record(end_, stream_);
  if (status != kSuccess) return refused("the driver did not start the kernel", status);
  const auto end = wait_for(*driver_, end_, time_limit, interruptible, status);
  return ended(end, status, time_limit);
}

Outcome Gpu::launch(device::KernelId id, const device::LaunchShape& shape, std::span<const device::Argument> arguments,
                    double time_limit) {
  if (!lost_.empty()) return {lost_status_, fmt::format("{} cannot be used any more: {}", device_.info.id, lost_), 0};
  if (interrupt_requested()) return {Outcome::Status::Interrupted, "interrupted before the launch", 0};
  const auto found = kernels_.find(id);
  GEXP_CHECK(id < next_kernel_);
  if (found == kernels_.end())
    return {Outcome::Status::Fault, "the kernel was loaded before a fault and must be loaded again", 0};
  if (const int status = driver_->context_set_current(context_); status != kSuccess)
    return refused("the GPU's context is gone", status);
  if (auto other = device::other_registers(static_cast<std::uint32_t>(found->second.registers), shape.registers, registers_per_thread(device_.info.compute_major, device_.info.compute_minor))) return std::move(*other);
  if (const int status = set_limits(found->second, shape); status != kSuccess) {
    return refused(fmt::format("the device cannot give {} B of shared memory", shape.shared_bytes), status);
  }
  // The driver copies each argument in the kernel's own width; the low bytes come first on both sides.
  std::vector<std::uint64_t> bits;
  bits.reserve(arguments.size());
  std::vector<void*> pointers;
  for (const auto& argument : arguments) {
    bits.push_back(argument.bits);
    pointers.push_back(argument.size == device::kTileBytes ? static_cast<void*>(&tensor_maps_.at(argument.bits)) : &bits.back());
  }
  const auto most = shape.limit > 0 ? std::min(shape.limit, time_limit) : time_limit;
  return start(found->second, shape, pointers.data(), most, true);
}

}  // namespace gexp::cuda
