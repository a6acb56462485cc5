// SPDX-License-Identifier: Apache-2.0
// docs/reference/ptx.md has a row for each form of the decoder's table, and for what is refused. GEXP_BLESS=1 writes them anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/sim/ptx_forms.h"
#include "runtime/sim/ptx_parse.h"
#include "tests/lang/generated_docs.h"

using namespace gexp;
using namespace gexp::sim;

namespace {

constexpr std::size_t kCell = 160;  // characters; what is longer goes on in the next row

std::string_view next_word(std::string_view& words) {
  const std::string_view word = words.substr(0, words.find(' '));
  words.remove_prefix(std::min(word.size() + 1, words.size()));
  return word;
}

/// "`.lo\|.hi` [`.sat`]".
std::string modifiers(std::string_view words, bool optional) {
  std::string text;
  while (!words.empty()) {
    std::string word(next_word(words));
    for (std::size_t at = 0; (at = word.find('|', at)) != std::string::npos; at += 3) word.replace(at, 1, "\\|.");
    text += fmt::format("{}{}.{}{}", text.empty() ? "" : " ", optional ? "[" : "", word, optional ? "]" : "");
  }
  return text;
}

std::string dotted(std::string_view words) {
  std::string text;
  while (!words.empty()) text += fmt::format("{}.{}", text.empty() ? "" : " ", next_word(words));
  return text;
}

std::string in_code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

/// The rows of a form: a long cell is broken between words.
std::string rows(const Form& f) {
  std::string cells[] = {std::string(f.section), in_code(std::string(f.name)), modifiers(f.must, false), modifiers(f.may, true), dotted(f.types), dotted(f.sources)};
  std::string text;
  bool more = true;
  for (int row = 0; more; ++row) {
    more = false;
    text += "|";
    for (std::size_t k = 0; k < std::size(cells); ++k) {
      std::string& cell = cells[k];
      std::size_t end = cell.size();
      if (end > kCell) end = cell.rfind(' ', kCell), more = true;
      const std::string part = cell.substr(0, end);
      text += fmt::format(" {} |", k > 1 ? in_code(part) : part);
      cell.erase(0, std::min(end + 1, cell.size()));
    }
    text += "\n";
  }
  return text;
}

/// What the fuzzer needs besides the instructions.
constexpr std::string_view kDirectives = ".version .target .address_size .visible .entry .param .reg .shared .const .local .global .align .pred .loc .pragma .func .extern "
                                         ".branchtargets .callprototype @%p1 %clock %clock64 %tid.x %laneid %lanemask_lt generic(";

std::string dictionary() {
  std::set<std::string> words;
  const auto all = [&](std::string_view list, std::string_view before) {
    while (!list.empty()) {
      std::string_view choice = next_word(list);
      while (!choice.empty()) {
        const std::string_view word = choice.substr(0, choice.find('|'));
        words.insert(std::string(before) + std::string(word));
        choice.remove_prefix(std::min(word.size() + 1, choice.size()));
      }
    }
  };
  all(kDirectives, "");
  for (const Form& f : ptx_forms()) {
    words.insert(std::string(f.name));
    all(f.must, "."), all(f.may, "."), all(f.types, "."), all(f.sources, ".");
  }
  std::string text = "# Words of PTX for ./dev fuzz; tests/sim/ptx_docs.cpp writes and checks it.\n";
  for (const std::string& word : words) text += "\"" + word + "\"\n";
  return text;
}

}  // namespace

TEST_CASE("the fuzzer's dictionary of PTX has the words of every form") {
  const auto path = std::filesystem::path(GEXP_SOURCE_DIR) / "tests/fuzz/ptx.dict";
  if (std::getenv("GEXP_BLESS")) std::ofstream(path, std::ios::binary) << dictionary();
  CHECK_MESSAGE(gexp::test::read(path) == dictionary(), "./dev bless sim");
}

TEST_CASE("the fuzzer begins with a kernel that loads") {
  const auto kernel = parse_ptx(gexp::test::read(std::filesystem::path(GEXP_SOURCE_DIR) / "tests/fuzz/corpora/ptx/instructions"), "k");
  CHECK_MESSAGE(kernel.ok(), (kernel ? "" : kernel.error().message));
}

TEST_CASE("docs/reference/ptx.md lists what the decoder runs and what it refuses") {
  std::string run = "|---|---|---|---|---|---|\n", refused = "|---|---|---|\n", sections = "|---|---|---|\n";
  for (const Form& f : ptx_forms()) run += rows(f);
  for (const Refused& r : ptx_refused()) refused += fmt::format("| {} | {} | {} |\n", r.section, r.name, r.why);
  for (const Section& s : ptx_sections()) {
    const auto forms = ptx_forms();
    const auto count = std::count_if(forms.begin(), forms.end(), [&](const Form& f) { return f.section == s.number; });
    sections += fmt::format("| {} | {} | {} |\n", s.number, s.title, count == 0 ? std::string("none") : std::to_string(count));
  }
  CHECK_MESSAGE(gexp::test::block_of("docs/reference/ptx.md", "| section | title |", sections) == sections, "./dev bless sim");
  CHECK_MESSAGE(gexp::test::block_of("docs/reference/ptx.md", "| section | instruction |", run) == run, "./dev bless sim");
  CHECK_MESSAGE(gexp::test::block_of("docs/reference/ptx.md", "| section | refused |", refused) == refused, "./dev bless sim");
}

TEST_CASE("every section of a form is one of the PTX ISA's, and no form hides behind another") {
  for (const Form& f : ptx_forms()) {
    const auto sections = ptx_sections();
    CHECK(std::any_of(sections.begin(), sections.end(), [&](const Section& s) { return s.number == f.section; }));
  }
  // What the page says is refused is refused, by name.
  for (const char* const text : {"suld.p.1d.b32.clamp {z}, [x, {y}];",
                                 "mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {a}, {b}, {c}, {d}, e, 0;", "vadd4.u32.u32.u32.add a, b, c, d;", "st.bulk.shared::cta [a], 16, 0;", "lop3.xor.b32 a, b, c, d, 1, p;"}) {
    const auto kernel = parse_ptx(fmt::format(".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n{}\n}}\n", text), "k");
    REQUIRE_FALSE(kernel.ok());
    CHECK_MESSAGE(kernel.error().message.find("unknown instruction") != std::string::npos, kernel.error().message);
  }
}
