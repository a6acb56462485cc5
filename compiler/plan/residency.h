// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "compiler/formula/formula.h"

/// What a multiprocessor holds at once.
namespace gexp::compiler {

struct PerSm {
  double blocks, threads, registers;
};
/// By compute capability.
PerSm per_sm(double compute);

/// Bytes of a block's shared memory that the system takes.
double reserved_shared(double compute);

/// A number among the facts of a device; nothing where it is not told.
std::optional<double> device_fact(const Fields& facts, const char* name);
/// Bytes of shared memory of a multiprocessor.
std::optional<double> shared_per_sm(const Fields& facts);

}  // namespace gexp::compiler
