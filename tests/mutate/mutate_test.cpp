// SPDX-License-Identifier: Apache-2.0
// What may be done to an experiment, so that its claims must still be right or withheld.
#include "compiler/mutate/mutate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/pipeline.h"
#include "lang/parse.h"

using namespace gexp;
using compiler::Mutation;

namespace {

const char* const kSpec = R"(gexp 1
experiment small
param limit: B = 16KiB in 1KiB..64KiB
memory A: u32[2 * limit] in global
stage sets {
  sweep extra in 0..limit div 32B until misses(lat) > 8
  sweep order in 0..3
  pattern ring = shuffle(uniform(stride: 32B, span: 4KiB + extra * 32B), order)
  launch grid 1 block 1
  warm { chase A by ring laps 2 via nc }
  timed lat each { chase A by ring laps 4 via nc }
  repeat 3..20 until stable(misses(lat))
  find S: structure = cache_sets(lat over extra, line: 32B)
}
expect sets.S.sets == model.nc.sets
)";

std::vector<Mutation> of(const Source& source) {
  Diagnostics diagnostics;
  const auto file = lang::parse(source, diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  return compiler::mutations(source, file);
}

std::string edited(const std::string& text, const Mutation& mutation) {
  std::string out = text;
  for (auto edit = mutation.edits.rbegin(); edit != mutation.edits.rend(); ++edit) out.replace(edit->span.begin, edit->span.end - edit->span.begin, edit->text);
  return out;
}

/// The text with the one mutation that these words name.
std::string with(const std::string& words) {
  const Source source("small.gexp", kSpec);
  const auto all = of(source);
  const auto found = std::find_if(all.begin(), all.end(), [&](const Mutation& mutation) { return mutation.words == words; });
  REQUIRE_MESSAGE(found != all.end(), words);
  return edited(source.text(), *found);
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("each mutation is an edit that its words describe") {
  CHECK(has(with("stage sets: `sweep extra` in steps of 4 instead of 1"), "sweep extra in 0..limit div 32B step 4 until"));
  CHECK(has(with("stage sets: `sweep extra` from `0 + 5` instead of `0`"), "sweep extra in 0 + 5..limit div 32B until"));
  CHECK(has(with("stage sets: `sweep extra` to `(limit div 32B) div 2` instead of `limit div 32B`"), "0..(limit div 32B) div 2 until"));
  CHECK(has(with("stage sets: `sweep extra` without `until`"), "sweep extra in 0..limit div 32B \n"));
  CHECK(has(with("stage sets: its patterns grow by 2 `extra` a step"), "4KiB + (2 * extra) * 32B), order)"));
  CHECK(has(with("stage sets: `pattern ring` with 4 times the distance `32B`"), "stride: (4 * (32B)), span"));
  CHECK(has(with("stage sets: `pattern ring` begins 4KiB further on"), "[moved + 4KiB for moved in shuffle("));
  CHECK(has(with("stage sets: `timed`: laps of ring `1` instead of `4`"), "timed lat each { chase A by ring laps 1 via nc }"));
  CHECK(has(with("stage sets: `repeat 1..2` instead of `repeat 3..20`"), "repeat 1..2 until"));
  CHECK_FALSE(has(with("stage sets: no `warm`"), "warm"));
  CHECK(has(with("stage sets: `find S` with line: `2 * (32B)` instead of `32B`"), "line: 2 * (32B))"));
  CHECK(has(with("stage sets: `find S` where order > 0"), "cache_sets(lat over extra where order > 0, line"));
  CHECK(has(with("`param limit` is `32KiB` instead of `16KiB`"), "param limit: B = 32KiB in"));
}

TEST_CASE("another path is the whole file's, and its expectation's") {
  const auto text = with("all loads by `ca` instead of `nc`");
  CHECK_FALSE(has(text, "via nc"));
  CHECK(has(text, "expect sets.S.sets == model.ca.sets"));
}

TEST_CASE("no other path where loads are by several, or something else of the model is expected") {
  const auto paths = [](const std::string& from, const std::string& to) {
    std::string text = kSpec;
    text.replace(text.find(from), from.size(), to);
    const auto all = of(Source("small.gexp", text));
    return std::count_if(all.begin(), all.end(), [](const Mutation& mutation) { return mutation.kind == "path"; });
  };
  CHECK(paths("laps 4 via nc", "laps 4 via nc") == 2);
  CHECK(paths("laps 4 via nc", "laps 4 via ca") == 0);
  CHECK(paths("model.nc.sets", "model.tlb1.sets") == 0);
  CHECK(paths("model.nc.sets", "model.ca.sets") == 0);
  CHECK(paths("expect", "stage theirs { launch grid 1 block 1 timed t total { kernel \"k.cu\" entry k(A) } repeat 1 }\nexpect") == 0);
}

TEST_CASE("a selection of no points names the finding that has nothing to go by") {
  const auto all = of(Source("small.gexp", kSpec));
  std::set<std::string> empty;
  for (const auto& mutation : all) {
    if (!mutation.nothing.empty()) empty.insert(mutation.words);
    if (!mutation.nothing.empty()) CHECK(mutation.nothing == "sets.S");
  }
  CHECK(empty == std::set<std::string>{"stage sets: `find S` where extra < 0", "stage sets: `find S` where order < 0"});
}

TEST_CASE("the drawn file hangs on the seed alone, and seeds reach every kind") {
  const Source source("small.gexp", kSpec);
  const auto all = of(source);
  std::set<std::string> kinds, drawn;
  for (const auto& mutation : all) kinds.insert(mutation.kind);
  std::size_t two = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const auto one = compiler::mutate(source, all, seed), again = compiler::mutate(source, all, seed);
    REQUIRE((one && again));
    CHECK(one->source.text() == again->source.text());
    CHECK(one->source.text() != source.text());
    two += one->words.size() == 2;
    for (const auto& mutation : all) {
      if (mutation.words == one->words[0]) drawn.insert(mutation.kind);
    }
  }
  CHECK(drawn == kinds);
  CHECK(two > 30);
  CHECK(two < 150);
}

TEST_CASE("most of what may be done to the files that ship compiles") {
  for (const char* name : {"cache/structure", "tlb/structure", "cache/l2_prefetch", "outstanding/threads", "shared/bank_stride"}) {
    const Source source(name, read(std::string(GEXP_SOURCE_DIR) + "/experiments/" + name + ".gexp"));
    const auto all = of(source);
    CHECK(all.size() > 20);
    std::size_t compiled = 0;
    for (const auto& mutation : all) {
      Diagnostics diagnostics;
      compiled += compiler::compile(Source(name, edited(source.text(), mutation)), {}, diagnostics).has_value();
    }
    CHECK_MESSAGE(compiled * 10 > all.size() * 7, name);
  }
}
