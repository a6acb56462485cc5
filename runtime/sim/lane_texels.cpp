// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "runtime/sim/lane_memory.h"

// Fetches from textures, and loads and stores of surfaces (CUDA C++ Programming Guide, "Texture Fetching"; PTX ISA 9.7.10 and 9.7.11).
namespace gexp::sim {
namespace {

constexpr std::int64_t kNowhereNear = -1;
constexpr double kFar = 1e15;  // beyond every texture, and still a whole number in a double

/// The elements along one axis that a fetch is made of, and how much of the second.
struct Along {
  std::array<std::int64_t, 2> at{};
  double second = 0;
};

std::int64_t modulo(std::int64_t a, std::int64_t n) { return ((a % n) + n) % n; }

/// An element's number, where it may lie beyond the texture; kNowhereNear: it has none.
std::int64_t inside(const Texture& t, bool places, std::int64_t at, std::int64_t size) {
  if (at >= 0 && at < size) return at;
  const auto beyond = places && t.normalized ? t.beyond : t.beyond == Texture::Beyond::Border ? t.beyond : Texture::Beyond::Clamp;
  switch (beyond) {
    case Texture::Beyond::Border: return kNowhereNear;
    case Texture::Beyond::Wrap: return modulo(at, size);
    case Texture::Beyond::Mirror: return at = modulo(at, 2 * size), at < size ? at : 2 * size - 1 - at;
    case Texture::Beyond::Clamp: break;
  }
  return std::clamp<std::int64_t>(at, 0, size - 1);
}

Along along(const Texture& t, bool places, std::uint64_t bits, std::int64_t size) {
  if (!places) return {{inside(t, false, static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)), size), 0}, 0};
  double place = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (std::isnan(place)) place = 0;
  if (t.normalized) place *= static_cast<double>(size);
  place = std::clamp(place, -kFar, kFar);
  if (!t.linear) return {{inside(t, true, static_cast<std::int64_t>(std::floor(place)), size), 0}, 0};
  const double low = std::floor(place - 0.5);
  // fact: the fraction has 8 bits (CUDA C++ Programming Guide, "Linear Filtering").
  const double second = std::nearbyint((place - 0.5 - low) * 256) / 256;
  const auto first = static_cast<std::int64_t>(low);
  return {{inside(t, true, first, size), inside(t, true, first + 1, size)}, second};
}

/// A channel as a number: of integers, what they are as floats from -1 to 1.
double number(const Texture& t, std::uint64_t bits) {
  if (t.kind == 'f') return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  const int width = static_cast<int>(t.channel_bytes * 8);
  if (t.kind == 'u') return static_cast<double>(bits) / static_cast<double>((1ull << width) - 1);
  const auto value = static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width);
  return std::max(-1.0, static_cast<double>(value) / static_cast<double>((1ll << (width - 1)) - 1));
}

std::uint64_t extended(const Texture& t, std::uint64_t bits) {
  const int width = static_cast<int>(t.channel_bytes * 8);
  return t.kind == 's' ? static_cast<std::uint32_t>(static_cast<std::int64_t>(bits << (64 - width)) >> (64 - width)) : bits;
}

/// A place of a cube's face, from 0 to 1 each way, and the face (CUDA C++ Programming Guide, "Cubemap Textures").
struct OnFace {
  std::int64_t face = 0;
  double s = 0, t = 0;
};

OnFace on_face(double x, double y, double z) {
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  struct Turned {
    std::int64_t face;
    double m, s, t;
  };
  const Turned turned = ax >= ay && ax >= az ? (x >= 0 ? Turned{0, x, -z, -y} : Turned{1, -x, z, -y})
                        : ay >= az           ? (y >= 0 ? Turned{2, y, x, z} : Turned{3, -y, x, -z})
                                             : (z >= 0 ? Turned{4, z, x, -y} : Turned{5, -z, -x, -y});
  if (!(turned.m > 0)) return {};
  return {turned.face, (turned.s / turned.m + 1) / 2, (turned.t / turned.m + 1) / 2};
}

std::uint64_t asked(const Texture& t, Fetch::Query query) {
  using Q = Fetch::Query;
  switch (query) {
    case Q::Width: return t.size[0] != 0 ? t.size[0] : t.bytes / t.element_bytes();
    case Q::Height: return t.size[1];
    case Q::Depth: return t.size[2];
    case Q::Layers: return t.size[2] > 1 ? t.size[2] : t.size[1];
    case Q::Normalized: return t.normalized;
    case Q::Unnormalized: return !t.normalized;
    case Q::Filter: return t.linear;
    case Q::Levels: case Q::Samples: case Q::None: return 1;
    case Q::BeyondX: case Q::BeyondY: case Q::BeyondZ: break;
  }
  switch (t.beyond) {  // fact: wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border (PTX ISA 5.3)
    case Texture::Beyond::Wrap: return 0;
    case Texture::Beyond::Mirror: return 1;
    case Texture::Beyond::Clamp: return 3;
    case Texture::Beyond::Border: return 4;
  }
  return 0;
}

std::int64_t layer_of(const Instruction& i, Warp& warp, std::uint32_t lane, std::uint32_t layers) {
  return std::min<std::int64_t>(static_cast<std::uint32_t>(warp.slot(i.data[kLayer])[lane]), std::max<std::int64_t>(layers, 1) - 1);
}

}  // namespace

const Texture* LaneMemory::texture_of(const Instruction& i, std::uint64_t handle) {
  if (handle - kFirstTexture < c_.textures.size()) return &c_.textures[handle - kFirstTexture];
  const char* const why = handle == 0 ? ": a reference that nothing is bound to" : "";
  fault_ = fmt::format("{} what is no texture{} ({})", i.kind == Kind::Store ? "a store to" : "a fetch from", why, place_of(c_.kernel, i));
  return nullptr;
}

/// Of linear memory: one word, zero outside of it.
bool LaneMemory::linear_texel(const Instruction& i, const Texture& texture, Warp& warp, std::uint32_t lane, std::uint64_t& address) {
  const auto element = static_cast<std::int64_t>(static_cast<std::int32_t>(warp.slot(i.b)[lane]));
  std::uint32_t value = 0;
  address = texture.address;
  if (element >= 0 && static_cast<std::uint64_t>(element) < texture.bytes / 4) {
    address += static_cast<std::uint64_t>(element) * 4;
    const std::byte* const at = c_.memory.find(address, 4);
    if (!at) return fails(i, fmt::format("texture fetch at 0x{:x} is outside every allocation", address));
    std::memcpy(&value, at, 4);
  }
  warp.slot(i.data[0])[lane] = value;
  for (std::size_t k = 1; k < i.count; ++k) warp.slot(i.data[k])[lane] = 0;
  return true;
}

/// Of up to three dimensions. `corner`: what else is interpolated, an array of addresses each.
bool LaneMemory::texel(const Instruction& i, const Texture& texture, Warp& warp, std::uint32_t lane, Addresses& addresses,
                       Corners& corners) {
  const bool places = i.from == Type::F32;
  const Fetch fetch = Fetch::of(i.offset);
  const std::size_t axes = fetch.cube ? 2 : fetch.axes;
  const std::uint64_t x = warp.slot(i.b)[lane], y = fetch.axes > 1 ? warp.slot(i.c)[lane] : 0, z = fetch.axes > 2 ? warp.slot(i.data[kThird])[lane] : 0;
  std::array<std::uint64_t, 3> given{x, y, z};
  Texture of = texture;
  of.linear = texture.linear || fetch.gathered != 0;
  std::array<Along, 3> on{};
  if (fetch.cube) {
    const auto number = [](std::uint64_t bits) -> double { return std::bit_cast<float>(static_cast<std::uint32_t>(bits)); };
    const OnFace place = on_face(number(x), number(y), number(z));
    const std::int64_t cube = fetch.layered ? layer_of(i, warp, lane, texture.size[2] / 6) : 0;
    given = {std::bit_cast<std::uint32_t>(static_cast<float>(place.s)), std::bit_cast<std::uint32_t>(static_cast<float>(place.t)), 0};
    of.normalized = true, of.beyond = Texture::Beyond::Clamp;
    on[2].at.fill(cube * 6 + place.face);
  } else if (fetch.layered) {
    on[axes].at.fill(layer_of(i, warp, lane, texture.size[axes]));
  }
  for (std::size_t axis = 0; axis < axes; ++axis) on[axis] = along(of, places, given[axis], texture.size[axis]);
  std::array<double, 4> sums{};
  std::array<std::uint64_t, 4> whole{}, gathered{};
  const bool blends = of.linear && places;
  addresses[lane] = texture.address;
  for (std::uint32_t corner = 0; corner < (blends ? 1u << axes : 1u); ++corner) {
    double weight = 1;
    std::array<std::int64_t, 3> at{on[0].at[0], on[1].at[0], on[2].at[0]};
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const bool second = (corner >> axis & 1) != 0;
      at[axis] = on[axis].at[second];
      weight *= second ? on[axis].second : 1 - on[axis].second;
    }
    const bool there = texture.has(at[0], at[1], at[2]);
    const std::uint64_t address = there ? texture.element(at[0], at[1], at[2]) : addresses[lane];
    (corner == 0 ? addresses : corners[corner - 1])[lane] = address;
    if (!there) continue;
    const std::byte* const from = c_.memory.find(address, texture.element_bytes());
    if (!from) return fails(i, fmt::format("texture fetch at 0x{:x} is outside every allocation", address));
    for (std::size_t k = 0; k < texture.channels; ++k) {
      std::uint64_t bits = 0;
      std::memcpy(&bits, from + k * texture.channel_bytes, texture.channel_bytes);
      if (fetch.gathered == k + 1) {
        // Counter-clockwise from the lower left (PTX ISA 9.7.10, tld4).
        constexpr std::array<std::size_t, 4> kTurn{3, 2, 0, 1};
        gathered[kTurn[corner]] = texture.unit && texture.kind != 'f' ? std::bit_cast<std::uint32_t>(static_cast<float>(number(texture, bits))) : extended(texture, bits);
      }
      whole[k] = extended(texture, bits);
      if (blends || texture.unit) sums[k] += weight * number(texture, bits);
    }
  }
  const bool as_float = blends || (texture.unit && texture.kind != 'f');
  for (std::size_t k = 0; k < i.count; ++k) {
    warp.slot(i.data[k])[lane] = fetch.gathered != 0 ? gathered[k] : as_float ? std::bit_cast<std::uint32_t>(static_cast<float>(sums[k])) : whole[k];
  }
  return true;
}

bool LaneMemory::texels(const Instruction& i, Warp& warp, std::uint32_t mask, Addresses& addresses, Corners& corners) {
  corners.clear();
  const Fetch fetch = Fetch::of(i.offset);
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const Texture* const texture = texture_of(i, warp.slot(i.a)[lane]);
    if (!texture) return false;
    if (fetch.query != Fetch::Query::None) {
      addresses[lane] = texture->address, warp.slot(i.data[0])[lane] = asked(*texture, fetch.query);
      continue;
    }
    const bool linear = texture->size[0] == 0, blends = (texture->linear || fetch.gathered != 0) && i.from == Type::F32;
    if (fetch.cube && (texture->size[0] != texture->size[1] || texture->size[2] % 6 != 0)) return fails(i, "a fetch from a cube of what has no six squares");
    if (linear && (fetch.axes != 1 || fetch.layered || i.from != Type::S32)) return fails(i, "a fetch by place from linear memory");
    // Lanes that interpolate less, or nothing, ask for what they have asked for already.
    if (blends) {
      const std::size_t first = corners.size();
      corners.resize(std::max(first, (std::size_t{1} << (fetch.cube ? 2 : fetch.axes)) - 1));
      for (std::size_t k = first; k < corners.size(); ++k) corners[k] = addresses;
    }
    const bool good = linear ? linear_texel(i, *texture, warp, lane, addresses[lane]) : texel(i, *texture, warp, lane, addresses, corners);
    if (!good) return false;
    for (Addresses& corner : corners) {
      if (!blends) corner[lane] = addresses[lane];
    }
  }
  return true;
}

/// Whether a channel, as sust.p and sured.p have it in 32 bits, is one of the surface's. PTX leaves open what becomes of one that is not.
static bool fits(const Texture& t, std::uint64_t bits) {
  return t.kind == 'f' || t.channel_bytes == 4 || extended(t, bits & ((1ull << t.channel_bytes * 8) - 1)) == (bits & 0xffffffffu);
}

/// Of elements in the surface's own format; channels that the instruction does not name become 0. False, and fault() says why: it cannot
/// be.
bool LaneMemory::sample(const Instruction& i, const Texture& surface, Warp& warp, std::uint32_t lane, std::byte* at) {
  const auto given = [&](std::size_t k) { return k < i.count ? warp.slot(i.data[k])[lane] : 0; };
  if (i.kind == Kind::Atomic) {
    if (surface.kind == 'f' || surface.element_bytes() != i.bytes) return fails(i, "an atomic operation on a surface whose elements are no integers of 32 bits");
    Instruction as = i;  // .b32 has no sign; the surface's elements may
    if (surface.kind == 's' && i.atomic == AtomicOp::MinU) as.atomic = AtomicOp::MinS;
    if (surface.kind == 's' && i.atomic == AtomicOp::MaxU) as.atomic = AtomicOp::MaxS;
    update(as, given(0), at);
    return true;
  }
  for (std::size_t k = 0; k < surface.channels; ++k) {
    const std::uint64_t value = given(k);
    if (!fits(surface, value)) return fails(i, fmt::format("0x{:x} is no value of a surface's channel of {} B", value & 0xffffffffu, surface.channel_bytes));
    std::memcpy(at + k * surface.channel_bytes, &value, surface.channel_bytes);
  }
  return true;
}

bool LaneMemory::surface(const Instruction& i, Warp& warp, std::uint32_t& mask, Addresses& addresses) {
  const Fetch fetch = Fetch::of(i.offset);
  const std::size_t axes = fetch.axes;
  for (std::uint32_t left = mask; left != 0; left &= left - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(left));
    const Texture* const surface = texture_of(i, warp.slot(i.a)[lane]);
    if (!surface) return false;
    const auto signed_at = [&](std::uint32_t slot) -> std::int64_t { return static_cast<std::int32_t>(static_cast<std::uint32_t>(warp.slot(slot)[lane])); };
    // x counts bytes.
    std::int64_t x = signed_at(i.b), y = axes > 1 ? signed_at(i.c) : 0, z = axes > 2 ? signed_at(i.data[kThird]) : 0;
    if (fetch.layered) (axes == 1 ? y : z) = layer_of(i, warp, lane, surface->size[axes]);
    const std::uint32_t bytes = fetch.samples ? surface->element_bytes() : static_cast<std::uint32_t>(i.bytes) * i.count;
    const auto width = static_cast<std::int64_t>(surface->size[0]) * surface->element_bytes();
    if (fetch.samples) x *= bytes;
    if (x % bytes != 0) return fails(i, fmt::format("an access of {} B of a surface at byte {} is misaligned", bytes, x));
    bool there = x >= 0 && x + bytes <= width && surface->has(0, y, z);
    if (!there && i.beyond == 'c' && width >= bytes) {
      x = std::clamp<std::int64_t>(x, 0, width - bytes);
      y = std::clamp<std::int64_t>(y, 0, surface->size[1] - 1), z = std::clamp<std::int64_t>(z, 0, surface->size[2] - 1);
      there = true;
    }
    if (!there && i.beyond != 'z') return fails(i, fmt::format("an access of a surface at ({}, {}, {}) is outside of it", x, y, z));
    addresses[lane] = there ? surface->element(0, y, z) + static_cast<std::uint64_t>(x) : surface->address;
    std::byte* const at = c_.memory.find(addresses[lane], bytes);
    if (!at) return fails(i, fmt::format("an access of a surface at 0x{:x} is outside every allocation", addresses[lane]));
    if (!there) mask &= ~(1u << lane);
    if (fetch.samples) {
      if (there && !sample(i, *surface, warp, lane, at)) return false;
      continue;
    }
    if (i.kind == Kind::Atomic) {
      if (there) update(i, warp.slot(i.data[0])[lane], at);
      continue;
    }
    for (std::size_t k = 0; k < i.count; ++k) {
      std::uint64_t& value = warp.slot(i.data[k])[lane];
      if (i.kind != Kind::Store) value = 0;
      if (!there) continue;
      if (i.kind == Kind::Store) std::memcpy(at + k * i.bytes, &value, i.bytes);
      else std::memcpy(&value, at + k * i.bytes, i.bytes);
    }
  }
  return true;
}

}  // namespace gexp::sim
