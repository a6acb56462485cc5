// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>
#include <utility>

namespace gexp::compiler {

/// Formats behind a text, without a string of its own in between: a kernel's text is made of hundreds of pieces.
template <class... Values> void append(std::string& text, fmt::format_string<Values...> format, Values&&... values) {
  fmt::memory_buffer made;
  fmt::format_to(fmt::appender(made), format, std::forward<Values>(values)...);
  text.append(made.data(), made.size());
}

}  // namespace gexp::compiler
