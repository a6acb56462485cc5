// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "compiler/formula/formula.h"

namespace gexp::result {

/// A condition in which `policy.kind.name == model.nc.replacement` is settled where both are names of policies: several names are one policy
/// in a set of as many ways as the finding says. It is unknown where that is not decided. And `sets.S.bits == model.nc.bits`, and the same of
/// `mapping`, where both are functions of address bits: the finding's are of the lines that were walked, and bits in which none of these differ
/// are no part of them. And of `groups`, which divide the lines of a set alike or not.
compiler::FormulaPtr with_names_settled(const compiler::FormulaPtr& condition, const compiler::Scope& scope);

}  // namespace gexp::result
