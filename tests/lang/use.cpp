// SPDX-License-Identifier: Apache-2.0
#include "lang/use.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>

#include "lang/base/sha256.h"
#include "tests/lang/support.h"

using namespace gexp;
using gexp::test::Checked;

namespace {

using Files = std::map<std::string, std::string>;

/// Texts by path; each gets a header. Folders are not known to it.
lang::Loader texts(const Files& files) {
  return [files](const std::string& path, const std::string&) -> Result<lang::LoadedText> {
    const auto found = files.find(path);
    if (found == files.end()) return failure("E0122", "no such file");
    return lang::LoadedText{path, "gexp 1\nexperiment m\n" + found->second};
  };
}

/// "code text-pointed-at" of everything but missing hashes.
std::string said(const std::string& text, const Files& files) {
  const Checked checked("gexp 1\nexperiment x\n" + text + "\n", "x.gexp", texts(files));
  std::string all;
  for (const auto& d : checked.diagnostics.sorted()) {
    if (d.code != "E0126") all += (all.empty() ? "" : "; ") + d.code + " " + std::string((d.in ? *d.in : checked.source).slice(d.span));
  }
  return all;
}

}  // namespace

TEST_CASE("what a used file offers has its dimension") {
  const Files files{{"m.gexp", "param n: B = 4KiB\nlet k = 4\nlet all = [1B, 2B]\nlet name = \"lru\"\npattern ring = uniform(stride: 32B, span: n)\nmemory A: u32[n] in texture"}};
  const std::string use = "use \"m.gexp\" as m\n";
  CHECK(said(use + "let a = m.n + m.k * 1B + max(m.all)", files) == "");
  CHECK(said(use + "let a = m.n + m.k", files) == "E0211 m.k");
  CHECK(said(use + "pattern p = repeat(m.ring, m.k)", files) == "");
  CHECK(said(use + "let a = count(m.ring) + m.all.count", files) == "");
  CHECK(said(use + "let a = m.A", files) == "E0202 A");
  CHECK(said(use + "let a = m.j", files) == "E0202 j");
  CHECK(said(use + "param q: name = m.name", files) == "");
  CHECK(said(use + "let m = 4", files) == "E0201 m");
  CHECK(said(use + "stage s { let m = 4 let n = m + 1 }", files) == "");
}

TEST_CASE("a used file sees nothing of the file that uses it") {
  CHECK(said("let n = 4\nuse \"m.gexp\" as m", {{"m.gexp", "let k = n"}}) == "E0202 n");
  CHECK(said("use \"m.gexp\" as m\nlet k = m.b.x", {{"m.gexp", "use \"b.gexp\" as b"}, {"b.gexp", "let x = 4"}}) == "E0202 b");
}

TEST_CASE("circles and depth end") {
  CHECK(said("use \"x.gexp\" as m", {{"x.gexp", "let k = 1"}}) == "E0124 use \"x.gexp\" as m");
  CHECK(said("use \"a.gexp\" as m", {{"a.gexp", "use \"a.gexp\" as m"}}) == "E0124 use \"a.gexp\" as m");
  // Each file uses the next twice: 2^8 of them, were there no limit on all together.
  Files files;
  for (int i = 0; i < 8; ++i) files[fmt::format("f{}.gexp", i)] = fmt::format("use \"f{0}.gexp\" as a\nuse \"f{0}.gexp\" as b", i + 1);
  files["f8.gexp"] = "let k = 1";
  CHECK(said("use \"f0.gexp\" as m", files).find("E0125") != std::string::npos);
  files.clear();
  files["big.gexp"] = std::string(3u << 20, ' ');
  CHECK(said("use \"big.gexp\" as a\nuse \"big.gexp\" as b\nuse \"big.gexp\" as c", files) == "E0125 use \"big.gexp\" as c");
}

TEST_CASE("paths that lead anywhere else are refused before they are looked for") {
  for (const char* path : {"..", "../m.gexp", "a/../m.gexp", "./m.gexp", "/m.gexp", "a//m.gexp", "a\\m.gexp", "C:m.gexp", "<library>/m.gexp", "m.gexp/", "m", ""}) {
    CHECK_MESSAGE(lang::refused_use(path).has_value(), path);
  }
  for (const char* path : {"m.gexp", "a/b/m.gexp", "..m.gexp", "ü 1.gexp"}) CHECK_MESSAGE(!lang::refused_use(path), path);
}

TEST_CASE("a hash holds the bytes of a file") {
  const Files files{{"m.gexp", "let k = 1"}};
  const auto hash = sha256_hex("gexp 1\nexperiment m\nlet k = 1");
  const auto codes = [&](const std::string& clause) {
    return Checked("gexp 1\nexperiment x\nuse \"m.gexp\" as m" + clause + "\n", "x.gexp", texts(files)).points();
  };
  CHECK(codes(" sha256 \"" + hash + "\"") == "");
  CHECK(codes(" sha256 \"\"") == "E0123 sha256 \"\"");
  CHECK(codes("") == "E0126 use \"m.gexp\" as m");
}
