// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <set>
#include <string>

#include "lang/ast.h"

/// Analyses of one's own: what the checker, the compiler and the editors all want to know of them.
namespace gexp::lang {

using NameSet = std::set<std::string, std::less<>>;

/// Whether an expression in one asks the records: it calls an analysis, or reads a let that does. Its value is a finding then; any other is
/// worked out at each point.
bool asks_records(const Expr& expression, const NameSet& asking);

/// Calls `visit` with every expression right inside this one.
void each_part(const Expr& expression, const std::function<void(const Expr&)>& visit);

/// "cost(t: record, n: count) -> cycles"
std::string signature(const AnalysisDef& definition);

}  // namespace gexp::lang
