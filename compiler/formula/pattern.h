// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/formula/formula.h"
#include "compiler/formula/thread_range.h"

namespace gexp::compiler {

/// Most steps that a pattern may have, over all its threads: bounds the memory of a hostile spec.
inline constexpr std::int64_t kMaxPatternSteps = std::int64_t{1} << 26;

/// A call's evaluated argument.
struct Evaluated {
  std::string label;
  Value value;
};

/// `uniform nonuniform visits bank shuffle repeat`: the pattern, or nullopt when `name` is none of them. Offsets are bytes.
std::optional<Result<Value>> construct_pattern(const std::string& name, const std::vector<Evaluated>& arguments, Span span);

/// A list of offsets (bytes) as a pattern; a pattern as itself. E0410 for anything else.
Result<std::shared_ptr<const Pattern>> as_pattern(const Value& value, Span span);

/// Evaluates a pattern: once when the formula does not depend on the thread, for each thread of a block when it does, for each of
/// the grid when it names `gtid` or `cta`.
Result<std::shared_ptr<const Pattern>> evaluate_pattern(const Formula& formula, const Scope& scope, const ThreadLets& lets,
                                                        std::uint32_t grid, std::uint32_t block);

}  // namespace gexp::compiler
