// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "lang/base/result.h"

namespace gexp::compiler {

/// Values of a template's holes by name.
using Holes = std::map<std::string, std::string>;

/// Fills `${name}` (or `${name:spec}`, a format specification of fmt for a string) in CUDA text. `file` is for messages.
/// E0505: a hole without a value, a value without a hole, an unclosed hole, a specification that fmt refuses.
Result<std::string> fill_template(const std::string& file, const std::string& text, const Holes& holes);

}  // namespace gexp::compiler
