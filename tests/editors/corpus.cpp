// SPDX-License-Identifier: Apache-2.0
// editors/tree-sitter-gexp/test/corpus, which `tree-sitter test` reads too: texts and the trees that they make. GEXP_BLESS=1 writes the
// trees anew.
#include <doctest/doctest.h>

#include <cstdlib>

#include "lang/base/sha256.h"
#include "tests/editors/syntax_tree.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kFolder = "editors/tree-sitter-gexp";

struct Example {
  std::string name, text, tree;
};

/// `===`, a name, `===`, the text, `---`, the tree; one after the other.
std::vector<Example> examples(const std::string& file) {
  std::vector<Example> found;
  std::istringstream lines(file);
  enum class At { Name, Text, Tree } at = At::Tree;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("===")) {
      if (at != At::Name) found.emplace_back();
      at = at == At::Name ? At::Text : At::Name;
    } else if (at == At::Text && line.starts_with("---")) {
      at = At::Tree;
    } else if (!found.empty()) {
      auto& part = at == At::Name ? found.back().name : at == At::Text ? found.back().text : found.back().tree;
      part += line + "\n";
    }
  }
  return found;
}

std::string on_one_line(const std::string& text) {
  std::string line, word;
  for (std::istringstream words(text); words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// A node a line, two spaces deeper than the one that holds it.
std::string laid_out(const std::string& tree) {
  std::string text;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (tree[i] == '(') ++depth;
    if (tree[i] == ')') --depth;
    const auto word = tree.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", i + 1);
    const bool node = word != std::string::npos && (tree[i + 1] == '(' || tree[word] == ':');  // or its field
    if (tree[i] == ' ' && node && tree[i - 1] != ':') {
      text += "\n" + std::string(2 * depth, ' ');
    } else {
      text += tree[i];
    }
  }
  return text;
}

}  // namespace

TEST_CASE("the corpus makes the trees that it says") {
  const bool bless = std::getenv("GEXP_BLESS") != nullptr;
  REQUIRE_MESSAGE(!(bless && std::getenv("CI")), "goldens are not blessed in CI");
  std::size_t count = 0, wrong = 0;
  for (const auto& path : files_under(std::string(kFolder) + "/test/corpus", ".txt")) {
    std::string blessed;
    for (const auto& example : examples(read(path))) {
      ++count;
      CAPTURE(example.name);
      const auto text = example.text.substr(0, example.text.find_last_not_of('\n') + 1);
      const SyntaxTree tree(text);
      wrong += tree.whole() ? 0 : 1;
      const std::string line(60, '=');
      blessed += line + "\n" + example.name + line + "\n" + example.text + std::string(60, '-') + "\n\n";
      blessed += laid_out(tree.expression()) + "\n\n";
      if (!bless) CHECK(on_one_line(tree.expression()) == on_one_line(example.tree));
    }
    if (bless) std::ofstream(path, std::ios::binary) << blessed.substr(0, blessed.size() - 1);
  }
  CHECK(count >= 20);
  CHECK(wrong >= 3);
  CHECK(wrong < count / 3);
}

TEST_CASE("the parser was made of the grammar that stands beside it") {
  const auto folder = fs::path(GEXP_SOURCE_DIR) / kFolder;
  std::istringstream sums(read(folder / "src/made_of.sha256"));
  std::size_t files = 0;
  for (std::string sum, name; sums >> sum >> name; ++files) {
    CHECK_MESSAGE(sha256_hex(read(folder / name)) == sum, name, " has changed: run ", kFolder, "/generate.sh");
  }
  CHECK(files == 4);
}
