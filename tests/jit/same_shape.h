// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <type_traits>

/// Whether two C functions are called alike: as many parameters, each a pointer on both sides or of one size on both, and
/// results of one size. Our declarations name handles and enumerations differently than NVIDIA's headers; what must agree is
/// the call.
namespace gexp::tests {

template <class Ours, class Theirs>
constexpr bool same_parameter =
    std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    sizeof(Ours) == sizeof(Theirs) && std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;

template <class Ours, class Theirs>
struct SameShape : std::false_type {};

template <class R1, class... P1, class R2, class... P2>
requires(sizeof...(P1) == sizeof...(P2)) struct SameShape<R1 (*)(P1...), R2 (*)(P2...)>
    : std::bool_constant<(same_parameter<R1, R2> && ... && same_parameter<P1, P2>)> {
};

template <class Ours, class Theirs>
inline constexpr bool same_shape = SameShape<Ours, Theirs>::value;

}  // namespace gexp::tests
