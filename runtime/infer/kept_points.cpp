// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/kept_points.h"

#include "runtime/infer/analysis.h"

namespace gexp::infer {

std::optional<std::vector<bool>> kept_points(const compiler::Question& question, const MeasuredStages::Measured& own,
                                             const compiler::Scope& scope) {
  const auto& where = question.arguments.front().where;
  const auto& records = own.records();
  std::vector<bool> kept(records.table().points.size(), true);
  for (std::size_t i = 0; where && i < kept.size(); ++i) {
    const auto value = compiler::evaluate(*where, PointScope(records.table(), records.classes(), i, *own.stage, scope, OneClass::Unknown));
    const auto* holds = value ? value->get<bool>() : nullptr;
    if (!holds) return std::nullopt;
    kept[i] = *holds;
  }
  return kept;
}

}  // namespace gexp::infer
