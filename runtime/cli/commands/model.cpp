// SPDX-License-Identifier: Apache-2.0
// A device model made of what results found.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "lang/base/files.h"
#include "lang/base/visible.h"
#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/result/model_facts.h"
#include "runtime/sim/model_making.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;

/// The results that are named, and those of folders.
Result<std::vector<Saved>> read_all(const std::vector<std::string>& references, const std::string& store) {
  std::vector<Saved> all;
  for (const auto& reference : references) {
    const auto files = result_files(reference);
    if (!files) return files.error();
    for (const auto& file : *files) {
      auto saved = read_saved(file, store);
      if (!saved) return saved.error();
      for (auto& stage : saved->result.stages) stage.table.points = {};  // what was found is enough, and records are many
      all.push_back(std::move(*saved));
    }
  }
  for (const auto& each : all) {
    if (each.result.device.name != all.front().result.device.name)
      return failure(
          "E0735", fmt::format("the results are of different devices: {} and {}", all.front().result.device.name, each.result.device.name),
          "a model is of one");
  }
  return all;
}

/// The model that stands for what nobody measured: of the same compute capability.
Result<std::string> nearest_model(const device::DeviceInfo& device) {
  for (const auto& name : sim::names()) {
    const auto model = sim::open(name);
    if (model && (*model)->device().compute_major == device.compute_major && (*model)->device().compute_minor == device.compute_minor)
      return name;
  }
  return failure(
      "E0735",
      fmt::format("no model that ships has compute capability {}.{}, as {} has", device.compute_major, device.compute_minor, device.name),
      "--base names a model to begin with, as sim:h200 or FILE.toml");
}

/// What of the results' expectations holds in the model that was made.
result::ModelAgreement agreement(const sim::MadeModel& made, const std::vector<Saved>& results) {
  result::ModelAgreement all;
  const auto structure = sim::structure(made.model);
  if (!structure) return all;
  for (const auto& each : results) {
    auto one = result::agreement_with(*structure, each.program, each.result);
    all.held.insert(all.held.end(), one.held.begin(), one.held.end());
    all.failed.insert(all.failed.end(), one.failed.begin(), one.failed.end());
  }
  return all;
}

/// Words on lines of 100 columns, each two spaces in.
std::string lines_of(const std::vector<std::string>& words) {
  constexpr std::size_t kColumns = 100;
  std::string text, line = " ";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = words[i] + (i + 1 < words.size() ? "," : "");
    if (line.size() + 1 + word.size() > kColumns) text += line + "\n", line = " ";
    line += " " + word;
  }
  return text + line + "\n";
}

std::string changes_text(const sim::MadeModel& made, const std::string& base) {
  std::string text;
  std::vector<std::string> same;
  std::size_t width = 0;
  for (const auto& each : made.changes) width = std::max(width, each.key.size());
  for (const auto& each : made.changes) {
    if (each.was == each.now) {
      same.push_back(each.key);
      continue;
    }
    const auto what = each.was.empty() ? each.now : each.now.empty() ? "no longer " + each.was : each.now + ", was " + each.was;
    text += fmt::format("  {:<{}}  {}{}\n", each.key, width, what, each.from.empty() ? "" : fmt::format("  ({})", each.from));
  }
  return same.empty() ? text : text + fmt::format("found to be as in {}:\n{}", base, lines_of(same));
}

std::string report_text(const sim::MadeModel& made, const result::ModelAgreement& agreed, const std::string& base) {
  auto text = changes_text(made, base);
  if (!made.left.empty()) text += "not in the model:\n";
  for (const auto& each : made.left) text += fmt::format("  {}: {}\n", each.fact, each.why);
  if (!made.unknown.empty()) text += fmt::format("asked and not found, so as in {}:\n{}", base, lines_of(made.unknown));
  for (const auto& each : agreed.failed) text += fmt::format("does not hold in the model: {}\n", each);
  return text +
         fmt::format("{} of {} expectations that read `model` hold in it\n", agreed.held.size(), agreed.held.size() + agreed.failed.size());
}

Json report_json(const sim::MadeModel& made, const result::ModelAgreement& agreed, const std::string& base) {
  Json all = {{"schema", "gexp.model/1"}, {"base", base},        {"changes", Json::array()}, {"left", Json::array()},
              {"unknown", made.unknown},  {"held", agreed.held}, {"failed", agreed.failed}};
  for (const auto& each : made.changes)
    all["changes"].push_back({{"key", each.key}, {"was", each.was}, {"now", each.now}, {"from", each.from}});
  for (const auto& each : made.left) all["left"].push_back({{"fact", each.fact}, {"why", each.why}});
  return all;
}

class Model final : public Command {
 public:
  void declare(Options& options) override {
    options.add("results", &results_, "saved results, and folders of them (`gexp survey --out FOLDER`)")
        .must_be_given()
        .offers(Offers::Results);
    options.add("--out", &out_, "the model's file: NAME.toml").or_letter("-o").must_be_given().offers(Offers::Files);
    options
        .add("--base", &base_,
             "the model that has what was not found: sim:NAME or FILE.toml; by default one that ships, of the same compute capability")
        .offers(Offers::Devices);
    options.add("--json", &json_, "say as JSON what became of each finding");
    add_store(options, store_);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::vector<std::string>{out_}; }

  int run() override {
    if (fs::path(out_).extension() != ".toml")
      return refuse(failure("E0710", fmt::format("{} is no name of a model", out_), "a model's file ends in .toml"), nullptr, kSpec);
    const auto results = read_all(results_, store_);
    if (!results) return refuse(results.error(), nullptr, kEnvironment);
    const auto& device = results->front().result.device;
    auto base = base_.empty() ? nearest_model(device) : Result<std::string>(base_.starts_with("sim:") ? base_.substr(4) : base_);
    if (!base) return refuse(base.error(), nullptr, kSpec);
    const auto text = sim::read_model(*base);
    if (!text) return refuse(text.error(), nullptr, kEnvironment);
    std::vector<device::ModelFact> facts;
    for (const auto& each : *results) {
      auto more = result::model_facts(each.program, each.result);
      facts.insert(facts.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    }
    const auto made = sim::make_model(*text, *base, fs::path(out_).stem().string(), facts, device);
    if (!made) return refuse(made.error(), &*text, kSpec);
    if (auto written = write_file(out_, made->model.text()); !written) return refuse(written.error(), nullptr, kEnvironment);
    const auto agreed = agreement(*made, *results);
    if (json_)
      print_out("{}\n", report_json(*made, agreed, *base).text());
    else
      print_out("{}, from {} results of {} and {}\n{}", out_, results->size(), visible(device.name), *base,
                report_text(*made, agreed, *base));
    return agreed.failed.empty() ? kDone : kNotHeld;
  }

 private:
  std::vector<std::string> results_;
  std::string out_, base_, store_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> new_model() { return std::make_unique<Model>(); }

}  // namespace gexp::cli
