// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "runtime/cli/run.h"
#include "runtime/store/store.h"

namespace gexp::cli {

/// Begins to keep a run in the store that the command line names, or goes on with one (--resume). Null: it is not kept, by wish or,
/// of the default store, because it cannot be, which is told. Errors: E091x, of a store that was named; of --resume.
Result<std::unique_ptr<store::Recording>> keep_run(const Common& common, const result::RunResult& head, measure::Progress& progress);

/// Where stages are looked for that a run need not measure. Null: nowhere, as --fresh asks, or because there is no store yet.
/// `own`: the run's number where it has one.
std::unique_ptr<measure::KeptStages> kept_stages(const Common& common, std::int64_t own = 0);

/// What a run with this head would keep; nullopt: nothing is looked for.
std::optional<measure::Foreseen> foresee(const Common& common, const compiler::Program& program, const result::RunResult& head);

/// Ends it, by an error where it `failed`; says where it is. What could not be kept is saved in the temporary folder. An exit code.
int end_keeping(store::Recording& recording, const Common& common, const result::RunResult& result, bool failed, measure::Progress& progress);

}  // namespace gexp::cli
