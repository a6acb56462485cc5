// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <limits>

#include "compiler/lower/ops.h"
#include "lang/base/sha256.h"
#include "runtime/cli/app.h"
#include "runtime/cli/keep.h"
#include "runtime/cli/last_resort.h"
#include "runtime/cli/output.h"
#include "runtime/cli/run.h"
#include "runtime/cli/sandbox.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/timeline.h"
#include "runtime/cli/toolchain.h"
#include "runtime/device/facts.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/file_kernel.h"
#include "runtime/measure/session.h"
#include "runtime/result/lockfile.h"
#include "runtime/sim/observed.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

constexpr double kMiB = 1 << 20, kMostMiB = 1e12;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// All that a result says of a run before it begins.
result::RunResult head_of(const Opened& opened, const Common& common, const compiler::Program& program, const Source& source) {
  result::RunResult result;
  result.experiment = program.experiment;
  result.spec_path = source.path();
  result.spec_text = source.text();
  result.spec_sha256 = sha256_hex(source.text());
  result.used = program.used;
  result.settings = *split_settings(common.set);
  for (const auto& parameter : program.parameters) result.parameters[parameter.name] = parameter.value;
  result.seed = common.seed.value_or(program.seed);
  result.device = opened.backend->device();
  if (opened.simulated()) {
    if (const auto model = sim::read_model(result.device.id.substr(std::string_view("sim:").size())); model) {
      if (auto structure = sim::structure(*model); structure) result.structure = std::move(*structure);
    }
  }
  result.gexp_version = GEXP_VERSION;
  result.nvrtc = opened.compiler->build();
  result.date = now();
  return result;
}

}  // namespace

std::string now() {
  const auto time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  gmtime_r(&time, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

int exit_of(const result::RunResult& result) {
  using End = result::RunResult::End;
  using Status = result::Judgement::Status;
  if (result.end == End::Interrupted) return kInterrupted;
  if (result.end != End::Complete) return kFault;
  for (const auto& stage : result.stages) {
    if (stage.status == result::StageResult::Status::Blocked) return kNotHeld;
  }
  for (const auto& judged : result.expectations) {
    if (judged.status == Status::Fail || judged.status == Status::Unknown) return kNotHeld;
  }
  return kDone;
}

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

void rescue(const result::RunResult& result) {
  auto folder = (std::filesystem::temp_directory_path() / "gexp-XXXXXX").string();  // a name of its own, which nobody else could have made
  if (!mkdtemp(folder.data())) return;
  const auto path = fmt::format("{}/{}.json", folder, result.experiment);
  if (write_file(path, result::to_json(result))) print_err("the result was saved as {} instead\n", path);
}

/// What was measured must not be lost to a bad --out.
int save_result(const result::RunResult& result, const std::string& path) {
  auto written = write_file(path, result::to_json(result));
  if (written) return kDone;
  print(written.error(), nullptr);
  rescue(result);
  return kEnvironment;
}

Result<Opened> open_for_runs(const std::string& device, std::uint64_t seed, const std::string& templates) {
  Opened opened;
  auto backend = open_device(device, seed);
  if (!backend) return backend.error();
  auto compiler = jit::Compiler::open();
  if (!compiler) return compiler.error();
  opened.backend = std::move(*backend);
  opened.compiler = std::make_unique<jit::Compiler>(std::move(*compiler));
  const auto own = measure::own_architecture(*opened.compiler, opened.backend->device());
  opened.kernels = std::make_unique<measure::Kernels>(*opened.compiler, templates, opened.backend->target(), own);
  return opened;
}

void confine_run(const Opened& opened, const Common& common) {
  const std::vector<std::string> writes{opened.compiler->cache_folder(), common.out, common.timeline,
                                        common.store == kNoStore ? "" : store_path(common.store)};
  if (opened.simulated()) confine_to(writes);
  else limit_disk(writes, false);  // the worker of a GPU confines itself, and shares memory as a file
}

Budget::Limits limits_of(const Common& common, std::optional<double> seconds) {
  return {.seconds = seconds.value_or(kNoLimit), .memory = static_cast<std::uint64_t>(std::min(common.memory_limit.value_or(0), kMostMiB) * kMiB)};
}

namespace {

/// The NVRTC that makes machine code for the device, times ten. A simulated device takes PTX, of which NVRTC need not know more than its text.
int assembler_of(const Opened& opened) {
  const bool assembles = opened.backend->target().form == device::Target::Form::Cubin;
  return assembles ? 10 * opened.compiler->major() + opened.compiler->minor() : 0;
}

}  // namespace

std::vector<compiler::Shape> known_shapes(const Opened& opened, const Loaded& loaded) {
  auto program = loaded.program;
  program.device = device::device_facts(opened.backend->device());
  program.nvrtc = assembler_of(opened);
  return measure::known_shapes(program);
}

Ran run_on(Opened& opened, const Common& common, const Loaded& loaded, measure::Progress& progress, std::optional<double> time_left) {
  Ran ran;
  const auto seconds = std::min(common.time_limit.value_or(kNoLimit), time_left.value_or(kNoLimit));
  const Budget limits(limits_of(common, seconds));
  const Budget::Use use(limits);
  ran.program = loaded.program;
  std::optional<MemoryWatch> watch;
  if (compiler::launches_files(ran.program)) watch.emplace(limits.memory());
  auto& backend = *opened.backend;
  ran.program.device = device::device_facts(backend.device());
  ran.program.nvrtc = assembler_of(opened);
  Diagnostics needs;
  measure::check_requirements(ran.program, backend, needs);
  auto head = head_of(opened, common, ran.program, loaded.source);
  if (!needs.has_errors()) check_estimate(common, ran.program, head, needs);
  if (needs.has_errors() && Budget::ends_run(needs.sorted().front())) {  // before anything could be measured
    ran.exit = interrupted() ? kInterrupted : kFault;
    ran.problems = needs.sorted();
    return ran;
  }
  if (needs.has_errors()) {
    ran.problems = needs.sorted();
    ran.exit = ran.problems.front().code == "E0501" ? kEnvironment : kSpec;
    return ran;
  }
  auto& result = ran.result.emplace(std::move(head));

  if (common.made_of) {
    std::string all;
    for (const auto& line : result::differences(*common.made_of, result)) all += (all.empty() ? "" : "; ") + line;
    if (!all.empty()) {
      ran.exit = kEnvironment;
      ran.problems = {failure("E0918", fmt::format("this is not what {} was written for: {}", common.locked, all), "run without --locked, or where it is the same")};
      ran.result.reset();
      return ran;
    }
  }

  measure::SessionOptions options;
  options.interrupted = interrupted;
  options.time_limit = common.time_limit;
  options.time_left = time_left;
  options.launch_limit = common.launch_limit.value_or(options.launch_limit);
  options.jobs = common.jobs;
  auto kept = keep_run(common, result, progress);
  if (!kept) {
    ran.exit = kEnvironment;
    ran.problems = {kept.error()};
    ran.result.reset();
    return ran;
  }
  options.log = kept->get();
  const auto earlier = *kept ? kept_stages(common, (*kept)->id()) : nullptr;
  options.kept = earlier.get();
  if (common.counters) {
    sim::observe(backend, 0);
    options.count = [](const device::Backend& device) { return sim::counted(device).by_name(); };
  }
  options.toolchain = toolchain(common.templates);
  if (auto done = measure::run_session(ran.program, backend, *opened.kernels, options, progress, result); !done) {
    const auto& code = done.error().code;
    ran.exit = code.rfind("E07", 0) == 0 ? kEnvironment : code.rfind("E08", 0) == 0 ? kFault : kSpec;
    ran.problems = {done.error()};
  } else {
    ran.exit = exit_of(result);
  }
  if (!common.timeline.empty() && !interrupted()) ran.trace.emplace(trace_point(opened, common, ran.program, result));
  if (*kept) {
    if (const int lost = end_keeping(**kept, common, result, !ran.problems.empty(), progress); lost != kDone && ran.exit < kEnvironment) ran.exit = lost;
  }
  return ran;
}

}  // namespace gexp::cli
