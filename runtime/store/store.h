// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lang/base/result.h"
#include "runtime/measure/point_log.h"
#include "runtime/result/result.h"
#include "runtime/store/sqlite.h"

/// Results that last: an SQLite file in WAL mode, into which every point goes as it is measured (docs/how-to/results.md).
/// Errors: E0910 the file cannot be opened or written; E0911 it is no store, or damaged; E0912 a result in it is damaged; E0913 a
/// newer gexp made it; E0914 it holds no such result.
namespace gexp::store {

inline constexpr const char* kDefaultPath = "gexp.db";

inline constexpr const char* kRunning = "running";
inline constexpr const char* kFailed = "failed";          ///< ended by an error
inline constexpr const char* kBrokenOff = "broken off";  ///< the process that measured is gone
/// "complete", "interrupted", "faulted", "out of time".
const char* state_word(result::RunResult::End end);

/// A result in the list of them.
struct Entry {
  std::int64_t id = 0;
  std::string name;        ///< that a user gave it; empty: none
  std::string experiment, spec_path, spec_sha256, device, device_name, date, host;
  std::string state;       ///< running, broken off, or how it ended
  bool simulated = false;
  bool here = false;       ///< by a process of this host
  std::uint64_t seed = 0;
  double seconds = 0;
  std::int64_t findings = 0, found = 0, expectations = 0, held = 0, points = 0, records = 0;
};

/// Which of them; what is empty leaves all.
struct Filter {
  std::string experiment{}, device{}, state{};  ///< part of the name or id; of the state the beginning
  std::string since{}, before{};          ///< dates as ISO 8601 begins: "2026-11", "2026-11-22T10:30"
  std::int64_t last = 0;                  ///< the newest so many; 0: all
};

/// What decides what a run measures: spec and files that it uses, settings, seed, device, NVRTC, gexp. Equal for runs that can go on from one another.
std::string fingerprint(const result::RunResult& head);

/// A run that is being kept. What cannot be written is said once, by finish(): the run goes on.
class Recording final : public measure::PointLog {
 public:
  Recording(Database database, std::int64_t id, std::string date, bool goes_on)
      : database_(std::move(database)), id_(id), date_(std::move(date)), goes_on_(goes_on) {}

  [[nodiscard]] std::int64_t id() const { return id_; }
  void stage(std::size_t number, const result::StageResult& stage) override;
  void keep(const std::string& stage, const measure::Round& round) override;
  void forget(const std::string& stage, const compiler::Coordinates& at) override;
  void whole(std::size_t number, const measure::StageKey& key, const result::StageResult& stage) override;
  bool take(const measure::KeptStage& kept, const std::string& stage) override;
  [[nodiscard]] std::shared_ptr<const measure::Round> known(const std::string& stage, const compiler::Coordinates& at, std::size_t first) const override;
  /// The run has ended, or `failed`: findings, expectations, and what became of each point. The first error of all writing.
  Result<> finish(const result::RunResult& result, bool failed = false);

 private:
  Result<> write_stage(std::size_t number, const result::StageResult& stage);
  Result<> write_round(const std::string& stage, const measure::Round& round, const std::string& bytes);
  Result<> put_stage(const std::string& how, std::size_t number, const result::StageResult& stage);
  Result<> end_stage(std::size_t number, const result::StageResult& stage);
  Result<> take_rounds(const measure::KeptStage& kept, const std::string& stage);
  Result<> write_end(const result::RunResult& result, bool failed);
  /// Rounds of points that the run measured ahead and did not want.
  Result<> drop_unwanted(const result::StageResult& stage);
  void note(const Result<>& written);

  mutable std::mutex mutex_;
  mutable Database database_;
  std::int64_t id_;
  std::string date_;  ///< of the run's begin
  bool goes_on_;
  std::set<std::string> kernels_;  ///< keys of those that were written
  std::optional<Diagnostic> problem_;
};

class Store {
 public:
  using Mode = Database::Mode;
  /// Create: makes it where there is none, and brings an older one up to date.
  static Result<Store> open(const std::string& path, Mode mode);

  /// Oldest first.
  Result<std::vector<Entry>> list(const Filter& filter = {});
  /// "7", "last", or a name.
  Result<Entry> find(const std::string& reference);
  /// As it was saved; of a run that never ended, what it measured.
  Result<result::RunResult> read(std::int64_t id);
  /// The text of the model that a simulated run was made with; empty where none is kept.
  Result<std::string> model(const std::string& sha256);
  /// "" takes the name away. A name stands for one result: whichever had it loses it.
  Result<> rename(std::int64_t id, const std::string& name);
  Result<> remove(const std::vector<std::int64_t>& ids);
  /// Gives the room of what was removed back to the disk.
  Result<> compact();
  /// The CUDA text of the kernels that a run loaded.
  Result<std::vector<result::KernelRecord>> kernels(std::int64_t id);
  /// Without files beside it, so that it can be handed on.
  Result<> alone();
  /// One result alone, in a file of its own that is a store too.
  Result<> extract(std::int64_t id, const std::string& path);

  /// Opens another connection, which the recording owns. `model`: the text of a simulated device's.
  Result<std::unique_ptr<Recording>> begin(const result::RunResult& head, const std::string& model);
  /// Takes the newest run of that fingerprint over, if it did not come to its end. E0915: it is still running.
  Result<std::optional<Entry>> take_over(const std::string& fingerprint);
  /// Goes on with a run that was taken over.
  Result<std::unique_ptr<Recording>> go_on(const Entry& run);
  /// Whole stages of the results, through another connection; none of those that run `own` has measured itself.
  Result<std::unique_ptr<measure::KeptStages>> kept_stages(std::int64_t own = 0);
  /// A result as a whole, from a file say. `model`: as for begin().
  Result<std::int64_t> add(const result::RunResult& result, const std::string& model = {});

  [[nodiscard]] const std::string& path() const { return database_.path(); }

 private:
  explicit Store(Database database) : database_(std::move(database)) {}
  Database database_;
};

/// Whether a file is an SQLite database, by its first bytes.
bool is_database(const std::string& path);

/// Brings a database to the last of the versions; `versions[i]`: SQL that leads from version i to i + 1. E0913: it is newer than them.
/// `application`: that a new one gets with its first tables, so that nobody sees these without it.
Result<> migrate(Database& database, const std::vector<std::string>& versions, bool may_write, int application = 0);

/// Whether it holds the tables and indices that the versions make, of the version that it says, and nothing else. E0911.
/// `schema`: "main", or the name of an attached one.
Result<> check_schema(Database& database, const std::vector<std::string>& versions, const std::string& schema = "main");

}  // namespace gexp::store
