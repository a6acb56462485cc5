// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "compiler/formula/formula.h"
#include "compiler/formula/pattern.h"

/// Parts of the evaluation: included by formula.cpp and function.cpp alone.
namespace gexp::compiler::evaluation {

inline Diagnostic error(std::string code, Span span, std::string message, std::string hint = {}) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = span;
  return diagnostic;
}

inline Result<Value> wrong_kind(const Formula& formula, const Value& value, const char* wanted) {
  return error("E0401", formula.span, fmt::format("{} is wanted here, not {}", wanted, show(value)));
}

/// `and xor or` of the bits of two whole numbers, `shl` and `shr`, as a thread computes them: in two's complement. E0404 unless all are whole
/// numbers up to 2^53.
Result<Value> combine_bits(const Formula& formula, Number a, Number b);

/// A function of values: min, floor, count, … E0403 to E0405 for arguments that it does not take.
Result<Value> call_function(const Formula& call, const std::vector<Evaluated>& arguments);

}  // namespace gexp::compiler::evaluation
