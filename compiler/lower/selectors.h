// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "lang/ast.h"
#include "lang/base/diagnostic.h"

namespace gexp::compiler {

/// E0224: a word after `on` that is no model and no `sm_NN`. A text in quotes may be any GPU's name. No models: nothing is checked.
void check_selectors(const lang::File& file, const Source& source, const std::vector<std::string>& models, Diagnostics& diagnostics);

}  // namespace gexp::compiler
