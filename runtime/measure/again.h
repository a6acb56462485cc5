// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

#include "compiler/plan/expand.h"
#include "runtime/measure/kernels.h"
#include "runtime/result/result.h"

namespace gexp::measure {

/// The first repetition of a point once more, on a device of its own: a simulated one then does what it did in the run.
/// `look` sees it afterwards. `stage`: of a result of the program; one that another stage's launch measures has no launch of
/// its own. E0803: the launch did not end well, or did something else than in the run.
Result<> measure_again(const compiler::Program& program, device::Backend& backend, Kernels& kernels,
                       const result::StageResult& stage, const records::Point& point, double launch_limit,
                       const std::function<void(const device::Backend&)>& look);

}  // namespace gexp::measure
