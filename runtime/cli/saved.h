// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/program.h"
#include "runtime/result.h"

namespace gexp::cli {

/// A result that was kept, with the program that its spec compiles to and its findings inferred again from the records.
struct Saved {
  compiler::Program program;
  runtime::RunResult result;
};

/// `reference`: a file that `run --out` wrote. E09xx: it is none; E0904: its spec does not compile, which is printed.
Result<Saved> read_saved(const std::string& reference);

}  // namespace gexp::cli
