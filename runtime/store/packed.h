// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "lang/base/result.h"
#include "runtime/measure/point_log.h"
#include "runtime/result/read_budget.h"

/// What the store keeps, as bytes: compressed by zstd, with its checksum.
namespace gexp::store {

std::string packed(std::string_view bytes);
/// E0912 where the bytes are damaged, or E0905 where `budget` does not hold what they unfold to; `where` names them.
Result<std::string> unpacked(std::string_view bytes, const std::string& where, result::ReadBudget& budget);

/// A round of repetitions: what describes it as JSON, then the ticks of its runs, 4 bytes each, little-endian.
std::string pack_round(const measure::Round& round);
Result<measure::Round> unpack_round(std::string_view bytes, const std::string& where, result::ReadBudget& budget);

}  // namespace gexp::store
