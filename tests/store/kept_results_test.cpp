// SPDX-License-Identifier: Apache-2.0
// What results with kept stages hold, how they live on, and what is not kept.
#include "runtime/store/schema.h"
#include "tests/store/kept_runs.h"

namespace {

namespace fs = std::filesystem;
using namespace gexp::test;
using gexp::store::Store;
namespace result = gexp::result;
namespace store = gexp::store;

}  // namespace

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
  REQUIRE(broken.kept == StageNames{"a", "b"});
  REQUIRE(broken.result.end == result::RunResult::End::Interrupted);
  const auto resumed = run(path, text, {}, true);
  CHECK(resumed.id == broken.id);
  CHECK(resumed.kept == StageNames{"a", "b", "d", "e", "f"});
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
  CHECK(second.kept == StageNames{"a", "b", "d", "e", "f"});
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
    REQUIRE(
        database
            ->run(
                "UPDATE rounds SET data = x'00' WHERE stage = 'a'; DELETE FROM rounds WHERE stage = 'd' AND id % 2 = 0")
            .ok());
  }
  const auto second = run(path, kSix);
  CHECK(second.kept == StageNames{"b", "c", "e", "f"});
  CHECK(difference(second.result, first.result) == "");
}
