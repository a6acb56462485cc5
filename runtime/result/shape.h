// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/program.h"
#include "runtime/result/result.h"

namespace gexp::result {

/// Whether a saved result is one of the spec that it holds: the experiment's name, each stage once, with its sweeps, its
/// record and its timing. E0904 where it is not; `path` names it.
Result<> check_shape(const compiler::Program& program, const RunResult& result, const std::string& path);

}  // namespace gexp::result
