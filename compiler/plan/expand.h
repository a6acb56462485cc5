// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <utility>
#include <string>
#include <vector>

#include "compiler/program.h"

namespace gexp::compiler {

/// Where one sweep point stands: names and values of the sweeps, outermost first.
using Coordinates = std::vector<std::pair<std::string, Value>>;

/// Parameters and file-level lets and patterns as a scope.
Result<Names> file_scope(const Program& program);

/// Bytes of a memory: its length times its element, or its length where that is given in bytes.
Result<std::uint64_t> memory_bytes(const Memory& memory, const Scope& scope);

/// The values of one sweep in a scope that holds the sweeps outside it.
Result<std::vector<Value>> sweep_values(const Sweep& sweep, const Scope& scope);
/// Gives a sweep's names one of its values.
void bind_sweep(const Sweep& sweep, const Value& value, Names& names);

/// Bytes of one access of an operation: its `as`, or the memory's element. E0418 unless 1..16.
inline constexpr int kBulkStep = 16;                       ///< fact: PTX ISA, cp.async.bulk: bytes and addresses are multiples of it
inline constexpr int kTileStep = 128;                      ///< fact: PTX ISA, cp.async.bulk.tensor: addresses in shared memory are multiples of it
inline constexpr int kMostTileRows = 256, kMostTileRow = 1024;  ///< fact: CUDA Driver API, cuTensorMapEncodeTiled: 256 elements along each side, of 4 B here
inline constexpr int kMostBulk = (1 << 20) - kBulkStep;  ///< fact: of bytes that a barrier can count (PTX ISA, mbarrier)
Result<int> access_width(const Op& op, const Memory& memory, const Scope& scope);

}  // namespace gexp::compiler
