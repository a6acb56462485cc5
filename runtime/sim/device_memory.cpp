// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/device_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace gexp::sim {
namespace {

constexpr std::uint64_t kSmall = 1ull << 20;  // below it an array shares pages with others

std::uint64_t align_up(std::uint64_t value, std::uint64_t align) { return (value + align - 1) / align * align; }

}  // namespace

DeviceMemory::~DeviceMemory() {
  for (const auto& [address, a] : allocations_) pages_->give_back(a.host, a.bytes);
}

DeviceMemory::Region& DeviceMemory::region_of(std::uint64_t address) {
  return *std::find_if(regions_.begin(), regions_.end() - 1, [&](const Region& region) { return address < region.end; });
}

Result<std::uint64_t> DeviceMemory::allocate(std::uint64_t bytes, std::uint64_t align, device::Where where) {
  bytes = std::max<std::uint64_t>(bytes, 1);
  std::uint64_t* const used = used_in(where);
  if (used && bytes > capacity_ - *used)
    return failure("E0802", fmt::format("the simulated {} has {} B of memory left, {} B were asked for", where == device::Where::Peer ? "peer" : "device", capacity_ - *used, bytes));
  if (align > (1ull << 40)) return failure("E0802", fmt::format("an alignment of {} B is more than the simulator can give", align));
  Region& region = regions_[where != device::Where::Device ? 1 + static_cast<std::size_t>(where) : bytes < kSmall && align <= kSmallBase ? 0 : 1];
  const std::uint64_t address = align_up(region.next, std::max(align, region.unit));
  if (address + bytes > region.end) return failure("E0802", fmt::format("there are no addresses left for {} B of simulated memory", bytes));
  std::byte* const host = pages_->take(bytes);
  if (!host) return failure("E0802", fmt::format("the host gives no address space for {} B of simulated memory", bytes));
  region.next = address + bytes + region.gap;
  if (used) *used += bytes;
  allocations_[address] = {bytes, host};
  return address;
}

void DeviceMemory::release(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return;
  pages_->give_back(found->second.host, found->second.bytes);
  if (std::uint64_t* const used = used_in(where(address))) *used -= found->second.bytes;
  allocations_.erase(found);
  last_bytes_ = 0;
  // An idle heap starts over: a run's addresses do not depend on what ran before it.
  Region& region = region_of(address);
  region.next = region.base;
  const auto behind = allocations_.lower_bound(region.end);
  if (behind == allocations_.begin()) return;
  if (const auto& [begin, last] = *std::prev(behind); begin >= region.base) region.next = begin + last.bytes + region.gap;
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
