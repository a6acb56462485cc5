// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/cli/observed_text.h"
#include "runtime/result/timeline.h"

namespace gexp::cli {

/// What a result keeps of `launches`, the repetition of a point: of the last launch that waited for a memory, up to the end of the
/// last such wait, all that the first warps of its SM did, as far back as Timeline::kMostSpans spans reach.
result::Timeline drawn_part(const std::vector<sim::Observed>& launches, const sim::Counters& all, const Places& places, std::string of);

}  // namespace gexp::cli
