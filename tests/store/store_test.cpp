// SPDX-License-Identifier: Apache-2.0
#include "runtime/store/store.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/result/result_json.h"
#include "runtime/store/packed.h"
#include "tests/store/folder.h"

namespace {

namespace fs = std::filesystem;
using gexp::test::Folder;
using gexp::store::Database;
using gexp::store::Store;
using Mode = Store::Mode;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A result of one stage: `points` points of `runs` runs of `ticks` ticks that look like latencies.
gexp::result::RunResult some_result(int points, int runs, int ticks) {
  gexp::result::RunResult result;
  result.experiment = "made";
  result.spec_path = "made.gexp", result.spec_text = "gexp 1\nexperiment made\n", result.spec_sha256 = std::string(64, '0');
  result.device.kind = "simulated", result.device.id = "sim:none", result.device.name = "none", result.device.selector = "none";
  result.gexp_version = "0", result.nvrtc = "0", result.date = "2026-11-22T00:00:00Z";
  std::mt19937 chance(1);
  std::normal_distribution<double> jitter(0, 3);
  auto& stage = result.stages.emplace_back();
  stage.name = "s", stage.table.stage = "s", stage.table.timed = "lat", stage.table.columns = {"n"};
  for (int p = 0; p < points; ++p) {
    auto& point = stage.table.points.emplace_back();
    point.at["n"] = gexp::Value(1024.0 * (p + 1), gexp::kBytes);
    point.steps = ticks, point.overhead = 14.25;
    for (int r = 0; r < runs; ++r) {
      auto& run = point.runs.emplace_back();
      for (int i = 0; i < ticks; ++i) run.ticks.push_back(static_cast<std::uint32_t>((chance() % 50 == 0 ? 400 : 200) + jitter(chance)));
    }
  }
  return result;
}

Store made(const std::string& path) {
  auto store = Store::open(path, Mode::Create);
  REQUIRE_MESSAGE(store.ok(), store.error().message);
  return std::move(*store);
}

}  // namespace

TEST_CASE("a result comes back as it was saved") {
  const Folder folder;
  auto store = made(folder.file("gexp.db"));
  auto result = some_result(20, 3, 100);
  result.seed = 18446744073709551615u;
  result.stages[0].table.points[3].converged = false;
  result.stages[0].table.points[4].outcome = {gexp::device::Outcome::Status::Fault, "a fault", 0};
  const auto id = store.add(result);
  REQUIRE(id.ok());
  const auto back = store.read(*id);
  REQUIRE_MESSAGE(back.ok(), back.error().message);
  CHECK(gexp::result::to_json(*back) == gexp::result::to_json(*gexp::result::from_json(gexp::result::to_json(result), "")));
}

TEST_CASE("five million records are saved at a million a second or more") {
  const Folder folder;
  auto store = made(folder.file("gexp.db"));
  const auto result = some_result(100, 5, 10000);
  const auto begin = Clock::now();
  const auto id = store.add(result);
  const double took = seconds_since(begin);
  REQUIRE(id.ok());
  MESSAGE(fmt::format("5,000,000 records in {:.2f} s: {:.1f} million a second, {:.1f} MB", took, 5 / took, static_cast<double>(fs::file_size(folder.file("gexp.db"))) / 1e6));
  CHECK(took < 5);
  CHECK(store.read(*id)->stages[0].table.points[99].runs[4].ticks == result.stages[0].table.points[99].runs[4].ticks);
}

TEST_CASE("ten thousand results are listed in less than half a second") {
  const Folder folder;
  {
    auto store = made(folder.file("gexp.db"));
    REQUIRE(store.add(some_result(3, 3, 10)).ok());
    auto database = Database::open(folder.file("gexp.db"), Mode::Write);
    REQUIRE(database->run("WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) INSERT INTO runs "
                          "SELECT i, NULL, experiment, spec_path, spec_sha256, device, device_name, simulated, seed, fingerprint, date, host, owner, state, seconds, findings, found, expectations, "
                          "held, points, records FROM runs, n WHERE id = 1").ok());
    for (const char* table : {"heads", "stages"}) {
      const std::string columns = table == std::string("heads") ? "runs.id, data" : "runs.id, number, data";
      REQUIRE(database->run(fmt::format("INSERT INTO {0} SELECT {1} FROM {0}, runs WHERE runs.id > 1 AND {0}.run = 1", table, columns)).ok());
    }
  }
  const auto begin = Clock::now();
  auto store = Store::open(folder.file("gexp.db"), Mode::Read);
  REQUIRE(store.ok());
  const auto all = store->list();
  const double took = seconds_since(begin);
  REQUIRE(all.ok());
  CHECK(all->size() == 10000);
  MESSAGE(fmt::format("{:.3f} s", took));
  CHECK(took < 0.5);
}

TEST_CASE("several at once write into one store") {
  const Folder folder;
  const auto path = folder.file("gexp.db");
  std::vector<std::thread> threads;
  std::atomic<int> saved{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 10; ++k) {
        auto store = Store::open(path, Mode::Create);
        if (store && store->add(some_result(5, 2, 50)).ok()) ++saved;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(saved == 80);
  CHECK(made(path).list()->size() == 80);
}

// Who comes second must see the store as a whole or not at all, never one half of it as another program's database.
TEST_CASE("several at once make one store") {
  const Folder folder;
  constexpr int kRounds = 40, kThreads = 8;
  std::atomic<int> opened{0};
  std::string why;
  std::mutex mutex;
  for (int round = 0; round < kRounds; ++round) {
    const auto path = folder.file(fmt::format("{}.db", round));
    std::latch all(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        all.arrive_and_wait();
        const auto store = Store::open(path, Mode::Create);
        if (store) ++opened;
        const std::lock_guard lock(mutex);
        if (!store) why = store.error().message;
      });
    }
    for (auto& thread : threads) thread.join();
  }
  CHECK_MESSAGE(opened == kRounds * kThreads, why);
}

TEST_CASE("results are found by number, as the last, by name; names move") {
  const Folder folder;
  auto store = made(folder.file("gexp.db"));
  CHECK(store.find("last").error().code == "E0914");
  for (int i = 0; i < 3; ++i) REQUIRE(store.add(some_result(1, 1, 1)).ok());
  CHECK(store.find("last")->id == 3);
  REQUIRE(store.rename(1, "base").ok());
  CHECK(store.find("base")->id == 1);
  REQUIRE(store.rename(2, "base").ok());
  CHECK(store.find("base")->id == 2);
  CHECK(store.find("1")->name.empty());
  CHECK(store.find("bsae").error().hint == "did you mean `base`?");
  REQUIRE(store.remove({2}).ok());
  CHECK(store.find("base").error().code == "E0914");
  CHECK(store.list()->size() == 2);
  CHECK(store.list({.last = 1})->front().id == 3);
  CHECK(store.list({.experiment = "other"})->empty());
  CHECK(store.list({.before = "2026-11-22"})->empty());
  CHECK(store.list({.since = "2026-11-22"})->size() == 2);
}

TEST_CASE("a bundle is one file that holds one result") {
  const Folder folder;
  auto store = made(folder.file("gexp.db"));
  for (int i = 1; i < 4; ++i) REQUIRE(store.add(some_result(i, 1, 10)).ok());
  const auto bundle = folder.file("it's 1?.gexpz");
  REQUIRE(store.extract(2, bundle).ok());
  CHECK(!fs::exists(bundle + "-wal"));
  fs::permissions(bundle, fs::perms::owner_read);
  auto opened = Store::open(bundle, Mode::Read);
  REQUIRE_MESSAGE(opened.ok(), opened.error().message);
  CHECK(opened->list()->size() == 1);
  CHECK(gexp::result::to_json(*opened->read(2)) == gexp::result::to_json(*store.read(2)));
}

TEST_CASE("an older store is brought up to date, a newer one is refused and stays as it is") {
  const Folder folder;
  const auto path = folder.file("gexp.db");
  const std::vector<std::string> simple = {"CREATE TABLE a (x INTEGER)"}, later = {"CREATE TABLE a (x INTEGER)", "ALTER TABLE a ADD COLUMN y INTEGER DEFAULT 7", "no SQL"};
  auto database = Database::open(path, Mode::Create);
  REQUIRE(gexp::store::migrate(*database, simple, true).ok());
  REQUIRE(database->run("INSERT INTO a VALUES (1)").ok());
  CHECK(!gexp::store::migrate(*database, later, true).ok());  // what fails leaves no trace
  CHECK(*database->number("PRAGMA user_version") == 1);
  REQUIRE(gexp::store::migrate(*database, {later[0], later[1]}, true).ok());
  CHECK(*database->number("SELECT y FROM a") == 7);
  CHECK(gexp::store::migrate(*database, simple, true).error().code == "E0913");

  const auto newer = folder.file("newer.db");
  { auto store = made(newer); }
  {
    auto raw = Database::open(newer, Mode::Write);
    REQUIRE(raw->run("PRAGMA user_version = 99").ok());
    (void)raw->number("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const auto before = bytes_of(newer);
  for (const auto mode : {Mode::Create, Mode::Write, Mode::Read}) CHECK(Store::open(newer, mode).error().code == "E0913");
  CHECK(bytes_of(newer) == before);
}

TEST_CASE("what is no store is refused and stays as it is") {
  const Folder folder;
  const auto text = folder.file("notes.txt"), foreign = folder.file("foreign.db"), empty = folder.file("empty.db");
  std::ofstream(text) << std::string(5000, 'x');
  REQUIRE(Database::open(foreign, Mode::Create)->run("CREATE TABLE t (x); INSERT INTO t VALUES (1)").ok());
  std::ofstream(empty).flush();
  for (const auto& path : {text, foreign}) {
    const auto before = bytes_of(path);
    for (const auto mode : {Mode::Create, Mode::Write, Mode::Read}) {
      const auto opened = Store::open(path, mode);
      REQUIRE(!opened.ok());
      CHECK(opened.error().code == "E0911");
      CHECK(!opened.error().hint.empty());
    }
    CHECK(bytes_of(path) == before);
  }
  CHECK(Store::open(empty, Mode::Read).error().code == "E0911");
  CHECK(Store::open(empty, Mode::Create).ok());
  CHECK(Store::open(folder.path, Mode::Create).error().code == "E0910");
  CHECK(Store::open(folder.file("none.db"), Mode::Read).error().code == "E0910");
  CHECK(!fs::exists(folder.file("none.db")));
}

TEST_CASE("a store that is damaged anywhere, or cut short, gives an error or what is whole, never a wrong result") {
  const Folder folder;
  const auto path = folder.file("gexp.db");
  std::string wanted;
  {
    auto store = made(path);
    for (int i = 0; i < 3; ++i) REQUIRE(store.add(some_result(10, 2, 200)).ok());
    wanted = gexp::result::to_json(*store.read(2));
    REQUIRE(store.alone().ok());
  }
  const auto whole = bytes_of(path);
  std::mt19937 chance(7);
  int refused = 0, same = 0;
  for (int trial = 0; trial < 300; ++trial) {
    auto bytes = whole;
    if (trial % 3 == 0) bytes.resize(chance() % bytes.size());
    else for (int i = 0; i < 40; ++i) bytes[100 + chance() % (bytes.size() - 100)] = static_cast<char>(chance());
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    auto store = Store::open(path, Mode::Read);
    auto result = store ? store->read(2) : gexp::Result<gexp::result::RunResult>(store.error());
    if (result) {
      CHECK(gexp::result::to_json(*result) == wanted);
      ++same;
    } else {
      CHECK(result.error().code.rfind("E09", 0) == 0);
      ++refused;
    }
    if (store) (void)store->list();
    CHECK(bytes_of(path) == bytes);
  }
  MESSAGE(refused << " refused, " << same << " as it was");
  CHECK(refused > 100);
}
