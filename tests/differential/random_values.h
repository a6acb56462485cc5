// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/sim/random.h"
#include "tests/differential/native.h"
#include "tests/differential/program.h"

namespace gexp::differential {

using sim::Random;

inline bool chance(Random& random, std::uint32_t percent) { return random.below(100) < percent; }
template <class T> const T& pick(Random& random, const std::vector<T>& from) { return from[random.below(static_cast<std::uint32_t>(from.size()))]; }

/// The bits of a value of the type: often one at which arithmetic goes wrong.
inline std::uint64_t random_value(Random& random, Type type) {
  return with_type(type, [&](auto zero) -> std::uint64_t {
    using T = decltype(zero);
    using Bounds = std::numeric_limits<T>;
    const std::uint64_t any = random.next();
    if constexpr (std::is_floating_point_v<T>) {
      const T special[] = {0, T{-0.0}, 1, -1, T{0.5}, T{1.5}, T{-2.5}, 3, 255, T{65536.5}, T{2147483648.0}, T{-2147483648.0}, T{4294967296.0},
                           T{9223372036854775808.0}, Bounds::min(), Bounds::denorm_min(), -Bounds::denorm_min(), Bounds::max(), Bounds::lowest(),
                           Bounds::infinity(), -Bounds::infinity(), Bounds::quiet_NaN(), Bounds::epsilon()};
      switch (random.below(8)) {
        case 0: case 1: return bits_of(special[any % std::size(special)]);
        case 2: case 3: case 4: return bits_of(static_cast<T>(static_cast<std::int32_t>(any) >> random.below(32)) / static_cast<T>(1u << random.below(9)));
        case 5: return bits_of(static_cast<T>(static_cast<std::int64_t>(any) >> random.below(64)));
        default: {
          const T value = native<T>(sizeof(T) == 8 ? any : any & 0xffffffffu);
          return bits_of(value == value ? value : T{-7.25});  // no signalling NaN: compilers may fold it as they like
        }
      }
    } else {
      const T special[] = {0, 1, 2, 3, 7, 8, 31, 32, 63, static_cast<T>(-1), static_cast<T>(-2), Bounds::min(), Bounds::max(),
                           static_cast<T>(Bounds::max() - 1), static_cast<T>(0x80), static_cast<T>(0x8000), static_cast<T>(0x80000000u),
                           static_cast<T>(0xffffffffu)};
      switch (random.below(4)) {
        case 0: return bits_of(special[any % std::size(special)]);
        case 1: return bits_of(static_cast<T>(static_cast<std::int64_t>(any) >> random.below(64)));
        case 2: return bits_of(static_cast<T>(random.below(200)));
        default: return bits_of(static_cast<T>(any));
      }
    }
  });
}

[[nodiscard]] inline bool is_finite(Type type, std::uint64_t bits) {
  if (type == Type::F32) return std::isfinite(native<float>(bits));
  return type != Type::F64 || std::isfinite(native<double>(bits));
}

}  // namespace gexp::differential
