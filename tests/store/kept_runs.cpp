// SPDX-License-Identifier: Apache-2.0
#include "tests/store/kept_runs.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "compiler/pipeline.h"
#include "runtime/device/facts.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/session.h"
#include "runtime/sim/sim.h"
#include "tests/loop/forwarding.h"

namespace gexp::test {

using store::Store;

const std::string kSix = R"(gexp 1
experiment six
param limit: count = 8 in 1..64
param other: count = 3 in 1..9
let span = limit * 128B
budget time 60s
seed 5
memory A: u32[64KiB] in global
memory B: u32[32KiB] in global

stage a {
  sweep k in 1..4
  let units = k * 8
  pattern p = uniform(stride: 128B, span: units * 128B)
  launch grid 1 block 1
  warm { chase A by p laps 1 }
  timed lat each { chase A by p laps 2 }
  repeat 2
  derive share: count = units div 2
  find level: cycles = value(median(lat), k: 2)
  find most: count = value(share, k: 4)
}
stage b {
  sweep k in 1..2
  let steps = floor(a.level / 1cycles)
  pattern p = uniform(stride: 4B, span: k * steps * 4B)
  launch grid 1 block 1
  timed lat each { chase A by p laps 1 }
  repeat 2
  find level: cycles = value(median(lat), k: 1)
}
stage c {
  pattern p = uniform(stride: 4B, span: floor(b.level / 1cycles) * 4B)
  launch grid 1 block 1
  timed lat each { chase A by p laps 1 }
  repeat 3
  find level: cycles = fastest(lat) need 10%
}
stage d {
  sweep n in 128B..span step 128B
  pattern p = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  timed lat each { chase B by p laps 3 }
  repeat 2
  find level: cycles = fastest(lat) need 10%
  find slow: cycles = slowest(lat) need 10%
  expect d.level > 0cycles
}
stage e {
  pattern p = uniform(stride: 128B, span: 1KiB + (a.most ?? 0) * 128B)
  launch grid 1 block 1
  timed lat each { chase A by p laps 1 }
  repeat 2
  find level: cycles = fastest(lat) need 10%
}
stage f {
  sweep k in 1..3
  pattern p = uniform(stride: 4B, span: k * floor(d.level / 1cycles) * 4B)
  launch grid 1 block 1
  timed lat each { chase B by p laps 1 }
  repeat 2
  find level: cycles = value(median(lat), k: 3)
}
)";

std::string edited(std::string text, const std::vector<Edit>& edits) {
  for (const auto& edit : edits) {
    const auto at = text.find(edit.from);
    REQUIRE_MESSAGE(at != std::string::npos, "nothing to edit: " << edit.from);
    text.replace(at, edit.from.size(), edit.to);
  }
  return text;
}

namespace {

std::string model_text(const std::string& name) {
  std::ifstream in(std::string(GEXP_SOURCE_DIR) + "/runtime/sim/models/" + name + ".toml");
  std::ostringstream text;
  text << in.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

/// Counts launches, on whichever of the devices that it makes.
class Counting final : public Forwarding {
 public:
  Counting(std::unique_ptr<device::Backend> inner, std::shared_ptr<std::atomic<int>> launches, int fault_at)
      : Forwarding(std::move(inner)), launches_(std::move(launches)), fault_at_(fault_at) {}

  std::unique_ptr<device::Backend> another(std::uint64_t number) const override {
    auto made = inner_->another(number);
    return made ? std::make_unique<Counting>(std::move(made), launches_, fault_at_) : nullptr;
  }
  device::Outcome launch(device::KernelId k, const device::LaunchShape& s, std::span<const device::Argument> a,
                         double t) override {
    if (++*launches_ == fault_at_) return {device::Outcome::Status::Timeout, "it hangs", 0};
    return inner_->launch(k, s, a, t);
  }

 private:
  std::shared_ptr<std::atomic<int>> launches_;
  int fault_at_;
};

struct SharedDevice final : Forwarding {
  using Forwarding::Forwarding;
};

std::unique_ptr<device::Backend> open_device(const How& how, const std::shared_ptr<std::atomic<int>>& launches) {
  const Source model(how.model + ".toml", edited(model_text(how.model), how.model_edits));
  sim::Options options;
  options.seed = how.seed;
  auto backend = sim::open(model, "sim:" + how.model, options);
  REQUIRE(backend.ok());
  auto device = std::move(*backend);
  if (how.shared) device = std::make_unique<SharedDevice>(std::move(device));
  return std::make_unique<Counting>(std::move(device), launches, how.fault_at);
}

/// All but times, and where stages were kept from. A result that was read holds no findings: they are inferred again.
std::string measured(const result::RunResult& result, bool answers = true) {
  auto json = nlohmann::ordered_json::parse(result::to_json(result));
  json.erase("timing");
  if (!answers) json.erase("findings"), json.erase("expectations");
  for (auto& stage : json["stages"]) stage.erase("kept");
  return json.dump(1);
}

}  // namespace

Ran run(const std::string& path, const std::string& text, const How& how, bool resume) {
  const Source spec("six.gexp", text);
  Diagnostics diagnostics;
  compiler::Options compiling;
  compiling.settings = how.settings;
  auto program = compiler::compile(spec, compiling, diagnostics);
  std::string said;
  for (const auto& diagnostic : diagnostics.sorted()) said += render(diagnostic, &spec);
  REQUIRE_MESSAGE(program, said);
  static const auto compiler = jit::Compiler::open();
  REQUIRE(compiler.ok());

  const auto launches = std::make_shared<std::atomic<int>>(0);
  const auto backend = open_device(how, launches);
  measure::Kernels kernels(*compiler, {}, backend->target());
  Ran ran;
  auto& result = ran.result;
  result.experiment = program->experiment, result.spec_text = text, result.gexp_version = "0", result.nvrtc = how.nvrtc;
  result.seed = how.seed, result.date = "2026-11-23T00:00:00Z";
  result.device = backend->device();
  program->device = device::device_facts(result.device);

  auto opened = Store::open(path, Store::Mode::Create);
  REQUIRE_MESSAGE(opened.ok(), (opened.ok() ? "" : opened.error().message));
  auto before = resume ? opened->take_over(store::fingerprint(result))
                       : Result<std::optional<store::Entry>>(std::optional<store::Entry>());
  REQUIRE(before.ok());
  auto recording = *before ? opened->go_on(**before) : opened->begin(result, "");
  REQUIRE(recording.ok());
  ran.id = (*recording)->id();
  auto kept = opened->kept_stages(ran.id);
  REQUIRE(kept.ok());
  measure::SessionOptions options;
  options.log = recording->get();
  options.kept = how.fresh ? nullptr : kept->get();
  options.toolchain = how.toolchain;
  options.jobs = 1;
  if (how.interrupt_at) options.interrupted = [&] { return *launches >= how.interrupt_at; };
  measure::Progress silent;
  const auto done = measure::run_session(*program, *backend, kernels, options, silent, result);
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? std::string() : render(done.error(), &spec)));
  REQUIRE((*recording)->finish(result).ok());
  ran.launches = *launches;
  for (const auto& stage : result.stages) {
    if (stage.kept) ran.kept.push_back(stage.name);
  }
  return ran;
}

std::string findings(const result::RunResult& result) {
  return nlohmann::json::parse(result::to_json(result)).at("findings").dump();
}

std::string difference(const result::RunResult& one, const result::RunResult& other, bool answers) {
  std::istringstream a(measured(one, answers)), b(measured(other, answers));
  for (std::string left, right;;) {
    const bool more_left = static_cast<bool>(std::getline(a, left)),
               more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left && !more_right) return {};
    if (left != right || more_left != more_right) return left + " / " + right;
  }
}

int launches_of(const result::RunResult& result, const StageNames& stages) {
  std::size_t launches = 0;
  for (const auto& stage : result.stages) {
    if (std::find(stages.begin(), stages.end(), stage.name) != stages.end()) launches += stage.effort.launches;
  }
  return static_cast<int>(launches);
}

void check_like_fresh(const Ran& ran, const std::string& text, const How& how, const StageNames& measured_stages) {
  StageNames kept;
  for (const auto& name : kAll) {
    if (std::find(measured_stages.begin(), measured_stages.end(), name) == measured_stages.end()) kept.push_back(name);
  }
  CHECK(ran.kept == kept);
  const Folder folder;
  auto fresh_how = how;
  fresh_how.fresh = true;
  const auto fresh = run(folder.file("fresh.db"), text, fresh_how);
  CHECK(fresh.kept.empty());
  CHECK(fresh.launches == launches_of(fresh.result, kAll));
  CHECK(ran.launches == launches_of(fresh.result, measured_stages));
  CHECK(findings(ran.result) == findings(fresh.result));
  CHECK(difference(ran.result, fresh.result) == "");
}

}  // namespace gexp::test
