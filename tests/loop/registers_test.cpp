// SPDX-License-Identifier: Apache-2.0
// Which launches fail, as a value of each point; the register file of models that no GPU has.
#include <doctest/doctest.h>

#include "tests/loop/loop.h"

using namespace gexp::test;
using Status = gexp::result::Judgement::Status;

namespace {

std::string spec(const std::string& sweep, const std::string& rest) {
  return "gexp 1\nexperiment e\nstage s {\n  " + sweep + "\n  launch grid 1 block threads registers 64\n  timed t total { alu add.u32 chain 4 ilp 1 }\n  repeat 4\n  " + rest + "\n}\n";
}

}  // namespace

TEST_CASE("the register file of a GTX 280, and of models with other numbers: what is found follows the model, and Wong10's claims fail") {
  const std::string file = "wong10/registers.gexp";
  const auto result = run_loop(file, "gtx280");
  CHECK(count(result, Status::Pass) == 4);
  CHECK(found(result, "by_threads.most") == "[128, 128, 84, 64, 48, 40, 36, 32]");
  const auto failed = [&](const std::string& from, const std::string& to) {
    const auto other = run_loop(file, "gtx280", {{from, to}});
    CHECK(count(other, Status::Unknown) == 0);
    return count(other, Status::Fail);
  };
  CHECK(failed("registers_per_sm = 16384", "registers_per_sm = 12288") == 4);
  CHECK(failed("registers_per_thread = 128", "registers_per_thread = 124") == 3);
  CHECK(failed("register_step = 4", "register_step = 2") == 1);
  CHECK(failed("register_threads = 64", "register_threads = 32") == 2);
}

TEST_CASE("`fault` ends a sweep, is refined on, and is asked about") {
  const auto result = run_text(spec("sweep threads in 32..512 step 160 refine to 32 on fault until fault", "find most: count = last_flat(fault over threads)\n  find least: count = last_flat(fault over threads where threads > 100)"), "gtx280");
  CHECK(found(result, "s.most") == "256");
  CHECK(found(result, "s.least") == "256");
  CHECK(result.stages[0].table.points.size() < 8);
  // Where nothing asks, a launch that fails is a fault of the run, and a point without a value.
  const auto plain = run_text(spec("sweep threads in 32..512 step 160", "find most: count = highest(threads)"), "gtx280");
  CHECK(plain.end != gexp::result::RunResult::End::Complete);
  CHECK(result.end == gexp::result::RunResult::End::Complete);
}
