// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "compiler/lower/ops.h"
#include "compiler/mutate/mutate.h"
#include "lang/parse.h"

#include "runtime/cli/app.h"
#include "runtime/cli/last_resort.h"
#include "runtime/cli/output.h"
#include "runtime/cli/progress.h"
#include "runtime/cli/run.h"
#include "runtime/cli/shared_options.h"
#include "runtime/cli/verify_report.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/verify.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

/// Which devices, and what is done to the experiment.
struct Drawn {
  std::uint64_t first = 1;  ///< number of the first drawn device
  std::size_t models = 100;
  std::vector<std::string> noise = {"none", "real"};  ///< besides "harsh"
  std::string family = "usual";  ///< or "wide": sim:drawn-wide-N
  bool mutate = false;                                ///< draw something to be done to the file, for each device
  std::string written;                                ///< folder for the mutated files
  std::string against;                                ///< JSON of an earlier run: what has changed
  bool all = false;                                   ///< list every reason and every wrong claim
};

struct Noise {
  std::string name, suffix, said;
  std::string family = {};  ///< "wide-", or nothing: begins the device's number
};
const Noise kNoises[] = {{"none", "", "without noise"},
                         {"real", "-noisy", "with the noise of an H200"},
                         {"harsh", "-harsh", "with jitter and tails on every load"}};
constexpr double kPatience = 10;  // times the file's budget: what is found must not depend on what else the host does

std::string device_name(std::uint64_t number, const Noise& noise) {
  return fmt::format("drawn-{}{}{}", noise.family, number, noise.suffix);
}

/// The file with something done to it that hangs on the device's number and the seed.
measure::VariantSource variants(const Loaded& loaded, const compiler::Options& options, std::uint64_t seed) {
  Diagnostics ignored;  // it has been compiled
  const auto file = lang::parse(loaded.source, ignored);
  return [&loaded, options, seed, all = compiler::mutations(loaded.source, file)](
             std::uint64_t number, unsigned attempt) -> std::optional<measure::Variant> {
    constexpr std::uint64_t kDevices = 1'000'003, kSeeds = 998'244'353;  // primes: neighbours have nothing in common
    auto mutated = compiler::mutate(loaded.source, all, (seed * kSeeds + number) * kDevices + attempt);
    if (!mutated) return std::nullopt;
    Diagnostics diagnostics;
    auto program = compiler::compile(mutated->source, options, diagnostics);
    if (!program) return std::nullopt;
    return measure::Variant{std::move(*program), mutated->source.text(), std::move(mutated->words),
                            std::move(mutated->nothing)};
  };
}

/// Each mutated file under the device's name, what was done at its top.
Result<> write_mutated(const std::string& folder, const std::string& experiment,
                       const measure::Verification& verification, const Noise& noise) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  for (const auto& device : verification.devices) {
    if (device.text.empty()) continue;
    std::string head;
    for (const auto& words : device.mutations) head += "# " + words + "\n";
    const auto name = device_name(device.number, noise);
    auto written = write_file(fmt::format("{}/{}-{}.gexp", folder, experiment, name), head + device.text);
    if (!written) return written.error();
  }
  return Ok{};
}

measure::DeviceSource devices(const Noise& noise, std::uint64_t seed) {
  return [noise, seed](std::uint64_t number) -> Result<measure::KnownDevice> {
    const auto model = sim::read_model(device_name(number, noise));
    if (!model) return model.error();
    auto structure = sim::structure(*model);
    if (!structure) return structure.error();
    sim::Options device;
    device.seed = seed;
    auto backend = sim::open(*model, "sim:" + model->path(), device);
    if (!backend) return backend.error();
    return measure::KnownDevice{std::move(*backend), std::move(*structure)};
  };
}

int verify(const Common& common, const Drawn& options) {
  const Budget limits(limits_of(common, std::nullopt));
  const Budget::Use use(limits);
  int exit = kDone;
  auto loaded = load_spec(common, exit);
  if (!loaded) return exit;
  const auto before = options.against.empty() ? Result<std::string>(std::string()) : read_file(options.against);
  if (!before) return refuse(before.error(), nullptr, kSpec);
  if (measure::expectations_of_model(loaded->program).empty()) {
    auto problem = failure(
        "E0730", fmt::format("{} expects nothing of `model`, so nothing can be verified", loaded->source.path()),
        "say what the truth is: `expect capacity.C == model.nc.capacity`");
    print(problem, nullptr);
    return kSpec;
  }
  std::optional<MemoryWatch> watch;
  if (compiler::launches_files(loaded->program)) watch.emplace(limits.memory());
  auto compiler = jit::Compiler::open();
  if (!compiler) return refuse(compiler.error(), nullptr, kEnvironment);
  catch_interrupts();
  keep_freed_memory();
  measure::Kernels kernels(*compiler, common.templates, {});
  const auto progress = open_progress(common, {}, "devices");
  const auto seed = common.seed.value_or(loaded->program.seed);
  std::size_t round = 0;
  Json json;
  bool calibrated = true;
  measure::VerifyOptions how;
  how.first = options.first;
  how.devices = options.models;
  how.session.interrupted = interrupted;
  how.session.time_limit = common.time_limit;
  how.session.patience = kPatience;
  how.session.jobs = common.jobs;
  how.progress = [&](std::size_t done) { progress->point("", done); };
  if (options.mutate) how.variant = variants(*loaded, spec_options(common), seed);
  for (auto noise : kNoises) {
    if (options.family == "wide") noise.family = "wide-";
    if (std::find(options.noise.begin(), options.noise.end(), noise.name) == options.noise.end() || interrupted())
      continue;
    progress->stage("noise " + noise.name, ++round, options.noise.size(), options.models);
    const auto verification = measure::verify(loaded->program, kernels, devices(noise, seed), how);
    progress->finished();
    if (!verification)
      return refuse(verification.error(), verification.error().code.starts_with("E06") ? nullptr : &loaded->source,
                    kSpec);
    if (!options.written.empty()) {
      if (const auto written = write_mutated(options.written, loaded->program.experiment, *verification, noise);
          !written)
        return refuse(written.error(), nullptr, kEnvironment);
    }
    const auto summary =
        summarise(*verification, [&](std::uint64_t number) { return "sim:" + device_name(number, noise); });
    calibrated = calibrated && 20 * summary.at_95.wrong <= summary.at_95.claims();
    json[noise.name] = verify_json(*verification, summary);
    if (common.json || !options.against.empty()) continue;
    print_out("{}{} on {} drawn devices {}, sim:{} and on, {:.0f} s\n", loaded->program.experiment,
               options.mutate ? ", mutated," : "", verification->devices.size(), noise.said,
               device_name(options.first, noise), verification->seconds);
    print_out("{}\n", verify_text(*verification, summary, options.all));
  }
  if (!options.against.empty())
    print_out("{}", verify_changes(*before, json.text(), options.all));
  else if (common.json)
    print_out("{}\n", json.text());
  if (interrupted()) return kInterrupted;
  return calibrated ? kDone : kNotHeld;
}

/// kNotHeld: claims at 95 % confidence or more are wrong more often than that allows.
class Verify final : public Command {
 public:
  void declare(Options& options) override {
    add_spec(options, common_);
    options.add("--models", &drawn_.models, "how many devices").between(1, 1'000'000).shows_default();
    options
        .add("--first", &drawn_.first,
             "number of the first: device N is sim:drawn-N, with noise sim:drawn-N-noisy or -harsh")
        .between(0, 1'000'000'000)
        .shows_default();
    options.add("--noise", &drawn_.noise, "none, real (an H200's) and harsh (on every load), separated by commas")
        .list_of({"none", "real", "harsh"})
        .shows_default();
    options.add("--seed", &common_.seed, "seed of the devices' chances, instead of the spec's");
    add_jobs(options, common_, "devices at once; by default one for each core of this machine");
    add_time_limit(options, common_, "seconds for one device, instead of ten times the file's budget");
    add_memory_limit(options, common_);
    options.add("--devices", &drawn_.family, "which family: wide has what usual leaves out, sim:drawn-wide-N")
        .offers_words({"usual", "wide"})
        .shows_default();
    options.add("--mutate", &drawn_.mutate,
                "do something to the file for each device: other sweeps, strides, laps, repetitions, params");
    options.add("--write-mutated", &drawn_.written, "folder in which the mutated files are kept");
    options.add("--all", &drawn_.all, "list every reason and every wrong claim");
    options.add("--json", &common_.json, "every verdict as JSON");
    options.add("--against", &drawn_.against, "an earlier run's --json: show what has changed since")
        .excludes("--json");
    add_progress(options, common_);
  }
  [[nodiscard]] std::string misuse() const override { return misuse_of_spec(common_); }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::vector<std::string>{jit::cache_folder(), drawn_.written}; }
  int run() override { return verify(common_, drawn_); }

 private:
  Common common_;
  Drawn drawn_;
};

}  // namespace

std::unique_ptr<Command> new_verify() { return std::make_unique<Verify>(); }

}  // namespace gexp::cli
