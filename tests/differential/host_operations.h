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
