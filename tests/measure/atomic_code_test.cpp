// SPDX-License-Identifier: Apache-2.0
// The machine code that NVRTC makes of `atomic`: each lane's operation is its own, also where all lanes have one address.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/plan/plan.h"
#include "lang/atomics.h"
#include "runtime/jit/compiler.h"
#include "tests/compiler/compile.h"

using namespace gexp;

namespace {

// Opcodes of compute capability 7.0 and newer: a vote, its uniform form, a count of bits, a sum over lanes.
constexpr int kVote = 0x806, kUniformVote = 0x886, kPopulation = 0x309, kSumOfLanes = 0x3c4;

/// Machine instructions of a stage's kernel by opcode, looked for at each 16 bytes.
int count(const std::string& cubin, std::initializer_list<int> opcodes) {
  int found = 0;
  for (std::size_t at = 0; at + 16 <= cubin.size(); at += 16) {
    std::uint16_t word = 0;
    std::memcpy(&word, cubin.data() + at, sizeof word);
    found += std::find(opcodes.begin(), opcodes.end(), word & 0xfff) != opcodes.end() ? 1 : 0;
  }
  return found;
}

std::string cubin_of(jit::Compiler& compiler, const std::string& operation) {
  auto compiled = test::compile("gexp 1\nexperiment t\nmemory A: u32[4KiB] in global\nmemory S: u32[4KiB] in shared\nstage s {\nlaunch grid 1 block 32\n"
                                "timed t total { loop i in 1..64 { " + operation + " } }\nfind f: list = clusters(t)\n}\n");
  REQUIRE_MESSAGE(compiled.program, compiled.codes());
  const auto scope = compiler::file_scope(*compiled.program);
  const auto shapes = compiler::stage_shapes(*compiled.program, compiled.program->stages[0], *scope);
  REQUIRE(shapes.ok());
  const auto text = compiler::emit_cuda(shapes->front());
  REQUIRE(text.ok());
  const int newest = std::binary_search(compiler.architectures().begin(), compiler.architectures().end(), 90) ? 90 : 80;
  const auto made = compiler.compile({*text, "body.cu", compiler::kEntry, {device::Target::Form::Cubin, newest / 10, newest % 10}, {}});
  REQUIRE_MESSAGE(made, made.error().message);
  return made->image.bytes;
}

}  // namespace

TEST_CASE("no lane updates memory for others") {
  auto compiler = jit::Compiler::open();
  if (!compiler) return;  // no NVRTC here
  const auto lanes_together = {kVote, kUniformVote, kPopulation, kSumOfLanes};
  const int without = count(cubin_of(*compiler, "load A at 0B"), lanes_together);
  for (const char* operation : {"atomic add.u32 A at 0B", "atomic add.u32 A at 0B red", "atomic add.u32 S at 0B", "atomic add.u32 S at 0B red",
                                "atomic min.u32 A at i * 4B", "atomic add.u32 A at lane * 4B"}) {
    CHECK_MESSAGE(count(cubin_of(*compiler, operation), lanes_together) == without, operation);
  }
}

TEST_CASE("NVRTC assembles hints, prefetches, copies, fences and every atomic operation") {
  auto compiler = jit::Compiler::open();
  if (!compiler) return;  // no NVRTC here
  const auto& architectures = compiler->architectures();
  const int newest = std::binary_search(architectures.begin(), architectures.end(), 90) ? 90 : 80;
  std::string all = "fence cta fence gpu fence sys drain discard A at lane * 128B";
  for (const auto& atomic : lang::atomics()) {
    if (atomic.global > newest || atomic.shared > newest) continue;
    const auto offset = fmt::format("at lane * {}B", atomic.bytes);
    all += fmt::format(" atomic {0} A {1} atomic {0} S {1} scope cta", atomic.name, offset);
    if (atomic.has_red) all += fmt::format(" atomic {0} A {1} red scope sys atomic {0} S {1} red", atomic.name, offset);
  }
  for (const char* hint : {"evict_first", "evict_last", "evict_normal", "evict_unchanged", "no_allocate"}) {
    all += fmt::format(" load A at tid * 16B as 16B hint {0} fetch 128B load A at tid * 4B via nc hint {0} store A at tid * 8B as 8B hint {0}", hint);
  }
  for (const char* hint : {"l2_evict_first", "l2_evict_last", "l2_evict_normal", "l2_evict_unchanged"}) {
    all += fmt::format(" load A at tid * 4B via cg hint {0} fetch 256B store A at tid * 16B as 16B hint {0} load A at tid * 16B into S at tid * 16B as 16B via cg hint {0} fetch 64B", hint);
  }
  for (const char* path : {"cs", "lu", "ldu", "volatile"}) all += fmt::format(" load A at tid * 4B via {}", path);
  for (const char* path : {"cg", "cs", "wb", "wt", "volatile"}) all += fmt::format(" store A at tid * 4B via {}", path);
  all += " load A at 0B to l1 load A at 0B to l2 load A at 0B to l2 hint l2_evict_last load A at 0B to l2 hint l2_evict_normal load A at tid * 4B into S at tid * 4B";
  if (newest == 90) all += " fence cluster atomic add.u32 A at 0B scope cluster";
  CHECK(!cubin_of(*compiler, all).empty());
}
