// SPDX-License-Identifier: Apache-2.0
#include "lang/grammar_tree.h"

// Values, conditions and domains: what statements are made of. parse.cpp has the statements.
namespace gexp::lang::grammar {

GEXP_MATCH_APART(value)
GEXP_MATCH_APART(expression)
GEXP_MATCH_APART(domain)

}  // namespace gexp::lang::grammar
