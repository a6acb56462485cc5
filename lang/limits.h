// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>

/// What a file may ask for. docs/language.md lists these with the limits of other parts.
namespace gexp::lang {

inline constexpr double kMaxRepetitions = 100'000;  ///< of one point

inline constexpr std::size_t kMaxSweeps = 64;       ///< of one stage, each inside the one before

}  // namespace gexp::lang
