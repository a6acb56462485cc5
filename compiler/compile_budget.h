// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "lang/base/result.h"

namespace gexp::compiler {

/// What working out a stranger's file may cost. While one lives, every operation, every value kept or copied (48 bytes a unit) and
/// every step of a pattern made on this thread is counted; when all is spent, what asks for more gets E0444. An inner one takes
/// from the outer one too. Without one nothing is counted: a run takes the time that its budget says.
class CompileBudget {
 public:
  explicit CompileBudget(std::int64_t units);
  ~CompileBudget();
  CompileBudget(const CompileBudget&) = delete;
  CompileBudget& operator=(const CompileBudget&) = delete;

  /// Whether nothing is left of what the innermost one allows.
  [[nodiscard]] static bool exhausted();
  /// False when nothing is left.
  [[nodiscard]] static bool spend(std::int64_t units);
  [[nodiscard]] static bool spend_bytes(std::uint64_t bytes);
  /// E0444 at a place, for whoever was refused.
  [[nodiscard]] static Diagnostic exceeded(Span span);

 private:
  std::int64_t outer_;  ///< what the outer one had left
  std::int64_t units_;
};

/// Of one compile: a second or two, and less than 1 GiB.
inline constexpr std::int64_t kCompileUnits = std::int64_t{1} << 24;

}  // namespace gexp::compiler
