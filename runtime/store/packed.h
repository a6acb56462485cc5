// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

#include "lang/base/result.h"
#include "runtime/measure/point_log.h"

/// What the store keeps, as bytes: compressed by zstd, with its checksum.
namespace gexp::store {

std::string packed(std::string_view bytes);
/// E0912 where the bytes are damaged; `where` names them.
Result<std::string> unpacked(std::string_view bytes, const std::string& where);

/// A round of repetitions: what describes it as JSON, then the ticks of its runs, 4 bytes each, little-endian.
std::string pack_round(const measure::Round& round);
Result<measure::Round> unpack_round(std::string_view bytes, const std::string& where);

}  // namespace gexp::store
