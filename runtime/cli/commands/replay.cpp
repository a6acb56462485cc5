// SPDX-License-Identifier: Apache-2.0
// A kept result once more: the same spec, settings, seed and device, and whether it finds the same.
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/run.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/report/text.h"
#include "runtime/result/compare.h"
#include "runtime/result/lockfile.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that goes when this does.
struct TemporaryFolder {
  std::string path = (fs::temp_directory_path() / "gexp-XXXXXX").string();
  bool made = mkdtemp(path.data()) != nullptr;
  ~TemporaryFolder() {
    std::error_code error;
    if (made) fs::remove_all(path, error);
  }
};

/// The device of a result, on this machine: of a simulated one with another model here, or none, the model that travels with it.
Result<std::string> device_of(const result::RunResult& result, const Common& common, const TemporaryFolder& folder) {
  const auto& device = result.device;
  if (device.kind != "simulated") return device.id;
  const auto name = device.id.substr(std::string_view("sim:").size());
  if (!model_here(device).empty()) return device.id;
  auto kept = find_kept(common.file, common.store);
  if (!kept) return kept.error();
  auto text = *kept ? (*kept)->store.model(device.model_sha256) : Result<std::string>(std::string());
  if (!text) return text.error();
  if (text->empty()) {
    print_err("note: the model that {} was made with is not kept with it\n", common.file);
    return device.id;
  }
  const auto path = (fs::path(folder.path) / (fs::path(name).stem().string() + ".toml")).string();
  if (auto written = write_file(path, *text); !written) return written.error();
  print_err("note: {} is {} here: the model that travels with the result is taken\n", device.id, sim::read_model(name) ? "another model" : "no model");
  return "sim:" + path;
}

std::string findings_text(const result::RunResult& result) { return member_text(result::to_json(result), "findings"); }

int replay(const Common& common) {
  const auto saved = read_saved(common.file, common.store);
  if (!saved) {
    print(saved.error(), nullptr);
    return kEnvironment;
  }
  const auto& before = saved->result;
  const TemporaryFolder folder;
  const auto device = common.device == "auto" ? device_of(before, common, folder) : Result<std::string>(common.device);
  if (!device) {
    print(device.error(), nullptr);
    return kEnvironment;
  }
  int exit = kDone;
  const Loaded loaded{Source(before.spec_path, before.spec_text), saved->program};
  auto own = common;
  own.device = *device;
  own.seed = before.seed;
  own.fresh = true;  // what is kept would agree with itself
  own.set.clear();
  for (const auto& [name, value] : before.settings) own.set.push_back(name + "=" + value);
  auto opened = open_for_runs(own.device, before.seed, own.templates);
  if (!opened) {
    print(opened.error(), nullptr);
    return kEnvironment;
  }
  auto here = before;
  here.kernels.clear();
  here.device = opened->backend->device();
  here.gexp_version = GEXP_VERSION;
  here.nvrtc = opened->compiler->build();
  const auto differing = result::differences(before, here);
  print_err("replaying {} of {}: {}\n", before.experiment, before.date, differing.empty() ? "spec, settings, seed, device and toolchain are the same here" : "what differs here:");
  for (const auto& line : differing) print_err("  {}\n", line);

  catch_interrupts();
  keep_freed_memory();
  confine_run(*opened, own);
  const auto progress = open_progress(common);
  const auto ran = run_on(*opened, own, loaded, *progress);
  for (const auto& problem : ran.problems) print(problem, &loaded.source);
  if (!ran.result) return ran.exit;
  if (!common.out.empty()) exit = save_result(*ran.result, common.out);
  if (common.json) print_out("{}", result::to_json(*ran.result));
  if (ran.exit >= kEnvironment) return ran.exit;
  if (findings_text(before) == findings_text(*ran.result)) {
    if (!common.json) print_out("all {} findings are the same, byte for byte\n", before.findings.size());
    return exit;
  }
  std::size_t same = 0, different = 0;
  const auto rows = result::compare({{saved->program, before, "there"}, {ran.program, *ran.result, "here"}});
  for (const auto& row : rows) {
    if (row.agreement == infer::Agreement::Same) ++same;
    if (row.agreement == infer::Agreement::Different || row.agreement == infer::Agreement::Ambiguous) ++different;
    if (row.agreement != infer::Agreement::Same && !common.json) print_out("{}  {}  {} there, {} here{}\n", row.id, infer::word(row.agreement), row.values[0], row.values[1], row.why.empty() ? "" : " (" + row.why + ")");
  }
  if (!common.json) print_out("{} of {} findings are the same, {} are not, or may not be\n", same, rows.size(), different);
  return different > 0 ? kNotHeld : exit;
}

/// A kept result's spec, settings, seed and device once more; says what differs here before it runs. kNotHeld: other findings.
class Replay final : public Command {
 public:
  void declare(Options& options) override {
    add_result(options, common_);
    options.add("--device", &common_.device, "another device than the result's own").offers(Offers::Devices);
    add_out(options, common_, "save the new result as this JSON file");
    add_jobs(options, common_, "points measured at once on a simulated device");
    options.add("--json", &common_.json, "print the new result as JSON, and nothing else, on stdout");
    add_progress(options, common_);
    add_store(options, common_.store);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::nullopt; }
  int run() override { return replay(common_); }

 private:
  Common common_;
};

}  // namespace

std::unique_ptr<Command> new_replay() { return std::make_unique<Replay>(); }

}  // namespace gexp::cli
