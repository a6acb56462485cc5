// SPDX-License-Identifier: Apache-2.0
// Small files that ask for too much: a diagnostic says so, in little time and memory.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include "tests/compiler/compile.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kInstrumented = true;
#elif defined(__has_feature)
constexpr bool kInstrumented = __has_feature(address_sanitizer);
#else
constexpr bool kInstrumented = false;
#endif

const std::string kHead = "gexp 1\nexperiment x\n";

std::string repeated(const char* form, int times) {
  std::string text;
  for (int i = 1; i <= times; ++i) text += fmt::format(fmt::runtime(form), i, i - 1);
  return text;
}

/// A stage whose loads go by way of a body's text.
std::string stage(const std::string& before, const std::string& ops, const std::string& launch = "grid 1 block 1") {
  return kHead + "memory A: u32[64KiB] in global\nstage s {\n" + before + "\nlaunch " + launch + "\ntimed t total { " + ops + " }\nfind a: cycles = fastest(t)\n}\n";
}

/// What this process has computed so far, however busy the machine is and however long its pages take to come.
double own_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

void refused(const std::string& name, const std::string& text, const std::string& code) {
  CAPTURE(name);
  const double start = own_seconds();
  const auto compiled = compile(text);
  const double seconds = own_seconds() - start;
  CAPTURE(compiled.text());
  CHECK(seconds < (kInstrumented ? 30 : 4));
  CHECK(compiled.codes().find(code) != std::string::npos);
  CHECK(compiled.text().size() < 100000);
}

}  // namespace

TEST_CASE("lists and patterns that are too long, alone or together, are refused") {
  refused("one list", kHead + "let a = [0 for i in 0..1e9]\n", "E0406");
  refused("a list of lists", kHead + "let a = [[0 for i in 0..10000] for j in 0..10000]\n", "E0444");
  refused("loops in one list", kHead + "let a = [0 for i in 0..10000 for j in 0..10000]\n", "E0444");
  refused("loops without a round", kHead + "let a = [0 for i in 0..100000 for j in 0..100000 for k in 1..0]\n", "E0444");
  refused("lists that double", kHead + "let a0 = [0, 0]\n" + repeated("let a{0} = [a{1}, a{1}]\n", 40), "E0444");
  refused("lets that double", kHead + "let a0 = [0, 0]\n" + repeated("let a{0} = [a{1}, a{1}]\n", 40) + "stage s { timed t each { barrier } }\n", "E0444");
  refused("many patterns", kHead + repeated("pattern p{0} = uniform(stride: 1B, span: 64MiB)\n", 50), "E0444");
  refused("patterns that double", kHead + "pattern p0 = uniform(stride: 1B, span: 8B)\n" + repeated("pattern p{0} = nonuniform(a: p{1}, b: p{1})\n", 60), "E04");
  refused("texts", kHead + "let a = [\"" + std::string(100000, 'x') + "\" for i in 0..100000]\n", "E0444");
  refused("no interval", kHead + "let a = [0 for i in 0..1e308 * 10]\n", "E0406");
  refused("nested repeats", kHead + "pattern p = repeat(repeat(repeat(uniform(stride: 4B, span: 4KiB), 1000), 1000), 1000)\n", "E0406");
}

TEST_CASE("sweeps and bodies that are too large are refused") {
  refused("points", stage("sweep w in 1..8 points 1e18", "load A at 0B as w * 4B"), "E0406");
  refused("a small step", stage("sweep w in 4B..16B step 0.0000001B", "load A at 0B as w"), "E04");
  refused("many sweeps of many widths", stage(repeated("sweep w{0} in 0..1000\n", 5), "load A at 0B as (w1 + w2 + w3 + w4 + w5) * 4B"), "E04");
  refused("many sweeps", stage(repeated("sweep w{0} in 0..1000\n", 40), "load A at 0B"), "E0440");
  refused("unrolled", stage("", "unroll i in 0..1000 { unroll j in 0..1000 { load A at 0B } }"), "E0432");
  refused("lets of threads that double", stage("let a0 = tid\n" + repeated("let a{0} = a{1} + a{1}\n", 60), "load A at a60 * 4B"), "E0444");
  refused("a wide launch", stage("", "branch tid mod 2 == 0 { load A at (tid * tid * tid mod 7) * 4B }", "grid 4096 block 1024"), "E04");
  const auto idle = compile(stage("", "unroll i in 0..4e9 { } load A at 0B"));
  CHECK_FALSE(idle.diagnostics.has_errors());
  const auto deep = compile(stage("", repeated("loop i{0} in 0..4e9 {{ ", 60) + "load A at 0B" + std::string(60, '}')));
  CHECK(deep.diagnostics.sorted().size() < 50);
}

TEST_CASE("what is nested, or read one through the other, has a depth") {
  refused("loops of one list", kHead + "let a = [1 " + repeated("for i{0} in 0..0 ", 9700) + "]\n", "E0101");
  refused("lists in lists", kHead + "let a0 = [1]\n" + repeated("let a{0} = [a{1}]\n", 100), "E0406");
  refused("lists of lists", kHead + "let a0 = [1]\n" + repeated("let a{0} = [a{1} for i in 1..1]\n", 100), "E0406");
  refused("lets of threads", stage("let a0 = tid\n" + repeated("let a{0} = a{1} + 1\n", 20000), "load A at a20000 * 4B"), "E0101");
  const auto derives = repeated("derive d{0}: cycles = d{1} + 1cycles\n", 7800);
  refused("derives", kHead + "memory A: u32[64KiB] in global\nstage s {\nsweep n in 1..4\ntimed t total { load A at 0B }\nderive d0: cycles = median(t)\n" + derives + "find h: cycles = plateau(d7800 over n)\n}\n", "E0101");
  refused("sweeps", stage(repeated("sweep w{0} in [1]\n", 8000), "load A at 0B"), "E0440");
  const auto chain = compile(kHead + "let a0 = 1\n" + repeated("let a{0} = a{1} + 1\n", 20000));
  CHECK_FALSE(chain.diagnostics.has_errors());  // each has its value before the next one is looked at
}

TEST_CASE("many stages of many points take little time, and a refinement without end ends") {
  std::string stages;
  for (int i = 0; i < 3000; ++i) stages += fmt::format("stage s{0} {{ sweep n in 1..400000 timed t total {{ load A at 0B }} find h: cycles = fastest(t) }}\n", i);
  refused("stages", kHead + "memory A: u32[64KiB] in global\n" + stages, "E0444");
  const auto start = std::clock();
  const auto refined = compile(stage("sweep n in 1KiB..64KiB times 2 refine to 1e-31B on misses(t) > 0", "load A at 0B"));
  CHECK(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC < 5);
}

TEST_CASE("a barrier is reached by all threads of a block or refused") {
  const auto codes = [](const std::string& ops, const std::string& launch) { return compile(stage("", ops, launch)).codes(); };
  CHECK(codes("branch tid < 32 { barrier }", "grid 1 block 64") == "E0436");
  CHECK(codes("branch gtid < 96 { barrier }", "grid 2 block 64") == "E0436");
  CHECK(codes("branch cta < 1 { branch lane < 16 { barrier } }", "grid 2 block 64") == "E0436");
  CHECK(codes("loop i in 1..8 { branch warp < i { barrier } }", "grid 1 block 256") == "E0436");
  CHECK(codes("branch gtid < 100000 { barrier }", "grid 65535 block 1024") == "E0436");  // too many to be looked at
  CHECK(codes("branch cta mod 2 == 0 { barrier }", "grid 65535 block 1024").empty());
  CHECK(codes("branch gtid < 128 { barrier }", "grid 4 block 64").empty());
  CHECK(codes("branch tid < 64 { barrier }", "grid 1 block 64").empty());
  CHECK(codes("barrier", "grid 1 block 64").empty());
}

TEST_CASE("the experiments of the repository need a fraction of what a compile may cost") {
  compiler::Options options;
  options.budget = kCompileUnits / 64;  // what the fuzzers allow
  for (const char* folder : {"experiments", "tests/cases/examples"}) {
    for (const auto& path : files_under(folder, ".gexp")) {
      CAPTURE(path.string());
      CHECK(compile(read(path), options).text().find("E0444") == std::string::npos);
    }
  }
}

TEST_CASE("none of them took more than about 1 GiB") {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss < (kInstrumented ? 3072 : 1280) * 1024);  // KiB, of the whole program
}
