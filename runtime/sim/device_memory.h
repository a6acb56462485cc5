// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "lang/base/result.h"
#include "runtime/device/backend.h"
#include "runtime/sim/host_pages.h"

namespace gexp::sim {

/// Device memory, and what a device reaches of its host's: allocations at device addresses, backed by host pages that exist once touched,
/// so that 64 GiB cost what is used.
class DeviceMemory {
 public:
  DeviceMemory(std::uint64_t capacity, std::shared_ptr<HostPages> pages) : pages_(std::move(pages)), capacity_(capacity) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Zeroed. `align` 0: large arrays begin at a page. E0802 when the device or the host has no room.
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t align, device::Where where = device::Where::Device);
  void release(std::uint64_t address);
  /// Host bytes of [address, address + bytes), or null when that is not inside one allocation.
  [[nodiscard]] std::byte* find(std::uint64_t address, std::uint64_t bytes) {
    if (address - last_begin_ < last_bytes_ && bytes <= last_bytes_ - (address - last_begin_)) return last_host_ + (address - last_begin_);
    return search(address, bytes);
  }
  /// Whose memory an address is in.
  [[nodiscard]] static device::Where where(std::uint64_t address) {
    if (address < kHostBase || address >= kHostBase + 3 * kFarBytes) return device::Where::Device;
    constexpr std::array kFar{device::Where::Host, device::Where::Managed, device::Where::Peer};
    return kFar[(address - kHostBase) / kFarBytes];
  }
  /// The address of element `index`, of `size` bytes, of the allocation that was last asked for, which the host begins to fetch; 0 when there is none.
  [[nodiscard]] std::uint64_t expect_element(std::uint64_t index, std::uint64_t size) const {
    if (index >= last_bytes_ || (index + 1) * size > last_bytes_) return 0;
    __builtin_prefetch(last_host_ + index * size);
    return last_begin_ + index * size;
  }

 private:
  struct Allocation {
    std::uint64_t bytes = 0;
    std::byte* host = nullptr;
  };
  std::byte* search(std::uint64_t address, std::uint64_t bytes);

  std::shared_ptr<HostPages> pages_;
  std::map<std::uint64_t, Allocation> allocations_;
  std::uint64_t capacity_, used_ = 0, used_of_peer_ = 0;  ///< the peer has as much
  std::uint64_t* used_in(device::Where where) { return where == device::Where::Host ? nullptr : where == device::Where::Peer ? &used_of_peer_ : &used_; }
  // The allocation of the last access: most accesses stay in one.
  std::uint64_t last_begin_ = 0, last_bytes_ = 0;
  std::byte* last_host_ = nullptr;

  // Large arrays begin at 65 GiB: a multiple of every power-of-two size and of the 65 pages that an L2 TLB of the papers maps,
  // so that the first array's page 0 is the first of its residues, as in their plots. Small ones live apart, at 16 GiB.
  static constexpr std::uint64_t kLargeBase = 65ull << 30;
  static constexpr std::uint64_t kSmallBase = 16ull << 30;
  static constexpr std::uint64_t kHostBase = 16ull << 40, kFarBytes = 64ull << 40;  // the host's, then managed, then a peer's

  /// Where allocations of one kind follow each other. The gap makes an access past the end a fault; it is never handed out.
  struct Region {
    std::uint64_t base, end, unit, gap, next = base;
  };
  Region& region_of(std::uint64_t address);
  static constexpr Region far(std::uint64_t nth) {
    return {kHostBase + nth * kFarBytes, kHostBase + (nth + 1) * kFarBytes, 2ull << 20, 2ull << 20};
  }
  std::array<Region, 5> regions_{Region{kSmallBase, kLargeBase, 512, 64ull << 10}, Region{kLargeBase, kHostBase, 2ull << 20, 2ull << 20}, far(0), far(1), far(2)};
};

}  // namespace gexp::sim
