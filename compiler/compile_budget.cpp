// SPDX-License-Identifier: Apache-2.0
#include "compiler/compile_budget.h"

#include <algorithm>
#include <limits>

namespace gexp::compiler {
namespace {

constexpr std::int64_t kUncounted = std::numeric_limits<std::int64_t>::max();
constexpr std::uint64_t kUnitBytes = 48;

thread_local std::int64_t left = kUncounted;

}  // namespace

CompileBudget::CompileBudget(std::int64_t units) : outer_(left), units_(std::min(units, left)) { left = units_; }

CompileBudget::~CompileBudget() { left = outer_ == kUncounted ? kUncounted : outer_ - (units_ - left); }

bool CompileBudget::exhausted() { return left <= 0; }

bool CompileBudget::spend(std::int64_t units) {
  if (left == kUncounted) return true;
  left = units >= left ? 0 : left - units;
  return left > 0;
}

bool CompileBudget::spend_bytes(std::uint64_t bytes) { return spend(static_cast<std::int64_t>(std::min<std::uint64_t>(bytes / kUnitBytes, 1u << 30)) + 1); }

Diagnostic CompileBudget::exceeded(Span span) {
  auto diagnostic = failure("E0444", "this file takes too much work to compile", "make its lists, patterns and sweeps shorter, or take it apart into several files");
  diagnostic.span = span;
  return diagnostic;
}

}  // namespace gexp::compiler
