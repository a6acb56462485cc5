// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/prepared_records.h"

namespace gexp::infer {
namespace {

/// The chase that a stage times, where that is all it times.
const compiler::Op* timed_chase(const compiler::Stage& stage) {
  const bool chases = stage.timing == compiler::Timing::Each && stage.timed.size() == 1 && stage.timed[0].kind == compiler::Op::Kind::Chase;
  return chases ? &stage.timed[0] : nullptr;
}

/// How the cache is set up: a formula is taken for what is written.
std::string setup(const compiler::Stage& stage) {
  const auto written = [](const compiler::FormulaPtr& formula) { return formula ? show(*formula) : std::string(); };
  return written(stage.launch.carveout) + " " + written(stage.launch.smem);
}

}  // namespace

std::vector<const MeasuredStages::Measured*> MeasuredStages::of_same_access(const compiler::Stage& stage) const {
  std::vector<const Measured*> same;
  const auto* own = timed_chase(stage);
  for (const auto& measured : all_) {
    const auto* other = timed_chase(*measured.stage);
    if (!own || !other || other->memory != own->memory || other->via != own->via) continue;
    if (measured.stage->flushes.empty() && setup(*measured.stage) == setup(stage)) same.push_back(&measured);
  }
  return same;
}

}  // namespace gexp::infer
