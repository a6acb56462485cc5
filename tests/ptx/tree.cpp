// SPDX-License-Identifier: Apache-2.0
#include "ptx/tree.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace gexp::ptx;

namespace {

Module parsed(std::string_view text) {
  auto module = parse(text);
  if (!module) FAIL(module.error().message);
  return std::move(*module);
}

void round_trip(std::string_view text) {
  const Module module = parsed(text);
  const std::string printed = print(module);
  INFO(printed);
  const Module again = parsed(printed);
  CHECK(again == module);
  CHECK(print(again) == printed);
}

/// A body's items in a kernel.
std::string module_with(std::string_view body) { return fmt::format(".version 7.8\n.target sm_52\n.entry k(.param .u64 a)\n{{\n{}\n}}\n", body); }

}  // namespace

TEST_CASE("what parse reads of a printed module is the same tree") {
  round_trip(R"(.version 7.8
.target sm_35, debug
.address_size 64
.file 1 "a \ b.cu"
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 list);
.extern .shared .align 16 .b8 dynamic[];
.visible .global .align 4 .b8 text[6] = {104, 105, 0};
.global .u64 place[2] = { generic(text)+4, text };
.const .f32 pi = 0f40490FDB;
.reg .b32 %module<3>;
.local .align 8 .b8 apart[16];
.global .texref reference;
.tex .u64 old_reference;
.weak .func (.param .b32 r) twice(.reg .b32 x, .param .align 8 .b8 pair[2][4]) .noreturn
{
  .reg .b32 y;
  add.s32 y, x, x;
  st.param.b32 [r+0], y;
  ret;
}
.visible .entry k(.param .u64 .ptr .global .align 4 a, .param .u32 n) .maxntid 128, 1, 1 .minnctapersm 2
{
  .reg .pred %p<3>;
  .reg .v2 .u32 pair;
  .reg .b32 %r<9>, x;
  .local .align 8 .b8 __local_depot0[16];
  .loc 1 5 3
  .pragma "nounroll";
  ld.param.u64 %rd1, [a];
  /*load A*/ld.global.v4.u32 {%r1, %r2, _, %r4}, [%rd1+-16];
$L_1: @!%p1 bra.uni $L_2;
  {
    .reg .b32 t;
    mov.b32 t, -7;
    $L_1: setp.lt.and.s32 %p1|%p2, t, 0x1fU, !%p2;
  }
  tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [texture, {%r1, %r2}];
  t: .branchtargets $L_1, $L_2;
  brx.idx %r1, t;
  call.uni (r), twice, (%r1, pair), prototype;
  prototype: .callprototype (.param .b32 _) _ (.param .b64 _);
  mov.u64 %rd2, text+8;
  atom.global.add.u32 %r1, [4096], 1;
$L_2: ret;
}
.section .debug_abbrev { .b8 1 .b8 17 }
)");
}

TEST_CASE("a tree with something changed is another") {
  const std::string text = module_with("add.s32 %r1, %r2, 3;\nret;");
  const Module module = parsed(text);
  for (const char* other : {"add.s32 %r1, %r2, 4;\nret;", "add.s32 %r1, %r2, -3;\nret;", "@%p add.s32 %r1, %r2, 3;\nret;", "add.s32 %r1, %r2, 3;",
                            "/*x*/add.s32 %r1, %r2, 3;\nret;", "add.s32 %r1, %r2+1, 3;\nret;", "l:\nadd.s32 %r1, %r2, 3;\nret;"}) {
    const std::string changed = module_with(other);
    CHECK_FALSE(parsed(changed) == module);
  }
}

TEST_CASE("the alignment behind a pointer is not the parameter's") {
  const Module module = parsed(".entry k(.param .u32 n, .param .u64 .ptr .global .align 4 a, .param .align 4 .b8 b[8]) { ret; }");
  const auto& parameters = module.kernel("k")->parameters;
  CHECK(parameters[1].align == 8);
  CHECK(parameters[2].align == 4);
  CHECK(parameters[2].bytes() == 8);
}

TEST_CASE("a body that cannot be read is that function's fault alone") {
  const std::string text = ".func f() { add.s32 %r1, ^x; ret; }\n" + module_with("ret;");
  const Module module = parsed(text);
  const auto& f = std::get<Function>(module.items.front());
  REQUIRE(f.wrong.has_value());
  CHECK(f.wrong->message == "'add.s32' with an operand of a form that is not supported (PTX line 1)");
  CHECK(module.kernel("k")->body.size() == 1);
  CHECK(parse(".func f() { { ret; }").ok());
  CHECK_FALSE(parse(".entry k { ret; } .strange").ok());
}

TEST_CASE("bodies of other kernels are left out when one is asked for") {
  const std::string text = ".entry a() { ret; }\n.entry b() { ret; }\n";
  const auto module = parse(text, "b");
  REQUIRE(module.ok());
  CHECK(module->kernel("a") == nullptr);
  CHECK(module->kernel("b") != nullptr);
  CHECK(kernel_names(text) == std::vector<std::string>{"a", "b"});
}

TEST_CASE("the corpus of the fuzzer and the shipped kernels come back") {
  std::size_t seen = 0;
  for (const char* folder : {"/tests/fuzz/corpora/ptx", "/experiments"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(GEXP_SOURCE_DIR) + folder)) {
      const bool corpus = std::string_view(folder).ends_with("ptx");
      if (!entry.is_regular_file() || (!corpus && entry.path().extension() != ".ptx")) continue;
      std::stringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      const std::string source = text.str();
      if (!parse(source)) continue;
      INFO(entry.path().string());
      round_trip(source);
      ++seen;
    }
  }
  CHECK(seen > 0);
}
