// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/shared_memory.h"

#include <numeric>
#include <set>

#include "tests/sim/support.h"

using namespace sim_test;
using gexp::sim::SharedModel;
using gexp::sim::SharedTiming;

namespace {

SharedModel banks(std::uint32_t width) {
  SharedModel m;
  m.bank_bytes = width;
  m.modes = {4, 8};
  m.ways = {1, 2, 4};
  m.cycles = {10, 20, 60};
  return m;
}

std::uint32_t strided(const SharedModel& m, std::uint32_t mode, std::uint32_t stride_words) {
  std::array<std::uint32_t, 32> a{};
  for (std::uint32_t i = 0; i < 32; ++i) a[i] = i * stride_words * 4;
  return SharedTiming(m, mode).ways(a, ~0u, 4);
}

/// Cycles of one step of a 64-step chase by a whole warp, each lane on its own word, once the stores before it are through.
double chase(const std::string& model, std::uint32_t stride, std::uint32_t mode) {
  Device device(model);
  std::string loads;
  for (int i = 0; i < 64; ++i) loads += "ld.shared.u32 %r3, [%r3];\n";
  const auto timed = [&](const std::string& body) {
    return device.run(fmt::format(R"(
      .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<9>;
      ld.param.u64 %rd1, [out];
      mov.u32 %r1, %tid.x;
      mov.u32 %r2, memory;
      mad.lo.u32 %r3, %r1, {}, %r2;
      st.shared.u32 [%r3], %r3;
      bar.sync 0;
      ld.shared.u32 %r3, [%r3];
      add.u32 %r3, %r3, 0;
      mov.u64 %rd2, %clock64;
      {}
      add.u32 %r3, %r3, 0;
      mov.u64 %rd3, %clock64;
      sub.s64 %rd4, %rd3, %rd2;
      setp.ne.u32 %p1, %r1, 0;
      @%p1 bra END;
      st.global.u64 [%rd1], %rd4;
    END:
      ret;)", stride * 4, body), 1, LaunchShape{.block = 32, .shared_bytes = 32768, .bank_bytes = mode}, ".extern .shared .align 16 .b8 memory[];")[0];
  };
  return static_cast<double>(timed(loads) - timed("")) / 64;
}

}  // namespace

TEST_CASE("four-byte banks: the ways of a stride are its greatest common divisor with 32") {
  for (std::uint32_t stride = 1; stride <= 64; ++stride) CHECK(strided(banks(4), 4, stride) == std::gcd(stride, 32u));
  CHECK(strided(banks(4), 4, 0) == 1);  // one word for all
}

TEST_CASE("Kepler's eight-byte banks: strides 2, 4 and 6 in both modes (Mei14 Figure 7)") {
  CHECK(strided(banks(8), 4, 1) == 1);
  CHECK(strided(banks(8), 8, 1) == 1);
  CHECK(strided(banks(8), 4, 2) == 1);
  CHECK(strided(banks(8), 8, 2) == 1);
  CHECK(strided(banks(8), 4, 4) == 2);
  CHECK(strided(banks(8), 8, 4) == 2);
  CHECK(strided(banks(8), 4, 6) == 2);
  CHECK(strided(banks(8), 8, 6) == 1);
  CHECK(strided(banks(8), 4, 64) == 32);
}

TEST_CASE("wide accesses go in parts, parts without lanes cost nothing") {
  std::array<std::uint32_t, 32> a{};
  for (std::uint32_t i = 0; i < 32; ++i) a[i] = i * 8;
  CHECK(SharedTiming(banks(4), 4).ways(a, ~0u, 8) == 2);
  CHECK(SharedTiming(banks(4), 4).ways(a, 0xffffu, 8) == 1);
  CHECK(SharedTiming(banks(8), 8).ways(a, ~0u, 8) == 1);
  CHECK(SharedTiming(banks(8), 4).ways(a, ~0u, 8) == 1);
  for (std::uint32_t i = 0; i < 32; ++i) a[i] = i * 16;
  CHECK(SharedTiming(banks(4), 4).ways(a, ~0u, 16) == 4);
  CHECK(SharedTiming(banks(8), 8).ways(a, ~0u, 16) == 2);
}

TEST_CASE("costs between the table's points lie on straight lines") {
  const SharedModel m = banks(4);
  const SharedTiming t(m, 4);
  CHECK(t.cycles(1) == 10);
  CHECK(t.cycles(2) == 20);
  CHECK(t.cycles(3) == 40);
  CHECK(t.cycles(4) == 60);
  CHECK(t.cycles(8) == 140);
}

TEST_CASE("a warp's chase through shared memory shows Mei17 Table VIII") {
  const std::pair<const char*, std::vector<double>> devices[] = {{"gtx560ti", {50, 87, 162, 311, 611, 1209}}, {"gtx980", {28, 30, 34, 42, 58, 90}}};
  for (const auto& [model, cycles] : devices) {
    for (std::size_t k = 0; k < cycles.size(); ++k) CHECK(chase(model, 1u << k, 0) == cycles[k]);
    CHECK(chase(model, 3, 0) == cycles[0]);
  }
  const std::vector<double> kepler = {47, 82, 96, 158, 257, 484};
  for (std::size_t k = 0; k < kepler.size(); ++k) CHECK(chase("gtx780", 2u << k, 4) == kepler[k]);
  CHECK(chase("gtx780", 1, 0) == 47);
  CHECK(chase("gtx780", 6, 4) == 82);
  CHECK(chase("gtx780", 6, 8) == 47);
}
