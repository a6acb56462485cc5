// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "compiler/formula/formula.h"

/// What a multiprocessor holds at once.
namespace gexp::compiler {

struct PerSm {
  double blocks, threads;
};
/// By compute capability.
PerSm per_sm(double compute);

/// A number among the facts of a device; nothing where it is not told.
std::optional<double> device_fact(const Fields& facts, const char* name);

}  // namespace gexp::compiler
