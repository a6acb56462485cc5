// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>

/// Bytes as text (RFC 4648): a used file that is no text is kept so in a result.
namespace gexp {

std::string base64(std::string_view bytes);
/// Nothing where the text is none.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace gexp
