// SPDX-License-Identifier: Apache-2.0
// Counters of a run: by point, kept in the result, and without a trace in what is measured and found.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>

#include "runtime/device/counters.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/session.h"
#include "runtime/result/export_table.h"
#include "runtime/sim/observed.h"
#include "runtime/sim/sim.h"
#include "tests/compiler/compile.h"
#include "tests/lang/generated_docs.h"

using namespace gexp;

namespace {

constexpr const char* kSpec = R"(gexp 1
experiment t
memory A: u32[64KiB] in global
stage s {
  sweep n in [1KiB, 16KiB]
  pattern ring = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  warm { chase A by ring laps 1 via nc }
  timed lat each { chase A by ring laps 1 via nc }
  repeat 2..4 until stable(misses(lat))
  find f: list = clusters(lat)
}
)";

/// The result of a run on the simulated GTX 780; nothing without an NVRTC.
std::optional<result::RunResult> run(bool counts, std::size_t jobs = 1) {
  auto compiler = jit::Compiler::open();
  if (!compiler) return std::nullopt;
  auto compiled = test::compile(kSpec);
  REQUIRE_MESSAGE(compiled.program, compiled.codes());
  auto backend = sim::open("gtx780");
  REQUIRE(backend.ok());
  measure::Kernels kernels(*compiler, {}, {});
  measure::SessionOptions options;
  options.jobs = jobs;
  if (counts) {
    sim::observe(**backend, 0);
    options.count = [](const device::Backend& device) { return sim::counted(device).by_name(); };
  }
  measure::Progress silent;
  std::optional<result::RunResult> result(std::in_place);
  result->experiment = "t", result->spec_path = "t.gexp", result->spec_text = kSpec;
  result->device = (*backend)->device();
  result->date = "2026-01-01T00:00:00Z";
  REQUIRE(measure::run_session(*compiled.program, **backend, kernels, options, silent, *result).ok());
  return result;
}

}  // namespace

TEST_CASE("docs/reference/counters.md has a row for each counter") {
  std::string rows = "|---|---|---|\n";
  for (const auto& row : device::counter_rows()) rows += fmt::format("| `{}` | {} | {} |\n", row.name, row.unit, row.meaning);
  CHECK_MESSAGE(test::block_of("docs/reference/counters.md", "| counter | unit |", rows) == rows, "./dev bless measure");
}

TEST_CASE("every counter of every model has a meaning, and every meaning a counter") {
  std::set<std::string> used;
  for (const auto& name : sim::names()) {
    auto backend = sim::open(name);
    REQUIRE(backend.ok());
    sim::observe(**backend, 0);
    const auto kernel = (*backend)->load(
        {device::Target::Form::Ptx, ".version 7.8\n.target sm_35\n.address_size 64\n.visible .entry k()\n{ ret; }\n", "k"});
    REQUIRE(kernel.ok());
    REQUIRE((*backend)->launch(*kernel, {}, {}, 60).done());
    std::set<std::string> names;
    for (const auto& [counter, count] : sim::counted(**backend).by_name()) {
      CHECK_MESSAGE(names.insert(counter).second, counter);  // no name twice
      const auto* row = device::counter_row(counter);
      REQUIRE_MESSAGE(row, counter);
      used.insert(row->name);
    }
  }
  for (const auto& row : device::counter_rows()) CHECK_MESSAGE(used.contains(row.name), row.name);
  CHECK(device::counter_row("no_such") == nullptr);
  CHECK(device::counter_row("l1.no_such") == nullptr);
}

TEST_CASE("sums of counters go by name") {
  device::Counters all{{"a", 1}, {"b", 2}};
  device::add_counts(all, {{"b", 10}, {"c", 5}});
  CHECK(all == device::Counters{{"a", 1}, {"b", 12}, {"c", 5}});
  CHECK(device::count_of(all, "c") == 5);
  CHECK(device::count_of(all, "d") == 0);
}

TEST_CASE("a run counts each point, keeps that in its result, and measures the same") {
  auto plain = run(false), counted = run(true), together = run(true, 3);
  if (!plain) return;  // no NVRTC here
  auto& stage = counted->stages.at(0);
  REQUIRE(stage.counters.size() == 2);
  CHECK(show(stage.counters[0].at.at("n")) == "1 KiB");
  for (std::size_t k = 0; k < 2; ++k) {
    const auto& counts = stage.counters[k].counts;
    const auto n = [&](const char* name) { return device::count_of(counts, name); };
    const auto runs = stage.table.points[k].runs.size();
    CHECK(n("launches") == runs);
    CHECK(n("readonly.hits") + n("readonly.misses") == n("readonly.lookups"));
    CHECK(n("readonly.lookups") >= runs * 2 * (k == 0 ? 32 : 512));
    // 1 KiB fits into the 12 KiB, and only its first lap misses; of 16 KiB, each lap does.
    const auto of_ring = (k == 0 ? 1u : 2u) * runs * (k == 0 ? 32 : 512);
    CHECK(n("readonly.misses") >= of_ring * 9 / 10);
    CHECK(n("readonly.misses") <= of_ring + 8 * runs);
  }
  CHECK(device::count_of(stage.counted(), "launches") == stage.table.points[0].runs.size() + stage.table.points[1].runs.size());
  CHECK(together->stages.at(0).counters.at(1).counts == stage.counters[1].counts);

  const auto read = result::from_json(result::to_json(*counted), "counted.json");
  REQUIRE_MESSAGE(read.ok(), read.error().message);
  CHECK(read->stages.at(0).counters.at(1).counts == stage.counters[1].counts);
  const auto table = result::counter_table(*counted, "s");
  REQUIRE(table.ok());
  CHECK(table->rows.size() == 2);
  CHECK(table->columns.at(1) == "launches");
  CHECK_FALSE(result::counter_table(*plain, "s").ok());

  const auto without_time = [](result::RunResult& result) {
    result.seconds = 0;
    for (auto& each : result.stages) each.seconds = each.answering = 0, each.effort = {}, each.counters.clear();
    for (auto& kernel : result.kernels) kernel.seconds = 0, kernel.from_cache = true;
    return result::to_json(result);
  };
  CHECK(without_time(*plain) == without_time(*counted));
}
