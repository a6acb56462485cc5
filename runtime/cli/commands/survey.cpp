// SPDX-License-Identifier: Apache-2.0
// Several experiments, or several devices. One thread a device, each with a worker of its own: they share nothing but this machine's cores.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/run.h"
#include "runtime/cli/shared_options.h"
#include "runtime/cli/survey_device.h"
#include "runtime/cuda/cuda.h"
#include "runtime/report/text.h"
#include "runtime/result/compare.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;

/// "out.json" of cuda:1 is "out-cuda1.json".
std::string path_of(const std::string& out, const std::string& device) {
  const fs::path path(out);
  auto name = device;
  std::erase(name, ':');
  return (path.parent_path() / fmt::format("{}-{}{}", path.stem().string(), name, path.extension().string())).string();
}

/// The exit code of all: of the one that fared worst.
int worst(const std::vector<int>& codes) {
  for (const int code : {kInterrupted, kEnvironment, kFault, kSpec, kNotHeld}) {
    if (std::find(codes.begin(), codes.end(), code) != codes.end()) return code;
  }
  return kDone;
}

int exit_of(const std::vector<Surveyed>& devices) {
  std::vector<int> codes;
  for (const auto& device : devices) {
    codes.push_back(device.exit);
    for (const auto& run : device.runs) {
      if (!lacks(run) || device.runs.size() == 1) codes.push_back(run.exit);
    }
  }
  return worst(codes);
}

bool nothing_ran(const std::vector<Surveyed>& devices) {
  return std::none_of(devices.begin(), devices.end(), [](const Surveyed& device) { return std::any_of(device.runs.begin(), device.runs.end(), [](const Ran& run) { return run.result.has_value(); }); });
}

/// nullopt: no GPU, which was printed.
std::optional<std::vector<std::string>> devices_of(const std::string& device) {
  if (device != "cuda:all") return std::vector{device};
  const auto gpus = cuda::devices();
  if (!gpus) {
    print(gpus.error(), nullptr);
    return std::nullopt;
  }
  std::vector<std::string> ids;
  for (const auto& gpu : *gpus) ids.push_back(gpu.id);
  return ids;
}

std::vector<Surveyed> survey_devices(const std::vector<std::string>& devices, const Common& common, const Specs& specs, const Save& save) {
  catch_interrupts();
  keep_freed_memory();
  std::vector<Surveyed> surveyed(devices.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto progress = open_progress(common, devices.size() > 1 ? devices[i] : "");
      surveyed[i] = survey_device(devices[i], common, specs, save, *progress);
    });
  }
  threads.clear();
  return surveyed;
}

/// An experiment's results on all devices that have one.
std::vector<result::ComparedResult> results_of(const std::vector<Surveyed>& devices, std::size_t experiment) {
  std::vector<result::ComparedResult> results;
  for (const auto& device : devices) {
    if (experiment >= device.runs.size() || !device.runs[experiment].result) continue;
    const auto& run = device.runs[experiment];
    results.push_back({run.program, *run.result, run.result->device.id});
  }
  return results;
}

std::string comparison_text(const std::vector<result::ComparedFinding>& rows, const std::vector<result::ComparedResult>& results) {
  std::string text, same, unknown;
  std::size_t width = 8;
  for (const auto& row : rows) width = std::max(width, row.id.size());
  for (const auto& row : rows) {
    if (row.agreement == infer::Agreement::Same || row.agreement == infer::Agreement::Undetermined) {
      auto& list = row.agreement == infer::Agreement::Same ? same : unknown;
      list += (list.empty() ? "" : ", ") + row.id;
      continue;
    }
    text += fmt::format("  {:<{}}  {}:", row.id, width, row.agreement == infer::Agreement::Different ? "differs" : "may differ");
    for (std::size_t i = 0; i < results.size(); ++i) text += fmt::format("{} {} {}", i ? "," : "", results[i].name, row.values[i]);
    text += row.agreement == infer::Agreement::Different ? "\n" : fmt::format(" ({})\n", row.why);
  }
  if (!same.empty()) text += fmt::format("  the same on all: {}\n", same);
  return text + (unknown.empty() ? "" : fmt::format("  undetermined on all: {}\n", unknown));
}

std::string all_comparisons(const std::vector<Surveyed>& devices, const Specs& specs) {
  std::string text = fmt::format("\n{} GPUs compared\n", devices.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto results = results_of(devices, i);
    if (specs.size() > 1) text += specs[i].program.experiment + "\n";
    if (results.size() < devices.size()) {
      text += "  not on all of them\n";
      continue;
    }
    text += comparison_text(result::compare(results), results);
  }
  return text;
}

/// Of an experiment without a result.
std::string why_left_out(const Surveyed& device, std::size_t experiment) {
  if (experiment >= device.runs.size()) return "the survey ended before it";
  const auto& problems = device.runs[experiment].problems;
  return problems.empty() ? "" : problems.front().message;
}

Json survey_json(const std::vector<Surveyed>& devices, const Specs& specs) {
  Json all = {{"schema", "gexp.survey/1"}, {"devices", Json::array()}, {"compared", Json::array()}, {"left_out", Json::array()}, {"results", Json::array()}};
  for (const auto& device : devices) all["devices"].push_back({{"id", device.device}, {"seconds", device.seconds}});
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const auto results = results_of(devices, i);
    if (devices.size() > 1 && results.size() == devices.size()) {
      for (const auto& row : result::compare(results)) {
        all["compared"].push_back({{"experiment", specs[i].program.experiment}, {"id", row.id}, {"same", row.agreement == infer::Agreement::Same}, {"verdict", infer::word(row.agreement)}, {"values", row.values}, {"why", row.why}});
      }
    }
    for (const auto& side : results) all["results"].push_back(Json::written(result::to_json(side.result)));
  }
  for (const auto& device : devices) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      if (i < device.runs.size() && device.runs[i].result) continue;
      all["left_out"].push_back({{"device", device.device}, {"experiment", specs[i].program.experiment}, {"why", why_left_out(device, i)}});
    }
  }
  return all;
}

/// What a survey found of what it asked, and how long that took.
std::string summary(const Surveyed& device) {
  std::size_t found = 0, asked = 0;
  for (const auto& run : device.runs) {
    if (!run.result) continue;
    for (const auto& finding : run.result->findings) ++asked, found += finding.status == infer::Finding::Status::Undetermined ? 0 : 1;
  }
  return fmt::format("\n{} of {} findings found, {:.1f} s\n", found, asked, device.seconds);
}

/// The text of a survey: what each device showed, in brief, then where the time went.
std::string survey_text(const Surveyed& device, const Specs& specs, bool colour) {
  std::string text;
  std::vector<const result::RunResult*> times;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (i >= device.runs.size() || !device.runs[i].result) {
      text += fmt::format("\n{}  left out: {}\n", specs[i].program.experiment, why_left_out(device, i));
      continue;
    }
    const auto& run = device.runs[i];
    if (times.empty()) text += report::device_line(*run.result, colour);
    text += "\n" + report::brief(run.program, *run.result, colour);
    times.push_back(&*run.result);
  }
  return times.empty() ? text : text + "\n" + report::time_table(times, device.seconds) + summary(device);
}

/// The files of a folder, by name; a file is itself.
std::vector<std::string> files_of(const std::string& name) {
  std::error_code error;
  auto path = name;
  if (!fs::exists(path, error) && fs::is_directory(fs::path(experiments_folder()) / name, error)) path = (fs::path(experiments_folder()) / name).string();
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path, error)) {
    if (entry.path().extension() == ".gexp") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int run_on_all(const Common& common, const Loaded& loaded) {
  const auto devices = devices_of(common.device);
  if (!devices) return kEnvironment;
  for (const auto& device : *devices) {
    if (common.out.empty()) break;
    if (auto writable = check_writable(path_of(common.out, device)); !writable) {
      print(writable.error(), nullptr);
      return kEnvironment;
    }
  }
  const Specs specs = {loaded};
  const auto surveyed = survey_devices(*devices, common, specs, [&](const result::RunResult& result) {
    return common.out.empty() ? kDone : save_result(result, path_of(common.out, result.device.id));
  });
  const int exit = exit_of(surveyed);
  if (common.json) {
    print_out("{}\n", survey_json(surveyed, specs).text());
    return exit;
  }
  for (const auto& device : surveyed) {
    if (!device.runs.empty() && device.runs[0].result) print_out("{}\n", report::text(device.runs[0].program, *device.runs[0].result, colour_on(STDOUT_FILENO)));
  }
  print_out("{}", all_comparisons(surveyed, specs));
  return exit;
}

namespace {

/// Files that survey/deep.txt names, a line each, in the folder of what ships.
std::vector<std::string> deeper_files(const std::string& folder) {
  std::vector<std::string> files;
  std::ifstream list(fs::path(folder) / "survey" / "deep.txt");
  for (std::string line; std::getline(list, line);) {
    if (!line.empty()) files.push_back((fs::path(folder) / line).string());
  }
  return files;
}

int survey(const Common& common, const std::vector<std::string>& given, bool deep) {
  int exit = kDone;
  auto names = given;
  if (names.empty() || deep) {
    const auto folder = experiments_folder();
    if (folder.empty()) {
      print(failure("E0712", "the experiments that ship were not found", "set GEXP_EXPERIMENTS to their folder, or name files"), nullptr);
      return kEnvironment;
    }
    if (names.empty()) names = {folder + "/survey"};
    const auto more = deep ? deeper_files(folder) : std::vector<std::string>{};
    names.insert(names.end(), more.begin(), more.end());
  }
  Specs specs;
  for (const auto& name : names) {
    const auto files = files_of(name);
    if (files.empty()) {
      print(failure("E0711", fmt::format("the folder {} holds no .gexp file", name)), nullptr);
      return kSpec;
    }
    for (const auto& file : files) {
      auto own = common;
      own.file = file;
      auto loaded = load_spec(own, exit);
      if (!loaded) return exit;
      const auto same = [&](const Loaded& other) { return other.program.experiment == loaded->program.experiment; };
      if (const auto other = std::find_if(specs.begin(), specs.end(), same); other != specs.end()) {
        print(failure("E0732", fmt::format("{} and {} are both experiment `{}`", other->source.path(), file, loaded->program.experiment), "a survey tells experiments by their names"), nullptr);
        return kSpec;
      }
      specs.push_back(std::move(*loaded));
    }
  }
  if (!common.out.empty()) {
    std::error_code error;
    fs::create_directories(common.out, error);
    if (auto writable = check_writable((fs::path(common.out) / ".gexp").string()); !writable) {
      auto problem = failure("E0710", fmt::format("cannot write results into {}: {}", common.out, fs::is_directory(common.out, error) ? "its permissions do not allow it" : "it is no folder"), "name another folder with --out");
      print(problem, nullptr);
      return kEnvironment;
    }
  }
  const auto devices = devices_of(common.device);
  if (!devices) return kEnvironment;
  const auto surveyed = survey_devices(*devices, common, specs, [&](const result::RunResult& result) {
    const auto path = (fs::path(common.out) / (result.experiment + ".json")).string();
    return common.out.empty() ? kDone : save_result(result, devices->size() > 1 ? path_of(path, result.device.id) : path);
  });
  exit = exit_of(surveyed);
  if (exit == kDone && nothing_ran(surveyed)) {
    print(failure("E0734", "every experiment was left out: nothing was measured", "`gexp plan FILE` says what each needs"), nullptr);
    exit = kEnvironment;
  }
  if (common.json) {
    print_out("{}\n", survey_json(surveyed, specs).text());
    return exit;
  }
  for (const auto& device : surveyed) print_out("{}", survey_text(device, specs, colour_on(STDOUT_FILENO)));
  if (surveyed.size() > 1) print_out("{}", all_comparisons(surveyed, specs));
  return exit;
}

class Survey final : public Command {
 public:
  void declare(Options& options) override {
    options.add("files", &files_, "experiments, and folders of them; by default those of experiments/survey").offers(Offers::Experiments);
    options.add("--deep", &deep_, "besides these, the files that experiments/survey/deep.txt names: slices, operations, other memories, …");
    add_device(options, common_, kAnyDevices);
    options.add("--seed", &common_.seed, "seed of a simulated device, instead of the specs'");
    add_out(options, common_, "save each result, as soon as it is there, in this folder: NAME.json").offers(Offers::Folders);
    options.add("--json", &common_.json, "print all results as JSON, and nothing else, on stdout");
    add_progress(options, common_);
    add_jobs(options, common_, "points measured at once on a simulated device");
    add_templates(options, common_);
    add_time_limit(options, common_, "seconds for all of them");
    add_launch_limit(options, common_);
    add_memory_limit(options, common_);
    add_fresh(options, common_, "measure every stage; else what earlier results hold is kept");
    options.add("--resume", &common_.resume, "go on with runs that were broken off");
    add_store(options, common_.store);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::nullopt; }
  int run() override { return survey(common_, files_, deep_); }

 private:
  Common common_;
  std::vector<std::string> files_;
  bool deep_ = false;
};

}  // namespace

std::unique_ptr<Command> new_survey() { return std::make_unique<Survey>(); }

}  // namespace gexp::cli
