// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lang/check.h"
#include "lang/parse.h"
#include "lang/use.h"

namespace gexp::test {

inline std::string read(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Every file of this extension under a folder of the repository, sorted.
inline std::vector<std::filesystem::path> files_under(const std::string& folder, const std::string& extension) {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::filesystem::path(GEXP_SOURCE_DIR) / folder)) {
    if (entry.path().extension() == extension) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Finds what `use` names in one folder of the repository's, else in the library; a link is taken for one that leads out.
inline lang::Loader files_of(const std::filesystem::path& folder) {
  return [folder](const std::string& path, const std::string& by) -> Result<lang::LoadedText> {
    const auto file = std::filesystem::path(by).parent_path() / path;
    if (std::filesystem::is_symlink(folder / file)) return failure("E0121", file.string() + " is a link that leads out of its folder");
    const auto library = std::filesystem::path(GEXP_SOURCE_DIR) / "experiments/lib" / path;
    if (!std::filesystem::exists(folder / file) && std::filesystem::exists(library)) return lang::LoadedText{"<library>/" + path, read(library)};
    if (!std::filesystem::exists(folder / file)) return failure("E0122", "there is no " + file.string());
    return lang::LoadedText{file.string(), read(folder / file)};
  };
}

/// A text parsed and, when it parses, checked, with what it uses where `load` finds it.
struct Checked {
  Source source;
  Diagnostics diagnostics;
  lang::File file;

  explicit Checked(std::string text, std::string path = "test.gexp", const lang::Loader& load = nullptr) : source(std::move(path), std::move(text)) {
    file = lang::parse(source, diagnostics);
    if (!diagnostics.has_errors()) lang::check_with_uses(file, source, load, diagnostics);
  }
  /// As a user sees it.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const auto& diagnostic : diagnostics.sorted()) all += render(diagnostic, &source);
    return all;
  }
  /// "E0202 limt; E0301 n": code and the text pointed at, by place.
  [[nodiscard]] std::string points() const {
    std::string all;
    for (const auto& d : diagnostics.sorted()) {
      all += (all.empty() ? "" : "; ") + d.code + " " + std::string((d.in ? *d.in : source).slice(d.span));
    }
    return all;
  }
};

/// The header, then `text`.
inline Checked checked(const std::string& text) { return Checked("gexp 1\nexperiment x\n" + text + "\n"); }

}  // namespace gexp::test
