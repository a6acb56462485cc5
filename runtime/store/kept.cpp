// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/result_json.h"
#include "runtime/store/packed.h"
#include "runtime/store/stage_records.h"
#include "runtime/store/store.h"

// Stages that stand for later ones: found by their keys, copied into the run that takes them. A copy, so that every
// result is whole by itself and outlives the one that it took from.
namespace gexp::store {
namespace {

/// Where a whole stage lies, and where it was measured.
struct Found {
  std::int64_t run = 0, number = 0;
  result::KeptFrom from;
};

class KeptInStore final : public measure::KeptStages {
 public:
  KeptInStore(Database database, std::int64_t own) : database_(std::move(database)), own_(own) {}

  [[nodiscard]] std::optional<measure::KeptStage> find(const measure::StageKey& key) const override {
    for (const auto& candidate : candidates(key.whole())) {
      if (auto stage = read(candidate)) return stage;  // what is damaged, or was removed meanwhile, is passed over
    }
    return std::nullopt;
  }

  [[nodiscard]] std::optional<measure::StageKey> last(const std::string& experiment, const std::string& stage,
                                                      const measure::StageKey& like) const override {
    auto query = database_.prepare(
        "SELECT k.text, k.inputs, k.seed, k.device, k.toolchain FROM stage_keys k JOIN runs ON runs.id = k.run "
        "WHERE runs.experiment = ? AND k.name = ? "
        "ORDER BY k.device = ? DESC, k.toolchain = ? DESC, k.seed = ? DESC, k.run DESC LIMIT 1");
    if (!query) return std::nullopt;
    query->bind(0, experiment).bind(1, stage).bind(2, like.device).bind(3, like.toolchain).bind(4, like.seed);
    const auto row = query->step();
    if (!row || !*row) return std::nullopt;
    return measure::StageKey{query->text(0), query->text(1), query->text(2), query->text(3), query->text(4)};
  }

 private:
  /// Newest first. A run that goes on recalls its own points by itself; what it took from others is told as theirs.
  [[nodiscard]] std::vector<Found> candidates(const std::string& key) const {
    std::vector<Found> found;
    auto query = database_.prepare(
        "SELECT run, number, origin, date, seconds FROM stage_keys WHERE key = ? AND (run <> ? OR origin <> ?) ORDER "
        "BY run DESC");
    if (!query) return found;  // a store of an older gexp, opened to be read, has no keys
    query->bind(0, key).bind(1, own_).bind(2, own_);
    (void)each(query, [&](Statement& row) -> Result<> {
      found.push_back({row.number(0), row.number(1), {row.number(2), row.text(3), row.real(4)}});
      return Ok{};
    });
    return found;
  }

  [[nodiscard]] std::optional<measure::KeptStage> read(const Found& found) const {
    auto query = database_.prepare("SELECT data FROM stages WHERE run = ? AND number = ?");
    if (!query) return std::nullopt;
    query->bind(0, found.run).bind(1, found.number);
    const auto row = query->step();
    if (!row || !*row) return std::nullopt;
    const auto place = where(database_, found.run);
    result::ReadBudget budget;
    const auto json = unpacked(query->blob(0), place, budget);
    if (!json) return std::nullopt;
    auto stage = result::stage_from_json(*json, place, budget);
    if (!stage || stage->status != result::StageResult::Status::Done) return std::nullopt;
    measure::KeptStage kept{found.run, static_cast<std::size_t>(found.number), std::move(*stage), {}};
    // A stage that ended without points names none; it is not to be taken for one that was broken off.
    if (!kept.stage.table.points.empty() && !read_records(database_, found.run, kept.stage, budget, &kept.kernels))
      return std::nullopt;
    kept.stage.kept = found.from;
    return kept;
  }

  mutable Database database_;
  std::int64_t own_;
};

Result<> run_with(Result<Statement> statement, const std::function<void(Statement&)>& bind) {
  if (!statement) return statement.error();
  bind(*statement);
  return statement->run();
}

}  // namespace

Result<std::unique_ptr<measure::KeptStages>> Store::kept_stages(std::int64_t own) {
  auto another = Store::open(path(), Mode::Read);
  if (!another) return another.error();
  return std::unique_ptr<measure::KeptStages>(std::make_unique<KeptInStore>(std::move(another->database_), own));
}

void Recording::whole(std::size_t number, const measure::StageKey& key, const result::StageResult& stage) {
  const std::lock_guard lock(mutex_);
  if (problem_) return;
  const auto from = stage.kept.value_or(result::KeptFrom{id_, date_, stage.seconds});
  note(
      run_with(database_.prepare("INSERT OR REPLACE INTO stage_keys VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
               [&](Statement& row) {
                 row.bind(0, id_).bind(1, static_cast<std::int64_t>(number)).bind(2, key.whole());
                 row.bind(3, key.text).bind(4, key.inputs).bind(5, key.seed).bind(6, key.device).bind(7, key.toolchain);
                 row.bind(8, stage.name).bind(9, from.result).bind(10, from.date).bind(11, from.seconds);
               }));
}

bool Recording::take(const measure::KeptStage& kept, const std::string& stage) {
  const std::lock_guard lock(mutex_);
  if (problem_) return true;  // said by finish(); the stage is in memory already
  return kept.run == id_ || take_rounds(kept, stage).ok();
}

Result<> Recording::take_rounds(const measure::KeptStage& kept, const std::string& stage) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  auto done = run_with(database_.prepare("DELETE FROM rounds WHERE run = ? AND stage = ?"),
                       [&](Statement& all) { all.bind(0, id_).bind(1, stage); });
  if (!done) return done;
  done = run_with(
      database_.prepare("INSERT INTO rounds (run, stage, place, first, whole, data) "
                        "SELECT ?, ?, place, first, whole, data FROM rounds WHERE run = ? AND stage = ? ORDER BY id"),
      [&](Statement& all) { all.bind(0, id_).bind(1, stage).bind(2, kept.run).bind(3, kept.stage.name); });
  if (!done) return done;
  if (database_.changes() == 0 && !kept.stage.table.points.empty())
    return failure("E0914", "its result was removed meanwhile");
  for (const auto& kernel : kept.kernels) {
    done = run_with(database_.prepare("INSERT OR IGNORE INTO run_kernels SELECT ?, key FROM kernels WHERE key = ?"),
                    [&](Statement& one) { one.bind(0, id_).bind(1, kernel.key); });
    if (!done) return done;
  }
  return transaction->commit();
}

}  // namespace gexp::store
