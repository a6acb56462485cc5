// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "runtime/result/read_budget.h"
#include "runtime/result/result.h"

/// Parts of the result file, for a store that keeps them apart. They are read back with E0901 and E0904 as the whole is.
namespace gexp::result {

/// All but the stages; from_json reads it.
std::string head_to_json(const RunResult& result);

/// A stage without its records: each point has as many runs as it had, and they are empty.
std::string stage_to_json(const StageResult& stage);
Result<StageResult> stage_from_json(const std::string& text, const std::string& path, ReadBudget& budget);

/// Likewise of a point alone, whose coordinates are `columns`.
std::string point_to_json(const records::Point& point, const std::vector<std::string>& columns);
Result<records::Point> point_from_json(const std::string& text, const std::string& path, ReadBudget& budget);

/// Coordinates, exactly: equal text for equal places.
std::string place_to_json(const std::map<std::string, Value>& at);

}  // namespace gexp::result
