// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/residency.h"

namespace gexp::compiler {

// fact: CUDA C++ Programming Guide, "Technical Specifications".
PerSm per_sm(double compute) {
  constexpr double kRegisters = 64 << 10;
  if (compute < 20) return {8, 1024, 16 << 10};
  if (compute < 30) return {8, 1536, 32 << 10};
  if (compute < 50) return {16, 2048, compute == 37 ? 2 * kRegisters : kRegisters};
  if (compute < 75) return {32, 2048, kRegisters};
  if (compute < 80) return {16, 1024, kRegisters};
  if (compute >= 86 && compute < 90) return {compute < 89 ? 16.0 : 24.0, 1536, kRegisters};
  return {32, 2048, kRegisters};
}

double reserved_shared(double compute) { return compute >= 80 ? 1024 : 0; }

std::optional<double> device_fact(const Fields& facts, const char* name) {
  const auto found = facts.find(name);
  const auto* n = found == facts.end() ? nullptr : found->second.get<Number>();
  return n ? std::optional(n->number) : std::nullopt;
}

std::optional<double> shared_per_sm(const Fields& facts) {
  const auto shared = facts.find("shared");
  const auto* of = shared == facts.end() ? nullptr : shared->second.get<Fields>();
  return of ? device_fact(*of, "per_sm") : std::nullopt;
}

}  // namespace gexp::compiler
