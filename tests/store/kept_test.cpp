// SPDX-License-Identifier: Apache-2.0
// Stages that need no measuring because an earlier result holds them: what is launched after an edit, and that the
// answers are those of a run that measured everything.
#include "tests/store/kept_runs.h"

namespace {

namespace fs = std::filesystem;
using namespace gexp::test;

}  // namespace

TEST_CASE("the six stages find what the tests count on") {
  const Folder folder;
  const auto first = run(folder.file("s.db"), kSix);
  for (const auto& finding : first.result.findings)
    CHECK_MESSAGE(finding.status == gexp::infer::Finding::Status::Found, finding.id << ": " << finding.why);
  CHECK(first.launches > 30);
  CHECK(first.kept.empty());
}

TEST_CASE("an edited stage is measured again, with those that read what it finds now, and no other") {
  const Folder folder;
  const auto path = folder.file("s.db");
  const auto first = run(path, kSix);
  struct Trial {
    std::vector<Edit> edits;
    StageNames measured;
  };
  const Trial trials[] = {
      {{}, {}},
      {{{"chase B by p laps 3", "chase B by p laps 4"}}, {"d"}},  // finds the same: f stays
      {{{"repeat 3\n", "repeat 4\n"}}, {"c"}},
      {{{"1\n  timed lat each { chase A by p laps 1 }\n  repeat 3", "1 limit 1s\n  timed lat each { chase A by p laps 1 }\n  repeat 3"}}, {"c"}},
      {{{"1\n  timed lat each { chase A by p laps 1 }\n  repeat 3", "1 registers 64\n  timed lat each { chase A by p laps 1 }\n  repeat 3"}}, {"c"}},
      {{{"k: 2)", "k: 4)"}}, {}},                                   // another point, the same value
      {{{"let units = k * 8", "let units = k * 16"}}, {"a", "e"}},  // the same level: b stays
      {{{"units div 2", "units div 4"}}, {"e"}},                    // only asked otherwise
      {{{"span: k * steps * 4B", "span: k * steps * 8B"}}, {"b"}},
      {{{"memory B: u32[32KiB]", "memory B: u32[64KiB]"}}, {"d", "f"}},
      {{{"memory B: u32[32KiB]", "memory B: s32[32KiB]"}}, {"d", "f"}},
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
      {{"find level: cycles = fastest(lat) need 10%\n  find slow",
        "find level: cycles = fastest(lat) need 10%\n  find quick: cycles = value(fastest_of, n: 256B)\n  find slow"},
       {"  find level: cycles = fastest(lat) need 10%\n  find quick",
        "  derive fastest_of: cycles = median(lat)\n  find level: cycles = fastest(lat) need 10%\n  find quick"}},
      {{"param limit: count = 8", "param reach: count = 8"}, {"let span = limit", "let span = reach"}},
      {{"let span = limit * 128B", "let wide = limit * 128B"}, {"128B..span step", "128B..wide step"}},
      {{"timed lat each { chase A by p laps 2 }", "timed t each { chase A by p laps 2 }"},
       {"value(median(lat), k: 2)", "value(median(t), k: 2)"}},
      {{"pattern p = uniform(stride: 128B, span: units * 128B)",
        "pattern ring = uniform(stride: 128B, span: units * 128B)"},
       {"warm { chase A by p laps 1 }", "warm { chase A by ring laps 1 }"},
       {"chase A by p laps 2", "chase A by ring laps 2"}},
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
  const auto text = edited(
      kSix, {{"find level: cycles = fastest(lat) need 10%\n  find slow", "find level: cycles = slowest(lat) need 10%\n  find slow"}});
  check_like_fresh(run(path, text), text, {}, {"f"});  // d itself is not measured, only asked otherwise
  check_like_fresh(run(path, text), text, {}, {});
  check_like_fresh(run(path, kSix), kSix, {}, {});  // and the way back is known
}

TEST_CASE("another seed, device, setting or toolchain keeps what does not hang on it") {
  const Folder folder;
  const auto path = folder.file("s.db");
  REQUIRE(run(path, kSix).id == 1);
  const auto trial = [&](const How& how, const StageNames& measured_stages) {
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
