// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

namespace gexp::test {

/// A folder of its own, that ends with this.
struct Folder {
  std::string path = (std::filesystem::temp_directory_path() / "gexp-test-XXXXXX").string();
  Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::string file(const std::string& name) const { return path + "/" + name; }
};

}  // namespace gexp::test
