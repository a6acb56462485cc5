// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "compiler/formula/formula.h"
#include "compiler/program.h"

/// How many steps patterns and lists have, for estimates of a stage's cost.
namespace gexp::compiler {

using Count = std::optional<double>;

/// A formula's value where it is a finite number; `otherwise` where there is none.
Count number(const FormulaPtr& formula, const Scope& scope, double otherwise);

class Lengths {
 public:
  Lengths(const Program& program, const Stage& stage, const Scope& scope) : program_(program), stage_(stage), scope_(scope) {}

  [[nodiscard]] Count named(const std::string& name) const;
  [[nodiscard]] Count of(const Formula& formula) const;

  /// Steps that were made to be counted.
  [[nodiscard]] double made() const { return made_; }

 private:
  [[nodiscard]] Count by_making(const Formula& formula) const;
  [[nodiscard]] Count sum(const Formula& call) const;
  [[nodiscard]] Count comprehension(const Formula& formula) const;

  const Program& program_;
  const Stage& stage_;
  const Scope& scope_;
  mutable double made_ = 0;
};

}  // namespace gexp::compiler
