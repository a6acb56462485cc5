// SPDX-License-Identifier: Apache-2.0
// What `./dev bench` prints: the figures that issue after issue promises to keep. Each is the median of several runs within
// this one process; ratios compare things measured in the same run, since machines are noisy.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "compiler/pipeline.h"
#include "compiler/plan/plan.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/session.h"
#include "runtime/sim/observed.h"
#include "runtime/sim/sim.h"
#include "tests/bench/findings.h"
#include "tests/bench/kernels.h"

using namespace gexp;
namespace fs = std::filesystem;

namespace {

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(int runs, const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(seconds(work));
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

/// A valid spec of about `lines` lines: stages like those of the cache experiment, one after the other.
std::string long_spec(int lines) {
  std::string text = "gexp 1\nexperiment long doc \"made for the benchmark\"\nparam limit: B = 64KiB in 1KiB..1MiB\nmemory A: u32[1MiB] in global\n";
  for (int stage = 0; 10 * stage + 4 < lines; ++stage) {
    text += fmt::format(
        "stage s{0} {{\n  sweep n in 1KiB..limit times 2 refine to 32B on misses(lat) > 0   # footprint\n"
        "  pattern ring = uniform(stride: 32B, span: n)\n  launch grid 1 block 1\n"
        "  warm {{ chase A by ring laps 2 via ca }}\n  timed lat each {{ chase A by ring laps 2 via ca }}\n"
        "  repeat 3..20 until stable(misses(lat))\n  find C: B = last_flat(misses(lat) over n) need 95%\n"
        "  plot median(lat) vs n log n\n}}\n", stage);
  }
  return text;
}

void front_end() {
  for (const int lines : {1000, 10000}) {
    const Source source("long.gexp", long_spec(lines));
    const double time = median(lines == 1000 ? 9 : 3, [&] {
      Diagnostics diagnostics;
      const auto program = compiler::compile(source, {}, diagnostics);
      if (!program) {
        for (const auto& diagnostic : diagnostics.sorted()) fmt::print(stderr, "{}", render(diagnostic, &source));
        std::exit(1);
      }
    });
    fmt::print("{:<44} {:10.2f} ms\n", fmt::format("parse + check + lower, {} lines", lines), time * 1e3);
  }
}

const char* kFirst = R"(gexp 1
experiment first
memory A: u32[64KiB] in global
stage s {
  pattern ring = uniform(stride: 32B, span: 8KiB)
  launch grid 1 block 1
  warm { chase A by ring laps 1 via nc }
  timed lat each { chase A by ring laps 1 via nc }
  repeat 1..1
  find hit: cycles = fastest(lat)
}
)";

/// A command's time; negative when it fails.
double command(const std::string& text) {
  int code = 0;
  const double time = seconds([&] { code = std::system(text.c_str()); });
  return code == 0 ? time : -1;
}

/// From an edited file to its first result on the simulator, as the user's own command in a process of its own.
void edit_loop(const std::string& gexp) {
  const auto folder = fs::temp_directory_path() / fmt::format("gexp-bench-{}", getpid());
  fs::create_directories(folder);
  const auto spec = (folder / "first.gexp").string();
  std::ofstream(spec) << kFirst;
  const auto cache = (folder / "cache").string();
  const auto run = fmt::format("GEXP_CACHE={} {} run {} --device sim:gtx780 --quiet >/dev/null", cache, gexp, spec);
  std::vector<double> cold, warm, nvcc;
  const bool have_nvcc = std::system("command -v nvcc >/dev/null 2>&1") == 0;
  const auto cu = (folder / "first.cu").string();
  command(fmt::format("{} emit {} --cuda > {}", gexp, spec, cu));
  for (int i = 0; i < 5; ++i) {
    fs::remove_all(cache);
    cold.push_back(command(run));
    warm.push_back(command(run));
    if (have_nvcc) nvcc.push_back(command(fmt::format("nvcc -arch=sm_75 -cubin -o {}.cubin {}", cu, cu)));
  }
  for (auto* times : {&cold, &warm, &nvcc}) std::sort(times->begin(), times->end());
  fmt::print("edit to first result, cold kernel cache      {:10.1f} ms\n", cold[2] * 1e3);
  fmt::print("edit to first result, warm kernel cache      {:10.1f} ms\n", warm[2] * 1e3);
  if (have_nvcc) {
    fmt::print("nvcc on the emitted CUDA                     {:10.1f} ms   cold is 1/{:.1f}, warm is 1/{:.1f} of it\n", nvcc[2] * 1e3,
               nvcc[2] / cold[2], nvcc[2] / warm[2]);
  } else {
    fmt::print("nvcc on the emitted CUDA                     no nvcc here\n");
  }
  fs::remove_all(folder);
}

/// An experiment on the simulated GTX 780: seconds, and instructions that threads execute in them.
struct Simulated {
  double seconds = 0, executed = 0;
};
/// `spans`: of a timeline; nothing: launches are not observed.
Simulated simulate(const Source& source, std::optional<std::size_t> spans = std::nullopt) {
  auto compiler = jit::Compiler::open();
  Diagnostics diagnostics;
  const auto program = compiler::compile(source, {}, diagnostics);
  auto backend = sim::open("gtx780");
  if (!program || !backend || !compiler) {
    for (const auto& diagnostic : diagnostics.sorted()) fmt::print(stderr, "{}", render(diagnostic, &source));
    std::exit(1);
  }
  if (spans) sim::observe(**backend, *spans);
  const auto before = sim::instructions_executed();
  measure::Kernels kernels(*compiler, {}, {});
  result::RunResult result;
  measure::Progress silent;
  const double seconds = median(3, [&] {
    result = {};
    (void)measure::run_session(*program, **backend, kernels, {}, silent, result);
  });
  return {seconds, static_cast<double>(sim::instructions_executed() - before) / 3};
}

/// What it costs to count what launches do, and to note when: of a run that takes `time` without.
void observing(const Source& source, double time) {
  const double counted = simulate(source, 0).seconds, noted = simulate(source, 500'000).seconds;
  fmt::print("  with counters, with a timeline             {:10.2f} and {:.2f} times as long\n", counted / time, noted / time);
}

/// A chase on the simulator: its time a simulated PTX instruction, and that twice the accesses cost twice the time.
void simulator() {
  double per_access[2] = {};
  int i = 0;
  for (const int laps : {2000, 4000}) {
    const Source source("chase.gexp", fmt::format(R"(gexp 1
experiment long_chase
memory A: u32[64KiB] in global
stage s {{
  pattern ring = uniform(stride: 32B, span: 8KiB)
  launch grid 1 block 1
  warm {{ chase A by ring laps {} via nc }}
  timed lat each {{ chase A by ring laps 1 via nc }}
  repeat 1..1
  find hit: cycles = fastest(lat)
}}
)", laps));
    const auto [time, executed] = simulate(source);
    if (i == 0) observing(source, time);
    per_access[i++] = time / (laps * 256.0);
    fmt::print("simulated chase of {:7} accesses            {:10.1f} million PTX instructions/s, {:.1f} ns an access\n", laps * 256,
               executed / time / 1e6, time / (laps * 256.0) * 1e9);
  }
  fmt::print("cost of twice the accesses                   {:10.2f} times as long (2 is linear)\n", 2 * per_access[1] / per_access[0]);
}

/// Twelve SMs full of warps that read through the L2: thread-instructions a second, with all the queues at work.
void contention() {
  for (const int threads : {1, 32, 1024}) {
    const Source source("many.gexp", fmt::format(R"(gexp 1
experiment many_warps
memory A: u32[64MiB] in global
stage s {{
  launch grid 12 block {}
  timed t total {{ loop p in 0..200 {{ unroll j in 0..3 {{ load A at gtid * 4B + (p * 4 + j) mod 256 * 48KiB via cg }} }} }}
  repeat 1..1
  find m: cycles = value(median(t))
}}
)", threads));
    const auto [time, executed] = simulate(source);
    if (threads == 32) observing(source, time);
    fmt::print("simulated reads by 12 blocks of {:4} threads  {:10.1f} million thread-instructions/s\n", threads, executed * std::min(threads, 32) / time / 1e6);
  }
}

}  // namespace

/// gexp_bench [GEXP [FILTER]]: with a filter, only the kernels and the answers whose names have it in them.
int main(int argc, char** argv) {
  const std::string gexp = argc > 1 ? argv[1] : "build/release/gexp";
  if (argc > 2) return gexp::bench::kernels(argv[2]), gexp::bench::findings(argv[2]), 0;
  front_end();
  edit_loop(gexp);
  simulator();
  contention();
  gexp::bench::kernels("");
  gexp::bench::findings("");
}
