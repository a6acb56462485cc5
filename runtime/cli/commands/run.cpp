// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cli/output.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/run.h"
#include "runtime/cli/shared_options.h"
#include "runtime/cli/timeline.h"
#include "runtime/report/text.h"
#include "runtime/result/lockfile.h"
#include "runtime/result/result_json.h"

namespace gexp::cli {
namespace {

/// What a lock file asks for takes the place of what is not given; what is given otherwise is refused when the run begins.
bool take_lock(Common& common) {
  auto locked = result::read_lockfile(common.locked);
  if (!locked) {
    print(locked.error(), nullptr);
    return false;
  }
  if (common.set.empty()) common.set = locked->set;
  if (!common.seed) common.seed = locked->seed;
  if (common.device == "auto") common.device = locked->device;
  common.made_of = std::make_shared<result::RunResult>(std::move(locked->made_of));
  return true;
}

int run_experiment(const Common& given) {
  int exit = kDone;
  auto common = given;
  if (!common.locked.empty() && !take_lock(common)) return kEnvironment;
  common.fresh = common.fresh || !common.locked.empty() || common.counters;  // who locks wants it measured once more
  auto loaded = load_spec(common, exit);
  if (!loaded) return exit;
  if (auto known = may_have_timeline(loaded->program, common.timeline_of); !known) return refuse(known.error(), nullptr, kSpec);
  const bool watches = common.counters || !common.timeline.empty();
  if (common.device == "cuda:all" && !watches) return run_on_all(common, *loaded);
  for (const auto& file : {common.out, common.timeline}) {
    if (file.empty()) continue;
    auto writable = may_write(file, loaded->source.path());
    if (writable) writable = check_writable(file);
    if (writable && common.out == common.timeline) writable = failure("E0710", file + " would be written twice");
    if (!writable) return refuse(writable.error(), nullptr, kEnvironment);
  }
  catch_interrupts();
  keep_freed_memory();
  const auto progress = open_progress(common);
  auto opened = open_for_runs(common.device, common.seed.value_or(loaded->program.seed), common.templates);
  if (!opened) {
    print(opened.error(), nullptr);
    return kEnvironment;
  }
  if (watches && !opened->simulated()) {
    const auto& id = opened->backend->device().id;
    return refuse(
        failure("E0501", fmt::format("{} is a GPU: what launches do is counted and noted on simulated devices alone", id),
                "take one with --device sim:NAME; on a GPU, Nsight Compute and Nsight Systems do that"),
        nullptr, kEnvironment);
  }
  confine_run(*opened, common);
  std::optional<measure::CompileAhead> ahead;
  if (!opened->simulated()) ahead.emplace(*opened->kernels, known_shapes(*opened, *loaded));
  const auto ran = run_on(*opened, common, *loaded, *progress);
  for (const auto& problem : ran.problems) print(problem, &loaded->source);
  if (!ran.result) return ran.exit;
  if (!common.out.empty()) exit = save_result(*ran.result, common.out);
  if (common.json) {
    print_out("{}", result::to_json(*ran.result));
  } else if (!common.quiet || ran.problems.empty()) {
    print_out("{}", report::text(ran.program, *ran.result, colour_on(STDOUT_FILENO)));
    if (!common.out.empty() && exit == kDone) print_out("saved as {}\n", common.out);
  }
  if (ran.trace) {
    if (const int timeline = write_timeline(common, *ran.trace); exit == kDone && ran.exit < kSpec) exit = timeline;
  }
  return exit != kDone ? exit : ran.exit;
}

class Run final : public Command {
 public:
  void declare(Options& options) override {
    add_spec(options, common_);
    add_device(options, common_, kAnyDevices);
    options.add("--seed", &common_.seed, "seed of a simulated device, instead of the spec's");
    add_out(options, common_, "save the result, records included, as this JSON file");
    options.add("--json", &common_.json, "print the result as JSON, and nothing else, on stdout");
    add_progress(options, common_);
    add_jobs(options, common_, "points measured at once on a simulated device; by default one for each core of this machine. The result is the same");
    add_time_limit(options, common_, "seconds after which the run ends, instead of the file's budget");
    add_launch_limit(options, common_);
    add_memory_limit(options, common_);
    add_fresh(options, common_, "measure every stage; else what an earlier result holds is kept");
    options.add("--resume", &common_.resume, "go on with a run of the same that was broken off");
    options
        .add("--counters", &common_.counters,
             "on a simulated device: count instructions, stalls, replays, and lookups and bytes of every cache and TLB. "
             "Measures every stage")
        .excludes("--resume");
    options
        .add("--timeline", &common_.timeline,
             "on a simulated device: what each warp of one point did when, as JSON for Chrome's trace viewer or Perfetto")
        .offers(Offers::Files);
    options
        .add("--timeline-of", &common_.timeline_of,
             "which point: a stage, then its sweeps, as 'capacity n=12KiB'; by default the first one")
        .checked_by(misuse_of_place);
    add_store(options, common_.store);
    options.add("--locked", &common_.locked,
                "a file that `gexp export RESULT FILE.lock` wrote: its settings, seed and device; refuses to run where spec, device or toolchain is another")
        .offers(Offers::Files);
  }
  [[nodiscard]] std::string misuse() const override {
    if (common_.timeline.empty() && !common_.timeline_of.empty()) return "--timeline-of: name a file with --timeline";
    return misuse_of_spec(common_);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::nullopt; }
  int run() override { return run_experiment(common_); }

 private:
  Common common_;
};

}  // namespace

std::unique_ptr<Command> new_run() { return std::make_unique<Run>(); }

}  // namespace gexp::cli
