// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

namespace gexp {

/// The parts of a text between marks; one more than there are marks. Views of the text.
inline std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto at = text.find(mark);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

}  // namespace gexp
