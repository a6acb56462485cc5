// SPDX-License-Identifier: Apache-2.0
// Small files that ask for too much: a diagnostic says so, in little time and memory.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <ctime>

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

void refused(const std::string& name, const std::string& text, const std::string& code) {
  CAPTURE(name);
  const auto start = std::clock();
  const auto compiled = compile(text);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;  // of this process alone, however busy the machine is
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

TEST_CASE("the experiments of the repository need a fraction of what a compile may cost") {
  compiler::Options options;
  options.budget = compiler::kCompileUnits / 128;  // what the fuzzers allow
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
