// SPDX-License-Identifier: Apache-2.0
// What holds of every memory space: a new one is tested as soon as it has its row.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "compiler/codegen/emit.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/plan.h"
#include "lang/memory_spaces.h"
#include "tests/compiler/compile.h"

using namespace gexp;
using namespace gexp::compiler;

namespace {

/// The code that a stage with this body is refused with, over a memory of this space; empty: it is planned.
struct Made {
  std::string code, text;  ///< text: CUDA

  Made(std::string_view space, const std::string& body, const std::string& length = "4KiB") {
    const auto compiled = test::compile(fmt::format("gexp 1\nexperiment t\nmemory M: u32[{}] in {}\nstage s {{\n  pattern ring = uniform(stride: 32B, span: 1KiB)\n"
                                                    "  launch grid 1 block 1\n  {}\n  find f: list = clusters(t)\n}}\n", length, space, body));
    INFO(compiled.text());
    if (!compiled.program) {
      code = compiled.codes();
      return;
    }
    auto scope = file_scope(*compiled.program);
    REQUIRE(scope.ok());
    bool skipped = false;
    auto plan = plan_point(*compiled.program, compiled.program->stages[0], {}, *scope, skipped);
    if (!plan) {
      code = plan.error().code;
      return;
    }
    auto made = emit_cuda(plan->shape);
    REQUIRE(made.ok());
    text = *made;
  }
};

}  // namespace

TEST_CASE("each memory space: what its object says is what a kernel does") {
  for (const auto& row : lang::memory_spaces()) {
    CAPTURE(row.word);
    const auto& space = memory_space(row.word);
    CHECK(space.word == row.word);
    CHECK(!space.idle_cell.empty());
    for (const char* how : {"each", "total"}) {
      for (const char* body : {"chase M by ring laps 1", "load M at 0B", "chase M by ring laps 1 barrier"}) {
        const Made made(row.word, fmt::format("warm {{ chase M by ring laps 1 }} timed t {} {{ {} }}", how, body));
        CHECK_MESSAGE(made.code == "", body);
        CHECK_MESSAGE(made.text.find(space.by_index() ? "tex." : fmt::format("ld.{}", space.ptx)) != std::string::npos, body);
      }
    }
    CHECK(Made(row.word, "timed t total { store M at 0B }").code == (space.stores ? "" : "E0429"));
    CHECK(Made(row.word, "timed t total { load M at 0B via cg }").code == (space.chooses_path ? "" : "E0429"));
    if (row.most_bytes == 0) continue;
    CHECK(Made(row.word, "timed t total { load M at 0B }", fmt::format("{}B", row.most_bytes)).code == "");
    CHECK(Made(row.word, "timed t total { load M at 0B }", fmt::format("{}B", row.most_bytes + 16)).code == "E0424");
    CHECK(!space.too_large.empty());
  }
}

TEST_CASE("a template has the holes of its kind, or is refused when it is loaded") {
  for (const auto* kind : {&kEachTemplate, &kTotalTemplate, &kBodyTemplate, &kRolesTemplate}) CHECK(load_template(*kind).ok());
  CHECK(load_template({"each.cu", {"name"}}).error().code == "E0505");
  CHECK(load_template({"none.cu", {}}).error().code == "E0506");
}
