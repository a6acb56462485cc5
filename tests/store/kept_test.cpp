// SPDX-License-Identifier: Apache-2.0
// Stages that need no measuring because an earlier result holds them: what is launched after an edit, and that the answers are
// those of a run that measured everything.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "compiler/pipeline.h"
#include "runtime/device/facts.h"
#include "runtime/jit/compiler.h"
#include "runtime/measure/session.h"
#include "runtime/sim/sim.h"
#include "runtime/store/schema.h"
#include "runtime/store/store.h"
#include "tests/loop/forwarding.h"

namespace {

namespace fs = std::filesystem;
using namespace gexp;
using store::Store;

struct Folder {
  std::string path = (fs::temp_directory_path() / "gexp-kept-XXXXXX").string();
  Folder() { REQUIRE(mkdtemp(path.data()) != nullptr); }
  ~Folder() { fs::remove_all(path); }
  [[nodiscard]] std::string file(const std::string& name) const { return path + "/" + name; }
};

/// b reads a, c reads b, e reads another finding of a, f reads d. `${}` are edited by the tests.
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
  find level: cycles = fastest(lat)
}
stage d {
  sweep n in 128B..span step 128B
  pattern p = uniform(stride: 32B, span: n)
  launch grid 1 block 1
  timed lat each { chase B by p laps 3 }
  repeat 2
  find level: cycles = fastest(lat)
  find slow: cycles = slowest(lat)
  expect d.level > 0cycles
}
stage e {
  pattern p = uniform(stride: 128B, span: 1KiB + (a.most ?? 0) * 128B)
  launch grid 1 block 1
  timed lat each { chase A by p laps 1 }
  repeat 2
  find level: cycles = fastest(lat)
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

struct Edit {
  std::string from, to;
};

std::string edited(std::string text, const std::vector<Edit>& edits) {
  for (const auto& edit : edits) {
    const auto at = text.find(edit.from);
    REQUIRE_MESSAGE(at != std::string::npos, "nothing to edit: " << edit.from);
    text.replace(at, edit.from.size(), edit.to);
  }
  return text;
}

std::string model_text(const std::string& name) {
  std::ifstream in(std::string(GEXP_SOURCE_DIR) + "/runtime/sim/models/" + name + ".toml");
  std::ostringstream text;
  text << in.rdbuf();
  REQUIRE(!text.str().empty());
  return text.str();
}

/// Counts launches, on whichever of the devices that it makes.
class Counting final : public test::Forwarding {
 public:
  Counting(std::unique_ptr<device::Backend> inner, std::shared_ptr<std::atomic<int>> launches, int fault_at)
      : Forwarding(std::move(inner)), launches_(std::move(launches)), fault_at_(fault_at) {}

  std::unique_ptr<device::Backend> another(std::uint64_t number) const override {
    auto made = inner_->another(number);
    return made ? std::make_unique<Counting>(std::move(made), launches_, fault_at_) : nullptr;
  }
  device::Outcome launch(device::KernelId k, const device::LaunchShape& s, std::span<const device::Argument> a, double t) override {
    if (++*launches_ == fault_at_) return {device::Outcome::Status::Timeout, "it hangs", 0};
    return inner_->launch(k, s, a, t);
  }

 private:
  std::shared_ptr<std::atomic<int>> launches_;
  int fault_at_;
};

/// How a run differs from the plain one.
struct How {
  bool fresh = false;
  std::uint64_t seed = 5;
  std::string model = "gtx780";
  std::vector<Edit> model_edits{};
  std::string toolchain = "a build";
  std::vector<std::pair<std::string, std::string>> settings{};
  int fault_at = 0;             ///< number of the launch that hangs; 0: none
  int interrupt_at = 0;         ///< the launch after which the run is told to end; 0: none
  bool shared = false;          ///< all points on one device, as on a GPU
  std::string nvrtc = "1";
};

struct Ran {
  result::RunResult result;
  std::int64_t id = 0;
  int launches = 0;
  std::vector<std::string> kept;  ///< stages
};

struct SharedDevice final : test::Forwarding {
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

/// As `gexp run --store` goes.
Ran run(const std::string& path, const std::string& text, const How& how = {}, bool resume = false) {
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
  auto before = resume ? opened->take_over(store::fingerprint(result)) : Result<std::optional<store::Entry>>(std::optional<store::Entry>());
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

using Names = std::vector<std::string>;
const Names kAll = {"a", "b", "c", "d", "e", "f"};

std::string findings(const result::RunResult& result) { return nlohmann::json::parse(result::to_json(result)).at("findings").dump(); }

/// All but times, and where stages were kept from. A result that was read holds no findings: they are inferred again.
std::string measured(const result::RunResult& result, bool answers = true) {
  auto json = nlohmann::ordered_json::parse(result::to_json(result));
  json.erase("timing");
  if (!answers) json.erase("findings"), json.erase("expectations");
  for (auto& stage : json["stages"]) stage.erase("kept");
  return json.dump(1);
}

/// The first line in which two results differ; empty: they do not.
std::string difference(const result::RunResult& one, const result::RunResult& other, bool answers = true) {
  std::istringstream a(measured(one, answers)), b(measured(other, answers));
  for (std::string left, right;;) {
    const bool more_left = static_cast<bool>(std::getline(a, left)), more_right = static_cast<bool>(std::getline(b, right));
    if (!more_left && !more_right) return {};
    if (left != right || more_left != more_right) return left + " / " + right;
  }
}

int launches_of(const result::RunResult& result, const Names& stages) {
  std::size_t launches = 0;
  for (const auto& stage : result.stages) {
    if (std::find(stages.begin(), stages.end(), stage.name) != stages.end()) launches += stage.effort.launches;
  }
  return static_cast<int>(launches);
}

/// What was not kept was measured, launch for launch, and the whole is what a fresh run gives.
void check_like_fresh(const Ran& ran, const std::string& text, const How& how, const Names& measured_stages) {
  Names kept;
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

}  // namespace

TEST_CASE("the six stages find what the tests count on") {
  const Folder folder;
  const auto first = run(folder.file("s.db"), kSix);
  for (const auto& finding : first.result.findings) CHECK_MESSAGE(finding.status == infer::Finding::Status::Found, finding.id << ": " << finding.why);
  CHECK(first.launches > 30);
  CHECK(first.kept.empty());
}

TEST_CASE("an edited stage is measured again, with those that read what it finds now, and no other") {
  const Folder folder;
  const auto path = folder.file("s.db");
  const auto first = run(path, kSix);
  struct Trial {
    std::vector<Edit> edits;
    Names measured;
  };
  const Trial trials[] = {
      {{}, {}},
      {{{"chase B by p laps 3", "chase B by p laps 4"}}, {"d"}},                          // finds the same: f stays
      {{{"repeat 3\n", "repeat 4\n"}}, {"c"}},
      {{{"k: 2)", "k: 4)"}}, {}},                                                         // another point, the same value
      {{{"let units = k * 8", "let units = k * 16"}}, {"a", "e"}},                        // the same level: b stays
      {{{"units div 2", "units div 4"}}, {"e"}},                                          // only asked otherwise
      {{{"span: k * steps * 4B", "span: k * steps * 8B"}}, {"b"}},
      {{{"memory B: u32[32KiB]", "memory B: u32[64KiB]"}}, {"d", "f"}},
      {{{"let span = limit", "let span = (limit + 1)"}}, {"d"}},
      {{{"sweep n in 128B..span step 128B", "sweep n in 128B..span step 128B\n  skip n == 256B why \"no\""}}, {"d"}},
  };
  for (const auto& trial : trials) {
    CAPTURE(trial.edits.empty() ? "nothing" : trial.edits[0].to);
    const auto text = edited(kSix, trial.edits);
    fs::copy_file(path, folder.file("t.db"), fs::copy_options::overwrite_existing);
    check_like_fresh(run(folder.file("t.db"), text), text, {}, trial.measured);
  }
}

TEST_CASE("comments, layout, names, expectations and finds need no measuring") {
  const Folder folder;
  const auto path = folder.file("s.db");
  REQUIRE(run(path, kSix).id == 1);
  const std::vector<std::vector<Edit>> edits = {
      {{"stage a {", "# what a comment says\nstage a {"}},
      {{"timed lat each { chase A by p laps 2 }", "timed lat each {\n    chase A by p laps 2\n  }"}},
      {{"expect d.level > 0cycles", "expect d.level > 9cycles"}},
      {{"find level: cycles = fastest(lat)\n  find slow", "find level: cycles = fastest(lat)\n  find quick: cycles = value(fastest_of, n: 256B)\n  find slow"},
       {"  find level: cycles = fastest(lat)\n  find quick", "  derive fastest_of: cycles = median(lat)\n  find level: cycles = fastest(lat)\n  find quick"}},
      {{"param limit: count = 8", "param reach: count = 8"}, {"let span = limit", "let span = reach"}},
      {{"let span = limit * 128B", "let wide = limit * 128B"}, {"128B..span step", "128B..wide step"}},
      {{"timed lat each { chase A by p laps 2 }", "timed t each { chase A by p laps 2 }"}, {"value(median(lat), k: 2)", "value(median(t), k: 2)"}},
      {{"pattern p = uniform(stride: 128B, span: units * 128B)", "pattern ring = uniform(stride: 128B, span: units * 128B)"},
       {"warm { chase A by p laps 1 }", "warm { chase A by ring laps 1 }"}, {"chase A by p laps 2", "chase A by ring laps 2"}},
      {{"param other: count = 3", "param other: count = 4"}},
      {{"budget time 60s", "budget time 50s"}},
      {{"stage e {", "stage e doc \"said\" {"}},
  };
  for (const auto& edit : edits) {
    CAPTURE(edit[0].to);
    const auto text = edited(kSix, edit);
    fs::copy_file(path, folder.file("t.db"), fs::copy_options::overwrite_existing);
    check_like_fresh(run(folder.file("t.db"), text), text, {}, {});
  }
}

TEST_CASE("a finding that changes has what reads it measured again, and nothing else") {
  const Folder folder;
  const auto path = folder.file("s.db");
  REQUIRE(run(path, kSix).id == 1);
  const auto text = edited(kSix, {{"find level: cycles = fastest(lat)\n  find slow", "find level: cycles = slowest(lat)\n  find slow"}});
  check_like_fresh(run(path, text), text, {}, {"f"});  // d itself is not measured, only asked otherwise
  check_like_fresh(run(path, text), text, {}, {});
  check_like_fresh(run(path, kSix), kSix, {}, {});     // and the way back is known
}

TEST_CASE("another seed, device, setting or toolchain keeps what does not hang on it") {
  const Folder folder;
  const auto path = folder.file("s.db");
  REQUIRE(run(path, kSix).id == 1);
  const auto trial = [&](const How& how, const Names& measured_stages) {
    fs::copy_file(path, folder.file("t.db"), fs::copy_options::overwrite_existing);
    check_like_fresh(run(folder.file("t.db"), kSix, how), kSix, how, measured_stages);
  };
  How how;
  how.seed = 6;
  trial(how, kAll);
  how = {}, how.model = "gtx980";
  trial(how, kAll);
  how = {}, how.model_edits = {{"# ", "#  "}};  // a model is its text
  trial(how, kAll);
  how = {}, how.toolchain = "another build, or other templates";
  trial(how, kAll);
  how = {}, how.nvrtc = "2";
  trial(how, kAll);
  how = {}, how.settings = {{"limit", "9"}};
  trial(how, {"d"});
  how = {}, how.settings = {{"other", "9"}};
  trial(how, {});
}

TEST_CASE("--fresh measures all, and what it measured serves later") {
  const Folder folder;
  const auto path = folder.file("s.db");
  const auto first = run(path, kSix);
  How fresh;
  fresh.fresh = true;
  const auto second = run(path, kSix, fresh);
  CHECK(second.kept.empty());
  CHECK(second.launches == first.launches);
  const auto third = run(path, kSix);
  CHECK(third.launches == 0);
  for (const auto& stage : third.result.stages) {
    REQUIRE(stage.kept);
    CHECK(stage.kept->result == 2);
    CHECK(stage.effort.launches == 0);
  }
  CHECK(difference(third.result, first.result) == "");
}

TEST_CASE("a kept stage says where it was measured, through any number of results, and its result is whole by itself") {
  const Folder folder;
  const auto path = folder.file("s.db");
  const auto first = run(path, kSix);
  REQUIRE(run(path, kSix).launches == 0);
  const auto third = run(path, kSix);
  for (const auto& stage : third.result.stages) CHECK(stage.kept->result == 1);
  auto opened = Store::open(path, Store::Mode::Create);
  REQUIRE(opened.ok());
  const auto as_saved = opened->read(3);
  REQUIRE(as_saved.ok());
  CHECK(difference(*as_saved, first.result, false) == "");
  CHECK(as_saved->stages[0].kept->result == 1);
  CHECK(opened->kernels(3)->size() == opened->kernels(1)->size());
  REQUIRE(opened->remove({1, 2}).ok());
  CHECK(difference(*opened->read(3), first.result, false) == "");
  CHECK(run(path, kSix).launches == 0);
  REQUIRE(opened->remove({3, 4}).ok());
  CHECK(run(path, kSix).launches == first.launches);
}

TEST_CASE("a stage that was broken off, or lost a point, is not kept") {
  const Folder folder;
  const auto first = run(folder.file("whole.db"), kSix);
  const auto of_a = launches_of(first.result, {"a"});
  How how;
  how.interrupt_at = of_a + 1;
  const auto path = folder.file("s.db");
  const auto broken = run(path, kSix, how);
  REQUIRE(broken.result.end == result::RunResult::End::Interrupted);
  check_like_fresh(run(path, kSix), kSix, {}, {"b", "c", "d", "e", "f"});

  how = {}, how.fault_at = of_a + 1;
  const auto faulted = run(folder.file("f.db"), kSix, how);
  REQUIRE(faulted.result.end == result::RunResult::End::Faulted);
  const auto after = run(folder.file("f.db"), kSix);
  CHECK(std::find(after.kept.begin(), after.kept.end(), "b") == after.kept.end());
  CHECK(std::find(after.kept.begin(), after.kept.end(), "a") != after.kept.end());
  CHECK(findings(after.result) == findings(first.result));
}

TEST_CASE("a run that goes on has its own stages, and those that it had kept still say so") {
  const Folder folder;
  const auto path = folder.file("s.db");
  const auto text = edited(kSix, {{"repeat 3\n", "repeat 4\n"}});  // of c
  const auto first = run(path, kSix);
  How how;
  how.interrupt_at = 2;
  const auto broken = run(path, text, how);
  REQUIRE(broken.kept == Names{"a", "b"});
  REQUIRE(broken.result.end == result::RunResult::End::Interrupted);
  const auto resumed = run(path, text, {}, true);
  CHECK(resumed.id == broken.id);
  CHECK(resumed.kept == Names{"a", "b", "d", "e", "f"});
  CHECK(resumed.launches == 4);  // of c, whose one point was broken off
  const Folder other;
  How fresh;
  fresh.fresh = true;
  const auto whole = run(other.file("s.db"), text, fresh);
  CHECK(difference(resumed.result, whole.result) == "");
  auto opened = Store::open(path, Store::Mode::Read);
  CHECK(difference(*opened->read(resumed.id), whole.result, false) == "");
}

TEST_CASE("on one device for all points, kernels of kept stages are named too") {
  const Folder folder;
  const auto path = folder.file("s.db");
  How how;
  how.shared = true;
  const auto first = run(path, kSix, how);
  const auto text = edited(kSix, {{"repeat 3\n", "repeat 4\n"}});
  const auto second = run(path, text, how);
  CHECK(second.kept == Names{"a", "b", "d", "e", "f"});
  CHECK(second.result.kernels.size() == first.result.kernels.size());
}

TEST_CASE("a store of the first schema is brought up to date, and read as it is where it may not be written") {
  const Folder folder;
  const auto path = folder.file("s.db");
  {
    auto database = store::Database::open(path, store::Database::Mode::Create);
    REQUIRE(store::migrate(*database, {store::kVersions[0]}, true).ok());
    REQUIRE(database->run("PRAGMA application_id = 1734703216").ok());  // "gexp"
  }
  {
    auto reading = Store::open(path, Store::Mode::Read);
    REQUIRE_MESSAGE(reading.ok(), (reading.ok() ? "" : reading.error().message));
    auto kept = reading->kept_stages();
    REQUIRE(kept.ok());
    CHECK(!(*kept)->find({}));
    CHECK(!(*kept)->last("six", "a", {}));
    CHECK(reading->list()->empty());
  }
  const auto first = run(path, kSix);
  CHECK(first.kept.empty());
  CHECK(run(path, kSix).launches == 0);
}

TEST_CASE("records that are damaged are passed over: the stage is measured") {
  const Folder folder;
  const auto path = folder.file("s.db");
  const auto first = run(path, kSix);
  {
    auto database = store::Database::open(path, store::Database::Mode::Write);
    REQUIRE(database->run("UPDATE rounds SET data = x'00' WHERE stage = 'a'; DELETE FROM rounds WHERE stage = 'd' AND id % 2 = 0").ok());
  }
  const auto second = run(path, kSix);
  CHECK(second.kept == Names{"b", "c", "e", "f"});
  CHECK(difference(second.result, first.result) == "");
}
