// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/result/read_budget.h"
#include "runtime/result/result.h"
#include "runtime/store/sqlite.h"

/// Stages as the store holds them: what describes them, and the rounds of their points.
namespace gexp::store {

/// "result 7 of gexp.db"
std::string where(const Database& database, std::int64_t id);

/// Every row of a query.
Result<> each(Result<Statement>& query, const std::function<Result<>(Statement&)>& take);

/// Gives a stage of a run the records of its points. A stage that has ended says which points it has; of one that was
/// broken off, all that was measured. `kernels`: those that its rounds name, unless null. E0912: records are damaged,
/// or missing.
Result<> read_records(Database& database, std::int64_t run, result::StageResult& stage, result::ReadBudget& budget,
                      std::vector<result::KernelRecord>* kernels = nullptr);

}  // namespace gexp::store
