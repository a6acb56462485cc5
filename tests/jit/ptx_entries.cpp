// SPDX-License-Identifier: Apache-2.0
#include "runtime/jit/ptx_entries.h"

#include <doctest/doctest.h>

using namespace gexp;

TEST_CASE("the kernels of a PTX text and what they take, as each NVRTC writes it") {
  const auto entries = jit::ptx_entries(
      "// .entry none(.param .u32 a)\n"
      ".version 8.0\n.target sm_75\n.address_size 64\n"
      ".func (.param .b32 r) inner(.param .b32 a) { ret; }\n"
      ".file 1 \"x.entry y(\"\n"
      ".visible .entry plain()\n{ ret; }\n"
      ".visible .entry _Z4copyPfij(\n"
      "  .param .u64 _Z4copyPfij_param_0,\n  .param .u64 .ptr .align 1 _Z4copyPfij_param_1, /* , */\n  .param .u32 c,\n  .param .f32 d, "
      ".param .f64 e, .param .u8 f, .param .s16 g\n"
      ")\n.maxntid 32, 1, 1\n{ ret; }\n"
      ".weak .entry whole(.param .align 8 .b8 s[16], .param .b64 t)\n{ ret; }\n"
      ".entry plain() { }\n");
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].name == "plain");
  CHECK(entries[0].parameters.empty());
  CHECK(jit::short_name(entries[1].name) == "copy");
  CHECK(jit::readable_name(entries[1].name) == "copy(float*, int, unsigned int)");
  std::vector<std::uint32_t> bytes;
  std::string floats;
  for (const auto& parameter : entries[1].parameters) bytes.push_back(parameter.bytes), floats += parameter.is_float ? 'f' : '-';
  CHECK(bytes == std::vector<std::uint32_t>{8, 8, 4, 4, 8, 1, 2});
  CHECK(floats == "---ff--");
  REQUIRE(entries[2].parameters.size() == 2);
  CHECK(entries[2].parameters[0].is_array);
  CHECK_FALSE(entries[2].parameters[1].is_array);
}

TEST_CASE("a text that is no PTX, or is cut short, has the kernels that it has") {
  for (const char* text : {"", ".entry", ".entry a", ".entry a(", ".entry a(.param", ".entry a(.param .u32 b,", "\"", "/*", "//", ".",
                           ".entry a(,,,)", ".entry a(.param .u32[["}) {
    CAPTURE(text);
    CHECK(jit::ptx_entries(text).size() <= 1);
  }
  CHECK(jit::short_name("not mangled") == "mangled");
  CHECK(jit::readable_name("plain") == "plain");
}
