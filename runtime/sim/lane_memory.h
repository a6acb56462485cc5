// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
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
  std::byte* bulk(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane, std::uint64_t to, std::uint64_t from,
                  std::uint32_t bytes);
  /// cp.async.bulk.global and cp.reduce.async.bulk of one lane: from shared to global memory.
  bool bulk_store(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane, std::uint64_t from, std::uint64_t to,
                  std::uint32_t bytes);
  /// cp.async.bulk.tensor of one lane: what it copies, row by row, and where the barrier is that is told of them. False: it cannot be.
  struct TileCopy {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> rows;  ///< address and bytes of each row that is read
    std::uint32_t zeros = 0;                                    ///< bytes outside, which are not read
    std::byte* barrier = nullptr;
  };
  bool tile(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane, std::uint64_t to, TileCopy& copy);
  /// What else than the first element a fetch of each lane needs, where it interpolates.
  using Corners = std::vector<Addresses>;
  /// Reads texture `a` at `b`, `c` and data[kThird], and says where its elements are.
  bool texels(const Instruction& i, Warp& warp, std::uint32_t mask, Addresses& addresses, Corners& corners);
  /// suld, sust, sured; `mask` is then of the lanes that access anything.
  bool surface(const Instruction& i, Warp& warp, std::uint32_t& mask, Addresses& addresses);
  /// What printf makes of a format and of the values behind it, at generic addresses; nothing: one of them cannot be read.
  struct Printed {
    std::string text;
    std::uint32_t values = 0;  ///< that it shows
  };
  std::optional<Printed> printed(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane, std::uint64_t format,
                                 std::uint64_t values);
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  /// Host bytes from a device address on.
  struct Span {
    std::byte* host = nullptr;
    std::uint64_t begin = 0;
  };
  /// What holds one element of each lane; null where they do not lie together, or one of them cannot be.
  Span together(const Instruction& i, Space space, Block& block, std::uint32_t mask, const Addresses& addresses);
  const Texture* texture_of(const Instruction& i, std::uint64_t handle);
  bool linear_texel(const Instruction& i, const Texture& texture, Warp& warp, std::uint32_t lane, std::uint64_t& address);
  bool sample(const Instruction& i, const Texture& surface, Warp& warp, std::uint32_t lane, std::byte* at);
  /// sured, bulk reductions: an element of global memory becomes what the operation makes of it.
  static void update(const Instruction& i, std::uint64_t value, std::byte* at);
  bool texel(const Instruction& i, const Texture& texture, Warp& warp, std::uint32_t lane, Addresses& addresses, Corners& corners);
  std::byte* locate(const Instruction& i, Space space, Warp& warp, Block& block, std::uint64_t address, std::uint32_t lane,
                    std::uint32_t bytes);
  /// False, and fault() says what and where.
  bool fails(const Instruction& i, std::string_view what);

  const LaunchContext& c_;
  std::string fault_;
};

}  // namespace gexp::sim
