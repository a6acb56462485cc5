// SPDX-License-Identifier: Apache-2.0
#pragma once

/// What a file may ask for. docs/language.md lists these with the limits of other parts.
namespace gexp::lang {

inline constexpr double kMaxRepetitions = 100'000;  ///< of one point

}  // namespace gexp::lang
