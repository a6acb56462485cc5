// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/program.h"
#include "runtime/infer/finding.h"
#include "runtime/infer/prepared_records.h"

namespace gexp::infer {

/// Where a file found sets and, by `replacement(…, set: …)`, their policy: replays both through all walks of that cache. What hits or misses
/// against them withdraws the sets; where lines hit that should miss, the size that the sets grew from, too.
void replay_caches(const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& scope, Findings& findings);

}  // namespace gexp::infer
