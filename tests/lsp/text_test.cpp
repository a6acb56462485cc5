// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "runtime/lsp/text.h"

using namespace gexp;
using lsp::Encoding;
using lsp::Place;

TEST_CASE("places count the units that were agreed on") {
  const std::string text = "aé€😀b\nc";  // 1, 2, 3, 4 and 1 bytes
  const lsp::Lines lines(text);
  struct Case {
    std::uint32_t offset, utf8, utf16, utf32;
  };
  for (const auto& [offset, utf8, utf16, utf32] :
       {Case{0, 0, 0, 0}, {1, 1, 1, 1}, {3, 3, 2, 2}, {6, 6, 3, 3}, {10, 10, 5, 4}, {11, 11, 6, 5}}) {
    CHECK(lines.place(offset, Encoding::Utf8) == Place{0, utf8});
    CHECK(lines.place(offset, Encoding::Utf16) == Place{0, utf16});
    CHECK(lines.place(offset, Encoding::Utf32) == Place{0, utf32});
    CHECK(lines.offset({0, utf8}, Encoding::Utf8) == offset);
    CHECK(lines.offset({0, utf16}, Encoding::Utf16) == offset);
    CHECK(lines.offset({0, utf32}, Encoding::Utf32) == offset);
  }
  CHECK(lines.offset({0, 4}, Encoding::Utf16) == 6);  // between two surrogates: before the character
  CHECK(lines.offset({0, 2}, Encoding::Utf8) == 1);
}

TEST_CASE("lines end with any of the three line ends, and places beyond them are their ends") {
  const std::string text = "ab\r\ncd\re\n";
  const lsp::Lines lines(text);
  CHECK(lines.offset({0, 9}, Encoding::Utf16) == 2);
  CHECK(lines.offset({1, 0}, Encoding::Utf16) == 4);
  CHECK(lines.offset({2, 0}, Encoding::Utf16) == 7);
  CHECK(lines.offset({3, 0}, Encoding::Utf16) == 9);
  CHECK(lines.offset({4, 0}, Encoding::Utf16) == 9);
  CHECK(lines.offset({4000000000u, 4000000000u}, Encoding::Utf16) == 9);
  CHECK(lines.place(3, Encoding::Utf16) == Place{0, 2});  // between \r and \n
  CHECK(lines.place(7, Encoding::Utf16) == Place{2, 0});
  CHECK(lines.place(99, Encoding::Utf16) == Place{3, 0});
  CHECK(lsp::Lines("").offset({0, 5}, Encoding::Utf16) == 0);
}

TEST_CASE("a file's URI and its path") {
  CHECK(lsp::path_of("file:///home/a%20b/%C3%A9.gexp") == "/home/a b/é.gexp");
  CHECK(lsp::path_of("file://localhost/x.gexp") == "/x.gexp");
  CHECK(lsp::path_of("file:///100%") == "/100%");
  CHECK(lsp::path_of("file:///a%2") == "/a%2");
  CHECK(lsp::path_of("untitled:Untitled-1").empty());
  CHECK(lsp::path_of("file://server/share.gexp").empty());
  CHECK(lsp::path_of("file:///a%00b").empty());
  CHECK(lsp::uri_of("/home/a b/é.gexp") == "file:///home/a%20b/%C3%A9.gexp");
}
