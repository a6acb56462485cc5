// SPDX-License-Identifier: Apache-2.0
// The proof: experiments that ship, run on models whose truth is known, must give that truth back. Edited and odd models guard
// against answers that are tuned to, or read off, the models at hand.
#include "tests/loop/loop.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace gexp::test;
using Status = gexp::result::Judgement::Status;

namespace {

/// The read-only cache of gtx780.toml with another geometry.
std::vector<Edit> geometry(const std::string& capacity, int line, const std::string& sets, const std::string& ways,
                           const std::string& index, const std::string& replacement = "\"lru\"") {
  return {{"[caches.readonly]\ncapacity = \"12 KiB\"\nline = 32\nsets = 4\nways = 96\nbits = [7, 8]\nreplacement = \"lru\"",
                              "[caches.readonly]\ncapacity = " + capacity + "\nline = " + std::to_string(line) + "\nsets = " + sets +
                                  "\nways = " + ways + "\n" + index + "\nreplacement = " + replacement}};
}

}  // namespace

TEST_CASE("GTX 780: the read-only cache of Mei17 Table V") {
  const auto result = run_loop("cache/structure.gexp", "gtx780");
  CHECK(found(result, "fetch.unit") == "32 B");
  CHECK(found(result, "capacity.C") == "12 KiB");
  CHECK(found(result, "capacity.hit") == "110 cycles");
  CHECK(found(result, "line.b") == "32 B");
  CHECK(found(result, "sets.S", "sets") == "4");
  CHECK(found(result, "sets.S", "ways") == "96");
  CHECK(found(result, "sets.S", "bits") == "[7, 8]");
  CHECK(found(result, "policy.kind", "name") == "lru");
  CHECK(count(result, Status::Fail) + count(result, Status::Unknown) == 0);
}

TEST_CASE("GTX 980: a mapping that no address bits define") {
  const auto result = run_loop("cache/structure.gexp", "gtx980");
  CHECK(found(result, "capacity.C") == "24 KiB");
  CHECK(found(result, "capacity.hit") == "82 cycles");
  CHECK(found(result, "line.b") == "32 B");
  CHECK(found(result, "sets.S", "sets") == "4");
  CHECK(found(result, "sets.S", "ways") == "192");
  CHECK(found(result, "sets.S", "mapping") == "not bit-defined");
  CHECK(found(result, "policy.kind", "name") == "lru");
  CHECK(count(result, Status::Fail) + count(result, Status::Unknown) == 0);
}

TEST_CASE("GTX 560 Ti: the L1 that is not LRU") {
  const auto result = run_loop("cache/l1.gexp", "gtx560ti");
  CHECK(found(result, "capacity.C") == "16 KiB");
  CHECK(found(result, "capacity.hit") == "96 cycles");
  CHECK(found(result, "line.b") == "128 B");
  CHECK(found(result, "sets.S", "sets") == "32");
  CHECK(found(result, "sets.S", "ways") == "4");
  CHECK(found(result, "policy.kind", "name") == "weighted");
  auto shares = numbers(result, "policy.kind", "probabilities");
  std::sort(shares.begin(), shares.end());
  REQUIRE(shares.size() == 4);
  for (int i = 0; i < 3; ++i) CHECK(shares[static_cast<std::size_t>(i)] == doctest::Approx(1.0 / 6).epsilon(0.12));
  CHECK(std::abs(shares[3] - 0.5) < 0.02);
  CHECK(count(result, Status::Fail) + count(result, Status::Unknown) == 0);
}

TEST_CASE("both TLB levels, unequal sets included" * doctest::test_suite("long")) {
  for (const char* model : {"gtx560ti", "gtx780", "gtx980"}) {
    CAPTURE(model);
    const auto result = run_loop("tlb/structure.gexp", model);
    CHECK(found(result, "reach.R") == "32 MiB");
    CHECK(found(result, "page.b") == "2 MiB");
    CHECK(found(result, "first.S", "sets") == "1");
    CHECK(found(result, "first.S", "ways") == "16");
    CHECK(found(result, "policy.kind", "name") == "lru");
    CHECK(found(result, "reach2.R") == "130 MiB");
    CHECK(found(result, "second.S", "sizes") == "[17, 8, 8, 8, 8, 8, 8]");
    CHECK(count(result, Status::Fail) + count(result, Status::Unknown) == 0);
  }
}

TEST_CASE("the papers disagree on the L1 TLB's replacement: the experiment tells either model apart") {
  const auto result = run_loop("tlb/structure.gexp", "gtx560ti-l1tlb-random");
  CHECK(found(result, "reach.R") == "32 MiB");
  CHECK(found(result, "first.S", "ways") == "16");
  CHECK(found(result, "policy.kind", "name") == "random");
}

TEST_CASE("shared-memory conflicts: Mei17 Table VIII, exactly") {
  const auto cost = [](const char* model) {
    const auto result = run_loop("shared/bank_stride.gexp", model);
    CHECK(found(result, "conflict.four", "banks") == "32");
    CHECK(count(result, Status::Fail) + count(result, Status::Unknown) == 0);
    return numbers(result, "conflict.four", "cost");
  };
  CHECK(cost("gtx560ti") == std::vector<double>{50, 87, 162, 311, 611, 1209});
  CHECK(cost("gtx780") == std::vector<double>{47, 82, 96, 158, 257, 484});
  CHECK(cost("gtx980") == std::vector<double>{28, 30, 34, 42, 58, 90});
}

TEST_CASE("8-byte banks: strides 2, 4 and 6 in both modes") {
  const auto result = run_loop("shared/bank_mode.gexp", "gtx780");
  CHECK(found(result, "conflict.four2") == "47 cycles");
  CHECK(found(result, "conflict.four4") == "82 cycles");
  CHECK(found(result, "conflict.four6") == "82 cycles");
  CHECK(found(result, "conflict.eight2") == "47 cycles");
  CHECK(found(result, "conflict.eight4") == "82 cycles");
  CHECK(found(result, "conflict.eight6") == "47 cycles");
  CHECK(count(result, Status::Fail) + count(result, Status::Unknown) == 0);
}

TEST_CASE("an edited model gives the edited answer" * doctest::test_suite("long")) {
  SUBCASE("capacity and ways, no power of two") {
    const auto result = run_loop("cache/structure.gexp", "gtx780", geometry("\"15 KiB\"", 32, "4", "120", "bits = [7, 8]"));
    CHECK(found(result, "capacity.C") == "15 KiB");
    CHECK(found(result, "sets.S", "ways") == "120");
    CHECK(found(result, "sets.S", "bits") == "[7, 8]");
  }
  SUBCASE("line, with the traditional mapping") {
    const auto result = run_loop("cache/structure.gexp", "gtx780", geometry("\"8 KiB\"", 64, "16", "8", "bits = [6, 7, 8, 9]"));
    CHECK(found(result, "capacity.C") == "8 KiB");
    CHECK(found(result, "line.b") == "64 B");
    CHECK(found(result, "sets.S", "sets") == "16");
    CHECK(found(result, "sets.S", "ways") == "8");
    CHECK(found(result, "sets.S", "bits") == "[6, 7, 8, 9]");
  }
  SUBCASE("FIFO") {
    const auto result = run_loop("cache/structure.gexp", "gtx780", geometry("\"12 KiB\"", 32, "4", "96", "bits = [7, 8]", "\"fifo\""));
    CHECK(found(result, "policy.kind", "name") == "fifo");
  }
  SUBCASE("tree-PLRU") {
    const auto result = run_loop("cache/structure.gexp", "gtx780", geometry("\"8 KiB\"", 32, "32", "8", "bits = [5, 6, 7, 8, 9]", "\"plru\""));
    CHECK(found(result, "capacity.C") == "8 KiB");
    CHECK(found(result, "sets.S", "sets") == "32");
    CHECK(found(result, "policy.kind", "name") == "plru");
  }
  SUBCASE("plain random is called random") {
    const auto result = run_loop("cache/structure.gexp", "gtx780", geometry("\"8 KiB\"", 32, "32", "8", "bits = [5, 6, 7, 8, 9]", "\"random\""));
    CHECK(found(result, "capacity.C") == "8 KiB");
    CHECK(found(result, "sets.S", "ways") == "8");
    CHECK(found(result, "policy.kind", "name") == "random");
  }
  SUBCASE("one fully associative set") {
    const auto result = run_loop("cache/structure.gexp", "gtx780", geometry("\"5 KiB\"", 32, "1", "160", "index = \"modulo\""));
    CHECK(found(result, "capacity.C") == "5 KiB");
    CHECK(found(result, "sets.S", "sets") == "1");
    CHECK(found(result, "sets.S", "ways") == "160");
  }
  SUBCASE("one set whose misses cost little and which misses all or nothing: no change of the clock's pace") {
    auto edits = geometry("\"5 KiB\"", 32, "1", "160", "index = \"modulo\"", "\"fifo\"");
    edits.push_back({"latency.readonly = 110\n", "latency.readonly = 200\n"});
    const auto result = run_loop("cache/structure.gexp", "gtx780", edits);
    CHECK(found(result, "capacity.C") == "5 KiB");
    CHECK(found(result, "line.b") == "32 B");
    CHECK(found(result, "policy.kind", "name") == "fifo");
  }
  SUBCASE("a number of sets that is no power of two") {
    const auto result = run_loop("cache/structure.gexp", "gtx780", geometry("\"10080 B\"", 32, "7", "45", "index = \"modulo\""));
    CHECK(found(result, "capacity.C") == "10080 B");
    CHECK(found(result, "sets.S", "sets") == "7");
    CHECK(found(result, "sets.S", "ways") == "45");
    CHECK(found(result, "sets.S", "mapping") == "modulo");
  }
  SUBCASE("sectors: lines of 128 B filled 32 B at a time") {
    const auto result = run_loop("cache/structure.gexp", "gtx780",
                                 geometry("\"16 KiB\"", 128, "4", "32", "sector = 32\nbits = [7, 8]"));
    CHECK(found(result, "fetch.unit") == "32 B");
    CHECK(found(result, "line.b") == "128 B");
    CHECK(found(result, "sets.S", "ways") == "32");
  }
}

TEST_CASE("QLRU variants of edited models are found by name" * doctest::test_suite("long")) {
  const auto name = [](const std::string& policy, int ways) {
    const auto result = run_loop("cache/structure.gexp", "gtx780", geometry(std::to_string(4 * ways * 32), 32, "4", std::to_string(ways), "bits = [7, 8]", "\"" + policy + "\""));
    CHECK(found(result, "sets.S", "ways") == std::to_string(ways));
    return found(result, "policy.kind", "name");
  };
  for (const char* own : {"qlru_h11_m1_r0_u0", "qlru_h11_m1_r1_u2", "qlru_h00_m1_r0_u1", "qlru_h00_m2_r0_u0_umo", "qlru_h21_m2_r0_u0_umo"}) {
    for (const int ways : {8, 12, 96}) {
      CAPTURE(ways);
      CHECK(name(own, ways) == own);
    }
  }
  CHECK(name("qlru_h00_m0_r0_u1", 12) == "nru");
  CHECK(name("qlru_h11_m1_r1_u0", 8) == "qlru_h11_m1_r0_u0");
}
