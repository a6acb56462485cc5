// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/sim/device_memory.h"
#include "runtime/sim/interpreter.h"
#include "runtime/sim/warp.h"

namespace gexp::sim {

/// What lanes read and write: the data of all memory spaces. It takes no time; MemoryUnit tells that.
class LaneMemory {
 public:
  explicit LaneMemory(const LaunchContext& context) : c_(context) {}

  /// The lanes' addresses, and the space of the first. (A load may overwrite its address register.)
  Space gather(const Instruction& i, Warp& warp, std::uint32_t mask, Addresses& addresses) const;
  /// False: an access cannot be; fault() says why.
  bool read(const Instruction& i, Space space, Warp& warp, Block& block, std::uint32_t mask, const Addresses& addresses);
  bool write(const Instruction& i, Space space, Warp& warp, Block& block, std::uint32_t mask, const Addresses& addresses);
  bool atomic(const Instruction& i, Space space, Warp& warp, Block& block, std::uint32_t mask, const Addresses& addresses);
  /// ldmatrix and stmatrix: `addresses` are then those of the lanes that name a row; `mask` is of them.
  bool matrix(const Instruction& i, Warp& warp, Block& block, std::uint32_t& mask, Addresses& addresses);
  /// cp.async: `addresses` are then those that are read, of the lanes of `mask` that read anything.
  bool copy(const Instruction& i, Warp& warp, Block& block, std::uint32_t& mask, Addresses& addresses);
  /// cp.async.bulk of one lane, of so many bytes: what it copies, and where the barrier is that is told of them.
  std::byte* bulk(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane, std::uint64_t to, std::uint64_t from, std::uint32_t bytes);
  /// Where the lanes' texels are: element `b` of texture `a`.
  bool texels(const Instruction& i, Warp& warp, std::uint32_t mask, Addresses& addresses);
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  /// Host bytes from a device address on.
  struct Span {
    std::byte* host = nullptr;
    std::uint64_t begin = 0;
  };
  /// What holds one element of each lane; null where they do not lie together, or one of them cannot be.
  Span together(const Instruction& i, Space space, Block& block, std::uint32_t mask, const Addresses& addresses);
  std::byte* locate(const Instruction& i, Space space, Warp& warp, Block& block, std::uint64_t address, std::uint32_t lane, std::uint32_t bytes);

  const LaunchContext& c_;
  std::string fault_;
};

}  // namespace gexp::sim
