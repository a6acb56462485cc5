// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "runtime/records/table.h"

namespace gexp::infer {

/// A table whose clock changed its pace from run to run, as boost and throttling do, brought to one pace.
struct DriftCorrected {
  records::Table table;
  double drift = 0;  ///< how far the pace moved: 0.05 where the slowest run took 5 % more ticks than the fastest for the same
};

/// Nothing where no drift is seen: then the records are as they are. Needs accesses timed one by one, in their order, and repetitions.
std::optional<DriftCorrected> correct_drift(const records::Table& table);

}  // namespace gexp::infer
