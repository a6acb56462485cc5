// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lang/ast.h"
#include "lang/base/diagnostic.h"
#include "lang/names.h"

namespace gexp::lang {

/// What the `use` statements of a file name, in their order; null: nothing is known of it, so nothing is said of its names.
using Modules = std::vector<std::shared_ptr<const Exports>>;

/// Names, dimensions, binding times and the parameters of analyses (E02xx, E03xx). A file without errors can be lowered.
/// Returns what the file offers to others. lang/use.h reads the used files too. `declared`, when wanted, gets every name.
Exports check(const File& file, const Source& source, Diagnostics& diagnostics, const Modules& modules = {},
              Declarations* declared = nullptr);

}  // namespace gexp::lang
