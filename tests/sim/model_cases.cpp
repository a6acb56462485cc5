// SPDX-License-Identifier: Apache-2.0
// The corpus tests/cases/models: NAME/NAME.edit is a model that ships with one piece of its text replaced (the model's name, then
// `- FROM` and `+ TO`), which must be refused with exactly NAME/NAME.err. GEXP_BLESS=1 writes the .err files anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/sim/support.h"

namespace fs = std::filesystem;

namespace {

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("every wrong model is refused with its message") {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(GEXP_SOURCE_DIR) / "tests/cases/models")) {
    const auto name = entry.path().filename().string();
    CAPTURE(name);
    ++count;
    std::ifstream edit(entry.path() / (name + ".edit"));
    std::string model, from, to;
    std::getline(edit, model), std::getline(edit, from), std::getline(edit, to);
    REQUIRE(from.starts_with("- "));
    REQUIRE(to.starts_with("+ "));
    const auto source = sim_test::edited(model, from.substr(2), to.substr(2));
    gexp::Diagnostics diagnostics;
    CHECK_FALSE(gexp::sim::check_model(source, diagnostics));
    std::string text;
    for (const auto& diagnostic : diagnostics.sorted()) text += gexp::render(diagnostic, &source);
    const auto golden = entry.path() / (name + ".err");
    if (std::getenv("GEXP_BLESS")) std::ofstream(golden, std::ios::binary) << text;
    CHECK(text == read(golden));
    CHECK(text.find('^') != std::string::npos);
  }
  CHECK(count >= 9);
}
