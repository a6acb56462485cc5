// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/base/source.h"
#include "lang/use.h"

namespace gexp::cli {

/// Whether a text of `-e` is the short form: whether it does not begin with `gexp`.
bool is_short_form(const std::string& text);

/// The whole file that a short form stands for (docs/language/short-form.md). Its memory is as long as the pattern needs with these
/// settings. Mistakes are printed at what was typed; then nothing comes back.
std::optional<Source> expand_short_form(const std::string& text, const std::vector<std::pair<std::string, std::string>>& settings,
                                        const lang::Loader& load);

}  // namespace gexp::cli
