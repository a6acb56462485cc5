// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/program.h"
#include "runtime/result/result.h"

namespace gexp::report {

/// A level of the memory that the findings tell of.
struct MemoryLevel {
  const infer::Finding* size = nullptr;                ///< the largest footprint that it holds
  const infer::Finding* latency = nullptr;             ///< of what it holds
  const infer::Finding* beyond = nullptr;              ///< latency of what it does not
  std::vector<const infer::Finding*> others;           ///< line, sets, replacement: what was found by filling it
  std::string doc;                                     ///< of the stage that found its size
};

/// One level for each capacity (bytes at which latencies begin to rise) that was found, the smallest first. A finding belongs to the
/// level whose capacity its stage found, or rests on: the last one found of those.
std::vector<MemoryLevel> memory_levels(const compiler::Program& program, const result::RunResult& result);

/// Drawn as an SVG element; empty where there is no level.
std::string hierarchy_svg(const std::vector<MemoryLevel>& levels);

}  // namespace gexp::report
