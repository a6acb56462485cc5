// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <vector>

/// Whether the published results of a saved result can fail: what was found is changed, and each judged again.
namespace gexp::papers {

/// How far each of a result's published results that hold is from failing.
struct Margins {
  std::size_t near = 0;           ///< that fail where one finding is half or twice what it is, or another name, or a launch ends otherwise
  std::size_t further = 0;        ///< that fail where one is nothing, or more than twice off
  std::vector<std::string> held;  ///< that hold whatever is changed so
};

Margins margins_of(const std::filesystem::path& result);

}  // namespace gexp::papers
