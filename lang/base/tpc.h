// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gexp {

/// Multiprocessors of a TPC, which have consecutive numbers, by ten times the compute capability; 0: not known.
/// fact: three on a GT200 (Wong10 section II-A), two on a G80 and from Pascal on (NVIDIA's white papers).
inline int multiprocessors_of_tpc(int compute) { return compute >= 60 ? 2 : compute >= 20 ? 0 : compute >= 12 ? 3 : 2; }

}  // namespace gexp
