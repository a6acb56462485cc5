// SPDX-License-Identifier: Apache-2.0
// What holds requests, fetches ahead and opens windows, on models that no paper has: the answers follow the model.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "tests/loop/loop.h"

using namespace gexp::test;

namespace {

/// An experiment that ships, with parts of its text replaced.
std::string shortened(const std::string& experiment, const std::vector<Edit>& edits) {
  std::ifstream in(std::string(GEXP_SOURCE_DIR) + "/experiments/" + experiment);
  std::ostringstream read;
  read << in.rdbuf();
  auto text = read.str();
  for (const auto& edit : edits) {
    const auto at = text.find(edit.from);
    REQUIRE_MESSAGE(at != std::string::npos, edit.from);
    text.replace(at, edit.from.size(), edit.to);
  }
  return text;
}

/// Fewer curves and points than the paper's: enough to tell one table from another.
std::string few_curves() {
  return shortened("outstanding/threads.gexp", {{"sweep merge in [1, 2, 4, 8, 16, 32, 1024]", "sweep merge in [1, 32, 1024]"}, {"sweep threads in 2..most step min(2 * merge, 16)", "sweep threads in 4..most step 4"},
                                                {"accesses: accesses, latency: hit.L)", "accesses: accesses, latency: hit.L) need 60%"}});
}

const std::string kMshr = "kind = \"mshr\"\nentries = 128\nmerges = 8\nloads_per_warp = 4\nsource = \"Lashgar15 section 5.1: 128 entries, at least 8 merged; section 4: four loads a warp\"\n"
                          "assumed.merges = \"counts requests of warps for a line that is under way; the paper's are threads of one warp, which travel as one request\"";
const std::string kPrt = "entries = 45\nrequests = 1362\nloads_per_warp = 3\nsource = \"Lashgar15 section 5.2: 45 entries; Figures 9 and 10: 1362 requests; section 4: three loads a warp\"";

}  // namespace

TEST_CASE("a table of lines, of warp instructions, of both, or none" * doctest::test_suite("long")) {
  const auto kind = [](const char* model, const std::string& from, const std::string& to) {
    const auto result = run_text(few_curves(), model, {{from, to + "\nassumed = \"a test\""}});
    return found(result, "latency.table", "kind") + " " + found(result, "latency.table", "entries") + " " + found(result, "latency.table", "requests");
  };
  CHECK(kind("m2070", kMshr, "kind = \"mshr\"\nentries = 72\nmerges = 8\nloads_per_warp = 3") == "mshr 72 72");
  CHECK(kind("m2070", kMshr, "kind = \"prt\"\nentries = 24\nloads_per_warp = 4") == "prt 24 no such field");
  CHECK(kind("m2070", kMshr, "kind = \"unlimited\"\nloads_per_warp = 2").starts_with("none seen no such field"));
  CHECK(kind("k20", "kind = \"prt\"\n" + kPrt, "kind = \"mshr\"\nentries = 256\nmerges = 4\nloads_per_warp = 3") == "mshr 256 256");
  CHECK(kind("k20", kPrt, "entries = 30\nloads_per_warp = 2") == "prt 30 no such field");
  CHECK(kind("k20", kPrt, "entries = 60\nrequests = 720\nloads_per_warp = 4") == "prt 60 720");
}

TEST_CASE("requests of warps for one line that an entry merges, and nothing where no warp waits for one" * doctest::test_suite("long")) {
  const auto merges = [](const char* number) {
    return found(run_text(few_curves(), "m2070", {{kMshr, std::string("kind = \"mshr\"\nentries = 128\nmerges = ") + number + "\nloads_per_warp = 3\nassumed = \"a test\""}}), "latency.table", "merges");
  };
  for (const std::string number : {"1", "2", "3", "5", "8", "16"}) CHECK(merges(number.c_str()) == number);
  CHECK(merges("40") == "no such field");
}

TEST_CASE("how far is fetched ahead, and nothing where nothing is") {
  const auto ahead = [](const std::string& prefetch) { return found(run_loop("cache/l2_prefetch.gexp", "gtx560ti", {{"prefetch = \"341 KiB\"\n", prefetch}}), "moving.ahead"); };
  CHECK(ahead("prefetch = \"96 KiB\"\n") == "96 KiB");
  CHECK(ahead("prefetch = \"16 KiB\"\n") == "16 KiB");
  CHECK(ahead("") == "0 B");
}

TEST_CASE("an L2 hit whose translation comes from further out is none fetched too late") {
  const auto result = run_loop("cache/l2_prefetch.gexp", "gtx560ti",
                               {{"reach = \"32 MiB\"\npage = \"2 MiB\"\nsets = 1\nways = 16", "reach = \"256 KiB\"\npage = \"64 KiB\"\nsets = 1\nways = 4"},
                                {"reach = \"130 MiB\"\npage = \"2 MiB\"", "reach = \"4160 KiB\"\npage = \"64 KiB\""}});
  CHECK(found(result, "moving.ahead") == "341 KiB");
  CHECK(found(result, "cold.one_miss") == "344192 B");  // the finest step below
}

TEST_CASE("a page window of another size, and none") {
  const auto size = [](const std::vector<Edit>& edits) { return found(run_loop("tlb/window.gexp", "gtx780", edits), "alternate.size"); };
  CHECK(size({{"size = \"512 MiB\"", "size = \"256 MiB\""}}) == "256 MiB");
  CHECK(size({{"size = \"512 MiB\"", "size = \"128 MiB\""}}) == "128 MiB");
}

TEST_CASE("how many threads of a warp an entry notes shows in which mergers jump, and where") {
  auto text = shortened("outstanding/mergers.gexp", {});
  for (auto at = text.find("2..1024 step 2"); at != std::string::npos; at = text.find("2..1024 step 2", at)) text.replace(at, 14, "16..640 step 16");
  // The first jumps with 2, 4, 8 and 16 neighbouring threads a line, from 128 threads on.
  const auto jumps = [&](const std::string& noted) {
    const auto result = run_text(text, "m2070", {{"merges = 8\n", "merges = 8\n" + noted}});
    std::string all;
    for (const char* stage : {"m2x1", "m4x2", "m8x4", "m16x4"}) {
      const auto list = found(result, std::string(stage) + ".jumps", "");
      all += list.find("before: 128") != std::string::npos ? "128 " : list.find("before: 256") != std::string::npos ? "256 " : "- ";
    }
    return all;
  };
  CHECK(jumps("") == "256 256 256 - ");
  CHECK(jumps("threads = 16\n") == "256 256 256 - ");
  CHECK(jumps("threads = 8\n") == "256 256 256 256 ");
  CHECK(jumps("threads = 4\n") == "256 256 128 128 ");
  CHECK(jumps("threads = 1\n").starts_with("128 "));
}
