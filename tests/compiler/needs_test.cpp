// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "compiler/plan/plan.h"
#include "tests/compiler/compile.h"

using namespace gexp;
using namespace gexp::compiler;

namespace {

/// The code and the message of the first thing that a stage's text needs and a device lacks; empty: it can be made.
std::string lacking(const std::string& stage, double compute, int nvrtc = 0) {
  auto compiled = test::compile("gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nmemory S: u32[1KiB] in shared\nstage s {\n" + stage + "\nfind f: list = clusters(t)\n}\n");
  if (!compiled.program) return compiled.codes();
  auto& program = *compiled.program;
  program.device = Fields{{"name", Value("a device")}, {"compute", Value(compute)}};
  program.nvrtc = nvrtc;
  const auto scope = file_scope(program);
  REQUIRE(scope.ok());
  const auto shapes = stage_shapes(program, program.stages[0], *scope);
  return shapes ? "" : shapes.error().code + " " + shapes.error().message;
}

std::string alu(const std::string& instruction) { return "launch grid 1 block 32\ntimed t total { alu " + instruction + " chain 64 ilp 1 }"; }

}  // namespace

TEST_CASE("an instruction that the device is too old for is refused, with the oldest that has it") {
  CHECK(lacking(alu("fma.f64"), 12) == "E0501 `fma.f64` needs compute capability 1.3, and a device has 1.2");
  CHECK(lacking(alu("fma.f64"), 13).empty());
  CHECK(lacking(alu("tanh.f32"), 70) == "E0501 `tanh.f32` needs compute capability 7.5, and a device has 7.0");
  CHECK(lacking(alu("redux.add.u32"), 75).starts_with("E0501 `redux.add.u32` needs compute capability 8.0"));
  CHECK(lacking(alu("mma.m16n8k16.f32.f16"), 90).empty());
  CHECK(lacking(alu("fma.f16"), 10).starts_with("E0501"));
}

TEST_CASE("an instruction that NVRTC cannot assemble is refused only where it must") {
  CHECK(lacking(alu("cvt.e4m3x2.f16x2"), 90, 118) == "E0501 `cvt.e4m3x2.f16x2` needs NVRTC 12.1, and this one is 11.8");
  CHECK(lacking(alu("cvt.e4m3x2.f16x2"), 90, 0).empty());  // a simulated device takes PTX
  CHECK(lacking(alu("cvt.e4m3x2.f16x2"), 90, 130).empty());
  CHECK(lacking(alu("fma.f32"), 90, 118).empty());
}

TEST_CASE("a sweep of instructions leaves out what the device lacks") {
  const std::string sweep = "sweep op in [\"fma.f32\", \"tanh.f32\", \"redux.add.u32\"]\n";
  CHECK(lacking(sweep + alu("op"), 75).starts_with("E0501 `redux.add.u32`"));
  CHECK(lacking(sweep + "skip needs(op) > device.compute why \"it lacks it\"\n" + alu("op"), 75).empty());
  CHECK(lacking("sweep op in [\"fma.f32\", \"fma.f23\"]\n" + alu("op"), 75).starts_with("E0430"));
  CHECK(lacking("sweep op in [\"fma.f32\"]\n" + alu("oq"), 75).starts_with("E0430"));
  CHECK(lacking("sweep op in [\"fma.f32\"]\nskip needs(\"fma\") > 1 why \"x\"\n" + alu("op"), 75).starts_with("E0404"));
}

TEST_CASE("an instruction of whole warps wants them") {
  CHECK(lacking("launch grid 1 block 48\ntimed t total { alu shfl.idx.b32 chain 64 ilp 1 }", 90).starts_with("E0439"));
  CHECK(lacking("launch grid 1 block 64\ntimed t total { branch tid < 32 { alu shfl.idx.b32 chain 64 ilp 1 } }", 90).starts_with("E0439"));
  CHECK(lacking("launch grid 2 block 64\ntimed t total { branch cta == 0 { alu shfl.idx.b32 chain 64 ilp 1 } }", 90).empty());
}

TEST_CASE("a product by a warpgroup wants whole warpgroups, and the one generation that has it") {
  const auto product = [](int threads, const std::string& ilp = "1") { return "launch grid 1 block " + std::to_string(threads) + "\ntimed t total { alu wgmma.m64n64k16.f32.f16 chain 64 ilp " + ilp + " }"; };
  CHECK(lacking(product(128), 90).empty());
  CHECK(lacking(product(96), 90).starts_with("E0439"));
  CHECK(lacking(product(128), 80) == "E0501 `wgmma.m64n64k16.f32.f16` needs compute capability 9.0, and a device has 8.0");
  CHECK(lacking(product(128), 100) == "E0501 `wgmma.m64n64k16.f32.f16` is in compute capability 9.0 alone, and a device has 10.0");
  CHECK(lacking(product(128), 90, 118) == "E0501 `wgmma.m64n64k16.f32.f16` needs NVRTC 12.0, and this one is 11.8");
  CHECK(lacking(product(128, "4"), 90).empty());
  CHECK(lacking(product(128, "5"), 90).starts_with("E0418"));
  CHECK(lacking("launch grid 1 block 256\ntimed t total { branch tid < 128 { alu wgmma.m64n8k16.f32.f16 chain 64 ilp 1 } }", 90).starts_with("E0439"));
}

TEST_CASE("atomic operations, scopes, hints and copies need what they need") {
  const auto body = [](const std::string& operation, double compute) { return lacking("launch grid 1 block 32\ntimed t total { " + operation + " }", compute); };
  CHECK(body("atomic add.u32 A at 0B", 10).starts_with("E0501 `add.u32` needs compute capability 1.1"));
  CHECK(body("atomic add.u32 A at 0B", 11).empty());
  CHECK(body("atomic add.u32 S at 0B", 11).starts_with("E0501 `add.u32` needs compute capability 1.2"));
  CHECK(body("atomic add.f64 S at 0B", 52).starts_with("E0501"));
  CHECK(body("atomic add.u32 A at 0B scope sys", 52).starts_with("E0501 `scope sys` needs compute capability 6.0"));
  CHECK(body("atomic add.u32 A at 0B scope cluster", 80).starts_with("E0501 `scope cluster` needs compute capability 9.0"));
  CHECK(body("fence gpu", 13).empty());
  CHECK(body("fence cluster", 80).starts_with("E0501"));
  CHECK(body("load A at tid * 4B hint no_allocate", 62).starts_with("E0501 `hint no_allocate` needs compute capability 7.0"));
  CHECK(body("load A at tid * 4B hint l2_evict_last", 75).starts_with("E0501"));
  CHECK(body("load A at tid * 4B via cg fetch 256B", 75).starts_with("E0501 `fetch 256B`"));
  CHECK(body("load A at tid * 4B via cg fetch 128B", 75).empty());
  CHECK(body("load A at tid * 4B into S at tid * 4B drain", 75).starts_with("E0501"));
  CHECK(body("load A at tid * 4B into S at tid * 4B drain", 80).empty());
  CHECK(body("discard A at tid * 128B", 75).starts_with("E0501"));
}

TEST_CASE("a tile has sides that the copy engine takes") {
  const auto tile = [](const std::string& clauses, double compute = 90, int nvrtc = 0) {
    return lacking("launch grid 1 block 1\ntimed t total { load A at 0B into S at 0B as " + clauses + " drain }", compute, nvrtc);
  };
  CHECK(tile("32B via bulk rows 8 pitch 4KiB").empty());
  CHECK(tile("32B via bulk rows 8 pitch 4KiB", 80).starts_with("E0501"));
  CHECK(tile("32B via bulk rows 8 pitch 4KiB", 90, 118).starts_with("E0501"));
  CHECK(tile("32B via bulk rows 8 pitch 16B").starts_with("E0418"));
  CHECK(tile("32B via bulk rows 8 pitch 100B").starts_with("E0418"));
  CHECK(tile("2KiB via bulk rows 8 pitch 4KiB").starts_with("E0418"));
  CHECK(tile("16B via bulk rows 257 pitch 16B").starts_with("E0418"));
  CHECK(tile("32B via bulk rows 17 pitch 4KiB").starts_with("E0420"));
  CHECK(tile("32B via bulk rows 64 pitch 32B").starts_with("E0420"));
  CHECK(tile("32B via bulk rows 8").starts_with("E0417"));
  CHECK(tile("32B via bulk pitch 4KiB").starts_with("E0417"));
  CHECK(tile("16B rows 8 pitch 4KiB").starts_with("E0429"));
}

TEST_CASE("what an operation is decides a stage's key") {
  const auto key = [](const std::string& operation) {
    const auto compiled = test::compile("gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nmemory S: u32[1KiB] in shared\nlet op = \"fma.f32\"\nlet oq = \"add.f32\"\n"
                                        "stage s {\nlaunch grid 1 block 32\ntimed t total { " + operation + " }\nfind f: list = clusters(t)\n}\n");
    REQUIRE_MESSAGE(compiled.program, compiled.codes());
    return compiled.program->stages[0].key;
  };
  const char* const pairs[][2] = {{"alu op chain 64 ilp 1", "alu oq chain 64 ilp 1"},
                                  {"load A at tid * 4B", "load A at tid * 4B hint evict_last"},
                                  {"load A at tid * 4B fetch 64B", "load A at tid * 4B fetch 128B"},
                                  {"load A at tid * 4B to l1", "load A at tid * 4B to l2"},
                                  {"load A at tid * 4B into S at tid * 4B", "load A at tid * 4B into S at tid * 8B"},
                                  {"atomic add.u32 A at 0B", "atomic add.u32 A at 0B red"},
                                  {"atomic add.u32 A at 0B", "atomic add.u32 A at 0B scope cta"},
                                  {"load A at 0B into S at 0B as 16B via bulk rows 8 pitch 64B", "load A at 0B into S at 0B as 16B via bulk rows 9 pitch 64B"},
                                  {"load A at 0B into S at 0B as 16B via bulk rows 8 pitch 64B", "load A at 0B into S at 0B as 16B via bulk rows 8 pitch 80B"},
                                  {"fence cta", "fence gpu"}};
  for (const auto& [one, other] : pairs) {
    CHECK_MESSAGE(key(one) != key(other), one);
    CHECK(key(one) == key(one));
  }
}
