// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/result/figures.h"

namespace gexp::report {

/// A figure for a terminal of so many columns: dots of Braille, two by four a character, a colour a series; without colour, a letter a dot
/// where there are several series. Findings that lie on it are named below. Empty where there is nothing to draw or no room.
std::string plot_text(const result::Figure& figure, std::size_t columns, bool colour);

}  // namespace gexp::report
