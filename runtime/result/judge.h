// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/program.h"
#include "runtime/result/result.h"

namespace gexp::result {

/// Whether `on SEL` means this device: a model name, a GPU's name in short ("h200"), or "sm_90".
bool selects(const std::string& selector, const device::DeviceInfo& device);

/// Judges one expectation in a scope that holds the findings.
Judgement judge(const compiler::Expectation& expectation, const compiler::Scope& scope, const device::DeviceInfo& device);

}  // namespace gexp::result
