// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/plan/expand.h"
#include "compiler/program.h"
#include "runtime/result/result.h"

namespace gexp::result {

/// Whether `on SEL` means this device: a model name, a GPU's name in short ("h200"), or "sm_90".
bool selects(const std::string& selector, const device::DeviceInfo& device);

/// Whether an expectation says anything of this device: by its `on`, and by its `where`, unless nobody knows.
bool applies(const compiler::Expectation& expectation, const compiler::Scope& scope, const device::DeviceInfo& device);

/// Everything that was found, as an expectation of the file reads it: `stage.finding`.
Result<compiler::Names> findings_scope(const compiler::Program& program, const RunResult& result);

/// Judges one expectation in a scope that holds the findings. `found`: the same findings; one that is not exact may be any value of its
/// interval, so an expectation holds, or does not, only where it does for all of them. `stage`: whose names stand alone; empty: none.
Judgement judge(const compiler::Expectation& expectation, const compiler::Scope& scope, const device::DeviceInfo& device,
                const std::vector<infer::Finding>& found = {}, const std::string& stage = {});

}  // namespace gexp::result
