// SPDX-License-Identifier: Apache-2.0
// The corpus tests/cases/diagnostics: NAME/NAME.gexp must be refused with exactly NAME/NAME.err. Other files of NAME are for it
// to use.
// GEXP_BLESS=1 writes the .err files anew; then read the diff.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/lang/support.h"

using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> cases() {
  auto files = files_under("tests/cases/diagnostics", ".gexp");
  std::erase_if(files, [](const fs::path& file) { return file.stem() != file.parent_path().filename(); });
  return files;
}

}  // namespace

TEST_CASE("every wrong file is refused with its message") {
  const bool bless = std::getenv("GEXP_BLESS") != nullptr;
  REQUIRE_MESSAGE(!(bless && std::getenv("CI")), "goldens are not blessed in CI");
  const auto specs = cases();
  REQUIRE(specs.size() >= 40);
  for (const auto& spec : specs) {
    CAPTURE(spec.string());
    const Checked checked(read(spec), spec.filename().string(), files_of(spec.parent_path()));
    CHECK(checked.diagnostics.has_errors());
    const auto golden = fs::path(spec).replace_extension(".err");
    if (bless) std::ofstream(golden, std::ios::binary) << checked.text();
    CHECK(checked.text() == read(golden));
  }
}

TEST_CASE("no diagnostic is said twice at one place") {
  for (const auto& spec : cases()) {
    CAPTURE(spec.string());
    const Checked checked(read(spec), spec.filename().string(), files_of(spec.parent_path()));
    const auto sorted = checked.diagnostics.sorted();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      CHECK_FALSE((sorted[i].in == sorted[i - 1].in && sorted[i].span == sorted[i - 1].span && sorted[i].code == sorted[i - 1].code));
    }
  }
}
