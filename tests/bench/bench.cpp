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

/// A valid spec of about `lines` lines, in which every kind of statement stands: a share of it that `each` makes of its number, again and again.
std::string long_spec(int lines, const std::string& head, const std::function<std::string(int)>& each) {
  std::string text = "gexp 1\nexperiment long doc \"made for the benchmark\"\nparam limit: B = 64KiB in 1KiB..1MiB\nmemory A: u32[1MiB] in global\n" + head;
  auto count = std::count(text.begin(), text.end(), '\n');
  for (int i = 0; count < lines; ++i) {
    const auto more = each(i);
    count += std::count(more.begin(), more.end(), '\n');
    text += more;
  }
  return text;
}

/// Stages like those of the cache experiment.
std::string walks(int i) {
  return fmt::format(
      "stage s{0} {{\n  sweep n in 1KiB..limit times 2 refine to 32B on misses(lat) > 0   # footprint\n"
      "  pattern ring = uniform(stride: 32B, span: n)\n  launch grid 1 block 1\n"
      "  warm {{ chase A by ring laps 2 via ca }}\n  timed lat each {{ chase A by ring laps 2 via ca }}\n"
      "  repeat 3..20 until stable(misses(lat))\n  find C: B = last_flat(misses(lat) over n) need 95%\n"
      "  plot median(lat) vs n log n\n}}\n", i);
}

const char* const kCopy = R"(template <typename T> __global__ void copy(const T* from, T* to, unsigned n) { if (threadIdx.x < n) to[threadIdx.x] = from[threadIdx.x]; }
)";
const char* const kEveryHead = R"(memory F: f32[1KiB] in global
memory S: u32[4KiB] in shared
memory I: u32[64] in global holds [1, 2, 3, 4]
analysis cost(t: record) -> cycles doc "what a miss takes" {
  let hit = fastest(t)
  give slowest(t) - hit
}
)";

/// Stages of one launch with variables, loops and branches; chases of one thread, a formula of parts, kept values, a kernel of a file.
std::string every_statement(int i) {
  std::string text = R"(stage p# {
  sweep n in 1..4
  let half = n * 2
  skip n > 3 why "enough"
  require half > 1 else "none"
  launch grid 1 block 64 limit 50ms
  flush l2
  warm { load A at tid * 4B via cg }
  timed t total {
    var x: u32 = tid and 31
    var f: f32 = 0.5
    loop j in 0..n {
      load I at (x mod 64) * 4B into v
      assign x = (x + v * 3) and 63
      branch x < 16 { store S at (x mod 1024) * 4B value x } else { atomic add.u32 A at (x mod 1024) * 128B red }
      load F at lane * 4B into g
      assign f = f * 0.5 + g
    }
    barrier
    fence gpu
    signal ready
  }
  repeat 3
  record t raw
  derive per: cycles = median(t where warp == 0) / half
  derive each: list = median(t by warp)
  find spread: line = linear(per over n where n > 1)
  find by_warp: list = values(median(t) over warp where n == 1)
  expect spread.slope > 0cycles where spread.r2 > 0.5
}
stage q# beside p# {
  launch grid 1 block 32 place other_sm
  timed lat total { wait ready unroll k in 0..3 { load A at k * 4KiB + tid * 4B via cg } alu fma.f32 chain 64 ilp 2 }
  find on: cycles = value(median(lat where tid == 0))
  expect not hang
}
stage k# {
  sweep n in 1KiB..limit times 2
  pattern ring = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  timed lat each { interleave { chase A by ring steps 64 chase A by ring steps 64 } }
  find c: cycles = cost(lat where step > 2)
  plot median(lat) vs n log n
}
stage v# {
  launch grid 1 block 32
  timed seen values { var y: u32 = tid loop while y < 60 laps 64 { assign y = y + 1 } stamp y keep y discard A at lane * 128B drain }
  find all: count = value(median(seen))
}
stage f# {
  launch grid 4 block 128
  timed run wall { kernel "copy.cu" entry copy(A, F, limit div 4B) template "unsigned" define LAPS = 2 }
  derive rate: B/s = limit / median(run)
  find speed: B/s = value(rate)
}
)";
  for (auto at = text.find('#'); at != std::string::npos; at = text.find('#')) text.replace(at, 1, std::to_string(i));
  return text;
}

void front_end() {
  compiler::Options options;
  options.load = [](const std::string& path, const std::string&) -> Result<lang::LoadedText> { return lang::LoadedText{path, kCopy}; };
  const auto print = [&](const char* what, int lines, const std::string& text) {
    const Source source("long.gexp", text);
    const double time = median(lines == 1000 ? 9 : 5, [&] {
      Diagnostics diagnostics;
      const auto program = compiler::compile(source, options, diagnostics);
      if (!program) {
        for (const auto& diagnostic : diagnostics.sorted()) fmt::print(stderr, "{}", render(diagnostic, &source));
        std::exit(1);
      }
    });
    fmt::print("{:<44} {:10.2f} ms\n", fmt::format("parse + check + lower, {} lines{}", lines, what), time * 1e3);
  };
  for (const int lines : {1000, 10000}) print(" of walks", lines, long_spec(lines, "", walks));
  for (const int lines : {1000, 10000}) print(", all kinds", lines, long_spec(lines, kEveryHead, every_statement));
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

/// gexp_bench [GEXP [FILTER]]: with a filter, only the kernels and the answers whose names have it in them; `front_end` is that one.
int main(int argc, char** argv) {
  const std::string gexp = argc > 1 ? argv[1] : "build/release/gexp";
  if (argc > 2 && argv[2] == std::string("front_end")) return front_end(), 0;
  if (argc > 2) return gexp::bench::kernels(argv[2]), gexp::bench::findings(argv[2]), 0;
  front_end();
  edit_loop(gexp);
  simulator();
  contention();
  gexp::bench::kernels("");
  gexp::bench::findings("");
}
