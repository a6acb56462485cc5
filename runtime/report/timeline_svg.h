// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/result/timeline.h"

namespace gexp::report {

/// A row a warp: a bar of what it did, below it a line for each load that was under way. By itself, legend and axis included.
std::string timeline_svg(const result::Timeline& timeline);

/// What the drawing shows, and what it leaves out.
std::string timeline_words(const result::Timeline& timeline);

}  // namespace gexp::report
