// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

/// What fetches from textures and accesses of surfaces refer to. Elements lie in rows one after the other, rows in planes. A device may lay
/// them out in blocks, which nobody documents.
namespace gexp::sim {

struct Texture {
  enum class Beyond : std::uint8_t { Clamp, Wrap, Mirror, Border };

  std::uint64_t address = 0, bytes = 0;
  std::array<std::uint32_t, 3> size{};  ///< elements along x, y and z; x 0: linear memory of 4-byte elements, zeros beyond its end
  std::uint32_t channels = 1;           ///< of an element: 1, 2 or 4
  std::uint32_t channel_bytes = 4;
  char kind = 'u';                      ///< of a channel: u, s or f, which has 4 bytes
  bool linear = false;                  ///< interpolates between the nearest elements; else the one at the place
  bool normalized = false;              ///< places run from 0 to 1 along each axis; else they count elements
  bool unit = false;                    ///< integers are read as floats from 0, or -1, to 1
  Beyond beyond = Beyond::Clamp;        ///< Wrap and Mirror are for normalized places: of others they clamp

  [[nodiscard]] std::uint32_t element_bytes() const { return channels * channel_bytes; }
  [[nodiscard]] bool has(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return x >= 0 && y >= 0 && z >= 0 && x < size[0] && y < size[1] && z < size[2];
  }
  [[nodiscard]] std::uint64_t element(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return address + ((static_cast<std::uint64_t>(z) * size[1] + static_cast<std::uint64_t>(y)) * size[0] + static_cast<std::uint64_t>(x)) * element_bytes();
  }
};

}  // namespace gexp::sim
