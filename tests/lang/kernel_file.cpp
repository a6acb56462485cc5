// SPDX-License-Identifier: Apache-2.0
// What would have NVRTC read a file is seen, however it is written; what is none is not.
#include "lang/kernel_file.h"

#include <doctest/doctest.h>

#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;

TEST_CASE("a text that would read a file is refused") {
  for (const std::string text : {
           "#include <a>",
           "  # include \"a\"",
           "\t#\tinclude MACRO",
           "#import <a>",
           "#include_next <a>",
           "#embed \"a\"",
           "%:include <a>",
           "?\?=include <a>",
           "#inc\\\nlude <a>",
           "#inc\\\r\nlude <a>",
           "#inc\\ \nlude <a>",
           "#inc?\?/\nlude <a>",
           "#\\\ninclude <a>",
           "#/**/include <a>",
           "/* */ # /* \n */ include <a>",
           "/* a\n*/#include <a>",
           "int x;\r#include <a>",
           "const char* s = R\"(\")\" \"/*\";\n#include <a>\n/* */",
           "// \\\n*/ #include <a>",
           "#\\u0069nclude <a>",
           "#if __has_include(<a>)",
           "#if defined(X) && __has_embed(\"a\")",
           "int y = __has_include_next;",
           "\v#include <a>",
           "#\finclude <a>",
       }) {
    CAPTURE(text);
    const auto found = lang::reads_of_files("int before;\n" + text + "\nint after;\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].begin >= 12);
    CHECK(found[0].end <= 12 + text.size());
    CHECK(found[0].begin < found[0].end);
  }
}

TEST_CASE("a text that reads none is not") {
  for (const std::string text : {
           "",
           "#",
           "#\n",
           "\\",
           "?\?",
           "#define include 1",
           "#pragma once",
           "// #include <a>",
           "int includes; // include",
           "const char* s = \"#include <a>\";",
           "x = a # include;",
           "#define F(x) #x",
           "#if 1\n#endif",
           "/* says #include */",
           "#includes <a>",
           "#undef __has_included",
           "?\?=define A 1",
           "/*",
           "/* # include",
       }) {
    CAPTURE(text);
    CHECK(lang::reads_of_files(text).empty());
  }
}

TEST_CASE("a path that leads outside is one where somebody allows it, and no other is") {
  const lang::Outside all = [](const std::string&, const std::string&) { return true; };
  const lang::Outside none = [](const std::string&, const std::string&) { return false; };
  for (const std::string path : {"a.cu", "a/b.ptx"}) {
    CHECK_FALSE(lang::refused_kernel_path(path, "x.gexp", nullptr));
    CHECK_FALSE(lang::refused_kernel_path(path, "x.gexp", none));
  }
  for (const std::string path : {"/a.cu", "../a.cu", "../../b/a.ptx", "/b/../a.cu", "a/../b.cu"}) {
    CAPTURE(path);
    CHECK(lang::refused_kernel_path(path, "x.gexp", nullptr));
    CHECK(lang::refused_kernel_path(path, "x.gexp", none));
    CHECK_FALSE(lang::refused_kernel_path(path, "x.gexp", all));
  }
  for (const std::string path :
       {"", "/", "..", "/etc/passwd", "//a.cu", "/a\\b.cu", "../<a>.cu", "c:/a.cu", "/a/./b.cu", "../a.cu ", ".cu/"}) {
    CAPTURE(path);
    CHECK(lang::refused_kernel_path(path, "x.gexp", all));
  }
}

TEST_CASE("the kernels of a file are those of its warm-ups and timed regions, in order") {
  const Checked checked(
      "gexp 1 experiment x memory A: u32[4KiB] in global stage s { warm { kernel \"a.cu\" entry load(A) } timed t each { kernel \"b.ptx\" "
      "sha256 \"00\" entry b(A, 2, t[4] as 8B) } }");
  CHECK_FALSE(checked.diagnostics.has_errors());
  std::vector<std::string> entries;
  lang::for_each_kernel(checked.file, [&](const lang::Op& op) { entries.push_back(op.kernel.path.text + " " + op.kernel.entry.text); });
  CHECK(entries == std::vector<std::string>{"a.cu load", "b.ptx b"});
  CHECK(lang::is_ptx("b.ptx"));
  CHECK_FALSE(lang::is_ptx("ptx.cu"));
}
