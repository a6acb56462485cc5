// SPDX-License-Identifier: Apache-2.0
#include "ptx/take_registers.h"

#include <doctest/doctest.h>

#include "ptx/tree.h"
#include "runtime/sim/ptx_parse.h"

using gexp::ptx::take_registers;

namespace {

constexpr std::string_view kModule = R"(.version 7.8
.target sm_52
.address_size 64
.global .u32 gexp_held;
.visible .entry k(.param .u64 a)
{
  .reg .pred %p<2>;
  .reg .b32 %r<3>;
L: add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 9;
  @%p1 bra L;
  setp.eq.u32 %p1, %r1, 9;
  @%p1 ret;
  exit;
}
)";

std::uint32_t registers_of(const std::string& text) {
  const auto kernel = gexp::sim::parse_ptx(text, "k");
  if (!kernel) FAIL(kernel.error().message);
  CHECK(kernel->takes_all());
  return kernel->registers;
}

std::size_t times(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a thread takes as many registers as it is told to, whatever the kernel needs") {
  for (const std::uint32_t count : {1u, 2u, 16u, 33u, 255u}) {
    const auto made = take_registers(kModule, "k", count);
    REQUIRE(made);
    CHECK(registers_of(*made) == count);
  }
}

TEST_CASE("the values are there from the first instruction, before any label, to each of a kernel's ends") {
  const auto made = take_registers(kModule, "k", 3);
  REQUIRE(made);
  INFO(*made);
  CHECK(made->find(".maxnreg 3") != std::string::npos);
  CHECK(made->find("ld.volatile.global.u32 %gexp_held_2, [gexp_held_]") < made->find("L:"));  // a name that the text has not
  CHECK(times(*made, "ld.volatile.global.u32 %gexp_held__all") == 2);
  CHECK(times(*made, "mad.lo.u32") == 2 * (3 + 8));
  CHECK(made->rfind("membar.gl") < made->find("exit;"));
}

TEST_CASE("registers of a kernel that is not there, or that bounds them itself") {
  CHECK_FALSE(take_registers(kModule, "other", 8));
  const auto once = take_registers(kModule, "k", 8);
  REQUIRE(once);
  CHECK_FALSE(take_registers(*once, "k", 8));
  CHECK_FALSE(take_registers("}", "k", 8));
}
