// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lang/ast.h"
#include "lang/base/diagnostic.h"

namespace gexp::lang {

/// Text to tree. Recovers at statement words, so several mistakes are reported at once (E01xx); the tree then holds what parsed.
File parse(const Source& source, Diagnostics& diagnostics);

}  // namespace gexp::lang
