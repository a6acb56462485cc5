// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "lang/base/source.h"
#include "lang/base/diagnostic.h"

namespace gexp::test {

/// The wrong specs tests/cases/diagnostics/NAME/NAME.gexp, sorted. Other files of NAME are for it to use.
std::vector<std::filesystem::path> wrong_specs();

/// All that can be said of a wrong spec without a device: it is compiled, and then the points of every stage that reads neither
/// a finding nor the device are planned. A line `# --set NAME=VALUE` of the spec is an option of the command line.
struct Told {
  Source source;
  Diagnostics diagnostics;

  explicit Told(const std::filesystem::path& spec);
  /// As a user sees it.
  [[nodiscard]] std::string text() const;
};

/// The files of the sources under a folder of the repository in one text.
std::string sources_of(const std::vector<std::string>& folders);

/// "E0103" and the like where they stand in quotes, sorted.
std::vector<std::string> quoted_codes(const std::string& text);

}  // namespace gexp::test
