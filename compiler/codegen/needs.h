// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "compiler/program.h"
#include "lang/base/diagnostic.h"

namespace gexp::compiler {

/// E0501 where the device that is chosen is older than `compute` (times ten), or where the NVRTC that makes its machine code is older
/// than `nvrtc` (times ten; 0: any will do). Nothing where no device is chosen yet. `hint`: instead of a `skip` by the number.
std::optional<Diagnostic> device_lacks(const Program& program, const std::string& what, int compute, int nvrtc, Span span, std::string hint = {});

/// E0501 where the device that is chosen is of a later generation than the only one that has it.
std::optional<Diagnostic> device_is_newer(const Program& program, const std::string& what, int compute, Span span);

/// Whether what an operation's text needs of a device is known only where that text is made.
bool needs_looking_at(const Op& op);

}  // namespace gexp::compiler
