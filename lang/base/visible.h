// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

/// Characters that a terminal obeys instead of showing them: the controls C0 and C1, DEL, those that turn the direction of
/// text (bidirectional), and line separators. Tab and newline are none of them.
namespace gexp {

/// Where the first of them begins, or the first byte that is no UTF-8; the text's length where there is none.
std::size_t find_control(std::string_view text, std::size_t from = 0);

/// The one that begins at `at`: its bytes, and how it is shown.
struct Control {
  std::size_t bytes = 1;
  std::string shown;
};
Control control_at(std::string_view text, std::size_t at);

/// The text with each of them as it is written in JSON (`\u001b`), a byte that is no UTF-8 as `\u00ff` likewise: what a
/// terminal may get of a text that a stranger wrote.
std::string visible(std::string_view text);

}  // namespace gexp
