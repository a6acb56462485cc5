// SPDX-License-Identifier: Apache-2.0
#include "ptx/bound_threads.h"

#include <doctest/doctest.h>

#include "runtime/sim/ptx_parse.h"

using gexp::ptx::bound_threads;

namespace {

std::string kernel_with(const std::string& bounds) {
  return ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n" + bounds + "{\n  .reg .b32 %r<3>;\n  add.u32 %r1, %r1, 1;\n  ret;\n}\n";
}

}  // namespace

TEST_CASE("a kernel is told of how many threads its blocks are, and still runs") {
  const auto made = bound_threads(kernel_with(""), "k", 1024);
  REQUIRE(made);
  CHECK(made->find(".maxntid 1024") != std::string::npos);
  CHECK(gexp::sim::parse_ptx(*made, "k"));
}

TEST_CASE("a kernel that bounds its threads or registers itself is left as it is") {
  for (const auto* own : {".maxntid 256\n", ".reqntid 256\n", ".maxnreg 40\n"}) {
    const auto text = kernel_with(own);
    const auto made = bound_threads(text, "k", 1024);
    REQUIRE(made);
    CHECK(*made == text);
  }
}

TEST_CASE("what is no such kernel is E0801") {
  const auto made = bound_threads(kernel_with(""), "other", 1024);
  REQUIRE(!made);
  CHECK(made.error().code == "E0801");
}
