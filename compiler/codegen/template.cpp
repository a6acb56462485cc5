// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "lang/base/embedded.h"

namespace gexp::compiler {
namespace {

Diagnostic wrong(const std::string& file, const std::string& what) {
  return failure("E0505", fmt::format("template {}: {}", file, what));
}
Diagnostic unfilled(const std::string& file, const std::string& hole) { return wrong(file, fmt::format("nothing fills the hole `{}`", hole)); }
Diagnostic without(const std::string& file, const std::string& hole) { return wrong(file, fmt::format("it has no hole `{}`", hole)); }

Result<std::string> text_of(const std::string& name, const std::string& folder) {
  if (!folder.empty()) {
    std::ifstream in(folder + "/" + name);
    if (!in) return failure("E0506", fmt::format("cannot read template {}/{}", folder, name), "--templates names a folder with every template");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  for (const auto& file : embedded::compiler_templates()) {
    if (file.name == name) return file.text;
  }
  return failure("E0506", fmt::format("there is no template {}", name));
}

}  // namespace

Result<Template> Template::parse(std::string file, const std::string& text) {
  Template made;
  made.file_ = std::move(file);
  std::size_t at = 0;
  for (auto open = text.find("${"); open != std::string::npos; open = text.find("${", at)) {
    const auto close = text.find('}', open);
    if (close == std::string::npos) return wrong(made.file_, "a hole is not closed");
    const auto hole = text.substr(open + 2, close - open - 2);
    const auto colon = hole.find(':');
    made.pieces_.push_back({text.substr(at, open - at), hole.substr(0, colon), colon == std::string::npos ? "" : hole.substr(colon)});
    made.holes_.insert(made.pieces_.back().hole);
    at = close + 1;
  }
  made.pieces_.push_back({text.substr(at), "", ""});
  return made;
}

Result<std::string> Template::fill(const Holes& values) const {
  std::string filled;
  for (const auto& piece : pieces_) {
    filled += piece.text;
    if (&piece == &pieces_.back()) break;
    const auto value = values.find(piece.hole);
    if (value == values.end()) return unfilled(file_, piece.hole);
    try {
      filled += piece.spec.empty() ? value->second : fmt::format(fmt::runtime("{" + piece.spec + "}"), value->second);
    } catch (const fmt::format_error& problem) {
      return wrong(file_, fmt::format("hole `{}{}`: {}", piece.hole, piece.spec, problem.what()));
    }
  }
  for (const auto& [name, value] : values) {
    if (!holes_.contains(name)) return without(file_, name);
  }
  return filled;
}

Result<Template> load_template(const KernelTemplate& kind, const std::string& folder) {
  const std::string file(kind.file);
  auto text = text_of(file, folder);
  if (!text) return text.error();
  // The head describes holes to the template's readers; the emitted text needs only the code.
  std::size_t code = 0;
  while (text->compare(code, 2, "//") == 0) code = text->find('\n', code) + 1;
  auto made = Template::parse(file, text->substr(code));
  if (!made) return made;
  for (const auto& hole : made->holes()) {
    if (std::find(kind.holes.begin(), kind.holes.end(), hole) == kind.holes.end()) return unfilled(file, hole);
  }
  for (const auto hole : kind.holes) {
    if (!hole.empty() && !made->holes().contains(std::string(hole))) return without(file, std::string(hole));
  }
  return made;
}

}  // namespace gexp::compiler
