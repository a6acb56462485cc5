// SPDX-License-Identifier: Apache-2.0
// Devices and sweeps that have misled people, from the text to the finding: the right answer, or "undetermined" and what would decide.
// What no simulated device does (a drifting clock) is in tests/infer.
#include <doctest/doctest.h>

#include "tests/loop/loop.h"

using namespace gexp::test;

namespace {

const std::string kLargeArray = "gexp 1\nexperiment t\nmemory A: u32[512MiB] in global\n";

/// A stage that walks a ring twice to warm up and twice timed.
std::string stage(const std::string& sweep, const std::string& ring, const std::string& via, const std::string& finds) {
  return kLargeArray + "stage s {\n" + sweep + "\npattern ring = " + ring + "\nlaunch grid 1 block 1\nwarm { chase A by ring laps 4 via " + via + " }\ntimed lat each { chase A by ring laps 4 via " + via +
         " }\nrepeat 5\n" + finds + "\n}\n";
}
const std::string kDense = "uniform(stride: 32B, span: n)", kFirst = "find f: B = last_flat(misses(lat) over n)";

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

/// Undetermined, for a reason that has these words in it, and what would decide.
void undecided(const gexp::result::RunResult& result, const std::string& id, const std::string& words) {
  const auto text = found(result, id);
  CHECK_MESSAGE(text.rfind("undetermined: ", 0) == 0, id << ": " << text);
  CHECK_MESSAGE(says(text, words), id << ": " << text);
  CHECK_MESSAGE(says(text, "would decide"), id << ": " << text);
}

const std::string& why(const gexp::result::RunResult& result, const std::string& id) {
  for (const auto& finding : result.findings) {
    if (finding.id == id) return finding.why;
  }
  static const std::string none;
  return none;
}

/// gtx780 with its read-only cache looked up after translation, by a TLB of pages of 512 B that reaches as far as the cache: 12 KiB.
const std::vector<Edit> kOneKnee = {
    {"[tlbs.l1_tlb]\nreach = \"32 MiB\"\npage = \"2 MiB\"\nsets = 1\nways = 16", "[tlbs.l1_tlb]\nreach = \"12 KiB\"\npage = \"512 B\"\nsets = 1\nways = 24"},
    {"[tlbs.l2_tlb]\nreach = \"130 MiB\"\npage = \"2 MiB\"\nsets = [17, 8, 8, 8, 8, 8, 8]\nindex = \"dealt\"", "[tlbs.l2_tlb]\nreach = \"1 MiB\"\npage = \"512 B\"\nsets = 1\nways = 2048"},
    {"assumed.index = \"the papers give the order in which sets overflow, which dealing pages out in turn reproduces\"\n", ""},
    {"virtual = [\"readonly\"]\nlatency.readonly = 110\n", "latency.readonly = { l1_tlb = 110, l2_tlb = 150, walk = 180, switch = 400 }\nassumed.latency.readonly = \"a test\"\n"},
    {"assumed.virtual = \"the TLBs are off-chip (Mei17 section 5.2), and Maxwell's cache of this line is looked up before them\"\n", ""}};

std::vector<Edit> noise(const std::string& text) { return {{"[shared]", "[noise]\n" + text + "\nassumed = \"a test\"\n\n[shared]"}}; }

}  // namespace

TEST_CASE("a sweep that never leaves the plateau, or never was on it") {
  undecided(run_text(stage("sweep n in 1KiB..8KiB step 1KiB", kDense, "nc", kFirst), "gtx780"), "s.f", "a larger sweep");
  undecided(run_text(stage("sweep n in 16KiB..64KiB step 16KiB", kDense, "nc", kFirst), "gtx780"), "s.f", "of one class");
  // Both classes, and still no border: the smallest footprint overflows one set of four.
  undecided(run_text(stage("sweep n in 12320B..16KiB step 1KiB", kDense, "nc", kFirst), "gtx780"), "s.f", "a sweep that begins lower");
}

TEST_CASE("two structures with one knee: the size is right for both, and no line or set is claimed of their mixture") {
  const auto sizes = run_text(stage("sweep n in 1KiB..64KiB times 2 refine to 32B on misses(lat) > 0", kDense, "nc", kFirst), "gtx780", kOneKnee);
  CHECK(found(sizes, "s.f") == "12 KiB");
  // Lines four times as far apart: the TLB reaches as far as before, the cache four times as far.
  const auto wide = run_text(stage("sweep n in 1KiB..96KiB step 1KiB", "uniform(stride: 128B, span: n)", "nc", kFirst + "\nfind g: B = last_flat(misses(lat, above: 150cycles) over n)"), "gtx780", kOneKnee);
  CHECK(found(wide, "s.f") == "12 KiB");
  undecided(wide, "s.g", "walked every 128 B");

  const auto structure = run_loop("cache/structure.gexp", "gtx780", kOneKnee);
  CHECK(found(structure, "capacity.C") == "12 KiB");
  undecided(structure, "line.b", "two structures");
  CHECK(says(found(structure, "sets.S"), "undetermined: it needs"));

  for (const std::string order : {"0", "1"}) {
    CAPTURE(order);
    const auto ring = std::string("shuffle(uniform(stride: 32B, span: 12KiB + extra * 32B), order)");
    const auto sets = run_text(stage("sweep extra in 0..40\nsweep order in " + order + ".." + order + " ", order[0] == '0' ? "uniform(stride: 32B, span: 12KiB + (extra + 0 * order) * 32B)" : ring, "nc",
                                     "find f: structure = cache_sets(lat over extra, line: 32B)"), "gtx780", kOneKnee);
    if (order[0] == '1') undecided(sets, "s.f", "two structures");
    else CHECK(found(sets, "s.f", "sizes") == "[96, 96, 96, 96]");  // in order, a page's first line is of the set that overflows: no TLB miss is seen
  }
}

TEST_CASE("a prefetcher that hides misses") {
  const std::vector<Edit> four = {{"prefetch = \"1 MiB\"", "prefetch = \"96 B\""}};  // the missed line and two more
  const auto walk = [](const std::string& sweep, const std::string& pattern, const std::string& need) {
    return kLargeArray + "stage s {\n" + sweep + "\npattern walk = " + pattern + "\nlaunch grid 1 block 1\nflush l2\ntimed lat each { chase A by walk laps 1 via cg }\nrepeat 5\nfind f: B = miss_spacing(lat) " + need + "\n}\n";
  };
  const auto up = run_text(walk("", "uniform(stride: 4B, span: 8KiB)", "need 95%"), "gtx780", four);
  undecided(up, "s.f", "96 B looks likely");
  CHECK(says(found(up, "s.f"), "a walk downwards would decide"));
  CHECK(found(run_text(walk("", "[8188B - i * 4B for i in 0..2047]", "need 95%"), "gtx780", four), "s.f") == "32 B");
  const auto both = run_text(walk("sweep down in 0..1", "[(i + down * (2047 - 2 * i)) * 4B for i in 0..2047]", "need 95%"), "gtx780", four);
  CHECK(found(both, "s.f") == "32 B");
  CHECK(says(why(both, "s.f"), "96 B on the way up"));
  // So far ahead that hardly anything misses.
  undecided(run_text(walk("", "uniform(stride: 4B, span: 8KiB)", ""), "gtx780"), "s.f", "a prefetcher");
}

TEST_CASE("a virtually addressed L1 in front of a TLB hides what it translates") {
  const std::string sweep = "sweep pages in 4..200 step 4", finds = "find f: count = last_flat(misses(lat) over pages)";
  const auto same_set = run_text(stage(sweep, "[i * 2MiB for i in 0..pages - 1]", "nc", finds), "gtx780");
  undecided(same_set, "s.f", "the ways of one set of a cache as the entries of a TLB");  // 96 lines of one set of the L1: not 16 pages
  undecided(run_text(stage(sweep, "[i * 2MiB + (i mod 64) * 128B for i in 0..pages - 1]", "nc", finds), "gtx780"), "s.f", "another load path");
  const auto past = run_text(stage("sweep pages in 4..40", "[i * 2MiB + (i mod 64) * 128B for i in 0..pages - 1]", "cg", finds), "gtx780");
  undecided(past, "s.f", "a footprint that misses in part");  // 198 and 204 cycles, one line a page
  const auto half = run_text(stage("sweep pages in 4..40", "[i * 1MiB + (i mod 64) * 128B for i in 0..2 * pages - 1]", "cg", finds), "gtx780");
  CHECK(found(half, "s.f") == "16");
}

TEST_CASE("a cache whose size is no power of two") {
  const auto result = run_loop("cache/structure.gexp", "gtx780",
                               {{"capacity = \"12 KiB\"\nline = 32\nsets = 4\nways = 96\nbits = [7, 8]", "capacity = \"3840 B\"\nline = 32\nsets = 3\nways = 40\nindex = \"modulo\""}});
  CHECK(found(result, "capacity.C") == "3840 B");
  CHECK(found(result, "sets.S", "sets") == "3");
  CHECK(found(result, "sets.S", "ways") == "40");
  CHECK(found(result, "sets.S", "mapping") == "modulo");
}

TEST_CASE("one outlier in a hundred, as slow as a miss or far slower") {
  for (const char* tail : {"90", "110", "3000"}) {
    CAPTURE(tail);
    const auto result = run_loop("cache/structure.gexp", "gtx780", noise(std::string("tail_probability = 0.01\ntail = ") + tail));
    CHECK(found(result, "fetch.unit") == "32 B");
    CHECK(found(result, "capacity.C") == "12 KiB");
    CHECK(found(result, "line.b") == "32 B");
    CHECK(found(result, "sets.S", "sets") == "4");
    CHECK(found(result, "sets.S", "ways") == "96");
    CHECK(found(result, "policy.kind", "name") == "lru");
  }
}

TEST_CASE("a record of one class has a latency and no misses") {
  const std::vector<Edit> alike = {{"latency.readonly = 110", "latency.readonly = 220"}};
  const auto result = run_text(stage("sweep n in 1KiB..64KiB times 2", kDense, "nc",
                                     kFirst + "\nfind g: B = first_flat(misses(lat) over n)\nfind h: B = first_miss(lat over n)\nfind i: B = miss_spacing(lat)\n"
                                              "find j: structure = cache_sets(lat over n, line: 32B)\nfind k: structure = replacement(lat, line: 32B, sets: 4, ways: 96)\n"
                                              "find fast: cycles = fastest(lat)\nfind slow: cycles = slowest(lat)\nfind all: list = latency_classes(lat)"),
                               "gtx780", alike);
  for (const char* id : {"s.f", "s.g", "s.h", "s.i", "s.j", "s.k"}) undecided(result, id, "of one class");
  CHECK(found(result, "s.fast") == "220 cycles");
  CHECK(found(result, "s.slow") == "220 cycles");
  CHECK(found(result, "s.all") == "[220 cycles]");
}
