// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/mutate/mutate.h"

/// The parts of a file that mutations change.
namespace gexp::compiler::mutate_parts {

/// "stage sets: ", or nothing for the file itself.
std::string stage_name(const std::string& stage);

/// The distances of a pattern's neighbours: a `stride:`, and what the variable of a comprehension is multiplied by.
std::vector<const lang::Expr*> strides(const lang::Expr& pattern);

/// Where a pattern's size or place reads `name`: everywhere but where it only numbers an order (`shuffle(…, name)`).
void sizes(const lang::Expr& pattern, const std::string& name, std::vector<Span>& into);

/// Conditions that take a part of a sweep's points: the later, the earlier, one of two, one alone. True: it takes none.
std::vector<std::pair<std::string, bool>> selections(const Source& source, const lang::Sweep& sweep);

/// The whole file by another load path, and its expectations of that path's structure. Only where all loads are by one
/// path, and all that is expected of a path is of that one: then the question stays the same.
std::vector<Mutation> other_paths(const lang::File& file);

}  // namespace gexp::compiler::mutate_parts
