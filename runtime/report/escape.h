// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace gexp::report {

/// Text as HTML or SVG shows it, inside an element or a quoted attribute.
std::string escaped(std::string_view text);

/// JSON as it may stand inside a <script> element: nothing in it can end the element or open a comment.
std::string in_script(std::string_view json);

}  // namespace gexp::report
