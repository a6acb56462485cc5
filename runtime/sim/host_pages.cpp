// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/host_pages.h"

#include <sys/mman.h>

#include <bit>
#include <cstring>

namespace gexp::sim {
namespace {

constexpr std::uint64_t kMostBytes = 1ull << 20;  // limit: bytes of an array whose pages are kept; clearing more would cost as much as new ones

/// Arrays of about one size take each other's pages, so that no more are kept than were in use at one time.
std::uint64_t with_room(std::uint64_t bytes) { return bytes <= kMostBytes ? std::bit_ceil(bytes) : bytes; }

}  // namespace

HostPages::~HostPages() {
  for (const auto& [bytes, begin] : idle_) munmap(begin, bytes);
}

std::byte* HostPages::take(std::uint64_t bytes) {
  const std::uint64_t room = with_room(bytes);
  std::byte* kept = nullptr;
  if (bytes <= kMostBytes) {
    const std::lock_guard lock(mutex_);
    if (const auto found = idle_.find(room); found != idle_.end()) kept = found->second, idle_.erase(found);
  }
  if (kept) return static_cast<std::byte*>(std::memset(kept, 0, bytes));
  void* const host = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (host == MAP_FAILED) return nullptr;
  // One element a page must not cost a huge host page.
  madvise(host, room, MADV_NOHUGEPAGE);
  return static_cast<std::byte*>(host);
}

void HostPages::give_back(std::byte* begin, std::uint64_t bytes) {
  if (bytes > kMostBytes) {
    munmap(begin, bytes);
    return;
  }
  const std::lock_guard lock(mutex_);
  idle_.emplace(with_room(bytes), begin);
}

}  // namespace gexp::sim
