// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "runtime/sim/compute.h"

// Integer operations that are rare enough to live out of line.
namespace gexp::sim {
namespace {

std::uint64_t high_signed(std::int64_t a, std::int64_t b, int width) {
  __extension__ using wide = __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(a) * b) >> width);
}

std::uint64_t high_unsigned(std::uint64_t a, std::uint64_t b, int width) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<wide>(a) * b) >> width);
}

/// The selectors of prmt's modes, of the four values that the low bits of its third operand choose from.
constexpr std::uint16_t kPermutations[][4] = {
    {},
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
};

std::uint64_t permute(std::uint64_t a, std::uint64_t b, std::uint64_t selector, std::int64_t mode) {
  if (mode != 0) selector = kPermutations[mode][selector & 3];
  const std::uint64_t bytes = (a & 0xffffffffu) | (b << 32);
  std::uint64_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned s = static_cast<unsigned>(selector >> (4 * i)) & 15u;
    std::uint64_t byte = (bytes >> (8 * (s & 7))) & 0xff;
    if (s & 8) byte = (byte & 0x80) ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

/// dp4a: four products of bytes; dp2a: two of a's halves with b's low or high two bytes.
std::uint64_t dot(std::uint64_t a, std::uint64_t b, std::uint64_t c, int parts, std::int64_t flags) {
  const int width = 32 / parts;
  const auto part = [](std::uint64_t from, int at, int bits, bool with_sign) {
    const std::uint64_t top = from << (64 - bits - at);
    return with_sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(top) >> (64 - bits)) : top >> (64 - bits);
  };
  for (int k = 0; k < parts; ++k) {
    const int byte = k + (flags & kDotHigh ? 2 : 0);
    c += part(a, k * width, width, flags & kDotSignedA) * part(b, 8 * byte, 8, flags & kDotSignedB);
  }
  return c;
}

std::uint64_t reverse(std::uint64_t a, int width) {
  std::uint64_t result = 0;
  for (int i = 0; i < width; ++i) result |= ((a >> i) & 1) << (width - 1 - i);
  return result;
}

/// The place of the offset-th set bit of a, from bit `base` up (offset > 0) or down (offset < 0); `base` itself where offset is 0.
std::uint64_t find_nth(std::uint32_t a, std::uint32_t base, std::int32_t offset) {
  if (base > 31) return 0xffffffffu;
  if (offset == 0) return (a >> base & 1) != 0 ? base : 0xffffffffu;
  const int step = offset > 0 ? 1 : -1;
  std::int64_t left = offset > 0 ? offset : -static_cast<std::int64_t>(offset);
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
    if ((a >> at & 1) != 0 && --left == 0) return static_cast<std::uint64_t>(at);
  }
  return 0xffffffffu;
}

/// `width` ones from bit `from` on.
std::uint64_t bit_mask(std::uint64_t from, std::uint64_t width, bool clamp) {
  if (clamp && from >= 32) return 0;
  const std::uint64_t low = from & 31, length = clamp ? std::min<std::uint64_t>(width, 32) : width & 31;
  return ((1ull << length) - 1) << low & 0xffffffffu;
}

/// The low `width` bits of a, extended by their sign or by zeros.
std::uint64_t extended(std::uint64_t a, std::uint64_t width, bool with_sign, bool clamp) {
  const std::uint64_t length = clamp ? std::min<std::uint64_t>(width, 32) : width & 31;
  if (length == 0) return 0;
  const std::uint64_t field = a & ((1ull << length) - 1);
  return (with_sign && (field >> (length - 1) & 1) != 0 ? field | ~0ull << length : field) & 0xffffffffu;
}

std::uint64_t clamp32(std::int64_t v) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(v, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

/// a * b of 24 bits each, moved down, + c.
std::uint64_t multiply24(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c, bool with_sign) {
  const auto low = [with_sign](std::uint64_t v) { return with_sign ? static_cast<std::int64_t>(v << 40) >> 40 : static_cast<std::int64_t>(v & 0xffffff); };
  const std::int64_t product = (low(a) * low(b)) >> i.offset;
  if (i.saturate) return clamp32(static_cast<std::int32_t>(product) + static_cast<std::int64_t>(static_cast<std::int32_t>(c)));
  return (static_cast<std::uint64_t>(product) + c) & i.mask;
}

/// The same operation (offset) on both halves.
std::uint64_t both_halves(const Instruction& i, std::uint64_t a, std::uint64_t b) {
  Instruction half = i;
  half.op = static_cast<Op>(i.offset), half.mask = 0xffff, half.shift = 48;
  const auto at = [&](int from) { return compute(half.op, half, a >> from & 0xffff, b >> from & 0xffff, 0) & 0xffff; };
  return at(0) | at(16) << 16;
}

/// What compilers hardly write.
std::uint64_t compute_rarer(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const auto extend = [&i](std::uint64_t v) { return static_cast<std::int64_t>(v << i.shift) >> i.shift; };
  switch (i.op) {
    case Op::AddSat: return clamp32(extend(a) + extend(b));
    case Op::SubSat: return clamp32(extend(a) - extend(b));
    case Op::MadHiSat: return clamp32(static_cast<std::int32_t>(high_signed(extend(a), extend(b), 32)) + extend(c));
    case Op::Mad24S: return multiply24(i, a, b, c, true);
    case Op::Mad24U: return multiply24(i, a, b, c, false);
    case Op::SadS: return (c + (extend(a) < extend(b) ? b - a : a - b)) & i.mask;
    case Op::SadU: return (c + (a < b ? b - a : a - b)) & i.mask;
    case Op::Fns: return find_nth(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b), static_cast<std::int32_t>(static_cast<std::uint32_t>(c)));
    case Op::Extend: return extended(a, b, is_signed(i.type), i.offset != 0);
    case Op::Mask: return bit_mask(a, b, i.offset != 0);
    case Op::Slct: return static_cast<std::int32_t>(static_cast<std::uint32_t>(c)) >= 0 ? a & i.mask : b & i.mask;
    // -0 counts as positive, a NaN as negative; a subnormal that is flushed is a zero.
    case Op::SlctF: return std::bit_cast<float>(static_cast<std::uint32_t>(c)) >= 0 || (i.flush && (c & 0x7f800000u) == 0) ? a & i.mask : b & i.mask;
    case Op::Pairs: return both_halves(i, a, b);
    case Op::CvtPair: return convert_pair(i, a, b);
    case Op::CvtPack: return convert_pack(i, a, b, c);
    default: return 0;
  }
}

}  // namespace

std::uint64_t saturated(const Instruction& i, std::uint64_t value) {
  const int width = bits(i.type);
  const bool negative = is_signed(i.from) && static_cast<std::int64_t>(value) < 0;
  const std::uint64_t most = is_signed(i.type) ? i.mask >> 1 : i.mask;
  if (!negative) return std::min(value, most);
  if (!is_signed(i.type)) return 0;
  const std::int64_t least = width == 64 ? std::numeric_limits<std::int64_t>::min() : -(1ll << (width - 1));
  return static_cast<std::uint64_t>(std::max(static_cast<std::int64_t>(value), least));
}

std::uint64_t compute_rare(const Instruction& i, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const int width = 64 - i.shift;
  const auto extend = [&i](std::uint64_t v) { return static_cast<std::int64_t>(v << i.shift) >> i.shift; };
  switch (i.op) {
    case Op::MulHiS: return high_signed(extend(a), extend(b), width) & i.mask;
    case Op::MulHiU: return high_unsigned(a, b, width) & i.mask;
    case Op::MadHiS: return (high_signed(extend(a), extend(b), width) + c) & i.mask;
    case Op::MadHiU: return (high_unsigned(a, b, width) + c) & i.mask;
    // Division by zero is unspecified in PTX; hardware gives all ones.
    case Op::DivU: return b == 0 ? i.mask : a / b;
    case Op::RemU: return b == 0 ? a : a % b;
    case Op::DivS:
      if (b == 0) return i.mask;
      if (extend(b) == -1) return (0 - a) & i.mask;
      return static_cast<std::uint64_t>(extend(a) / extend(b)) & i.mask;
    case Op::RemS:
      if (b == 0) return a;
      if (extend(b) == -1) return 0;
      return static_cast<std::uint64_t>(extend(a) % extend(b)) & i.mask;
    case Op::AbsS: return extend(a) < 0 ? (0 - a) & i.mask : a;
    case Op::Neg: return (0 - a) & i.mask;
    case Op::Cnot: return a == 0;
    case Op::Lop3: {
      std::uint64_t result = 0;
      for (unsigned k = 0; k < 8; ++k) {
        if (!(static_cast<std::uint64_t>(i.offset) >> k & 1)) continue;
        result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
      }
      return result & i.mask;
    }
    case Op::FunnelL: case Op::FunnelLWrap: {
      const std::uint64_t n = i.op == Op::FunnelLWrap ? c & 31 : (c > 32 ? 32 : c);
      return (((b << 32 | a) << n) >> 32) & i.mask;
    }
    case Op::FunnelR: case Op::FunnelRWrap: {
      const std::uint64_t n = i.op == Op::FunnelRWrap ? c & 31 : (c > 32 ? 32 : c);
      return ((b << 32 | a) >> n) & i.mask;
    }
    case Op::BfeU: case Op::BfeS: {
      const unsigned from = b & 0xff, length = c & 0xff;
      if (length == 0) return 0;
      const std::uint64_t sign = i.op == Op::BfeS && (a >> (std::min<unsigned>(from + length, static_cast<unsigned>(width)) - 1) & 1);
      std::uint64_t field = from >= 64 ? 0 : a >> from;
      if (length < 64) field &= (1ull << length) - 1;
      const unsigned valid = from >= static_cast<unsigned>(width) ? 0 : std::min<unsigned>(length, static_cast<unsigned>(width) - from);
      if (sign) field |= valid >= 64 ? 0 : ~0ull << valid;
      return field & i.mask;
    }
    case Op::Bfi: {  // a into b at position c; the length is the instruction's offset
      const unsigned from = c & 0xff, length = static_cast<unsigned>(i.offset) & 0xff;
      if (length == 0 || from >= static_cast<unsigned>(width)) return b;
      const std::uint64_t field = (length >= 64 ? ~0ull : (1ull << length) - 1) << from;
      return ((b & ~field) | ((a << from) & field)) & i.mask;
    }
    case Op::Popc: return static_cast<std::uint64_t>(std::popcount(a));
    case Op::Clz: return static_cast<std::uint64_t>(std::countl_zero(a) - i.shift);
    // The place of the highest bit that differs from the sign; with a shift asked for, how far it is from the top.
    case Op::FindS: case Op::FindU: {
      const std::uint64_t field = i.op == Op::FindS && extend(a) < 0 ? ~a & i.mask : a;
      if (field == 0) return 0xffffffffu;
      const auto place = static_cast<std::uint64_t>(63 - std::countl_zero(field));
      return i.offset != 0 ? static_cast<std::uint64_t>(width - 1) - place : place;
    }
    case Op::Brev: return reverse(a, width);
    case Op::Dot2: return dot(a, b, c, 2, i.offset) & i.mask;
    case Op::Dot4: return dot(a, b, c, 4, i.offset) & i.mask;
    case Op::Prmt: return permute(a, b, c, i.offset);
    default: return compute_rarer(i, a, b, c);
  }
}

}  // namespace gexp::sim
