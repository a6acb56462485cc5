// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "compiler/plan/plan.h"
#include "tests/compiler/compile.h"

using namespace gexp;
using namespace gexp::compiler;

namespace {

struct Planned {
  test::Compiled compiled;
  std::optional<PointPlan> plan;
  std::string code;  ///< of the diagnostic where it cannot be planned

  Planned(const std::string& stage, const Coordinates& at = {}, const std::string& file = "memory A: u32[64KiB] in global\nmemory S: u32[1KiB] in shared\n")
      : compiled(test::compile("gexp 1\nexperiment t\n" + file + "stage s {\n" + stage + "\nfind f: list = clusters(t)\n}\n")) {
    if (!compiled.program) {
      code = compiled.codes();
      return;
    }
    auto scope = file_scope(*compiled.program);
    REQUIRE(scope.ok());
    bool skipped = false;
    auto made = plan_point(*compiled.program, compiled.program->stages[0], at, *scope, skipped);
    if (made) plan = std::move(*made);
    else code = made.error().code;
  }
};

}  // namespace

TEST_CASE("points that differ in values only share a kernel") {
  const std::string stage = "sweep n in [1, 2, 4]\nlaunch grid n block 64\ntimed t total { loop p in 0..n { load A at gtid * 4B + p * n * 4B } alu fma.f32 chain 64 * n ilp 2 }";
  const Planned one(stage, {{"n", Value(1.0)}}), four(stage, {{"n", Value(4.0)}});
  REQUIRE(one.plan);
  REQUIRE(four.plan);
  CHECK(one.plan->shape.file() == "body.cu");
  CHECK((one.plan->shape == four.plan->shape) == false);  // 64 instructions in one piece, then 256 in a block
  const std::string loads = "sweep n in [1, 2, 4]\nlaunch grid n block 64\ntimed t total { loop p in 0..n { load A at gtid * 4B + p * n * 4B } }";
  CHECK(Planned(loads, {{"n", Value(1.0)}}).plan->shape == Planned(loads, {{"n", Value(4.0)}}).plan->shape);
}

TEST_CASE("bytes are counted, over threads, rounds and branches") {
  CHECK(Planned("launch grid 2 block 64\ntimed t wall { loop p in 1..10 { unroll j in 0..3 { load A at tid * 4B } store A at tid * 16B as 16B } }").plan->moved ==
        2 * 64 * 10 * (4 * 4 + 16));
  CHECK(Planned("launch grid 1 block 64\ntimed t total { branch lane < 8 { load A at tid * 4B } }").plan->moved == 16 * 4);
  CHECK(Planned("pattern p = uniform(stride: 32B, span: 1KiB)\nlaunch grid 1 block 1\ntimed t each { chase A by p laps 2 }").plan->moved == 64 * 4);
}

TEST_CASE("a block's shared memory is the arrays' alone where the rehearsal may use them") {
  const auto bytes = [](const std::string& timed) {
    const Planned planned("pattern p = uniform(stride: 32B, span: 1KiB)\nlaunch grid 1 block 32\n" + timed);
    REQUIRE(planned.plan);
    return planned.plan->body.shared_bytes;
  };
  CHECK(bytes("timed t total { load S at tid * 4B store S at tid * 32B }") == 1024);
  CHECK(bytes("timed t each { load S at tid * 4B }") == 1040);                               // it calibrates itself
  CHECK(bytes("timed t total { load S at tid * 4B into v var x: u32 = v }") == 1040);          // what it loads has a name
  CHECK(bytes("timed t total { load S at tid * 4B atomic add.u32 S at tid * 4B red }") == 1040);
  CHECK(bytes("timed t total { chase S by p laps 1 load S at tid * 4B }") == 1040);
}

TEST_CASE("what may leave its memory is refused before anything runs") {
  CHECK(Planned("launch grid 1 block 1024\ntimed t total { load A at tid * 64B }").plan.has_value());
  CHECK(Planned("launch grid 1 block 1024\ntimed t total { load A at tid * 64B + 4B }").plan.has_value());
  CHECK(Planned("launch grid 1 block 1024\ntimed t total { load A at tid * 64B + 64B }").code == "E0420");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { load A at 0B - tid * 4B }").code == "E0420");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { loop p in 0..1024 { load A at p * 64B } }").code == "E0420");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { load A at tid * 2B }").code == "E0421");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { load A at tid * 8B as 16B }").code == "E0421");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { store S at tid * 64B }").code == "E0420");
  // The interval of tid * tid is exact at its ends; the congruence is found by looking at every thread.
  CHECK(Planned("launch grid 1 block 32\ntimed t total { load A at (tid * tid) * 4B }").plan.has_value());
}

TEST_CASE("a barrier that threads of a warp may come to apart is not the aligned one") {
  const auto sync = [](const std::string& timed) {
    const Planned planned("launch grid 2 block 64\ntimed t total { " + timed + " }\nexpect hang");
    REQUIRE(planned.plan);
    const auto& text = planned.plan->shape.holes.at("timed");
    return text.find("/*barrier*/ bar.sync 0;") != std::string::npos ? "bar" : text.find("/*barrier*/ barrier.sync 0;") != std::string::npos ? "barrier" : "none";
  };
  CHECK(sync("barrier") == std::string("bar"));
  CHECK(sync("branch cta == 0 { barrier }") == std::string("bar"));
  CHECK(sync("branch lane < 16 { barrier }") == std::string("barrier"));
  CHECK(sync("var x: u32 = 0 branch x == 0 { barrier }") == std::string("barrier"));
}

TEST_CASE("what an operation cannot do") {
  CHECK(Planned("launch grid 1 block 32\ntimed t total { load S at tid * 4B via ca }").code == "E0429");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { store A at tid * 4B via nc }").code == "E0429");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { load A at tid * 4B as 3B }").code == "E0417");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { load A at (tid / 2) * 4B }").code == "E0428");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { alu fmaa.f32 chain 64 ilp 1 }").code == "E0430");
  CHECK(Planned("launch grid 1 block 32\ntimed t total { unroll j in 1..5000 { barrier } }").code == "E0432");
  CHECK(Planned("launch grid 3 block 32 cluster 2\ntimed t total { barrier }").code == "E0418");
  CHECK(Planned("timed t total { store C at 0B }", {}, "memory C: u32[1KiB] in constant\n").code == "E0429");
}

TEST_CASE("unique counts what threads share") {
  const auto counted = [](const std::string& slot, int block) {
    const Planned planned("let slot = " + slot + "\nlet n = unique(slot)\nlaunch grid 1 block " + std::to_string(block) + "\ntimed t total { load A at slot * 4B }");
    REQUIRE_MESSAGE(planned.plan, planned.code);
    return planned.plan->lets.at("n").get<Number>()->number;
  };
  CHECK(counted("merger(1, of: threads)", 64) == 64);
  CHECK(counted("merger(4, of: threads)", 66) == 17);
  CHECK(counted("merger(2, of: warps)", 128) == 64);
  CHECK(counted("tid mod 5", 64) == 5);
}

TEST_CASE("atomic operations, hints, prefetches and copies as PTX") {
  const auto timed = [](const std::string& operation) {
    const Planned planned("launch grid 1 block 32\ntimed t total { " + operation + " }");
    REQUIRE_MESSAGE(planned.plan, planned.code);
    return planned.plan->shape.holes.at("timed");
  };
  const auto has = [&](const std::string& operation, const std::string& ptx) { return timed(operation).find(ptx) != std::string::npos; };
  CHECK(has("atomic add.u32 A at 0B", "atom.global.add.u32 %0, [%1], %2;"));
  CHECK(has("atomic add.u32 A at 0B red scope cta", "red.cta.global.add.u32 [%0], %1;"));
  CHECK(has("atomic cas.b64 A at lane * 8B", "atom.global.cas.b64 %0, [%1], %2, %2;"));
  CHECK(has("atomic add.f32 S at 0B", "atom.shared.add.f32 f, [%1], g;"));
  CHECK(has("load A at tid * 4B hint evict_last fetch 128B", "ld.global.L1::evict_last.L2::128B.u32"));
  CHECK(has("load A at tid * 4B via nc hint no_allocate", "ld.global.nc.L1::no_allocate.u32"));
  CHECK(has("load A at tid * 4B hint l2_evict_first", "ld.global.L2::cache_hint.u32 %0, [%1], gexp_l2_evict_first;"));
  CHECK(has("store A at tid * 16B as 16B via cs hint l2_evict_last", "st.global.cs.L2::cache_hint.v2.u64 [%0], {%1, %2}, gexp_l2_evict_last;"));
  CHECK(has("load A at tid * 4B via ldu", "ldu.global.u32"));
  CHECK(has("load A at tid * 4B via volatile", "ld.volatile.global.u32"));
  CHECK(has("load A at tid * 4B to l2 hint l2_evict_last", "prefetch.global.L2::evict_last [%0];"));
  CHECK(has("load A at tid * 16B into S at tid * 16B as 16B via cg", "cp.async.cg.shared.global [%0], [%1], 16;"));
  CHECK(has("fence sys", "membar.sys;"));
}

TEST_CASE("what caches and copies cannot do is refused") {
  const auto code = [](const std::string& operation) { return Planned("launch grid 1 block 32\ntimed t total { " + operation + " }").code; };
  for (const char* operation : {"load S at tid * 4B hint evict_first", "load A at tid * 4B via ca hint evict_first", "store A at tid * 4B fetch 64B",
                                "load A at tid * 4B via ldu hint l2_evict_first", "load A at tid * 4B via wb", "store A at tid * 4B via lu",
                                "load A at tid * 4B to l1 hint evict_last", "load A at tid * 4B to l2 as 4B", "load S at tid * 4B to l2",
                                "load A at tid * 4B into A at tid * 4B", "load S at tid * 4B into S at tid * 4B", "load A at tid * 4B into S at 0B via cv"}) {
    CHECK_MESSAGE(code(operation) == "E0429", operation);
  }
  CHECK(code("load A at tid * 4B into S at tid * 4B via cg") == "E0417");
  CHECK(code("load A at tid * 4B fetch 32B") == "E0417");
  CHECK(code("atomic add.u32 A at tid * 2B") == "E0421");
  CHECK(code("atomic add.u64 A at tid * 4B") == "E0421");
  CHECK(code("discard A at tid * 4B") == "E0421");
  CHECK(code("atomic exch.b32 A at 0B red") == "E0431");
  CHECK(code("atomic and.u32 A at 0B") == "E0431");
  CHECK(code("atomic add.u32 A at tid * 4KiB") == "E0420");
}

TEST_CASE("a rest of a power of two is a mask, another one a division") {
  const std::string loop = "launch grid 1 block 32\nsweep m in [1024, 1000]\ntimed t total { loop j in 0..63 { load A at ((tid + j * 7) mod m) * 4B } }";
  const Planned power(loop, {{"m", Value(1024.0)}}), other(loop, {{"m", Value(1000.0)}});
  REQUIRE(power.plan);
  REQUIRE(other.plan);
  const auto& masked = power.plan->shape.holes.at("timed");
  CHECK(masked.find("gexp_mod") == std::string::npos);
  CHECK(masked.find(" & a") != std::string::npos);
  CHECK(other.plan->shape.holes.at("timed").find("gexp_mod") != std::string::npos);
  const Planned shifted("launch grid 1 block 32\ntimed t total { loop j in 0..63 { load A at ((tid * j) div 8 xor 3) * 4B } }");
  CHECK(shifted.plan->shape.holes.at("timed").find(" >> 3ll") != std::string::npos);
}

TEST_CASE("chases that are interleaved load before any of them waits") {
  const std::string rings = "pattern p = uniform(stride: 32B, span: 1KiB)\npattern q = [x * 32B + 4B for x in 0..31]\nlaunch grid 1 block 1\n";
  const Planned two(rings + "timed t total { interleave { chase A by p laps 1 chase A by q laps 1 } }");
  REQUIRE_MESSAGE(two.plan, two.code);
  const auto& text = two.plan->shape.holes.at("timed");
  CHECK(text.rfind("ld.global") < text.find("mad.wide"));
  CHECK(two.plan->moved == 64 * 4);
  CHECK(Planned(rings + "timed t total { interleave { chase A by p laps 1 chase A by q laps 2 } }").code == "E0418");
  CHECK(Planned(rings + "timed t total { interleave { chase A by p laps 1 } }").code == "E0232");
  CHECK(Planned(rings + "timed t total { interleave { chase A by p laps 1 load A at 0B } }").code == "E0232");
}

TEST_CASE("an access that a variable decides stays inside its memory whatever the variable is") {
  const auto timed = [](const std::string& ops) { return Planned("launch grid 1 block 32\ntimed t total { " + ops + " }").code; };
  CHECK(timed("load A at 0B into x load A at x mod 16384 * 4B") == "");
  CHECK(timed("load A at 0B into x load A at (x and 16383) * 4B") == "");
  CHECK(timed("load A at 0B into x load A at x * 4B") == "E0420");
  CHECK(timed("load A at 0B into x load A at x mod 16385 * 4B") == "E0420");
  CHECK(timed("load A at 0B as 1B into x load A at x * 4B") == "");
  CHECK(timed("load A at 0B as 8B into x load A at x mod 16384 * 4B") == "");
  CHECK(timed("load A at 0B as 8B into x load A at (x + 1) mod 16384 * 4B") == "E0428");
  CHECK(timed("var x: s16 = 0 load A at (x + 32768) div 4 * 4B") == "");
  CHECK(timed("var x: s16 = 0 load A at x * 1B as 1B") == "E0420");
  CHECK(timed("var x: u8 = 0 loop while x < 255 laps 300 { assign x = x + 1 load A at x * 4B }") == "");
  CHECK(timed("load A at 0B as 16B into x") == "E0417");
  CHECK(timed("var x: u32 = 0 branch x == 0 { barrier }") == "E0436");
  CHECK(timed("var x: u32 = 0 loop i in 0..x { load A at 0B }") == "E0301");
  CHECK(timed("loop while 1 > 0 laps 0 { load A at 0B }") == "E0418");
  CHECK(timed("branch lane < 4 { load A at 0B into x } load A at x mod 4 * 4B") == "E0202");
  CHECK(timed("load A at 0B into x load A at 4B into x") == "E0201");
  CHECK(timed("load A at 0B into x assign x = 1") == "E0207");
  CHECK(timed("branch lane < 4 { var x: u8 = 1 load A at x * 4B } else { var x: u16 = 1 load A at x mod 4 * 4B }") == "");
  CHECK(Planned("timed t total { load F at 0B into x }", {}, "memory F: f16[1KiB] in global\n").code == "");
  CHECK(Planned("timed t total { var x: u32 = 0 load F at 0B into x }", {}, "memory F: bf16[1KiB] in global\n").code == "E0428");
  CHECK(Planned("timed t total { load F at 0B as 4B into x }", {}, "memory F: f16[1KiB] in global\n").code == "E0428");
  CHECK(Planned("timed t total { load F at 0B as 8B into x }", {}, "memory F: f32[1KiB] in global\n").code == "E0428");
  CHECK(Planned("timed t total { var x: u32 = 0 load F at 0B into x }", {}, "memory F: f32[1KiB] in global\n").code == "E0428");
  CHECK(Planned("timed t total { var x: f64 = 0 load F at 0B into x store F at 4B value x / 3 }", {}, "memory F: f32[1KiB] in global\n").code == "");
  CHECK(timed("var x: f32 = lane / 3 load A at floor(max(x, 2)) mod 16384 * 4B") == "");
  CHECK(timed("var x: f32 = 0.5 load A at floor(x) mod 16385 * 4B") == "E0420");
  CHECK(timed("var x: f32 = 0.5 load A at floor(x) * 4B") == "E0428");
  CHECK(timed("var x: f32 = 0.5 load A at x * 4B") == "E0428");
  CHECK(timed("var x: f32 = 0.5 assign x = x mod 2") == "E0428");
  CHECK(timed("var x: f32 = 0.5 var y: u32 = x") == "E0428");
  CHECK(timed("var x: f32 = 0.5 store A at 0B value x") == "E0428");
  CHECK(timed("var x: u32 = 1 store A at 0B value x shl 70") == "E0428");
  CHECK(Planned("timed t each { load T at 12B }", {}, "memory T: u32[4KiB] in texture pitch 1KiB\n").code == "");
  CHECK(Planned("timed t each { load T at 12B }", {}, "memory T: u32[4KiB] in texture pitch 1000B\n").code == "E0241");
  CHECK(Planned("timed t each { load T at 12B }", {}, "memory T: u32[4KiB] in texture pitch 8KiB\n").code == "E0241");
  CHECK(Planned("timed t each { load T at 12B }", {}, "memory T: u32[4MiB] in texture pitch 32B\n").code == "E0241");
  CHECK(timed("var x: f32 = 0.5 branch x in 0.25..0.75 or not (x < lane) { load A at 0B }") == "");
}

TEST_CASE("what is moved is not known where what is loaded decides") {
  CHECK(moved_bytes(*Planned("timed t total { load A at 0B into x branch x > 3 { load A at 4B } }").plan) == -1);
  CHECK(moved_bytes(*Planned("timed t total { var x: u8 = 0 loop while x < 3 laps 9 { load A at 4B assign x = x + 1 } }").plan) == -1);
  CHECK(moved_bytes(*Planned("launch grid 1 block 64\ntimed t total { branch lane < 8 { load A at 0B } else { load A at 0B as 8B } }").plan) == 2 * (8 * 4 + 24 * 8));
}

TEST_CASE("memories that hold given numbers") {
  const auto timed = [](const std::string& memory, const std::string& ops) {
    return Planned("launch grid 1 block 4\ntimed t total { " + ops + " }", {}, "memory A: u32[16] in global\nmemory I: " + memory + "\npattern p = [0B, 4B, 8B, 60B]\n").code;
  };
  CHECK(timed("u32[4] in global holds [3, 15, 0, 1]", "load I at tid * 4B into i load A at i * 4B") == "");
  CHECK(timed("u32[4] in global holds [3, 16, 0, 1]", "load I at tid * 4B into i load A at i * 4B") == "E0420");
  CHECK(timed("s32[4] in global holds [-1, 2]", "load I at tid * 4B into i load A at (i + 1) * 4B") == "");
  CHECK(timed("u32[4] in global holds [8, 24]", "load I at tid * 4B into i load A at i * 1B") == "");      // zeros behind them
  CHECK(timed("u32[2] in global holds [8, 24]", "load I at tid mod 2 * 4B as 1B into i load A at i * 1B as 1B") == "E0420");
  CHECK(timed("u32[4] in global holds [1, 2, 3, 4, 5]", "load I at 0B") == "E0131");
  CHECK(timed("u8[4] in global holds [256]", "load I at 0B into i") == "E0131");
  CHECK(timed("u32[4] in global holds [-1]", "load I at 0B into i") == "E0131");
  CHECK(timed("u32[4] in global holds [0.5]", "load I at 0B into i") == "E0131");
  CHECK(timed("u32[4] in global holds [1]", "store I at 0B") == "E0434");
  CHECK(timed("u32[4] in shared holds [1]", "load I at 0B") == "E0235");
  CHECK(timed("f16[4] in global holds [1]", "load I at 0B") == "E0235");
  CHECK(timed("f32[4] in global holds [0.5, -1e38]", "var f: f32 = 0 load I at 0B into f assign f = f / 2") == "");
  CHECK(timed("f32[4] in global holds [0.5, 1e39]", "load I at 0B") == "E0131");
  CHECK(timed("f64[4] in global holds [0.5, 1e39]", "var f: f64 = 0 load I at 0B into f assign f = f / 2") == "");
  CHECK(timed("u32[4] in global", "load A by p") == "");
  CHECK(timed("u32[4] in global", "load A at item(p, (tid + 1) mod 4)") == "");
  CHECK(timed("u32[4] in global", "load A at item(p, tid + 1)") == "E0420");
  CHECK(timed("u32[4] in global", "load A by p as 8B") == "E0420");
}
