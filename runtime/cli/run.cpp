// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <limits>
#include <utility>

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

struct Running::State {
  State(const Common& asked, const Loaded& loaded, std::optional<double> time_left)
      : common(asked), limits(limits_of(asked, std::min(asked.time_limit.value_or(kNoLimit), time_left.value_or(kNoLimit)))) {
    ran.program = loaded.program;
  }
  Common common;
  Ran ran;
  const Budget limits;
  std::optional<MemoryWatch> watch;
  std::unique_ptr<store::Recording> kept;
  std::unique_ptr<measure::KeptStages> earlier;
  measure::SessionOptions options;
  measure::Conclusion conclusion;  ///< empty: there was nothing to measure
};

Running::Running(Opened& opened, const Common& common, const Loaded& loaded, measure::Progress& progress, std::optional<double> time_left)
    : opened_(opened), progress_(progress), state_(std::make_unique<State>(common, loaded, time_left)) {
  const Budget::Use use(state_->limits);
  if (prepare(loaded)) measure(time_left);
}
Running::Running(Running&&) noexcept = default;
Running::~Running() = default;

/// False: it cannot be run; why stands in its problems.
bool Running::prepare(const Loaded& loaded) {
  auto& [common, ran, limits, watch, kept, earlier, options, conclusion] = *state_;
  if (compiler::launches_files(ran.program)) watch.emplace(limits.memory());
  auto& backend = *opened_.backend;
  ran.program.device = device::device_facts(backend.device());
  ran.program.nvrtc = assembler_of(opened_);
  Diagnostics needs;
  std::unique_lock turn(*opened_.turn);
  measure::check_requirements(ran.program, backend, needs);
  turn.unlock();
  auto head = head_of(opened_, common, ran.program, loaded.source);
  if (!needs.has_errors()) check_estimate(common, ran.program, head, needs);
  if (needs.has_errors()) {
    ran.problems = needs.sorted();
    ran.exit = ran.problems.front().code == "E0501" ? kEnvironment : kSpec;
    if (Budget::ends_run(ran.problems.front())) ran.exit = interrupted() ? kInterrupted : kFault;  // before anything could be measured
    return false;
  }
  if (common.made_of) {
    std::string all;
    for (const auto& line : result::differences(*common.made_of, head)) all += (all.empty() ? "" : "; ") + line;
    if (!all.empty()) {
      ran.exit = kEnvironment;
      ran.problems = {failure("E0918", fmt::format("this is not what {} was written for: {}", common.locked, all), "run without --locked, or where it is the same")};
      return false;
    }
  }
  turn.lock();
  auto recording = keep_run(common, head, progress_);
  if (!recording) {
    ran.exit = kEnvironment;
    ran.problems = {recording.error()};
    return false;
  }
  kept = std::move(*recording);
  ran.result.emplace(std::move(head));
  return true;
}

void Running::measure(std::optional<double> time_left) {
  auto& [common, ran, limits, watch, kept, earlier, options, conclusion] = *state_;
  options.interrupted = interrupted;
  options.time_limit = common.time_limit;
  options.time_left = time_left;
  options.launch_limit = common.launch_limit.value_or(options.launch_limit);
  options.jobs = common.jobs;
  options.turn = opened_.turn.get();
  options.log = kept.get();
  earlier = kept ? kept_stages(common, kept->id()) : nullptr;
  options.kept = earlier.get();
  auto& backend = *opened_.backend;
  if (common.counters) {
    sim::observe(backend, 0);
    options.count = [](const device::Backend& device) { return sim::counted(device).by_name(); };
  }
  options.toolchain = toolchain(common.templates);
  std::unique_lock turn(*opened_.turn);
  options.device_used = std::exchange(opened_.used, true);
  turn.unlock();
  conclusion = measure::begin_session(ran.program, backend, *opened_.kernels, options, progress_, *ran.result);
}

void Running::conclude() {
  if (!state_->conclusion) return;
  const Budget::Use use(state_->limits);
  auto& ran = state_->ran;
  if (auto done = state_->conclusion(); !done) {
    const auto& code = done.error().code;
    ran.exit = code.rfind("E07", 0) == 0 ? kEnvironment : code.rfind("E08", 0) == 0 ? kFault : kSpec;
    ran.problems = {done.error()};
  } else {
    ran.exit = exit_of(*ran.result);
  }
}

Ran Running::end() {
  auto& [common, ran, limits, watch, kept, earlier, options, conclusion] = *state_;
  if (!conclusion) return std::move(ran);
  const Budget::Use use(limits);
  if (!common.timeline.empty() && !interrupted()) ran.trace.emplace(trace_point(opened_, common, ran.program, *ran.result));
  if (kept) {
    if (const int lost = end_keeping(*kept, common, *ran.result, !ran.problems.empty(), progress_); lost != kDone && ran.exit < kEnvironment) ran.exit = lost;
  }
  conclusion = nullptr;
  return std::move(ran);
}

Ran run_on(Opened& opened, const Common& common, const Loaded& loaded, measure::Progress& progress, std::optional<double> time_left) {
  Running running(opened, common, loaded, progress, time_left);
  running.conclude();
  return running.end();
}

}  // namespace gexp::cli
