// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "runtime/cli/run.h"

namespace gexp::cli {

using Specs = std::vector<Loaded>;
/// Called with each result as soon as it is there, by one thread of a device; an exit code.
using Save = std::function<int(const result::RunResult&)>;

/// What one device showed, by experiment. An experiment that an interrupt kept from beginning is missing.
struct Surveyed {
  std::string device;
  std::vector<Ran> runs;
  double seconds = 0;
  int exit = kDone;  ///< of what kept all of them from running
};

/// Whether it was left out for what the device does not have (a `require` may say so), or for the time that it would take there: no fault of a survey.
bool lacks(const Ran& run);

/// Every experiment on one device, over one connection. A GPU measures for one of them at a time, and for the next one while something is
/// made of what it measured; kernels are compiled meanwhile.
Surveyed survey_device(const std::string& device, const Common& common, const Specs& specs, const Save& save, measure::Progress& progress);

}  // namespace gexp::cli
