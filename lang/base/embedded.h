// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

/// Files that travel inside the binary, so that one `gexp` runs anywhere (cmake/embed.cmake).
namespace gexp::embedded {

struct File {
  std::string name;  ///< "each.cu", "gtx780.toml"
  std::string text;
};

/// The pieces of a long text: compilers limit the length of one literal.
inline std::string joined(std::initializer_list<const char*> pieces) {
  std::string all;
  for (const char* piece : pieces) all += piece;
  return all;
}

const std::vector<File>& compiler_templates();
const std::vector<File>& sim_models();
const std::vector<File>& experiment_library();  ///< what `use` finds anywhere
const std::vector<File>& report_page();    ///< template, style and script of a report
const std::vector<File>& report_charts();  ///< the charting library that it carries

}  // namespace gexp::embedded
