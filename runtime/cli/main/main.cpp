// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <system_error>

#include "runtime/cli/app.h"
#include "runtime/cli/results.h"
#include "runtime/jit/compiler.h"

namespace {

using gexp::cli::Common;

constexpr const char* kResult = "number or name of a result in the store, `last`, a bundle, FILE.db:7, or a file that `run --out` wrote";

void add_spec(CLI::App& command, Common& common) {
  auto* file = command.add_option("file", common.file, "the experiment, a .gexp file or one of `gexp list`");
  auto* text = command.add_option("-e", common.text, "the experiment's text itself, or its short form: 'chase uniform(128B, 64KiB) via ca'");
  file->excludes(text);
  command.add_option("--set", common.set, "NAME=VALUE: a parameter's value")->take_all()->expected(1)->allow_extra_args(false);
  command.add_option("--templates", common.templates, "folder of CUDA templates instead of the built-in ones");
  command.callback([&common] {
    if (common.file.empty() && common.text.empty()) throw CLI::ValidationError("file", "name an experiment, or give its text with -e");
  });
}

void add_store(CLI::App& command, Common& common) {
  command.add_option("--store", common.store, "the file that keeps results, or none; by default what GEXP_STORE names, else gexp.db in this folder");
}

/// A date is compared as the text that results have: nothing else may pass for one.
std::string date(const std::string& text) {
  static const std::regex kDate("[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01])(T[0-9:]{2,8}Z?)?)?)?");
  return std::regex_match(text, kDate) ? std::string() : text + " is no date: write 2026-11-22, 2026-11 or 2026";
}

std::string some_name(const std::string& path) { return path.empty() ? "an empty name is no file" : ""; }

void progress_of(CLI::App& command, Common& common) {
  auto* quiet = command.add_flag("--quiet", common.quiet, "no progress");
  command.add_flag("--json-progress", common.json_progress, "progress as JSON, an object a line on stderr")->excludes(quiet);
}

/// nan and inf pass for numbers elsewhere, and for limits where they are compared.
std::string finite(const std::string& text, bool zero_too) {
  double number = 0;
  const bool fits = CLI::detail::lexical_cast(text, number) && std::isfinite(number) && (number > 0 || (zero_too && number == 0));
  return fits ? std::string() : fmt::format("{} is no number {} 0", text, zero_too ? "from" : "above");
}
std::string above_zero(const std::string& text) { return finite(text, false); }
std::string from_zero(const std::string& text) { return finite(text, true); }

}  // namespace

namespace {

int run_command_line(int argc, char** argv) {
  CLI::App app{"gexp: an experiment compiler for GPU memory hierarchies"};
  app.set_version_flag("--version", std::string("gexp ") + GEXP_VERSION_TEXT);
  app.require_subcommand(1);
  Common common;
  std::vector<std::string> files;
  std::string stage, dump_after, device, arch;
  bool cuda = false, ptx = false, cubin = false, ir = false, spec = false, json = false, check_only = false, dot = false;

  auto* run = app.add_subcommand("run", "run an experiment and say what it finds");
  add_spec(*run, common);
  run->add_option("--device", common.device, "auto, cuda:N, cuda:all (every GPU here, at once), sim:NAME or sim:FILE.toml")->capture_default_str();
  run->add_option("--seed", common.seed, "seed of a simulated device, instead of the spec's");
  run->add_option("--out", common.out, "save the result, records included, as this JSON file")->check(some_name);
  run->add_flag("--json", common.json, "print the result as JSON, and nothing else, on stdout");
  progress_of(*run, common);
  run->add_option("--jobs", common.jobs, "points measured at once on a simulated device; by default one for each core of this machine. The result is the same")
      ->check(CLI::Range(1, 1024));
  run->add_option("--time-limit", common.time_limit, "seconds after which the run ends, instead of the file's budget")->check(above_zero);
  run->add_option("--launch-limit", common.launch_limit, "seconds after which one launch is taken to hang; 60 by default")->check(above_zero);

  run->add_flag("--resume", common.resume, "go on with a run of the same that was broken off");
  run->add_flag("--fresh", common.fresh, "measure every stage; else what an earlier result holds is kept");
  add_store(*run, common);
  run->add_option("--locked", common.locked, "a file that `gexp export RESULT FILE.lock` wrote: its settings, seed and device; refuses to run where spec, device or toolchain is another");

  auto* survey = app.add_subcommand("survey", "run many experiments on a device, and say in brief what they find and where the time went");
  survey->add_option("files", files, "experiments, and folders of them; by default those of experiments/survey");
  survey->add_option("--device", common.device, "auto, cuda:N, cuda:all (every GPU here, at once), sim:NAME or sim:FILE.toml")->capture_default_str();
  survey->add_option("--seed", common.seed, "seed of a simulated device, instead of the specs'");
  survey->add_option("--out", common.out, "save each result, as soon as it is there, in this folder: NAME.json")->check(some_name);
  survey->add_flag("--json", common.json, "print all results as JSON, and nothing else, on stdout");
  progress_of(*survey, common);
  survey->add_option("--jobs", common.jobs, "points measured at once on a simulated device")->check(CLI::Range(1, 1024));
  survey->add_option("--templates", common.templates, "folder of CUDA templates instead of the built-in ones");
  survey->add_option("--time-limit", common.time_limit, "seconds for all of them")->check(above_zero);
  survey->add_option("--launch-limit", common.launch_limit, "seconds after which one launch is taken to hang; 60 by default")->check(above_zero);

  survey->add_flag("--fresh", common.fresh, "measure every stage; else what earlier results hold is kept");
  survey->add_flag("--resume", common.resume, "go on with runs that were broken off; what is complete is run again");
  add_store(*survey, common);

  auto* plan = app.add_subcommand("plan", "what a run would do and about how long it would take, without running it");
  add_spec(*plan, common);
  plan->add_option("--device", common.device, "auto, cuda:N, sim:NAME or sim:FILE.toml")->capture_default_str();
  plan->add_option("--seed", common.seed, "seed of a simulated device, instead of the spec's");
  plan->add_flag("--fresh", common.fresh, "as if no stage were kept");
  add_store(*plan, common);
  auto* plan_dot = plan->add_flag("--dot", dot, "the graph of stages, kernels and data, for Graphviz");
  plan->add_flag("--json", common.json, "as JSON")->excludes(plan_dot);

  auto* check = app.add_subcommand("check", "check experiments without running them");
  check->add_option("files", files, "the .gexp files")->required();
  check->add_flag("--json", json, "diagnostics as JSON");

  auto* lock = app.add_subcommand("lock", "write the SHA-256 of used files into the `use` statements of experiments");
  lock->add_option("files", files, "the .gexp files")->required();
  lock->add_flag("--check", check_only, "change nothing; exit 1 when one is missing or another");

  auto* format = app.add_subcommand("fmt", "format experiments in place, and name those that changed");
  format->add_option("files", files, "the .gexp files; - formats the standard input")->required();
  format->add_flag("--check", check_only, "change nothing: name the files that would change, and exit with 1");

  auto* emit = app.add_subcommand("emit", "show what an experiment compiles to");
  add_spec(*emit, common);
  auto* forms = emit->add_option_group("form");
  forms->add_flag("--cuda", cuda, "CUDA text (the default)");
  forms->add_flag("--ptx", ptx, "the PTX that NVRTC makes of it");
  forms->add_flag("--cubin", cubin, "machine code of one kernel for --arch, for a disassembler");
  forms->add_flag("--ir", ir, "the graph of stages, kernels and findings");
  forms->add_flag("--spec", spec, "the experiment's own text; of a short form, the file that it stands for");
  forms->require_option(0, 1);
  emit->add_option("--stage", stage, "this stage only");
  emit->add_option("--device", common.device, "whose facts (device.sms, …) the experiment reads: auto, cuda:N, sim:NAME or sim:FILE.toml")->capture_default_str();
  emit->add_option("--arch", arch, "with --ptx: for sm_NN, and machine code of it is made too, as a check; without it, PTX for the oldest that NVRTC knows; with --cubin: whose machine code")
      ->check([](const std::string& text) { return gexp::cli::architecture(text) ? std::string() : "write an architecture such as sm_90"; });
  emit->add_option("--dump-after", dump_after, "with --ir: the graph after this pass");

  gexp::cli::Verify verification;
  auto* verify = app.add_subcommand("verify", "run an experiment on many drawn devices, and say how often it finds what they are");
  add_spec(*verify, common);
  verify->add_option("--models", verification.models, "how many devices")->check(CLI::Range(1, 1000000))->capture_default_str();
  verify->add_option("--first", verification.first, "number of the first: device N is sim:drawn-N, with noise sim:drawn-N-noisy or -harsh")->check(CLI::Range(0, 1000000000))->capture_default_str();
  verify->add_option("--noise", verification.noise, "none, real (an H200's) and harsh (on every load), separated by commas")->check(CLI::IsMember({"none", "real", "harsh"}))->delimiter(',')->capture_default_str();
  verify->add_option("--seed", common.seed, "seed of the devices' chances, instead of the spec's");
  verify->add_option("--jobs", common.jobs, "devices at once; by default one for each core of this machine")->check(CLI::Range(1, 1024));
  verify->add_option("--time-limit", common.time_limit, "seconds for one device, instead of ten times the file's budget")->check(above_zero);
  verify->add_flag("--all", verification.all, "list every reason and every wrong claim");
  verify->add_flag("--json", common.json, "every verdict as JSON");
  progress_of(*verify, common);

  auto* infer = app.add_subcommand("infer", "the findings again, from a saved result's records alone");
  infer->add_option("result", common.file, kResult)->required();
  add_store(*infer, common);
  auto* infer_json = infer->add_flag("--json", common.json, "print the result as JSON");
  auto* infer_out = infer->add_option("--out", common.out, "save the result with the new findings")->check(some_name);
  infer->add_option("--points", stage, "instead: what was measured at each point of this stage, comma-separated, to be drawn")->excludes(infer_json)->excludes(infer_out);

  gexp::cli::Compare comparison;
  std::string page;
  auto* report = app.add_subcommand("report", "a saved result to look at: its findings and plots here, or as a page by itself");
  report->add_option("result", common.file, kResult)->required();
  report->add_option("-o", page, "write this HTML page, with interactive charts; it needs no other file and no network");
  add_store(*report, common);

  auto* compare = app.add_subcommand("compare", "how two saved results differ, or two folders of them; exit 1 where they do");
  compare->add_option("first", comparison.first, "a result as `gexp infer` takes it, or a folder that `survey --out` wrote")->required();
  compare->add_option("second", comparison.second, "what it is compared with")->required();
  compare->add_option("--margin", comparison.margin, "percent by which times and rates may differ and still be the same")->check(from_zero)->capture_default_str();
  compare->add_flag("--strict", comparison.strict, "exit 1 where something is ambiguous, too");
  compare->add_flag("--all", comparison.all, "list what is the same, too");
  compare->add_flag("--json", comparison.json, "everything, as JSON");
  add_store(*compare, common);

  auto* replay = app.add_subcommand("replay", "run a kept result once more: says what differs on this machine, then whether it finds the same; exit 1 where not");
  replay->add_option("result", common.file, kResult)->required();
  replay->add_option("--device", common.device, "another device than the result's own");
  replay->add_option("--out", common.out, "save the new result as this JSON file")->check(some_name);
  replay->add_option("--jobs", common.jobs, "points measured at once on a simulated device")->check(CLI::Range(1, 1024));
  replay->add_flag("--json", common.json, "print the new result as JSON, and nothing else, on stdout");
  progress_of(*replay, common);
  add_store(*replay, common);

  auto* exporting = app.add_subcommand("export", "a kept result as a file: FILE.gexpz (a bundle with all that a colleague needs), .json, .csv, .cu or .lock");
  exporting->add_option("result", common.file, kResult)->required();
  exporting->add_option("file", common.out, "its ending says what it becomes")->required();
  exporting->add_option("--stage", stage, "of a .csv: this stage only");
  add_store(*exporting, common);

  gexp::store::Filter filter;
  gexp::cli::Prune prune;
  std::string name;
  auto* results = app.add_subcommand("results", "the results that the store keeps");
  const auto add_filter = [&](CLI::App& command) {
    command.add_option("--experiment", filter.experiment, "those whose experiment's name holds this");
    command.add_option("--on", filter.device, "those on a device whose id or name holds this");
    command.add_option("--state", filter.state, "complete, interrupted, broken off, faulted, out of time or running");
    command.add_option("--since", filter.since, "no older than this date: 2026-11-22, 2026-11")->check(date);
    command.add_option("--before", filter.before, "older than this date")->check(date);
  };
  add_filter(*results);
  results->add_option("--last", filter.last, "the newest so many")->check(CLI::PositiveNumber);
  results->add_flag("--json", common.json, "as JSON");
  add_store(*results, common);
  auto* naming = results->add_subcommand("name", "give a result a name, to be found by");
  naming->add_option("result", common.file, "its number, name, or last")->required();
  naming->add_option("name", name, "without it the result loses its name");
  add_store(*naming, common);
  auto* pruning = results->add_subcommand("prune", "remove results: those named, else those chosen by the options, but never one that has a name");
  pruning->add_option("results", prune.results, "numbers or names");
  add_filter(*pruning);
  pruning->add_option("--keep", prune.keep, "but keep the newest so many of them");
  pruning->add_flag("--dry-run", prune.dry, "only say which");
  add_store(*pruning, common);

  auto* devices = app.add_subcommand("devices", "GPUs and simulated GPUs");
  devices->add_flag("--json", json, "as JSON");
  auto* show = devices->add_subcommand("show", "one of them; of a simulated one, what its model describes");
  show->add_option("device", device, "sim:NAME, sim:FILE.toml, cuda:N or auto")->required();
  auto* doctor = app.add_subcommand("doctor", "what gexp found on this machine and what is missing");
  auto* list = app.add_subcommand("list", "the experiments that ship");

  int ordinal = 0, parent = 0;
  auto* worker = app.add_subcommand("worker", "")->group("");  // for gexp itself
  worker->add_option("ordinal", ordinal)->required();
  worker->add_option("parent", parent)->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& problem) {
    const int code = app.exit(problem);
    return code == 0 ? 0 : gexp::cli::kSpec;
  }
  if (const char* named = std::getenv("GEXP_STORE"); named && common.store.empty()) common.store = named;
  try {
    if (*worker) gexp::cli::worker_command(ordinal, parent);
    if (*run) return gexp::cli::run_command(common);
    if (*survey) return gexp::cli::survey_command(common, files);
    if (*plan) return gexp::cli::plan_command(common, dot);
    if (*check) return gexp::cli::check_command(files, json);
    if (*lock) return gexp::cli::lock_command(files, check_only);
    if (*format) return gexp::cli::format_command(files, check_only);
    if (*emit && (ptx || cubin ? cubin && arch.empty() : !arch.empty())) {
      fmt::print(stderr, "{}\n", cubin ? "--cubin needs --arch sm_NN" : "--arch needs --ptx or --cubin");
      return gexp::cli::kSpec;
    }
    if (*emit) return gexp::cli::emit_command(common, cubin ? "cubin" : ptx ? "ptx" : ir ? "ir" : spec ? "spec" : "cuda", stage, dump_after, arch);
    if (*verify) return gexp::cli::verify_command(common, verification);
    if (*infer) return gexp::cli::infer_command(common, stage);
    if (*report) return gexp::cli::report_command(common, page);
    if (*compare) {
      comparison.store = common.store;
      return gexp::cli::compare_command(comparison);
    }
    if (*replay) return gexp::cli::replay_command(common);
    if (*exporting) return gexp::cli::export_command(common, stage);
    if (*naming) return gexp::cli::name_command(common, name);
    if (*pruning) {
      prune.filter = filter;
      return gexp::cli::prune_command(common, prune);
    }
    if (*results) return gexp::cli::results_command(common, filter);
    if (*devices) return gexp::cli::devices_command(device, json);
    if (*doctor) return gexp::cli::doctor_command();
    if (*list) return gexp::cli::list_command();
  } catch (const std::system_error& problem) {  // a full disk behind the standard output
    fmt::print(stderr, "error[E0710]: cannot write the standard output: {}\n", problem.code().message());
    return gexp::cli::kEnvironment;
  }
  return gexp::cli::kSpec;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run_command_line(argc, argv);
  if (gexp::jit::Compiler::under_way() == 0) return code;
  // A compile that was given up cannot be ended, and NVRTC's exit handlers must not run beside it. All else is closed by now.
  std::fflush(nullptr);
  _exit(code);
}
