// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/lang/support.h"

namespace gexp::test {

/// The lines of a file after the one that begins with `head`, up to the next empty line or end of a fence. GEXP_BLESS=1 replaces them
/// by `wanted`. What they then are.
inline std::string block_of(const std::string& document, const std::string& head, const std::string& wanted) {
  const auto path = std::filesystem::path(GEXP_SOURCE_DIR) / document;
  auto text = read(path);
  const auto at = text.find("\n" + head);
  if (at == std::string::npos) return "there is no line that begins with " + head;
  const auto begin = text.find('\n', at + 1) + 1, end = std::min(text.find("\n\n", begin), text.find("\n```", begin)) + 1;
  if (std::getenv("GEXP_BLESS")) {
    text.replace(begin, end - begin, wanted);
    std::ofstream(path, std::ios::binary) << text;
    return wanted;
  }
  return text.substr(begin, end - begin);
}

}  // namespace gexp::test
