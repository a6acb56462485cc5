// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/cli/app.h"
#include "runtime/cli/json.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/shared_options.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/verify.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

using measure::Verdict;
using measure::Verification;

struct Drawn {
  std::uint64_t first = 1;  ///< number of the first drawn device
  std::size_t models = 100;
  std::vector<std::string> noise = {"none", "real"};  ///< besides "harsh"
  bool all = false;         ///< list every reason and every wrong claim
};

struct Noise {
  std::string name, suffix, said;
};
const Noise kNoises[] = {{"none", "", "without noise"}, {"real", "-noisy", "with the noise of an H200"}, {"harsh", "-harsh", "with jitter and tails on every load"}};
constexpr std::size_t kShown = 5;  // wrong claims, and reasons of abstention, that are listed
constexpr double kPatience = 10;  // times the file's budget: what is found must not depend on what else the host does

struct Tally {
  std::size_t right = 0, wrong = 0, abstained = 0;
  void add(Verdict::Kind kind) { ++(kind == Verdict::Kind::Right ? right : kind == Verdict::Kind::Wrong ? wrong : abstained); }
  [[nodiscard]] std::size_t all() const { return right + wrong + abstained; }
  [[nodiscard]] std::size_t claims() const { return right + wrong; }
};

std::string share(std::size_t part, std::size_t all) { return fmt::format("{:6} {:5.1f} %", part, all ? 100.0 * static_cast<double>(part) / static_cast<double>(all) : 0.0); }

/// By stated confidence; the last takes what is stated as certain.
constexpr double kSteps[] = {0, 0.8, 0.95, 0.99, 0.999, 1.0001};

struct Summary {
  std::vector<Tally> each;
  Tally all;
  Tally stated[std::size(kSteps) - 1];
  Tally at_95;
  std::map<std::string, std::pair<std::size_t, std::uint64_t>> reasons;  ///< how often, and the first device
  std::vector<std::string> wrong;
};

/// A reason without its numbers: those that differ in nothing else are one reason.
std::string kind_of_reason(const std::string& why) {
  std::string kind;
  for (std::size_t i = 0; i < why.size(); ++i) {
    const bool digit = why[i] >= '0' && why[i] <= '9';
    if (!digit) kind += why[i];
    else if (kind.empty() || kind.back() != '#') kind += '#';
  }
  return kind;
}

Summary summarise(const Verification& verification, const std::string& suffix) {
  Summary summary;
  summary.each.resize(verification.expectations.size());
  for (const auto& device : verification.devices) {
    for (std::size_t i = 0; i < device.verdicts.size(); ++i) {
      const auto& verdict = device.verdicts[i];
      summary.each[i].add(verdict.kind);
      summary.all.add(verdict.kind);
      if (verdict.kind == Verdict::Kind::Abstained) {
        ++summary.reasons.try_emplace(kind_of_reason(verdict.why), 0, device.number).first->second.first;
        continue;
      }
      if (verdict.kind == Verdict::Kind::Wrong) summary.wrong.push_back(fmt::format("sim:drawn-{}{}  {}: {}", device.number, suffix, verification.expectations[i], verdict.why));
      const auto step = std::upper_bound(std::begin(kSteps), std::end(kSteps), verdict.confidence) - std::begin(kSteps);
      summary.stated[step - 1].add(verdict.kind);
      if (verdict.confidence >= 0.95) summary.at_95.add(verdict.kind);
    }
  }
  return summary;
}

std::string table(const Verification& verification, const Summary& summary) {
  std::size_t width = 20;
  for (const auto& text : verification.expectations) width = std::max(width, text.size());
  std::string out = fmt::format("  {:<{}}  {:>14}  {:>14}  {:>14}\n", "", width, "right", "wrong", "abstained");
  const auto row = [&](const std::string& name, const Tally& tally) {
    out += fmt::format("  {:<{}}  {}  {}  {}\n", name, width, share(tally.right, tally.all()), share(tally.wrong, tally.all()), share(tally.abstained, tally.all()));
  };
  for (std::size_t i = 0; i < summary.each.size(); ++i) row(verification.expectations[i], summary.each[i]);
  if (summary.each.size() > 1) row("together", summary.all);
  out += "\n  claims by stated confidence\n";
  for (std::size_t i = 0; i + 1 < std::size(kSteps); ++i) {
    const auto& tally = summary.stated[i];
    if (tally.claims() == 0) continue;
    const auto range = i + 2 < std::size(kSteps) ? fmt::format("{:g} % to {:g} %", 100 * kSteps[i], 100 * kSteps[i + 1]) : fmt::format("{:g} % and more", 100 * kSteps[i]);
    out += fmt::format("    {:<18} {:6} claims, {} wrong\n", range, tally.claims(), share(tally.wrong, tally.claims()));
  }
  return out;
}

std::string details(const Summary& summary, bool everything) {
  std::string out;
  if (!summary.reasons.empty()) {
    std::vector<std::pair<std::string, std::pair<std::size_t, std::uint64_t>>> reasons(summary.reasons.begin(), summary.reasons.end());
    std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second.first > b.second.first; });
    out += "\n  abstained because\n";
    for (std::size_t i = 0; i < reasons.size() && (everything || i < kShown); ++i) out += fmt::format("    {:5} times, first on {}: {}\n", reasons[i].second.first, reasons[i].second.second, reasons[i].first);
    if (!everything && reasons.size() > kShown) out += fmt::format("    and {} more reasons\n", reasons.size() - kShown);
  }
  if (!summary.wrong.empty()) {
    out += "\n  wrong\n";
    for (std::size_t i = 0; i < summary.wrong.size() && (everything || i < kShown); ++i) out += fmt::format("    {}\n", summary.wrong[i]);
    if (!everything && summary.wrong.size() > kShown) out += fmt::format("    and {} more\n", summary.wrong.size() - kShown);
  }
  return out;
}

Json to_json(const Verification& verification) {
  Json json;
  json["expectations"] = verification.expectations;
  json["devices"] = Json::array();
  for (const auto& device : verification.devices) {
    auto verdicts = Json::array();
    for (const auto& verdict : device.verdicts) {
      const char* word = verdict.kind == Verdict::Kind::Right ? "right" : verdict.kind == Verdict::Kind::Wrong ? "wrong" : "abstained";
      verdicts.push_back({{"verdict", word}, {"confidence", verdict.confidence}, {"why", verdict.why}});
    }
    json["devices"].push_back({{"number", device.number}, {"verdicts", verdicts}});
  }
  json["seconds"] = verification.seconds;
  return json;
}

int verify(const Common& common, const Drawn& options) {
  int exit = kDone;
  auto loaded = load_spec(common, exit);
  if (!loaded) return exit;
  if (measure::expectations_of_model(loaded->program).empty()) {
    auto problem = failure("E0730", fmt::format("{} expects nothing of `model`, so nothing can be verified", loaded->source.path()), "say what the truth is: `expect capacity.C == model.nc.capacity`");
    print(problem, nullptr);
    return kSpec;
  }
  auto compiler = jit::Compiler::open();
  if (!compiler) {
    print(compiler.error(), nullptr);
    return kEnvironment;
  }
  catch_interrupts();
  keep_freed_memory();
  measure::Kernels kernels(*compiler, common.templates, {});
  const auto progress = open_progress(common, {}, "devices");
  std::size_t round = 0;
  Json json;
  bool calibrated = true;
  for (const auto& [noise, suffix, said] : kNoises) {
    if (std::find(options.noise.begin(), options.noise.end(), noise) == options.noise.end() || interrupted()) continue;
    measure::VerifyOptions how;
    how.first = options.first;
    how.devices = options.models;
    how.session.interrupted = interrupted;
    how.session.time_limit = common.time_limit;
    how.session.patience = kPatience;
    how.session.jobs = common.jobs;
    progress->stage("noise " + std::string(noise), ++round, options.noise.size(), options.models);
    how.progress = [&](std::size_t done) { progress->point("", done); };
    const auto source = [&, ending = suffix](std::uint64_t number) -> Result<measure::KnownDevice> {
      const auto model = sim::read_model(fmt::format("drawn-{}{}", number, ending));
      if (!model) return model.error();
      auto structure = sim::structure(*model);
      if (!structure) return structure.error();
      sim::Options device;
      device.seed = common.seed.value_or(loaded->program.seed);
      auto backend = sim::open(*model, "sim:" + model->path(), device);
      if (!backend) return backend.error();
      return measure::KnownDevice{std::move(*backend), std::move(*structure)};
    };
    const auto verification = measure::verify(loaded->program, kernels, source, how);
    progress->finished();
    if (!verification) {
      print(verification.error(), verification.error().code.starts_with("E06") ? nullptr : &loaded->source);
      return kSpec;
    }
    const auto summary = summarise(*verification, suffix);
    calibrated = calibrated && 20 * summary.at_95.wrong <= summary.at_95.claims();
    if (common.json) {
      json[noise] = to_json(*verification);
      continue;
    }
    fmt::print("{} on {} drawn devices {}, sim:drawn-{}{} and on, {:.0f} s\n", loaded->program.experiment, verification->devices.size(), said, options.first, suffix,
               verification->seconds);
    fmt::print("{}{}\n", table(*verification, summary), details(summary, options.all));
  }
  if (common.json) fmt::print("{}\n", json.text());
  if (interrupted()) return kInterrupted;
  return calibrated ? kDone : kNotHeld;
}

/// kNotHeld: claims at 95 % confidence or more are wrong more often than that allows.
class Verify final : public Command {
 public:
  void declare(Options& options) override {
    add_spec(options, common_);
    options.add("--models", &drawn_.models, "how many devices").between(1, 1'000'000).shows_default();
    options.add("--first", &drawn_.first, "number of the first: device N is sim:drawn-N, with noise sim:drawn-N-noisy or -harsh")
        .between(0, 1'000'000'000)
        .shows_default();
    options.add("--noise", &drawn_.noise, "none, real (an H200's) and harsh (on every load), separated by commas")
        .list_of({"none", "real", "harsh"})
        .shows_default();
    options.add("--seed", &common_.seed, "seed of the devices' chances, instead of the spec's");
    add_jobs(options, common_, "devices at once; by default one for each core of this machine");
    add_time_limit(options, common_, "seconds for one device, instead of ten times the file's budget");
    options.add("--all", &drawn_.all, "list every reason and every wrong claim");
    options.add("--json", &common_.json, "every verdict as JSON");
    add_progress(options, common_);
  }
  [[nodiscard]] std::string misuse() const override { return misuse_of_spec(common_); }
  int run() override { return verify(common_, drawn_); }

 private:
  Common common_;
  Drawn drawn_;
};

}  // namespace

std::unique_ptr<Command> new_verify() { return std::make_unique<Verify>(); }

}  // namespace gexp::cli
