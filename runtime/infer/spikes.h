// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "runtime/infer/analysis.h"
#include "runtime/infer/model/evidence.h"

/// Curves of one table and where they jump: what `spikes` lists and `outstanding` explains.
namespace gexp::infer {

/// Points that differ only in what `over` reads, in its order.
struct CurveSeries {
  Fields at;  ///< the other sweeps
  std::vector<Curve::Sample> samples;
};
std::vector<CurveSeries> series_of(const Context& context, const Curve& curve, const compiler::Formula& over);

struct Jumps {
  std::vector<std::size_t> before;  ///< index of the last sample before each jump; neighbouring jumps are one
  double confidence = 1;            ///< of the least sure rise, that it is a jump or is none: all are judged by one noise
};
Jumps jumps_of(const std::vector<Curve::Sample>& samples);

/// "loads = 2, merge = 4"; "the curve" where there is one only.
std::string name_of(const Fields& at);

}  // namespace gexp::infer
