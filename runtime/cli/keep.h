// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "runtime/cli/run.h"
#include "runtime/store/store.h"

namespace gexp::cli {

/// Begins to keep a run in the store that the command line names, or goes on with one (--resume). Null: it is not kept, by wish or,
/// of the default store, because it cannot be, which is told. Errors: E091x, of a store that was named; of --resume.
Result<std::unique_ptr<store::Recording>> keep_run(const Common& common, const result::RunResult& head, measure::Progress& progress);

/// Where stages are looked for that `recording` need not measure. Null: nowhere, as --fresh asks.
std::unique_ptr<measure::KeptStages> kept_stages(const Common& common, const store::Recording* recording);

/// Ends it, by an error where it `failed`; says where it is. What could not be kept is saved in the temporary folder. An exit code.
int end_keeping(store::Recording& recording, const Common& common, const result::RunResult& result, bool failed, measure::Progress& progress);

}  // namespace gexp::cli
