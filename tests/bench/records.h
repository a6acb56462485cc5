// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "compiler/program.h"
#include "runtime/records/table.h"

/// Records as large as wanted, made without a device, for measuring what an answer costs.
namespace gexp::bench {

/// One question and the records that it is asked of.
struct Case {
  std::string name;
  compiler::Program program;  ///< of one stage with one find
  records::Table (*records)(std::size_t accesses);
};

/// A case for each analysis, on records like those that its experiment makes: several points and runs, noise, classes, misses.
std::vector<Case> cases();

}  // namespace gexp::bench
