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

/// Launches the point that common.timeline_of names once more. What of it can be drawn becomes a part of the result.
/// E0731: there is no such point; E0803: the launch did not end well, or did something else than in the run.
Result<TraceFile> trace_point(Opened& opened, const Common& common, const compiler::Program& program, result::RunResult& result);

/// Writes common.timeline, whole or not at all, and says what it holds. An exit code.
int write_timeline(const Common& common, const Result<TraceFile>& trace);

}  // namespace gexp::cli
