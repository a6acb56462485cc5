// SPDX-License-Identifier: Apache-2.0
// Any bytes give diagnostics or a valid file; never a crash, never a hang. ctest's timeout is the judge of hangs.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>

#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;

namespace {

std::vector<std::string> seeds() {
  std::vector<std::string> texts;
  for (const char* folder : {"tests/cases/examples", "experiments"}) {
    for (const auto& path : files_under(folder, ".gexp")) texts.push_back(read(path));
  }
  return texts;
}

/// The tokens of a text: words and numbers, texts, single marks; space and comments dropped.
std::vector<std::string> tokens(const std::string& text) {
  std::vector<std::string> found;
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      i = end;
      continue;
    }
    if (text[i] == '#') {
      i = text.find('\n', i);
      if (i == std::string::npos) break;
      continue;
    }
    if (text[i] == '"') {
      end = text.find('"', i + 1) + 1;
    } else if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
    }
    // Marks that touch stay together, so that `..`, `==`, `2%` and `f(` survive being joined by spaces.
    while (end < text.size() && std::string_view(".=%(<>!?/").find(text[end]) != std::string_view::npos) ++end;
    while (end < text.size() && (text[end - 1] == '.' || text[end - 1] == '/') && is_word(text[end])) ++end;
    found.push_back(text.substr(i, end - i));
    i = end;
  }
  return found;
}

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const auto& part : parts) text += part + " ";
  return text;
}

/// Parses, checks and renders: everything that a user's bytes go through.
void survive(const std::string& text) {
  const Checked checked(text);
  const auto shown = checked.text();
  CHECK((checked.diagnostics.empty() == shown.empty()));
  for (const auto& d : checked.diagnostics.sorted()) {
    CHECK(d.code.size() == 5);
    CHECK(d.span.begin <= d.span.end);
    CHECK(d.span.end <= text.size());
  }
}

std::string repeated(const std::string& what, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += what;
  return text;
}

}  // namespace

TEST_CASE("tokens left out, and two neighbours swapped, all over every file" * doctest::test_suite("long")) {
  std::size_t first = 0;  // another one in each file, so that what files share is tried everywhere
  for (const auto& text : seeds()) {
    const auto all = tokens(text);
    REQUIRE(all.size() > 50);
    const std::size_t step = 1 + all.size() / 200;
    for (std::size_t i = first++ % step; i < all.size(); i += step) {
      auto fewer = all;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      survive(join(fewer));
      if (i + 1 < all.size()) {
        auto swapped = all;
        std::swap(swapped[i], swapped[i + 1]);
        survive(join(swapped));
      }
    }
  }
}

TEST_CASE("texts cut off anywhere") {
  for (const auto& text : seeds()) {
    for (std::size_t end = 0; end < text.size(); end += 7) survive(text.substr(0, end));
  }
}

TEST_CASE("bytes changed at random, and nothing but random bytes") {
  std::mt19937 random(11);
  for (const auto& text : seeds()) {
    for (int round = 0; round < 200; ++round) {
      auto changed = text;
      for (int i = 0; i < 3; ++i) changed[random() % changed.size()] = static_cast<char>(random() % 256);
      survive(changed);
    }
  }
  for (int round = 0; round < 300; ++round) {
    std::string noise(random() % 400, ' ');
    for (auto& c : noise) c = static_cast<char>(random() % 256);
    survive(noise);
    survive("gexp 1 experiment x " + noise);
  }
  survive(std::string("gexp 1\nexperiment x\nlet a = \0 4\n", 32));
  survive("gexp 1\nexperiment x doc \"\xff\xfe\"\nlet \xc3\x28 = 4\n");
  survive("\xef\xbb\xbfgexp 1\nexperiment x\n");
}

TEST_CASE("depth and length have limits that are said") {
  const std::string head = "gexp 1\nexperiment x\n";
  for (const std::string open : {"(", "[", "f(", "-(", "not (", "a[", "1+(", "[[", "{"}) {
    survive(head + "let a = " + repeated(open, 100));
    survive(head + "let a = " + repeated(open, 100000));
  }
  for (const std::string chain : {"1 + ", "1 * ", "- ", "not ", "1 and ", "a.", "1 ?? ", "1 == "}) {
    survive(head + "let a = " + repeated(chain, 100) + "1");
    const Checked long_chain(head + "let a = " + repeated(chain, 200000) + "1");
    CHECK(long_chain.diagnostics.has_errors());
  }
  survive(head + "let a = [1 " + repeated("for i in 0..2 ", 20000) + "]");
  survive(head + "let a = [" + repeated("1, ", 200000) + "]");
  survive(head + "stage s { timed t each { " + repeated("loop i in 0..2 { ", 10000));
  survive(head + repeated("stage s { ", 100000));
  survive(head + repeated("}", 100000));
  survive(head + repeated("\"", 100000));
  survive(head + repeated("let ", 100000));
  survive(head + "let a = " + repeated("9", 100000));
  const Checked large(std::string((4u << 20) + 1, ' '));
  CHECK(large.points().substr(0, 5) == "E0101");
}

TEST_CASE("a long file takes time in proportion to its length") {
  // 4 MiB of valid statements: a quadratic step anywhere would run into the test's timeout.
  std::string text = "gexp 1\nexperiment x\n";
  text += "let a0 = 1\n";
  for (int i = 1; text.size() < (3u << 20); ++i) text += fmt::format("let a{} = a{} + 1\n", i, i - 1);
  const Checked checked(text);
  CHECK_FALSE(checked.diagnostics.has_errors());
}

TEST_CASE("many mistakes, names or labels take time in proportion to their number") {
  const std::string head = "gexp 1\nexperiment x\n";
  const auto many = [](const char* form, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += fmt::format(fmt::runtime(form), i);
    return text;
  };
  constexpr int kMany = 50000;
  const std::string stage = head + "memory A: u32[4KiB] in global\nstage s { pattern r = [0B] timed t each { chase A by r laps 1 }\n";
  for (const auto& text : {head + many("let a{0} = b{0}\n", kMany), head + "let z = min(" + many("b{}, ", kMany) + "1)",
                           head + "pattern p = nonuniform(" + many("a{}: [0B], ", kMany) + ")",
                           head + "pattern p = uniform(" + many("a{}: 0B, ", kMany) + ")",
                           stage + many("find f{}: B = miss_spacing(t)\n", kMany) + "}\n" + many("expect s.f{} == 0B\n", kMany),
                           stage + many("find f{}: B = miss_spacing(t)\n", kMany) + "}\n" + many("expect s.g{} == 0B\n", kMany),
                           head + many("let a = {}\n", kMany), head + many("stage s{} {{ sweep n in 1..b }}\n", kMany),
                           head + "stage s { launch " + many("grid {} ", kMany) + "}", head + "stage s { warm { " + many("load A at q{} ", kMany) + "} }"}) {
    const Checked checked(text);
    CHECK(checked.diagnostics.sorted().size() <= gexp::Diagnostics::kMost + 1);
    CHECK(checked.text().size() < 100000);
  }
}
