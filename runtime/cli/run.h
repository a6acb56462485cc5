// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "runtime/cli/app.h"
#include "runtime/session.h"

namespace gexp::cli {

/// A run on one device. Without a result nothing was measured, and why not was printed.
struct Ran {
  int exit = kDone;
  bool broken = false;        ///< ended by an error, which was printed
  compiler::Program program;  ///< with the device's facts
  std::optional<runtime::RunResult> result;
};
/// Opens the device, checks what the program needs of it, runs. Prints only what goes wrong.
Ran run_on(const std::string& device, const Common& common, const Loaded& loaded, runtime::Progress& progress);

/// Saves a result; where that fails, in the temporary folder. An exit code.
int save_result(const runtime::RunResult& result, const std::string& path);

/// The run on every GPU of this machine at once, and how what they show differs.
int survey(const Common& common, const Loaded& loaded);

}  // namespace gexp::cli
