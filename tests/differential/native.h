// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>

#include "tests/differential/host_operations.h"
#include "tests/differential/program.h"

/// A value travels as its bits, zero-extended; these bring it into its own C++ type and back.
namespace gexp::differential {

template <class T> T native(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);  // little-endian, as the devices are
  return value;
}

template <class T> std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// f(T{}) with the C++ type of `type`.
template <class F> std::uint64_t with_type(Type type, F f) {
  switch (type) {
    case Type::I8: return f(static_cast<signed char>(0));
    case Type::U8: return f(static_cast<unsigned char>(0));
    case Type::I16: return f(static_cast<short>(0));
    case Type::U16: return f(static_cast<unsigned short>(0));
    case Type::I32: return f(0);
    case Type::U32: return f(0u);
    case Type::I64: return f(0ll);
    case Type::U64: return f(0ull);
    case Type::F32: return f(0.0f);
    case Type::F64: return f(0.0);
  }
  return 0;
}

/// (to)value, or truncated<to>(value) from a float to an integer.
inline std::uint64_t cast(std::uint64_t bits, Type from, Type to) {
  return with_type(from, [&](auto a) {
    const auto value = native<decltype(a)>(bits);
    return with_type(to, [&](auto b) {
      using T = decltype(b);
      if constexpr (std::is_floating_point_v<decltype(a)> && std::is_integral_v<T>) return bits_of(ops::truncated<T>(value));
      else return bits_of(static_cast<T>(value));
    });
  });
}

/// The saturating conversions of a Convert node.
inline std::uint64_t convert(std::uint64_t bits, Type from, Type to, int rounding) {
  return with_type(from, [&](auto a) {
    const auto value = native<decltype(a)>(bits);
    return with_type(to, [&](auto b) -> std::uint64_t {
      using T = decltype(b);
      if constexpr (std::is_floating_point_v<decltype(a)> && std::is_integral_v<T>) {
        switch (rounding) {
          case 0: return bits_of(ops::to_nearest<T>(value));
          case 1: return bits_of(ops::to_zero<T>(value));
          case 2: return bits_of(ops::to_down<T>(value));
          default: return bits_of(ops::to_up<T>(value));
        }
      } else {
        return 0;
      }
    });
  });
}

}  // namespace gexp::differential
