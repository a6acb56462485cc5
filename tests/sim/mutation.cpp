// SPDX-License-Identifier: Apache-2.0
// Texts with random damage: whatever comes out, nothing may crash, and what is accepted must run to an end.
#include "runtime/sim/model_reader.h"
#include "runtime/sim/random.h"
#include "tests/sim/support.h"

using namespace sim_test;
using gexp::sim::Random;

namespace {

std::string damaged(std::string text, Random& random) {
  const std::uint32_t edits = random.below(4) == 0 ? 3 : 1;
  for (std::uint32_t i = 0; i < edits && !text.empty(); ++i) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<std::uint32_t>(text.size())));
    const std::size_t length = std::min<std::size_t>(1 + random.below(8), text.size() - at);
    constexpr std::string_view kBits = "{}[]();,.@!%|+-:<>\"09rdp \n_=xf";
    switch (random.below(4)) {
      case 0: text.erase(at, length); break;
      case 1: text[at] = kBits[random.below(static_cast<std::uint32_t>(kBits.size()))]; break;
      case 2: text.insert(at, text.substr(random.below(static_cast<std::uint32_t>(text.size())), length)); break;
      default: text.insert(at, std::to_string(random.next() >> random.below(60)));
    }
  }
  return text;
}

const char* const kKernel = R"(
    .reg .pred %p<4>; .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .b64 %rd<12>;
    .shared .align 8 .b8 cells[64];
    .local .align 4 .b8 depot[16];
    ld.param.u64 %rd9, [out];
    mov.u32 %r1, %laneid;
    mov.u32 %r2, 0;
    mov.u32 %r5, cells;
  L:
    setp.ge.u32 %p1, %r2, 20;
    @%p1 bra OUT;
    { .reg .u32 t; add.u32 t, %r2, 3; shl.b32 %r3, t, 2; }
    and.b32 %r3, %r3, 60;
    add.u32 %r4, %r5, %r3;
    st.shared.u32 [%r4], %r2;
    ld.shared.v2.u32 {%r6, %r7}, [%r5+8];
    mov.b64 %rd2, {%r6, %r7};
    cvt.rn.f32.u32 %f1, %r7;
    fma.rn.f32 %f1, %f1, %f1, 0f3F800000;
    st.global.f32 [%rd9+8], %f1;
    bfe.u32 %r9, %r2, %r1, 5;
    atom.global.add.u32 %r8, [%rd9], %r9;
    div.s32 %r10, %r8, %r2;
    add.u32 %r2, %r2, 1;
    bra L;
  OUT:
    mov.u64 %rd3, %clock64;
    st.global.u64 [%rd9+16], %rd3;
    ret;)";

}  // namespace

TEST_CASE("damaged PTX never crashes the simulator") {
  Random random(20);
  const std::string good = module_of(".param .u64 out", kKernel, ".global .align 4 .u32 counter[2] = {1, 2};");
  int accepted = 0, done = 0;
  Device device("gtx780");
  const std::uint64_t out = device.allocate(64);
  for (int i = 0; i < 3000; ++i) {
    const auto kernel = device.backend().load({gexp::device::Target::Form::Ptx, damaged(good, random), "k"});
    if (!kernel) continue;
    ++accepted;
    done += device.launch(*kernel, {{out, 8}}, LaunchShape{.block = 1 + random.below(32)}, 0).done();
  }
  CHECK(accepted > 100);
  CHECK(done > 50);
}

TEST_CASE("damaged models never crash the reader, and what it accepts opens") {
  Random random(21);
  const std::string good = gexp::sim::read_model("gtx780")->text();
  int accepted = 0;
  for (int i = 0; i < 1500; ++i) {
    const gexp::Source source("damaged.toml", damaged(good, random));
    gexp::Diagnostics diagnostics;
    const bool valid = gexp::sim::check_model(source, diagnostics);
    CHECK(valid == !diagnostics.has_errors());
    for (const auto& d : diagnostics.sorted()) {
      CHECK(d.span.begin <= d.span.end);
      CHECK(d.span.end <= source.text().size() + 1);
      CHECK(!gexp::render(d, &source).empty());
    }
    if (!valid) continue;
    ++accepted;
    Device device(source);
    Walker walker(device, 4096, "ld.global.nc.u64");
    walker.latencies(ring(4096, 64), 64, 64, 0);
  }
  CHECK(accepted > 50);
}
