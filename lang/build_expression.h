// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lang/ast.h"
#include "lang/base/diagnostic.h"
#include "lang/tree.h"

namespace gexp::lang {

ExprPtr build_expression(const Tree& tree, Diagnostics& diagnostics);

inline Word word_of(const Tree& tree) { return {std::string(tree.text), tree.span}; }

}  // namespace gexp::lang
