// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/program.h"
#include "runtime/device/backend.h"
#include "runtime/records/table.h"

/// Launches that an experiment expects to hang or to fault: how they ended is a fact about the stage, not the end of its run.
namespace gexp::measure {

/// Whether an expect of the stage that counts on this device, or what is made of its records, asks about launches that end so. `scope`: as the stage sees it.
bool asks_about(const compiler::Stage& stage, const compiler::Scope& scope, const device::DeviceInfo& device, device::Outcome::Status end);

/// Gives `hang` and `fault` their values, unless the stage has findings of these names: true where all its points ended so, false where
/// none did, unknown where only some did, nothing was measured, or a
/// launch was broken off or not placed. `table`: null where the stage did not run.
void set_outcomes(const compiler::Stage& stage, const records::Table* table, compiler::Names& inner);

/// How the first point that did not end well ended, where the expectation asks about that; empty elsewhere.
std::string told_outcome(const compiler::Expectation& expect, const records::Table& table);

}  // namespace gexp::measure
