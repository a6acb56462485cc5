// SPDX-License-Identifier: Apache-2.0
// What models say of single instructions and of atomic operations; prefetches, fences and lines that an SM is asked not to keep.
#include "tests/sim/model_support.h"

using namespace sim_test;

namespace {

gexp::Source with(const std::string& model, const std::string& table) { return edited(model, "[shared]\n", table + "\nassumed = \"a test\"\n\n[shared]\n"); }

/// Cycles of a warp of so many lanes around `timed`. %rd9 is the output array of 64 words, %r9 the lane, %r5 a word of shared memory.
std::uint64_t span(Device& device, const std::string& timed, std::uint32_t lanes = 1) {
  const auto values = device.run(fmt::format(R"(
    .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f64 %fd<4>; .reg .f32 %f<4>;
    .shared .align 4 .b8 cell[256];
    ld.param.u64 %rd9, [out];
    mov.u32 %r9, %tid.x;
    mul.wide.u32 %rd8, %r9, 8;
    add.s64 %rd8, %rd8, %rd9;
    mov.u32 %r5, cell;
    mov.f64 %fd1, 0d3ff0000000000000;
    mov.f32 %f1, 0f3f800000;
    mov.u32 %r1, 1;
    mov.u64 %rd1, %clock64;
    {}
    mov.u64 %rd2, %clock64;
    sub.s64 %rd3, %rd2, %rd1;
    bar.sync 0;
    st.global.u64 [%rd9], %rd3;
    ret;)", timed), 64, LaunchShape{.block = lanes});
  return values[0];
}

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text + "\n";
  return all;
}

}  // namespace

TEST_CASE("an instruction that the model names takes what it says, the row of most words first") {
  const std::string rows = "[operations]\n\"fma.f64\" = { latency = 40 }\n\"mul.u32\" = { latency = 30 }\n\"mul.hi.u32\" = { latency = 70, interval = 16 }";
  Device device(with("gtx780", rows));
  const auto chain = [&](const std::string& text) { return span(device, times(9, text)) - span(device, times(8, text)); };
  CHECK(chain("fma.rn.f64 %fd1, %fd1, %fd1, %fd1;") == 40);
  CHECK(chain("mul.lo.u32 %r1, %r1, %r9;") == 30);
  CHECK(chain("mul.hi.u32 %r1, %r1, %r9;") == 70);
  CHECK(chain("add.rn.f64 %fd1, %fd1, %fd1;") == 9);  // the class of the pipeline
  // Instructions that do not wait for each other come at the interval of their unit, two rows not at the same.
  const std::string independent = "mul.hi.u32 %r2, %r9, %r9; mul.hi.u32 %r3, %r9, %r9; mul.hi.u32 %r4, %r9, %r9;";
  CHECK(span(device, independent + "mul.hi.u32 %r6, %r9, %r9;") - span(device, independent) == 16);
  CHECK(span(device, independent + "mul.lo.u32 %r6, %r9, %r9;") - span(device, independent) == 1);
}

TEST_CASE("an operation of several machine instructions takes what its units take, and keeps other operations from them") {
  const std::string units = "[units]\nfast = { latency = 10, interval = 4 }\nslow = { latency = 20, interval = 16 }\nslow_half = { part_of = \"slow\", latency = 14, interval = 8 }\n"
                            "assumed = \"a test\"\n\n[operations]\n\"mul.hi.u32\" = { runs = \"fast slow fast\" }\n\"mul.lo.u32\" = { runs = \"fast|slow_half\" }\n"
                            "\"sad.u32\" = { runs = \"fast/slow_half\" }\n\"rem.u32\" = { runs = \"slow alu\" }";
  Device device(with("gtx780", units));
  const auto more = [&](int count, const std::string& text, const std::string& before = "") { return span(device, before + times(8 + count, text)) - span(device, before + times(8, text)); };
  CHECK(more(1, "mul.hi.u32 %r1, %r1, %r9;") == 40);
  CHECK(more(1, "rem.u32 %r1, %r1, %r1;") == 20 + 9);  // the class alu as [pipeline] has it
  CHECK(more(2, "mul.lo.u32 %r1, %r1, %r9;") == 20);   // the first of two that are free
  CHECK(more(2, "sad.u32 %r1, %r1, %r9, %r9;") == 24);  // each in turn
  // Independent ones: three in eight cycles by both units together; a remainder keeps the slow one for sixteen.
  CHECK(more(6, "mul.lo.u32 %r2, %r9, %r9; mul.lo.u32 %r3, %r9, %r9;") == 32);
  CHECK(more(1, "rem.u32 %r2, %r9, %r9; mul.hi.u32 %r3, %r9, %r9;") >= 32);
}

TEST_CASE("units that pick ahead idle where a warp is ready only just in time") {
  // One instruction in four cycles, each ready after 24: six warps would do.
  const auto model = edited("gtx780", "alu = 9\n", "alu = 24\nahead = 8\n");
  const auto slow = gexp::Source("slow.toml", [&] {
    std::string text(model.text());
    text.replace(text.find("alu = \"32/192\""), 14, "alu = 4");
    return text;
  }());
  const auto cycles = [&](std::uint32_t warps) {
    Device device(slow);
    return span(device, times(96, "add.u32 %r1, %r1, %r9;"), 32 * warps) - span(device, times(32, "add.u32 %r1, %r1, %r9;"), 32 * warps);
  };
  CHECK(cycles(1) == 64 * 24);
  CHECK(cycles(5) == 64 * 24);
  CHECK(cycles(6) == 64 * 32);
  CHECK(cycles(7) == 64 * 32);
  CHECK(cycles(8) == 64 * 32);
}

TEST_CASE("[units] and `runs`: what they refuse") {
  const auto refused = [](const std::string& units, const std::string& row) { return first_error(with("gtx780", "[units]\n" + units + "\nassumed = \"a test\"\n\n[operations]\n" + row)); };
  const std::string good = "sfu = { latency = 8, interval = 2 }";
  CHECK(refused("sfu = { latency = 8 }", "\"rcp\" = { runs = \"sfu\" }").starts_with("E0603"));
  CHECK(refused("sfu = { latency = 8, interval = 2, part_of = \"spu\" }", "\"rcp\" = { runs = \"sfu\" }").starts_with("E0602"));
  CHECK(refused(good, "\"rcp\" = { runs = \"sfu spu\" }").starts_with("E0602"));
  CHECK(refused(good, "\"rcp\" = { runs = \"\" }").starts_with("E0605"));
  CHECK(refused(good, "\"rcp\" = { runs = \"|\" }").starts_with("E0605"));
  CHECK(refused(good, "\"rcp\" = { runs = \"sfu\", latency = 4 }").starts_with("E0602"));
  CHECK(refused(good, "\"rcp\" = { runs = \"" + times(65, "sfu") + "\" }") != "");
}

TEST_CASE("[operations]: what it refuses") {
  const auto refused = [](const std::string& row) { return first_error(with("gtx780", "[operations]\n" + row)); };
  CHECK(refused("\"fma.f64\" = { latency = 0 }") == "E0605 0");
  CHECK(refused("\"fmaa.f64\" = { latency = 4 }").starts_with("E0602"));
  CHECK(refused("\"fma.f64\" = { latancy = 4 }") == "E0602 latancy");
  CHECK(refused("\"fma.f64\" = 4").starts_with("E0604"));
  CHECK(refused("\"fma.f64\" = { latency = 4, interval = 0 }") == "E0605 0");
  CHECK(first_error(edited("gtx780", "[shared]\n", "[operations]\n\"fma.f64\" = { latency = 4 }\n\n[shared]\n")).starts_with("E0607"));
  CHECK(read(*gexp::sim::read_model("gtx280")).operations.size() > 10);
}

TEST_CASE("lanes that update one address cost more where the model says so") {
  Device plain("gtx780"), serial(with("gtx780", "[atomics]\nshared = 10\nglobal = 20"));
  const std::string shared_same = "atom.shared.add.u32 %r2, [%r5], 1; add.u32 %r2, %r2, %r2;";
  const std::string shared_own = "mad.lo.u32 %r6, %r9, 4, %r5; atom.shared.add.u32 %r2, [%r6], 1; add.u32 %r2, %r2, %r2;";
  CHECK(span(serial, shared_same, 32) - span(plain, shared_same, 32) == 310);
  CHECK(span(serial, shared_own, 32) == span(plain, shared_own, 32));
  const std::string global_same = "atom.global.add.u32 %r2, [%rd9], 1; add.u32 %r2, %r2, %r2;";
  const std::string global_own = "atom.global.add.u32 %r2, [%rd8], 1; add.u32 %r2, %r2, %r2;";
  CHECK(span(serial, global_same, 32) - span(plain, global_same, 32) == 620);
  CHECK(span(serial, global_own, 32) == span(plain, global_own, 32));
}

TEST_CASE("a fence waits for the stores before it, as far as its scope reaches") {
  Device device("gtx780");
  const std::string store = "st.global.u64 [%rd8], %rd1;";
  const std::uint64_t none = span(device, store);
  CHECK(span(device, store + "membar.cta;") == none + 1);
  CHECK(span(device, store + "fence.acq_rel.cta;") == none + 1);
  for (const char* fence : {"membar.gl;", "membar.sys;", "fence.sc.gpu;", "fence.acq_rel.sys;"}) {
    CHECK(span(device, store + fence) >= 198);  // there and back: what an L2 hit takes
    CHECK(span(device, store + fence) < 230);
    CHECK(span(device, fence) < 20);  // nothing is under way
  }
}

TEST_CASE("a prefetch brings a line and gives nothing; of no allocation it brings none") {
  for (const char* model : {"gtx780", "gtx980"}) {
    Device device(model);
    const std::string load = "ld.global.cg.u64 %rd6, [%rd9+256]; xor.b64 %rd6, %rd6, %rd5;";
    const std::uint64_t cold = span(device, "mov.u64 %rd5, 1; " + load);
    const std::uint64_t waited = span(device, "mov.u64 %rd5, 1; prefetch.global.L2 [%rd9+256]; " + times(800, "add.u64 %rd5, %rd5, 1;") + load) -
                                 span(device, "mov.u64 %rd5, 1; " + times(800, "add.u64 %rd5, %rd5, 1;"));
    CHECK(waited < cold);
    CHECK(span(device, "mov.u64 %rd5, 64; prefetch.global.L2 [%rd5]; prefetch.global.L1 [%rd5];") < 60);
  }
}

TEST_CASE("what an SM is asked not to keep is not there the second time") {
  Device device("gtx980");  // whose loads go through its L1
  const auto second = [&](const char* modifier) {
    const std::string load = fmt::format("ld.global{}.u64 %rd6, [%rd9]; xor.b64 %rd6, %rd6, %rd5;", modifier);
    const auto settled = [&](const std::string& text) {  // what lies behind the SM has seen the line
      span(device, "mov.u64 %rd5, 1; " + text);
      return span(device, "mov.u64 %rd5, 1; " + text);
    };
    return settled(load + load) - settled(load);
  };
  const std::uint64_t kept = second(".ca"), not_kept = second(".L1::no_allocate");
  CHECK(not_kept > kept + 50);
  CHECK(second(".L1::evict_last") == second(""));
}

TEST_CASE("discard and policies of the L2 are read") {
  Device device("h200");
  CHECK(span(device, "discard.global.L2 [%rd9], 128; createpolicy.fractional.L2::evict_first.b64 %rd7; ld.global.L2::cache_hint.u64 %rd6, [%rd8], %rd7;") > 0);
  CHECK(span(device, "ld.global.L1::evict_first.L2::128B.u64 %rd6, [%rd8]; st.global.L1::no_allocate.u64 [%rd8], %rd1;") > 0);
}
