// SPDX-License-Identifier: Apache-2.0
// Whose memory an allocation is in, and how bytes come there and back.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cuda/gpu.h"

namespace gexp::cuda {
namespace {

using device::Where;

constexpr unsigned kMapped = 2;       // CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned kForEveryone = 1;  // CU_MEM_ATTACH_GLOBAL
constexpr int kHost = -1;             // CU_DEVICE_CPU

}  // namespace

std::optional<int> Gpu::peer() const {
  int count = 0;
  if (driver_->device_count(&count) != kSuccess) return std::nullopt;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    int other = 0, reaches = 0;
    if (driver_->device_get(&other, ordinal) != kSuccess || other == device_.handle) continue;
    if (driver_->can_access_peer(&reaches, device_.handle, other) == kSuccess && reaches != 0) return other;
  }
  return std::nullopt;
}

int Gpu::enter_peer() {
  if (peer_context_ != nullptr) return driver_->context_set_current(peer_context_);
  const auto other = peer();
  if (!other) return kInvalidDevice;
  int status = driver_->context_create(&peer_context_, 0, *other);
  if (status != kSuccess) {
    peer_context_ = nullptr;
    return status;
  }
  status = driver_->context_set_current(context_);
  if (status == kSuccess) status = driver_->enable_peer_access(peer_context_, 0);
  if (status == kSuccess) status = driver_->context_set_current(peer_context_);
  if (status != kSuccess) driver_->context_destroy(peer_context_), peer_context_ = nullptr;
  return status;
}

int Gpu::allocate_in(Where where, std::uint64_t bytes, Allocation& made) {
  switch (where) {
    case Where::Device: return driver_->memory_allocate(&made.base, bytes);
    case Where::Host: {
      int status = driver_->host_allocate(&made.host, bytes, kMapped);
      if (status != kSuccess) return status;
      status = driver_->host_address(&made.base, made.host, 0);
      if (status != kSuccess) driver_->host_free(made.host);
      return status;
    }
    case Where::Managed: {  // the driver would give more than there is, and move pages to and fro
      std::size_t free = 0, total = 0;
      if (const int status = driver_->memory_info(&free, &total); status != kSuccess) return status;
      return bytes > free ? kOutOfMemory : driver_->managed_allocate(&made.base, bytes, kForEveryone);
    }
    case Where::Peer: {
      const int status = enter_peer();
      return status == kSuccess ? driver_->memory_allocate(&made.base, bytes) : status;
    }
  }
  return kInvalidValue;
}

/// The context is still the one that had no room.
Diagnostic Gpu::no_memory(Where where, std::uint64_t bytes, int status) const {
  if (where == Where::Host) return failed("E0802", fmt::format("cannot pin {} B of the host's memory", bytes), status);
  const auto whose = where == Where::Peer ? fmt::format("the GPU that {} reaches", device_.info.id) : device_.info.name;
  if (status != kOutOfMemory) return failed("E0802", fmt::format("cannot allocate {} B on {}", bytes, whose), status);
  std::size_t free = 0, total = 0;
  driver_->memory_info(&free, &total);
  return failure("E0802", fmt::format("{} has {} B of memory free, {} B were asked for", whose, free, bytes), "see nvidia-smi for what else uses it");
}

Result<std::uint64_t> Gpu::allocate(std::uint64_t bytes, std::uint64_t align, Where where) {
  if (auto usable = ready(); !usable) return usable.error();
  GEXP_CHECK((align & (align - 1)) == 0);
  // The driver's own alignment is at least 256 B; more is had by asking for more.
  const auto extra = align > 256 ? align : 0;
  Allocation made;
  made.where = where;
  made.bytes = std::max<std::uint64_t>(bytes, 1) + extra;
  const int status = made.bytes < bytes ? kOutOfMemory : allocate_in(where, made.bytes, made);
  if (status != kSuccess) return no_memory(where, made.bytes, status);
  const auto address = extra > 0 ? (made.base + align - 1) & ~(align - 1) : made.base;
  allocations_[address] = made;
  return std::uint64_t{address};
}

void Gpu::release(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;  // from before a fault
  const auto& made = found->second;
  bool entered = ready().ok();
  if (entered && made.where == Where::Peer) entered = enter_peer() == kSuccess;
  if (entered && made.host != nullptr) driver_->host_free(made.host);
  else if (entered) driver_->memory_free(made.base);
  allocations_.erase(found);
}

bool Gpu::on_peer(std::uint64_t address) const {
  const auto behind = allocations_.upper_bound(address);
  if (behind == allocations_.begin()) return false;
  const auto& made = std::prev(behind)->second;
  return made.where == Where::Peer && address - made.base < made.bytes;
}

template <class Copy>
int Gpu::copied(std::uint64_t address, const Copy& copy) {
  if (!on_peer(address)) return copy();
  int status = enter_peer();
  if (status == kSuccess) status = copy();
  return status == kSuccess ? driver_->context_synchronize() : status;  // kernels of this device do not wait for what another one copies
}

Result<> Gpu::write(std::uint64_t address, std::span<const std::byte> bytes) {
  if (auto usable = ready(); !usable) return usable;
  if (bytes.empty()) return Ok{};
  const int status = copied(address, [&] { return driver_->copy_to_device(address, bytes.data(), bytes.size()); });
  if (status != kSuccess)
    return failed("E0803", fmt::format("cannot copy {} B to the device at 0x{:x}", bytes.size(), address), status);
  return Ok{};
}

Result<> Gpu::read(std::uint64_t address, std::span<std::byte> bytes) {
  if (auto usable = ready(); !usable) return usable;
  if (bytes.empty()) return Ok{};
  const int status = copied(address, [&] { return driver_->copy_to_host(bytes.data(), address, bytes.size()); });
  if (status != kSuccess)
    return failed("E0803", fmt::format("cannot copy {} B from the device at 0x{:x}", bytes.size(), address), status);
  return Ok{};
}

Result<> Gpu::send_pages_back() {
  if (auto usable = ready(); !usable) return usable;
  for (const auto& [address, made] : allocations_) {
    if (made.where != Where::Managed) continue;
    const int status = driver_->prefetch(made.base, made.bytes, kHost, stream_);
    if (status != kSuccess) return failed("E0803", fmt::format("{} B of managed memory cannot go back to the host", made.bytes), status);
  }
  return Ok{};
}

}  // namespace gexp::cuda
