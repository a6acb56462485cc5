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
