// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// How links reach an array: as one plain copy when they fill it, else by a kernel that stores each at its place.
namespace gexp::cuda {

/// A stretch of device memory that the values fill completely.
struct Packed {
  std::int64_t first = 0;  ///< byte offset of the stretch
  std::vector<std::byte> bytes;
};

/// The values as one stretch, when every byte between the lowest and the highest is written, exactly once. None otherwise: the
/// bytes in the gaps must keep what they hold.
std::optional<Packed> pack(std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values, int width);

/// PTX that every driver compiles for its device, for values of 4 or 8 B: entry scatter4 or scatter8 (base, offsets, values, count),
/// one thread a value.
std::string scatter_ptx(int width);
inline constexpr unsigned kScatterBlock = 256;
inline constexpr std::size_t kScatterChunk = std::size_t{1} << 20;  ///< values staged at a time

}  // namespace gexp::cuda
