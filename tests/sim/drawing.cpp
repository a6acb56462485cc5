// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/model_drawing.h"

#include <algorithm>
#include <sstream>

#include "tests/sim/model_support.h"

using namespace sim_test;

namespace {

std::string drawn(const gexp::Source& source, std::size_t width = 100) {
  const auto text = gexp::sim::draw_model(source, width);
  REQUIRE(text.ok());
  return *text;
}
}  // namespace

TEST_CASE("a drawing says what the model describes") {
  const std::string text = drawn(*gexp::sim::read_model("gtx780"));
  for (const char* words : {"SIMULATED", "12 SMs at 1006 MHz", "288.4 GB/s peak", "4 schedulers", "alu 9, every 0.1667", "2048 threads", "PRT, 45 warp instructions · 1362 requests · 3 loads a warp",
                            "16 KiB, 32 KiB, 48 KiB", "32 banks of 8 B", "12 KiB · lines of 32 B · 4 sets × 96 ways · bits 7 8 · lru", "32 sets × 12/8/4 ways", "fetches 1 MiB ahead",
                            "sets of 17 8 8 8 8 8 8 ways · dealt", "one window of 512 MiB", "reads and writes 215.9 GB/s", "l2, write through"})
    CHECK_MESSAGE(has(text, words), words);
  CHECK(has(text, "ca, cg, cv (default)"));
  CHECK(has(text, "  └ memory                       339     345     702     968\n"));
  CHECK(has(text, "  ├ readonly                     110  before translation\n"));
  CHECK(has(drawn(*gexp::sim::read_model("gtx560ti")), "MSHR, 128 lines, 8 requests merged"));
  CHECK(has(drawn(*gexp::sim::read_model("gtx980")), "the lines of l1 · scattered by 128 B"));
  CHECK(has(drawn(edited("gtx780", "[shared]\n", "[noise]\ninterference = 0.5\nassumed = \"a test\"\n\n[shared]\n")), "interference with probability 0.5"));
  CHECK(has(drawn(edited("gtx780", "prefetch = \"1 MiB\"", "slices = 6\npartitions = 2\nfar = 50\nspread = 20")), "6 slices · 2 partitions, the other 50 cycles further"));
}

TEST_CASE("a drawing keeps to its width") {
  for (const std::string& name : gexp::sim::names()) {
    for (const std::size_t width : {60u, 72u, 100u}) {
      std::istringstream lines(drawn(*gexp::sim::read_model(name), width));
      for (std::string line; std::getline(lines, line);) {
        const auto columns = static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xc0) != 0x80; }));
        const bool boxed = line.starts_with("│") || line.starts_with("┌") || line.starts_with("└");
        CAPTURE(line);
        if (boxed) CHECK(columns == width);
        else CHECK(columns <= 100);
      }
    }
  }
}

TEST_CASE("a wrong model is not drawn") {
  const auto source = edited("gtx780", "line = 32", "line = 0");
  const auto text = gexp::sim::draw_model(source);
  REQUIRE(!text.ok());
  CHECK(source.slice(text.error().span) == "0");
}
