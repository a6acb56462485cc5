// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "lang/base/value.h"

namespace gexp::device {

/// What a measurement says of a number that a device model has: an expectation that compares a finding with `model.ca.capacity` says
/// that the finding is what a model would have there.
struct ModelFact {
  std::string name;       ///< what of a model, as an expectation writes it: "model.ca.capacity", "min(model.shared.cost)"
  Value value;            ///< unknown where it was asked and not found
  bool at_least = false;  ///< a limit that nothing was seen to exceed (`bw.most <= model.bandwidth.l2`)
  double confidence = 0;  ///< the least of the findings that it is made of, 0 to 1
  std::string from;       ///< "survey l1: capacity.C"
};

}  // namespace gexp::device
