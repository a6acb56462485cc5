// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "runtime/result/figures.h"

namespace gexp::report {

/// At most about `most` of the dots, in their order: of each of as many buckets of neighbours the first, the last, the lowest, the highest and
/// one that is not converged. Whatever stands out stays.
std::vector<result::Dot> thin(const std::vector<result::Dot>& dots, std::size_t most);

}  // namespace gexp::report
