// SPDX-License-Identifier: Apache-2.0
// printf of kernels.
#include "runtime/sim/observed.h"
#include "tests/sim/support.h"

using namespace sim_test;

namespace {

/// What a thread prints of `format`, whose values are the words of `values`, and how many the call says it shows.
struct Said {
  std::string text;
  std::uint32_t values = 0;
  Outcome outcome;
};
Said printed(const std::string& format, const std::vector<std::uint64_t>& values, std::uint32_t threads = 1) {
  Device device("gtx980");
  gexp::sim::observe(device.backend(), 0);
  const auto text = device.allocate(format.size() + 1), list = device.allocate(8 * values.size() + 8), out = device.allocate(4);
  device.write(text, std::vector<char>(format.c_str(), format.c_str() + format.size() + 1));
  if (!values.empty()) device.write(list, values);
  const auto kernel = device.load(module_of(".param .u64 text, .param .u64 list, .param .u64 out", R"(
    .reg .b64 %d<4>; .reg .b32 %r<3>;
    ld.param.u64 %d1, [text]; ld.param.u64 %d2, [list]; ld.param.u64 %d3, [out];
    { .param .b64 a; .param .b64 b; .param .b32 given;
      st.param.b64 [a], %d1; st.param.b64 [b], %d2;
      call.uni (given), vprintf, (a, b);
      ld.param.b32 %r1, [given]; }
    st.global.u32 [%d3], %r1;
    ret;)", ".extern .func (.param .b32 given) vprintf (.param .b64 a, .param .b64 b);"));
  Said said{{}, 0, device.launch(kernel, {{text, 8}, {list, 8}, {out, 8}}, {.block = threads})};
  said.text = gexp::sim::observed(device.backend()).back().printed;
  said.values = device.read<std::uint32_t>(out, 1)[0];
  return said;
}

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

}  // namespace

TEST_CASE("a kernel prints as printf does") {
  CHECK(printed("no value\n", {}).text == "no value\n");
  const auto two = printed("%d|%5u|%-4x|%c%%", {0x7ffffffffull & 0xfffffffdull, 0x41000000ffull});  // words of 4 B: -3, 0; 255, 65
  CHECK(two.text == "-3|    0|ff  |A%");
  CHECK(two.values == 4);
  CHECK(printed("%.2f %e %lld", {bits(2.345), bits(1e9), ~0ull}).text == "2.35 1.000000e+09 -1");
  CHECK(printed("%p %y", {0x1234}).text == "0x1234 %y");
  CHECK(printed("x", {}, 40).text == std::string(40, 'x'));
}

TEST_CASE("what a kernel prints has bounds, and what is nowhere is a fault") {
  const auto long_text = printed(std::string(5000, 'y'), {});
  CHECK(long_text.text.size() == 4096);
  CHECK(printed("%9999d", {1}).text.size() == 512);
  const auto nowhere = printed("%s", {16});
  CHECK_FALSE(nowhere.outcome.done());
  CHECK(nowhere.outcome.what.find("null pointer") != std::string::npos);
}
