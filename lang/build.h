// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lang/ast.h"
#include "lang/base/diagnostic.h"
#include "lang/tree.h"

namespace gexp::lang {

/// The parser's tree as syntax tree. Requires a tree that the grammar made; reports numbers and units that cannot be (E0109).
Statement build_statement(const Tree& tree, Diagnostics& diagnostics);
void build_header(const Tree& tree, File& file, Diagnostics& diagnostics);

}  // namespace gexp::lang
