// SPDX-License-Identifier: Apache-2.0
// The corpus tests/cases/diagnostics: NAME/NAME.gexp must be refused, or warned of, with exactly NAME/NAME.err. The whole
// pipeline runs on it (tests/compiler/case.h). GEXP_BLESS=1 writes the .err files anew; then read the diff.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "lang/base/codes.h"
#include "tests/compiler/case.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

/// Codes of lang/ and compiler/ that no spec alone can bring about.
const std::map<std::string, std::string> kNoCase = {
    {"E0443", "about the time that a device takes"},
    {"E0501", "about the device; tests/compiler/needs_test.cpp has them"},
    {"E0721", "about the time and the person at the keyboard"},
    {"E0722", "about the memory that is free"},
    {"E0405", "the checker refuses unknown functions; kept against a bug"},
    {"E0408", "the checker refuses unknown names; kept against a bug"},
    {"E0411", "the checker refuses missing arguments; kept against a bug"},
    {"E0711", "about files that are no file; tests/cli has them"},
    {"E0505", "about the files of --templates"},
    {"E0506", "about the files of --templates"},
};

/// Cases whose diagnostic is about no place in the text.
const std::set<std::string> kNoCaret = {"empty_file", "set_unknown", "set_no_value"};

std::set<std::string> all_codes(const std::string& goldens) {
  std::set<std::string> found;
  for (const auto& known : kCodes) {
    if (goldens.find("[" + std::string(known.code) + "]: ") != std::string::npos) found.emplace(known.code);
  }
  return found;
}

}  // namespace

TEST_CASE("every wrong file is refused with its message") {
  const bool bless = std::getenv("GEXP_BLESS") != nullptr;
  REQUIRE_MESSAGE(!(bless && std::getenv("CI")), "goldens are not blessed in CI");
  const auto specs = wrong_specs();
  CHECK(specs.size() >= 300);
  std::size_t hinted = 0;
  for (const auto& spec : specs) {
    CAPTURE(spec.string());
    const Told told(spec);
    const auto text = told.text();
    CHECK_FALSE(text.empty());
    const auto golden = fs::path(spec).replace_extension(".err");
    if (bless) std::ofstream(golden, std::ios::binary) << text;
    CHECK(text == read(golden));
    const bool caret = text.find("| ") != std::string::npos && text.find('^') != std::string::npos;
    CHECK(caret != kNoCaret.contains(spec.stem().string()));
    hinted += text.find("\n  hint: ") != std::string::npos ? 1 : 0;
  }
  MESSAGE(specs.size(), " cases, ", hinted, " of them with a hint");
  CHECK(hinted * 100 >= specs.size() * 90);
}

TEST_CASE("no diagnostic is said twice at one place") {
  for (const auto& spec : wrong_specs()) {
    CAPTURE(spec.string());
    const auto sorted = Told(spec).diagnostics.sorted();
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      CHECK_FALSE((sorted[i].in == sorted[i - 1].in && sorted[i].span == sorted[i - 1].span && sorted[i].code == sorted[i - 1].code));
    }
  }
}

TEST_CASE("every code of the front end and the compiler has a case") {
  std::string goldens;
  for (const auto& path : files_under("tests/cases/diagnostics", ".err")) goldens += read(path);
  const auto shown = all_codes(goldens);
  for (const auto& code : quoted_codes(sources_of({"lang", "compiler"}))) {
    CHECK_MESSAGE(shown.contains(code) != kNoCase.contains(code), code, kNoCase.contains(code) ? " has a case: strike it from kNoCase" : " has no case in tests/cases/diagnostics");
  }
}

TEST_CASE("lang/base/codes.h lists the codes that are reported, and no others, in order") {
  const auto reported = quoted_codes(sources_of({"lang", "compiler", "runtime"}));
  std::vector<std::string> listed;
  for (const auto& known : kCodes) listed.emplace_back(known.code);
  CHECK(std::is_sorted(listed.begin(), listed.end()));
  CHECK(std::adjacent_find(listed.begin(), listed.end()) == listed.end());
  for (const auto& code : reported) CHECK_MESSAGE(std::binary_search(listed.begin(), listed.end(), code), code, " is not in lang/base/codes.h");
  for (const auto& code : listed) CHECK_MESSAGE(std::binary_search(reported.begin(), reported.end(), code), code, " is never reported");
}
