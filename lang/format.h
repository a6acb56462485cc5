// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "lang/base/diagnostic.h"

namespace gexp::lang {

/// The text in house form (docs/language/formatting.md): the same tokens, comments included, with other space between them.
/// What is in that form already comes back as it is. Nothing where the text does not parse.
std::optional<std::string> format(const Source& source, Diagnostics& diagnostics);

}  // namespace gexp::lang
