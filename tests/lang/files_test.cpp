// SPDX-License-Identifier: Apache-2.0
// Files are read if they are files, and written without following what somebody else laid there.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lang/base/files.h"

using namespace gexp;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/gexp-files-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] std::string file(const char* name) const { return (path / name).string(); }
  fs::path path;
};

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("what is no regular file is not read, nor waited for") {
  const Folder folder;
  REQUIRE(mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  for (const auto& path : {folder.file("fifo"), folder.path.string(), std::string("/dev/zero"), folder.file("none")}) {
    const auto text = read_regular_file(path);
    CAPTURE(path);
    REQUIRE_FALSE(text.ok());
    CHECK(text.error().code == "E0711");
  }
}

TEST_CASE("a temporary file is new, has a name of its own each time, and is of nobody else") {
  const Folder folder;
  std::string one, other;
  const int first = open_beside(folder.file("a"), one), second = open_beside(folder.file("a"), other);
  REQUIRE(first >= 0);
  REQUIRE(second >= 0);
  CHECK(one != other);
  CHECK((fcntl(first, F_GETFL) & O_ACCMODE) == O_WRONLY);
  close(first), close(second);
}

TEST_CASE("a file takes the place of a link, and what the link leads to stays as it was") {
  const Folder folder;
  std::ofstream(folder.file("theirs")) << "theirs";
  fs::create_symlink(folder.file("theirs"), folder.file("mine"));
  CHECK(replace_file(folder.file("mine"), "mine") == 0);
  CHECK(text_of(folder.file("theirs")) == "theirs");
  CHECK(text_of(folder.file("mine")) == "mine");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator()) == 2);  // nothing temporary is left
}
