// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

/// The operations of operations.cu on the host, with what device_operations.cu takes from the device written out plainly: from the PTX ISA
/// (chapter 9.7), not from the simulator, and without cleverness.
namespace gexp::differential::ops {

#define FN inline
using u64 = unsigned long long;

FN int popc64(u64 a) {
  int count = 0;
  for (; a != 0; a >>= 1) count += static_cast<int>(a & 1);
  return count;
}
FN int popc32(unsigned a) { return popc64(a); }
FN int clz64(u64 a) {
  int count = 0;
  while (count < 64 && (a >> (63 - count) & 1) == 0) ++count;
  return count;
}
FN int clz32(unsigned a) { return clz64(a) - 32; }
FN int ffs64(u64 a) {
  for (int i = 0; i < 64; ++i) {
    if (a >> i & 1) return i + 1;
  }
  return 0;
}
FN int ffs32(unsigned a) { return ffs64(a); }
FN u64 brev64(u64 a) {
  u64 result = 0;
  for (int i = 0; i < 64; ++i) result = result << 1 | (a >> i & 1);
  return result;
}
FN unsigned brev32(unsigned a) { return static_cast<unsigned>(brev64(a) >> 32); }

__extension__ using Signed128 = __int128;
__extension__ using Unsigned128 = unsigned __int128;
template <class T> FN T factor(T a) { return a; }
FN int mulhi_s32(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
FN unsigned mulhi_u32(unsigned a, unsigned b) { return static_cast<unsigned>(static_cast<u64>(a) * b >> 32); }
FN long long mulhi_s64(long long a, long long b) { return static_cast<long long>(static_cast<Signed128>(a) * b >> 64); }
FN u64 mulhi_u64(u64 a, u64 b) { return static_cast<u64>(static_cast<Unsigned128>(a) * b >> 64); }

FN u64 joined(unsigned low, unsigned high) { return static_cast<u64>(high) << 32 | low; }
FN unsigned shift_left_wrap(unsigned a, unsigned b, unsigned n) { return static_cast<unsigned>(joined(a, b) << (n & 31) >> 32); }
FN unsigned shift_right_wrap(unsigned a, unsigned b, unsigned n) { return static_cast<unsigned>(joined(a, b) >> (n & 31)); }
FN unsigned shift_left_clamp(unsigned a, unsigned b, unsigned n) { return n >= 32 ? a : shift_left_wrap(a, b, n); }
FN unsigned shift_right_clamp(unsigned a, unsigned b, unsigned n) { return n >= 32 ? b : shift_right_wrap(a, b, n); }
FN unsigned byte_permute(unsigned a, unsigned b, unsigned selector) {
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {  // CUDA's __byte_perm reads three bits of each selector
    const unsigned from = selector >> 4 * i & 7;
    result |= static_cast<unsigned>(joined(a, b) >> 8 * from & 0xff) << 8 * i;
  }
  return result;
}

// All of these take and give words of 32 bits; templates, since the calls name a type.
#define WORDS template <class T> FN unsigned
FN int as_signed(unsigned a) { return static_cast<int>(a); }
FN unsigned clamped(long long v) { return static_cast<unsigned>(static_cast<int>(v < -2147483648LL ? -2147483648LL : v > 2147483647LL ? 2147483647LL : v)); }
WORDS mul24_low(T a, T b) { return static_cast<unsigned>(static_cast<u64>(a & 0xffffff) * (b & 0xffffff)); }
WORDS mul24_high(T a, T b) {
  const auto low = [](unsigned v) { return static_cast<long long>((v & 0xffffff) ^ 0x800000) - 0x800000; };
  return static_cast<unsigned>(low(static_cast<unsigned>(a)) * low(static_cast<unsigned>(b)) >> 16);
}
WORDS add_saturated(T a, T b) { return clamped(static_cast<long long>(as_signed(a)) + as_signed(b)); }
WORDS distance_added(T a, T b, T c) { return c + (as_signed(a) < as_signed(b) ? b - a : a - b); }
WORDS mask_bits(T a, T b) {
  unsigned mask = 0;
  for (u64 i = 0; i < 32; ++i) mask |= static_cast<unsigned>(i >= a && i < static_cast<u64>(a) + b) << i;
  return mask;
}
WORDS extend_bits(T a, T b) {
  if (b == 0) return 0;
  if (b >= 32) return a;
  const u64 field = a & ((u64{1} << b) - 1), sign = u64{1} << (b - 1);
  return static_cast<unsigned>((field ^ sign) - sign);
}
WORDS find_set(T a, T b, T c) {
  const int base = static_cast<int>(b & 31), by = as_signed(c);
  if (by == 0) return (a >> base & 1) != 0 ? static_cast<unsigned>(base) : ~0u;
  long long left = by < 0 ? -static_cast<long long>(by) : by;
  for (int i = base; i >= 0 && i < 32; i += by < 0 ? -1 : 1) {
    if ((a >> i & 1) != 0 && --left == 0) return static_cast<unsigned>(i);
  }
  return ~0u;
}
WORDS insert_bits(T a, T b, T c) {
  const unsigned at = c & 63, length = c >> 8 & 63;
  unsigned result = b;
  for (unsigned i = at; i < at + length && i < 32; ++i) result = (result & ~(1u << i)) | ((a >> (i - at) & 1) << i);
  return result;
}
WORDS carried_up(T a, T b, T c) {
  const u64 first = static_cast<u64>(a) + b, second = (first & 0xffffffff) + c + (first >> 32);
  return static_cast<unsigned>(second) + a + static_cast<unsigned>(second >> 32);
}
WORDS borrowed(T a, T b, T c) {
  const u64 first = static_cast<u64>(a) - b, second = (first & 0xffffffff) - c - (first >> 63);
  return static_cast<unsigned>(second) - b - static_cast<unsigned>(second >> 63);
}
WORDS carried_product(T a, T b, T c) {
  const u64 product = static_cast<u64>(a) * b, low = (product & 0xffffffff) + c;
  return static_cast<unsigned>(product >> 32) + static_cast<unsigned>(low) + static_cast<unsigned>(low >> 32);
}
WORDS replicate_byte(T a, T b) { return (a >> 8 * (b & 3) & 0xff) * 0x01010101u; }
WORDS pack_bytes(T a, T b, T c) {
  const auto byte = [](unsigned v) { return static_cast<unsigned>(as_signed(v) < -128 ? -128 : as_signed(v) > 127 ? 127 : as_signed(v)) & 0xff; };
  return c << 16 | byte(a) << 8 | byte(b);
}
WORDS bytes_apart(T a, T b, T c) {
  unsigned sum = c;
  for (int at = 0; at < 32; at += 8) {
    const unsigned x = a >> at & 0xff, y = b >> at & 0xff;
    sum += x < y ? y - x : x - y;
  }
  return sum;
}
WORDS halves_added(T a, T b) {
  unsigned both = 0;
  for (int at = 0; at < 32; at += 16) {
    const int sum = static_cast<short>(a >> at) + static_cast<short>(b >> at);
    both |= (static_cast<unsigned>(sum < -32768 ? -32768 : sum > 32767 ? 32767 : sum) & 0xffff) << at;
  }
  return both;
}
WORDS byte_merged(T a, T b, T c) {
  const int sum = static_cast<signed char>(a >> 16) + static_cast<int>(b & 0xffff);
  return (c & 0xffff00ffu) | static_cast<unsigned>(sum < 0 ? 0 : sum > 255 ? 255 : sum) << 8;
}
WORDS minimum_halves(T a, T b) {
  const auto low = [](unsigned v) { return static_cast<int>((v & 0xffff) ^ 0x8000) - 0x8000; };
  const unsigned below = static_cast<unsigned>(low(static_cast<unsigned>(a)) < low(static_cast<unsigned>(b)) ? a : b) & 0xffff;
  return ((a >> 16) > (b >> 16) ? a >> 16 : b >> 16) << 16 | below;
}

WORDS bytes_product(T a, T b, T c) {
  unsigned sum = c;
  for (int at = 0; at < 32; at += 8) sum += static_cast<unsigned>(static_cast<int>(a >> at & 0xff) * static_cast<signed char>(b >> at));
  return sum;
}
WORDS halves_product(T a, T b, T c) {
  unsigned sum = c;
  for (int k = 0; k < 2; ++k) sum += static_cast<unsigned>(static_cast<short>(a >> 16 * k) * static_cast<int>(b >> (16 + 8 * k) & 0xff));
  return sum;
}
WORDS leading_zeros(T a, T b) {
  const unsigned bits = static_cast<unsigned>(a) ^ static_cast<unsigned>(b);
  return bits == 0 ? 0xffffffffu : static_cast<unsigned>(std::countl_zero(bits));
}
WORDS bytes_average(T a, T b) {
  unsigned all = 0;
  for (int at = 0; at < 32; at += 8) all |= ((a >> at & 0xff) + (b >> at & 0xff) + 1) / 2 << at;
  return all;
}
WORDS bytes_below(T a, T b, T c) {
  unsigned count = c;
  for (int at = 0; at < 32; at += 8) count += (a >> at & 0xff) < (b >> at & 0xff);
  return count;
}

/// A half that is a number in units of 2^-24, which all of them are whole numbers of.
FN long long half_units(unsigned h) {
  const int exponent = static_cast<int>(h >> 10 & 31);
  const long long digits = static_cast<long long>(h & 0x3ff) + (exponent != 0 ? 0x400 : 0), size = digits << (exponent != 0 ? exponent - 1 : 0);
  return (h & 0x8000) != 0 ? -size : size;
}
/// The half nearest to a value in units of 2^-48; `sign` is that of a zero.
FN unsigned nearest_half(Signed128 value, unsigned sign) {
  if (value == 0) return sign;
  const Signed128 size = value < 0 ? -value : value;
  const auto units = [](unsigned h) { return static_cast<Signed128>(h == 0x7c00 ? 65536ll << 24 : half_units(h)) << 24; };
  unsigned low = 0, high = 0x7c00;  // bits grow with values; the infinity stands for the number that would follow
  if (size >= units(high)) return (value < 0 ? 0x8000u : 0u) | 0x7c00;
  while (high - low > 1) (units((low + high) / 2) <= size ? low : high) = (low + high) / 2;
  const Signed128 below = size - units(low), above = units(high) - size;
  return (value < 0 ? 0x8000u : 0u) | (below < above || (below == above && low % 2 == 0) ? low : high);
}
FN unsigned half_fma(unsigned a, unsigned b, unsigned c) {
  const auto number = [](unsigned h) { return (h & 0x7c00) != 0x7c00; };
  if (number(a) && number(b) && number(c)) {
    const bool negative = ((a ^ b) & 0x8000) != 0, same = negative == ((c & 0x8000) != 0);
    return nearest_half(static_cast<Signed128>(half_units(a)) * half_units(b) + (static_cast<Signed128>(half_units(c)) << 24), same && negative ? 0x8000 : 0);
  }
  const auto wide = [&](unsigned h) {
    const double size = number(h) ? static_cast<double>(half_units(h)) : (h & 0x3ff) != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
    return !number(h) && (h & 0x8000) != 0 ? -size : size;
  };
  const double result = wide(a) * wide(b) + wide(c);
  return result != result ? 0x7fff : result < 0 ? 0xfc00 : 0x7c00;
}
template <class F> FN unsigned each_half(F f, unsigned a, unsigned b, unsigned c) { return f(a & 0xffff, b & 0xffff, c & 0xffff) | f(a >> 16, b >> 16, c >> 16) << 16; }
WORDS half_fused(T a, T b, T c) { return each_half(half_fma, a, b, c); }
WORDS half_sum(T a, T b) { return each_half([](unsigned x, unsigned y, unsigned) { return half_fma(x, 0x3c00, y); }, a, b, 0); }
/// With a zero of the product's own sign nothing is added.
WORDS half_product(T a, T b) { return each_half([](unsigned x, unsigned y, unsigned) { return half_fma(x, y, (x ^ y) & 0x8000); }, a, b, 0); }
#undef WORDS

template <class T> FN T fsqrt(T a) { return std::sqrt(a); }
template <class T> FN T fabsolute(T a) { return std::fabs(a); }
template <class T> FN T round_down(T a) { return std::floor(a); }
template <class T> FN T round_up(T a) { return std::ceil(a); }
template <class T> FN T round_to_zero(T a) { return std::trunc(a); }
template <class T> FN T round_to_even(T a) { return std::nearbyint(a); }
template <class T> FN T round_away(T a) { return std::round(a); }
template <class T> FN T fremainder(T a, T b) { return std::fmod(a, b); }
template <class T> FN T fused(T a, T b, T c) { return std::fma(a, b, c); }
template <class T> FN T copy_sign(T a, T b) { return std::copysign(a, b); }
/// A NaN gives way to a number.
template <class T> FN T lesser_number(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}
template <class T> FN T greater_number(T a, T b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

FN unsigned float_as_bits(float a) { return std::bit_cast<unsigned>(a); }
FN u64 double_as_bits(double a) { return std::bit_cast<u64>(a); }
FN float float_from_bits(unsigned a) { return std::bit_cast<float>(a); }
FN double double_from_bits(u64 a) { return std::bit_cast<double>(a); }

/// `a` has an integer value or none. Out of range: the nearest of the type. NaN: 0, but the highest bit alone where one side has 64 bits.
template <class T, class F> FN T saturated(F a) {
  using Limits = std::numeric_limits<T>;
  if (a != a) return sizeof(T) == 8 || sizeof(F) == 8 ? static_cast<T>(std::make_unsigned_t<T>{1} << (sizeof(T) * 8 - 1)) : T{0};
  const F end = std::ldexp(F{1}, Limits::digits);
  if (a >= end) return Limits::max();
  if (std::is_signed_v<T> ? a < -end : a < 0) return Limits::min();
  return static_cast<T>(a);
}
template <class T, class F> FN T to_nearest(F a) { return saturated<T>(std::nearbyint(a)); }
template <class T, class F> FN T to_zero(F a) { return saturated<T>(std::trunc(a)); }
template <class T, class F> FN T to_down(F a) { return saturated<T>(std::floor(a)); }
template <class T, class F> FN T to_up(F a) { return saturated<T>(std::ceil(a)); }

template <class T> FN T atomic_cas(T* at, T seen, T b) {
  const T old = *at;
  if (old == seen) *at = b;
  return old;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"
#include "tests/differential/operations.cu"
#pragma GCC diagnostic pop

template <class T> FN T exchanged(T* at, T b) {
  const T old = *at;
  *at = b;
  return old;
}
template <class T> FN T atomic_add(T* at, T b) { return exchanged(at, add(*at, b)); }
template <class T> FN T atomic_exch(T* at, T b) { return exchanged(at, b); }
template <class T> FN T atomic_min(T* at, T b) { return exchanged(at, imin(*at, b)); }
template <class T> FN T atomic_max(T* at, T b) { return exchanged(at, imax(*at, b)); }
template <class T> FN T atomic_and(T* at, T b) { return exchanged(at, band(*at, b)); }
template <class T> FN T atomic_or(T* at, T b) { return exchanged(at, bor(*at, b)); }
template <class T> FN T atomic_xor(T* at, T b) { return exchanged(at, bxor(*at, b)); }
template <class T> FN T atomic_inc(T* at, T b) { return exchanged(at, static_cast<T>(*at >= b ? 0 : *at + 1)); }
template <class T> FN T atomic_dec(T* at, T b) { return exchanged(at, static_cast<T>(*at == 0 || *at > b ? b : *at - 1)); }

#undef FN
#undef INTEGER
#undef FLOAT
#undef TRAITS
#undef WORKING
#undef UNSIGNED
#undef BITS

}  // namespace gexp::differential::ops
