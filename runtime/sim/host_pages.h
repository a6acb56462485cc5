// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace gexp::sim {

/// Pages of the host that simulated arrays lie on. Those of small arrays are used again by the devices that share this: each point of a
/// run has a device of its own, and to clear a few pages costs less than to unmap them and to touch new ones.
class HostPages {
 public:
  HostPages() = default;
  ~HostPages();
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  /// Zeros, which exist once touched where the array is large; null: the host has no address space left.
  std::byte* take(std::uint64_t bytes);
  void give_back(std::byte* begin, std::uint64_t bytes);

 private:
  std::mutex mutex_;
  std::multimap<std::uint64_t, std::byte*> idle_;  ///< by their bytes, a power of two
};

}  // namespace gexp::sim
