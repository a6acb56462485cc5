// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "runtime/cli/app.h"
#include "runtime/measure/session.h"

namespace gexp::cli {

/// Progress on stderr as the options ask: one line that is rewritten on a terminal; elsewhere a plain line a stage, and one every half a
/// minute of a long one; with --json-progress an object a line; with --quiet nothing.
/// `device`: names the run where there are several at once; then nothing is rewritten. `things`: what the points are called.
std::unique_ptr<measure::Progress> open_progress(const Common& common, const std::string& device = {}, const std::string& things = "points");

}  // namespace gexp::cli
