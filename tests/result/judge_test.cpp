// SPDX-License-Identifier: Apache-2.0
// Expectations of a finding that is an interval: it holds, or does not, where it does for every value within.
#include <doctest/doctest.h>

#include "compiler/pipeline.h"
#include "runtime/result/judge.h"

using namespace gexp;
using Status = result::Judgement::Status;

namespace {

result::Judgement judged(const std::string& condition, bool exact) {
  const Source source("t.gexp", "gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nstage s {\n  sweep n in 1KiB..4KiB times 2\n  pattern r = uniform(stride: 32B, span: n)\n"
                                "  launch grid 1 block 1\n  timed lat each { chase A by r laps 2 via nc }\n  find C: B = last_flat(misses(lat) over n)\n}\nexpect " + condition + "\n");
  Diagnostics diagnostics;
  const auto program = compiler::compile(source, {}, diagnostics);
  REQUIRE(program);
  infer::Finding finding;
  finding.id = "s.C", finding.value = Value(2048.0, kBytes), finding.status = infer::Finding::Status::Found;
  finding.interval = {2048, 4095}, finding.exact = exact;
  compiler::Names scope;
  scope.set("s", Value(Fields{{"C", finding.value}}));
  return result::judge(program->expects[0], scope, {}, {finding});
}

}  // namespace

TEST_CASE("an expectation of an interval is judged where all of its values agree") {
  CHECK(judged("s.C == 2KiB", true).status == Status::Pass);
  CHECK(judged("s.C == 3KiB", true).status == Status::Fail);
  CHECK(judged("s.C == 2KiB", false).status == Status::Unknown);
  CHECK(judged("s.C == 3KiB", false).status == Status::Unknown);
  CHECK(judged("s.C == 8KiB", false).status == Status::Fail);
  CHECK(judged("s.C < 8KiB", false).status == Status::Pass);
  CHECK(judged("s.C < 3KiB", false).status == Status::Unknown);
  CHECK(judged("s.C within 60% of 3KiB", false).status == Status::Pass);
  CHECK(judged("s.C == 3KiB", false).observed.find("s.C is between 2 KiB and 4095 B, told no finer") != std::string::npos);
}
