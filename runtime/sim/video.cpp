// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/video.h"

#include <algorithm>

namespace gexp::sim {
namespace {

using V = Video::Operation;

/// The lowest bits as a whole number.
std::int64_t whole(std::uint64_t bits, std::uint32_t width, bool with_sign) {
  const std::uint64_t cut = bits & ((1ull << width) - 1);
  return static_cast<std::int64_t>(cut) - (with_sign && cut >> (width - 1) != 0 ? std::int64_t{1} << width : 0);
}

std::int64_t clamped(std::int64_t value, std::uint32_t width, bool with_sign) {
  const std::int64_t all = std::int64_t{1} << width;
  return with_sign ? std::clamp(value, -all / 2, all / 2 - 1) : std::clamp<std::int64_t>(value, 0, all - 1);
}

std::int64_t result_of(const Video& v, std::int64_t a, std::int64_t b) {
  const std::int64_t by = v.wraps ? b & 31 : std::min<std::int64_t>(static_cast<std::uint32_t>(b), 32);
  switch (v.operation) {
    case V::Add: return a + b;
    case V::Subtract: return a - b;
    case V::Distance: return a < b ? b - a : a - b;
    case V::Least: return std::min(a, b);
    case V::Greatest: return std::max(a, b);
    case V::Left: return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << by);
    case V::Right: return a >> by;
    case V::Average: return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
    case V::Equal: return a == b;
    case V::Unequal: return a != b;
    case V::Less: return a < b;
    case V::LessEqual: return a <= b;
    case V::Greater: return a > b;
    case V::GreaterEqual: return a >= b;
    case V::MultiplyAdd: break;
  }
  return 0;
}

/// vmad: what is negated, and the sum itself, are exact in 128 bits.
std::uint64_t multiplied(const Video& v, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  __extension__ using Wide = __int128;
  const bool between = v.a_signed || v.b_signed || v.product_negated, with_sign = between || v.addend_negated;
  const Wide product = Wide{whole(x, 32, v.a_signed)} * whole(y, 32, v.b_signed), addend = whole(z, 32, between);
  const Wide sum = ((v.product_negated ? -product : product) + (v.addend_negated ? -addend : addend) + (v.plus_one ? 1 : 0)) >> v.scale;
  if (!v.saturates) return static_cast<std::uint32_t>(sum);
  const Wide all = Wide{1} << 32;
  return static_cast<std::uint32_t>(with_sign ? std::clamp<Wide>(sum, -all / 2, all / 2 - 1) : std::clamp<Wide>(sum, 0, all - 1));
}

std::uint64_t one(const Video& v, bool with_sign, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  std::int64_t value = result_of(v, whole(x, 32, v.a_signed), whole(y, 32, v.b_signed));
  const std::uint32_t width = v.merged != 0 ? v.merged : 32;
  if (v.saturates) value = clamped(value, width, with_sign);
  if (v.merged != 0) {
    const std::uint64_t place = ((1ull << v.merged) - 1) << v.at;
    return (z & ~place) | ((static_cast<std::uint64_t>(value) << v.at) & place);
  }
  const std::int64_t first = whole(static_cast<std::uint64_t>(value), 32, with_sign), second = whole(z, 32, with_sign);
  const std::int64_t last[] = {first, first + second, std::min(first, second), std::max(first, second)};
  return static_cast<std::uint32_t>(last[static_cast<std::size_t>(v.second)]);
}

std::uint64_t side_by_side(const Video& v, bool with_sign, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  const std::uint32_t width = 32 / v.parts;
  const bool adds = v.second == Video::Second::Add;
  std::uint64_t all = adds ? z : 0;
  for (std::uint32_t at = 0; at < 32; at += width) {
    std::int64_t value = result_of(v, whole(x >> at, width, v.a_signed), whole(y >> at, width, v.b_signed));
    if (v.saturates) value = clamped(value, width, with_sign);
    if (adds) all += static_cast<std::uint64_t>(value);
    else all |= (static_cast<std::uint64_t>(value) & ((1ull << width) - 1)) << at;
  }
  return static_cast<std::uint32_t>(all);
}

}  // namespace

void compute_video(const WideCall& call) {
  const Video v = Video::of(call.i.offset);
  const bool with_sign = is_signed(call.i.type);
  each_lane(call.lanes, [&](std::uint32_t lane) {
    const auto from = [&](std::size_t k) { return call.warp.slot(call.reads[k])[lane]; };
    const std::uint64_t result = v.operation == V::MultiplyAdd ? multiplied(v, from(0), from(1), from(2))
                                 : v.parts > 1                 ? side_by_side(v, with_sign, from(0), from(1), from(2))
                                                               : one(v, with_sign, from(0), from(1), from(2));
    call.warp.slot(call.writes[0])[lane] = result;
  });
}

}  // namespace gexp::sim
