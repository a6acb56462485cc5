// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/template_text.h"

#include <fmt/format.h>

#include <set>

namespace gexp::compiler {
namespace {

Diagnostic wrong(const std::string& file, const std::string& what) {
  return failure("E0505", fmt::format("template {}: {}", file, what));
}

}  // namespace

Result<std::string> fill_template(const std::string& file, const std::string& text, const Holes& holes) {
  std::string filled;
  std::set<std::string> used;
  std::size_t at = 0;
  for (auto open = text.find("${"); open != std::string::npos; open = text.find("${", at)) {
    filled.append(text, at, open - at);
    const auto close = text.find('}', open);
    if (close == std::string::npos) return wrong(file, "a hole is not closed");
    const auto hole = text.substr(open + 2, close - open - 2);
    const auto colon = hole.find(':');
    const auto name = hole.substr(0, colon);
    const auto value = holes.find(name);
    if (value == holes.end()) return wrong(file, fmt::format("nothing fills the hole `{}`", name));
    used.insert(name);
    if (colon == std::string::npos) {
      filled += value->second;
    } else {
      try {
        filled += fmt::format(fmt::runtime("{:" + hole.substr(colon + 1) + "}"), value->second);
      } catch (const fmt::format_error& problem) {
        return wrong(file, fmt::format("hole `{}`: {}", hole, problem.what()));
      }
    }
    at = close + 1;
  }
  filled.append(text, at);
  for (const auto& [name, value] : holes) {
    if (!used.contains(name)) return wrong(file, fmt::format("it has no hole `{}`", name));
  }
  return filled;
}

}  // namespace gexp::compiler
