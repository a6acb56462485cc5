// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>

/// What a fetch from a texture, or an access of a surface, asks for; in Instruction::offset.
struct Fetch {
  /// What is asked of a texture or a surface itself. Their order is that of Decoder's words.
  enum class Query : std::uint8_t { None, Width, Height, Depth, Layers, Levels, Samples, Normalized, Unnormalized, Filter, BeyondX, BeyondY, BeyondZ };

  std::uint32_t axes = 1;      ///< coordinates
  bool layered = false;        ///< data[kLayer] names one of several textures
  bool cube = false;           ///< the three coordinates are a direction, which names a face and a place on it
  std::uint32_t gathered = 0;  ///< of each element that would be interpolated this channel, and one; 0: it is a fetch
  bool samples = false;        ///< x counts elements, in whose format they are written; else bytes
  Query query = Query::None;

  [[nodiscard]] std::int64_t packed() const {
    return axes | std::int64_t{layered} << 4 | std::int64_t{cube} << 5 | std::int64_t{samples} << 6 | std::int64_t{gathered} << 8 | static_cast<std::int64_t>(query) << 16;
  }
  static Fetch of(std::int64_t packed) {
    const auto part = [&](int at, int mask) { return static_cast<std::uint32_t>(packed >> at & mask); };
    return {part(0, 15), part(4, 1) != 0, part(5, 1) != 0, part(8, 255), part(6, 1) != 0, static_cast<Query>(part(16, 255))};
  }
};

/// What fetches from textures and accesses of surfaces refer to. Elements lie in rows one after the other, rows in planes. A device may lay
/// them out in blocks, which nobody documents.
namespace gexp::sim {

/// The layers of a texture are its last axis; a cube's six faces, too.
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
