// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <set>

#include "runtime/result/point_table.h"
#include "runtime/result/result_json.h"
#include "runtime/store/packed.h"
#include "runtime/store/store.h"

namespace gexp::store {
namespace {

std::string place_of(const compiler::Coordinates& at) { return result::place_to_json({at.begin(), at.end()}); }

Result<> write(Result<Statement> statement, const std::function<void(Statement&)>& bind) {
  if (!statement) return statement.error();
  bind(*statement);
  return statement->run();
}

}  // namespace

void Recording::note(const Result<>& written) {
  if (!written && !problem_) problem_ = written.error();
}

void Recording::stage(std::size_t number, const result::StageResult& stage) {
  const std::lock_guard lock(mutex_);
  if (problem_) return;
  note(write_stage(number, stage));
  // What is measured anew is not whole before it ends.
  note(write(database_.prepare("DELETE FROM stage_keys WHERE run = ? AND number = ?"),
             [&](Statement& row) { row.bind(0, id_).bind(1, static_cast<std::int64_t>(number)); }));
}

void Recording::keep(const std::string& stage, const measure::Round& round) {
  const auto bytes = pack_round(round);
  const std::lock_guard lock(mutex_);
  if (!problem_) note(write_round(stage, round, bytes));
}

void Recording::forget(const std::string& stage, const compiler::Coordinates& at) {
  const std::lock_guard lock(mutex_);
  if (problem_) return;
  note(write(database_.prepare("DELETE FROM rounds WHERE run = ? AND stage = ? AND place = ?"), [&](Statement& all) { all.bind(0, id_).bind(1, stage).bind(2, place_of(at)); }));
}

std::shared_ptr<const measure::Round> Recording::known(const std::string& stage, const compiler::Coordinates& at, std::size_t first) const {
  if (!goes_on_) return nullptr;
  const std::lock_guard lock(mutex_);
  auto query = database_.prepare("SELECT data FROM rounds WHERE run = ? AND stage = ? AND place = ? AND first = ? AND whole = 1");
  if (!query) return nullptr;
  query->bind(0, id_).bind(1, stage).bind(2, place_of(at)).bind(3, static_cast<std::int64_t>(first));
  const auto row = query->step();
  if (!row || !*row) return nullptr;
  result::ReadBudget budget;
  auto round = unpack_round(query->blob(0), database_.path(), budget);  // what is damaged is measured again
  return round ? std::make_shared<const measure::Round>(std::move(*round)) : nullptr;
}

Result<> Recording::write_stage(std::size_t number, const result::StageResult& stage) {
  return put_stage("INSERT OR REPLACE", number, stage);
}

Result<> Recording::put_stage(const std::string& how, std::size_t number, const result::StageResult& stage) {
  return write(database_.prepare(how + " INTO stages VALUES (?, ?, ?)"),
               [&](Statement& row) { row.bind(0, id_).bind(1, static_cast<std::int64_t>(number)).bind_blob(2, packed(result::stage_to_json(stage))); });
}

/// A stage that was stopped has all points whose rounds are kept, those of earlier attempts too; one that was not reached this time
/// stays as an earlier attempt left it.
Result<> Recording::end_stage(std::size_t number, const result::StageResult& stage) {
  if (stage.status != result::StageResult::Status::Stopped) {
    auto done = write_stage(number, stage);
    return done ? drop_unwanted(stage) : done;
  }
  if (stage.table.timed.empty()) return put_stage("INSERT OR IGNORE", number, stage);
  auto without = stage;
  without.table.points.clear();
  return write_stage(number, without);
}

Result<> Recording::write_round(const std::string& stage, const measure::Round& round, const std::string& bytes) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  for (const auto& kernel : round.kernels) {
    if (!kernel.cuda || !kernels_.insert(kernel.key).second) continue;
    auto done = write(database_.prepare("INSERT OR IGNORE INTO kernels VALUES (?, ?, ?)"), [&](Statement& row) { row.bind(0, kernel.key).bind(1, kernel.file).bind_blob(2, packed(*kernel.cuda)); });
    if (!done) return done;
    done = write(database_.prepare("INSERT OR IGNORE INTO run_kernels VALUES (?, ?)"), [&](Statement& row) { row.bind(0, id_).bind(1, kernel.key); });
    if (!done) return done;
  }
  auto done = write(database_.prepare("INSERT OR REPLACE INTO rounds (run, stage, place, first, whole, data) VALUES (?, ?, ?, ?, ?, ?)"), [&](Statement& row) {
    row.bind(0, id_).bind(1, stage).bind(2, place_of(round.at)).bind(3, static_cast<std::int64_t>(round.first)).bind(4, std::int64_t{round.whole}).bind_blob(5, bytes);
  });
  return done ? transaction->commit() : done;
}

Result<> Recording::drop_unwanted(const result::StageResult& stage) {
  std::set<std::string> wanted;
  for (const auto& point : stage.table.points) wanted.insert(result::place_to_json(result::coordinates(stage.table, point)));
  auto query = database_.prepare("SELECT id, place FROM rounds WHERE run = ? AND stage = ?");
  if (!query) return query.error();
  query->bind(0, id_).bind(1, stage.name);
  std::vector<std::int64_t> unwanted;
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) break;
    if (!wanted.contains(query->text(1))) unwanted.push_back(query->number(0));
  }
  for (const auto id : unwanted) {
    if (auto done = write(database_.prepare("DELETE FROM rounds WHERE id = ?"), [&](Statement& row) { row.bind(0, id); }); !done) return done;
  }
  return Ok{};
}

Result<> Recording::write_end(const result::RunResult& result, bool failed) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  std::int64_t points = 0, records = 0;
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const auto& stage = result.stages[i];
    if (auto done = end_stage(i, stage); !done) return done;
    for (const auto& point : stage.table.points) {
      ++points;
      for (const auto& run : point.runs) records += static_cast<std::int64_t>(run.ticks.size());
    }
  }
  auto done = write(database_.prepare("INSERT OR REPLACE INTO heads VALUES (?, ?)"), [&](Statement& row) { row.bind(0, id_).bind_blob(1, packed(result::head_to_json(result))); });
  if (!done) return done;
  using Status = result::Judgement::Status;
  const auto found = std::count_if(result.findings.begin(), result.findings.end(), [](const auto& finding) { return finding.status == infer::Finding::Status::Found; });
  const auto judged = std::count_if(result.expectations.begin(), result.expectations.end(), [](const auto& expect) { return expect.status != Status::NotHere; });
  const auto held = std::count_if(result.expectations.begin(), result.expectations.end(), [](const auto& expect) { return expect.status == Status::Pass || expect.status == Status::ExpectedFail; });
  done = write(database_.prepare("UPDATE runs SET state = ?, seconds = ?, findings = ?, found = ?, expectations = ?, held = ?, points = ?, records = ?, owner = '' WHERE id = ?"), [&](Statement& row) {
    row.bind(0, failed ? kFailed : state_word(result.end)).bind(1, result.seconds).bind(2, static_cast<std::int64_t>(result.findings.size())).bind(3, static_cast<std::int64_t>(found));
    row.bind(4, static_cast<std::int64_t>(judged)).bind(5, static_cast<std::int64_t>(held)).bind(6, points).bind(7, records).bind(8, id_);
  });
  return done ? transaction->commit() : done;
}

Result<> Recording::finish(const result::RunResult& result, bool failed) {
  const std::lock_guard lock(mutex_);
  if (!problem_) note(write_end(result, failed));
  if (problem_) return *problem_;
  return Ok{};
}

}  // namespace gexp::store
