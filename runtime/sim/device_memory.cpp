// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/device_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <iterator>

namespace gexp::sim {
namespace {

constexpr std::uint64_t kPage = 2ull << 20;
constexpr std::uint64_t kSmall = 1ull << 20;  // below it an array shares pages with others
constexpr std::uint64_t kGuard = 64ull << 10;

std::uint64_t align_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, a] : allocations_) munmap(a.host, a.bytes);
}

Result<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, std::uint64_t align) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  if (bytes > capacity_ - used_)
    return failure("E0802", fmt::format("the simulated device has {} B of memory left, {} B were asked for", capacity_ - used_, bytes));
  if (align > (1ull << 40)) return failure("E0802", fmt::format("an alignment of {} B is more than the simulator can give", align));
  void* host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED) return failure("E0802", fmt::format("the host gives no address space for {} B of simulated memory", bytes));
  // One element a page must not cost a huge host page.
  madvise(host, bytes, MADV_NOHUGEPAGE);
  std::uint64_t& next = bytes < kSmall ? small_ : large_;
  const std::uint64_t own = bytes < kSmall ? 512 : kPage;
  const std::uint64_t address = align_up(next, std::max(align, own));
  // The gap makes an access past the end a fault; it is never handed out.
  next = address + bytes + (bytes < kSmall ? kGuard : kPage);
  used_ += bytes;
  allocations_[address] = {bytes, static_cast<std::byte*>(host)};
  return address;
}

void DeviceMemory::release(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  munmap(found->second.host, found->second.bytes);
  used_ -= found->second.bytes;
  allocations_.erase(found);
  last_bytes_ = 0;
  // An idle heap starts over: a run's addresses do not depend on what ran before it.
  const auto first_large = allocations_.lower_bound(kLargeBase);
  if (first_large == allocations_.end()) large_ = kLargeBase;
  else if (const auto& [begin, a] = *std::prev(allocations_.end()); begin >= kLargeBase) large_ = begin + a.bytes + kPage;
  if (first_large == allocations_.begin()) small_ = kSmallBase;
  else if (const auto& [begin, a] = *std::prev(first_large); true) small_ = begin + a.bytes + kGuard;
}

std::byte* DeviceMemory::search(std::uint64_t address, std::uint64_t bytes) {
  auto found = allocations_.upper_bound(address);
  if (found == allocations_.begin()) return nullptr;
  --found;
  const std::uint64_t into = address - found->first;
  if (into >= found->second.bytes || bytes > found->second.bytes - into) return nullptr;
  last_begin_ = found->first, last_bytes_ = found->second.bytes, last_host_ = found->second.host;
  return last_host_ + into;
}

}  // namespace gexp::sim
