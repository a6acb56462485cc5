// SPDX-License-Identifier: Apache-2.0
// The documents' table of instructions is made of lang/instructions.def. GEXP_BLESS=1 writes it anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "lang/atomics.h"
#include "lang/foreign_words.h"
#include "lang/instructions.h"
#include "tests/lang/generated_docs.h"

using namespace gexp;
using namespace gexp::test;

TEST_CASE("docs/language/alu.md has a row for each instruction") {
  std::string wanted = "|---|---|---|\n";
  for (const auto& i : lang::instructions()) {
    std::string ptx(i.ptx);
    for (auto at = ptx.find("@gexp_go "); at != std::string::npos; at = ptx.find("@gexp_go ")) ptx.replace(at, 9, "@p ");
    if (const auto at = ptx.find("gexp_adds"); at != std::string::npos) ptx.replace(at, 9, "p");
    std::string masked;
    for (const char c : ptx) masked += c == '|' ? std::string("\\|") : std::string(1, c);
    const auto since = i.compute == 10 ? "" : fmt::format("{}.{}{}", i.compute / 10, i.compute % 10, i.nvrtc == 0 ? "" : fmt::format(", NVRTC {}.{}", i.nvrtc / 10, i.nvrtc % 10));
    wanted += fmt::format("| `{}` | `{}` | {} |\n", i.name, masked, since);
  }
  CHECK_MESSAGE(block_of("docs/language/alu.md", "| written | a link, in PTX | since |", wanted) == wanted, "./dev bless lang");
}

TEST_CASE("instructions: each name once, a hint for those that are none") {
  std::set<std::string_view> names;
  for (const auto& i : lang::instructions()) {
    CHECK_MESSAGE(names.insert(i.name).second, i.name);
    CHECK_MESSAGE((i.name.find('.') != std::string_view::npos), i.name);  // a word without one is the name of a value
    CHECK(lang::find_instruction(i.name) == &i);
  }
  CHECK(lang::find_instruction("fma") == nullptr);
  CHECK(lang::meant_instruction("fma") == "fma.f32");
  CHECK(lang::meant_instruction("fma.f23") == "fma.f32");
  CHECK(lang::meant_instruction("shfl") == "shfl.idx.b32");
  CHECK(lang::meant_instruction("zzzzzzzzzz").empty());
  for (const auto* word : {"FFMA", "FADD", "FMUL", "DFMA", "DADD", "DMUL", "HFMA2.MMA", "IADD", "IADD3.X", "IMAD.WIDE", "IMUL", "IDP", "LOP3.LUT", "MUFU.RCP", "FLO", "exp", "exp2.f32", "log", "log2",
                           "fdiv", "idiv", "mod", "HMMA", "wmma.m16n16k16", "HGMMA"}) {
    CHECK_MESSAGE(lang::find_instruction(lang::foreign_instruction(word)) != nullptr, word);
  }
  CHECK(lang::foreign_instruction("fma.f32").empty());
}

TEST_CASE("docs/language/atomic.md has a row for each operation") {
  std::string wanted = "|---|---|---|---|---|---|\n";
  const auto since = [](int compute) { return fmt::format("{}.{}", compute / 10, compute % 10); };
  for (const auto& a : lang::atomics()) {
    wanted += fmt::format("| `{}` | `{}.{}` | {} | {} | {} | {} |\n", a.name, a.has_red ? "atom\\|red" : "atom", a.ptx, a.bytes, a.has_red ? "yes" : "no", since(a.global), since(a.shared));
    CHECK(lang::find_atomic(a.name) == &a);
  }
  CHECK_MESSAGE(block_of("docs/language/atomic.md", "| written | PTX | bytes |", wanted) == wanted, "./dev bless lang");
  CHECK(lang::meant_atomic("add") == "add.u32");
  CHECK(lang::meant_atomic("cas.b46") == "cas.b64");
}
