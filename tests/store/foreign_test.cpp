// SPDX-License-Identifier: Apache-2.0
// Stores and bundles that somebody else made to do harm.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <sys/stat.h>

#include <cstring>
#include <ctime>
#include <filesystem>

#include "runtime/store/packed.h"
#include "runtime/store/store.h"
#include "tests/store/folder.h"

namespace {

namespace fs = std::filesystem;
using gexp::test::Folder;
using gexp::store::Database;
using gexp::store::Store;
using Mode = Store::Mode;

gexp::result::RunResult small_result() {
  gexp::result::RunResult result;
  result.experiment = "made", result.spec_path = "made.gexp", result.spec_text = "gexp 1\nexperiment made\n";
  result.device.kind = "simulated", result.device.id = "sim:none";
  auto& stage = result.stages.emplace_back();
  stage.name = "s", stage.table.stage = "s", stage.table.timed = "lat", stage.table.columns = {"n"};
  auto& point = stage.table.points.emplace_back();
  point.at["n"] = gexp::Value(1024.0, gexp::kBytes);
  point.steps = 3;
  point.runs.push_back({{1, 2, 3}, {0}, 0});
  return result;
}

/// A store of one result, changed by SQL.
std::string changed(const Folder& folder, const std::string& sql) {
  const auto path = folder.file("x.gexpz");
  {
    auto store = Store::open(path, Mode::Create);
    REQUIRE(store.ok());
    REQUIRE(store->add(small_result()).ok());
    REQUIRE(store->alone().ok());
  }
  auto database = Database::open(path, Mode::Write);
  REQUIRE(database.ok());
  const auto done = database->run(sql);
  REQUIRE_MESSAGE(done.ok(), done.error().message);
  return path;
}

std::string read_code(const std::string& path) {
  auto store = Store::open(path, Mode::Read);
  if (!store) return store.error().code;
  const auto read = store->read(1);
  return read ? "read" : read.error().code;
}

}  // namespace

TEST_CASE("a store with a view, a trigger, or tables of somebody else is refused before anything of it is read") {
  CHECK(read_code(changed(Folder(), "DELETE FROM stage_keys")) == "read");
  for (const char* sql : {"CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT * FROM n",
                          "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM runs; END",
                          "ALTER TABLE heads RENAME TO kept; CREATE VIEW heads AS SELECT run, data FROM kept",
                          "CREATE INDEX i ON runs (name)", "CREATE TABLE other (x)", "DROP TABLE models", "PRAGMA user_version = 1",
                          "PRAGMA user_version = 0", "PRAGMA user_version = -1"}) {
    const Folder folder;
    const auto path = changed(folder, sql);
    CHECK_MESSAGE(read_code(path) == "E0911", sql);
    CHECK_MESSAGE(!Store::open(path, Mode::Create).ok(), sql);
    auto good = Store::open(folder.file("good.db"), Mode::Create);
    REQUIRE(good.ok());
  }
}

TEST_CASE("what a record claims to hold is not believed") {
  // A frame of zstd that says 16 GiB in its head, as small as it can be.
  std::string claim("\x28\xb5\x2f\xfd\xe0", 5);
  const std::uint64_t size = std::uint64_t{16} << 30;
  claim.append(reinterpret_cast<const char*>(&size), sizeof size);
  gexp::result::ReadBudget budget;
  CHECK(gexp::store::unpacked(claim, "x", budget).error().code == "E0912");
  CHECK(gexp::store::unpacked("", "x", budget).error().code == "E0912");
  // One that does hold 64 MiB in some KiB, where there is less room than that.
  const auto zeros = gexp::store::packed(std::string(64 << 20, '\0'));
  gexp::result::ReadBudget little(32 << 20);
  CHECK(gexp::store::unpacked(zeros, "x", little).error().code == "E0905");
  CHECK(gexp::store::unpacked(zeros, "x", budget)->size() == 64 << 20);
  for (const char* sql : {"UPDATE heads SET data = x'28b52ffde00000000004000000'", "UPDATE rounds SET data = x''", "UPDATE stages SET data = x'00'"}) {
    const Folder folder;
    CHECK_MESSAGE(read_code(changed(folder, sql)) == "E0912", sql);
  }
}

TEST_CASE("numbers and texts of the list of results are bounded") {
  for (const char* sql : {"UPDATE runs SET experiment = '../../x'", "UPDATE runs SET seed = '-1'", "UPDATE runs SET points = -5", "UPDATE runs SET device = char(27) || '[2J'",
                          "UPDATE runs SET seconds = -1", "UPDATE runs SET date = 'tomorrow'"}) {
    const Folder folder;
    auto store = Store::open(changed(folder, sql), Mode::Read);
    REQUIRE(store.ok());
    const auto all = store->list();
    CHECK_MESSAGE(!all.ok(), sql);
    if (!all) CHECK(all.error().code == "E0912");
  }
}

TEST_CASE("a tree of pages that lead to one another ends") {
  // Every row of `runs` many times: as a file whose inner pages all point to one leaf would give them.
  const Folder folder;
  const auto path = changed(folder, "DELETE FROM stage_keys");
  auto database = Database::open(path, Mode::Read);
  REQUIRE(database.ok());
  const auto begin = std::clock();
  auto forever = database->number("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n");
  CHECK_FALSE(forever.ok());
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 10);
}

TEST_CASE("a FIFO, a device and a folder are no store") {
  const Folder folder;
  const auto fifo = folder.file("fifo");
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  for (const auto& path : {fifo, folder.path, std::string("/dev/zero")}) CHECK(Store::open(path, Mode::Read).error().code == "E0910");
}
