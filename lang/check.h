// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lang/ast.h"
#include "lang/base/diagnostic.h"

namespace gexp::lang {

/// Names, dimensions, binding times and the parameters of analyses (E02xx, E03xx). A file without errors can be lowered.
void check(const File& file, const Source& source, Diagnostics& diagnostics);

}  // namespace gexp::lang
