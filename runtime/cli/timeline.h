// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "runtime/cli/run.h"

/// `--timeline` of a run: one of its points, launched once more on a device that notes what each warp does when.
namespace gexp::cli {

/// What is wrong with `--timeline-of`: "capacity", "capacity n=12KiB k=2"; empty: nothing.
std::string misuse_of_place(const std::string& place);

/// E0731 where the experiment has no such stage, or the stage no such sweep: that is known before anything runs.
Result<> may_have_timeline(const compiler::Program& program, const std::string& place);

/// Writes common.timeline, whole or not at all, and says what it holds. An exit code.
int write_timeline(Opened& opened, const Common& common, const Ran& ran);

}  // namespace gexp::cli
