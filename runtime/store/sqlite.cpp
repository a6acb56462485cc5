// SPDX-License-Identifier: Apache-2.0
#include "runtime/store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <filesystem>

#include "lang/base/files.h"

namespace gexp::store {
namespace {

constexpr int kPatience = 30000;  // milliseconds that a writer waits for another

Diagnostic problem(sqlite3* database, const std::string& path) {
  const int code = sqlite3_errcode(database) & 0xff;
  const std::string what = sqlite3_errmsg(database);
  switch (code) {
    case SQLITE_FULL: return failure("E0910", fmt::format("cannot write {}: no space is left on the device", path), "make room, or name another store with --store");
    case SQLITE_READONLY: return failure("E0910", fmt::format("cannot write {}: it, or its folder, is read-only", path), "name another store with --store, or keep nothing with --store none");
    case SQLITE_CANTOPEN: return failure("E0910", fmt::format("cannot open {}: {}", path, what), "name another store with --store, or keep nothing with --store none");
    case SQLITE_NOTADB: return failure("E0911", fmt::format("{} is no store of gexp", path), "name another one with --store");
    case SQLITE_CORRUPT: return failure("E0911", fmt::format("{} is damaged: {}", path, what), "copy it away and try `sqlite3 FILE .recover`; name another store with --store");
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return failure("E0910", fmt::format("{} is held by another process for more than {} s", path, kPatience / 1000), "wait for it, or name another store with --store");
    case SQLITE_INTERRUPT: return failure("E0911", fmt::format("{} is damaged: reading it takes longer than any store of its size", path), "name another one with --store");
    case SQLITE_IOERR: return failure("E0910", fmt::format("cannot read or write {}: {}", path, sqlite3_system_errno(database) == EFBIG ? why_not_written(EFBIG) : what), "is the disk full, or gone?");
    default: return failure("E0911", fmt::format("{}: {}", path, what));
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int at, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), at + 1, value);
  return *this;
}
Statement& Statement::bind(int at, double value) {
  sqlite3_bind_double(statement_.get(), at + 1, value);
  return *this;
}
Statement& Statement::bind(int at, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), at + 1, text.data() ? text.data() : "", text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bind_blob(int at, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), at + 1, bytes.data(), bytes.size(), SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return problem(database_, *path_);
}

Result<> Statement::run() {
  for (;;) {
    auto row = step();
    if (!row) return row.error();
    if (!*row) return Ok{};
  }
}

std::int64_t Statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string Statement::text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  return text ? reinterpret_cast<const char*>(text) : "";
}
std::string_view Statement::blob(int column) const {
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return {bytes ? bytes : "", static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

namespace {

constexpr const char* kReadOnly = "mode=ro";
constexpr const char* kUnchanging = "immutable=1";  // a file that nobody changes: what lies in a folder that cannot be written to

constexpr int kStepsAtOnce = 1 << 20;         // of SQLite's machine, between two looks
constexpr std::int64_t kStepsOfAPage = 20'000;  // a page of 4 KiB has some hundred rows, each read in some tens of steps
constexpr std::int64_t kStepsOfAny = std::int64_t{1} << 26;

/// A page that a hundred others lead to is read a hundred times, and so are those below it: a small file can take for ever.
int look_at_steps(void* left) { return --*static_cast<std::int64_t*>(left) < 0 ? 1 : 0; }

/// A file that a stranger made is data: nothing of its schema runs, and what is written into it is checked.
void distrust(sqlite3* database) {
  for (const auto& [what, on] : {std::pair{SQLITE_DBCONFIG_DEFENSIVE, 1}, {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                 {SQLITE_DBCONFIG_ENABLE_VIEW, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0}})
    sqlite3_db_config(database, what, on, nullptr);
  sqlite3_exec(database, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0", nullptr, nullptr, nullptr);
}

/// A path as SQLite's URI.
std::string uri_of(const std::string& path, const char* how) {
  std::string uri = "file:";
  for (const char c : path) uri += c == '?' || c == '#' || c == '%' ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  return uri + "?" + how;
}

}  // namespace

Result<Database> Database::open(const std::string& path, Mode mode) {
  std::error_code error;
  if (mode == Mode::Memory) {
    sqlite3* memory = nullptr;
    const int made = sqlite3_open_v2(":memory:", &memory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
    std::unique_ptr<sqlite3, Close> owned(memory);
    if (made != SQLITE_OK) return problem(memory, "a database in memory");
    return Database(std::make_unique<std::string>("memory"), std::move(owned));
  }
  if (path.empty()) return failure("E0910", "an empty name is no store");
  if (const auto other = other_than_file(path); !other.empty()) return failure("E0910", fmt::format("cannot open {}: it is {}", path, other), "name a file with --store");
  if (mode != Mode::Create && !std::filesystem::exists(path, error)) return failure("E0910", fmt::format("there is no store {}", path), "`gexp run` makes one; --store names another");
  const std::string name = path.front() == ':' || path.rfind("file:", 0) == 0 ? "./" + path : path;  // names with a meaning of their own for SQLite
  sqlite3* raw = nullptr;
  const int flags = mode == Mode::Create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : mode == Mode::Write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY;
  int code = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
  std::unique_ptr<sqlite3, Close> database(raw);
  const auto look = [&] { return sqlite3_exec(raw, "SELECT 1 FROM sqlite_schema LIMIT 1", nullptr, nullptr, nullptr); };
  if (code == SQLITE_OK) distrust(raw), sqlite3_busy_timeout(raw, kPatience), code = look();
  if (mode == Mode::Read && code != SQLITE_OK && std::filesystem::exists(path + "-wal", error) && std::filesystem::file_size(path + "-wal", error) > 0) {
    return failure("E0910", fmt::format("{} cannot be read where it is: what was written last lies beside it ({}-wal), in a folder that cannot be written", path, path), "copy both files to another folder");
  }
  if (mode == Mode::Read && ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY)) {
    code = sqlite3_open_v2(uri_of(path, kUnchanging).c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI, nullptr);
    database.reset(raw);
    if (code == SQLITE_OK) distrust(raw), code = look();
  }
  if (code != SQLITE_OK) return problem(raw, path);
  Database opened(std::make_unique<std::string>(path), std::move(database));
  if (mode == Mode::Read) {
    auto pages = opened.number("PRAGMA page_count");
    if (!pages) return pages.error();
    opened.steps_ = std::make_unique<std::int64_t>((kStepsOfAny + *pages * kStepsOfAPage) / kStepsAtOnce);
    sqlite3_progress_handler(raw, kStepsAtOnce, look_at_steps, opened.steps_.get());
  }
  return opened;
}

Result<> Database::run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return problem(database_.get(), *path_);
  return Ok{};
}

Result<> Database::attach(const std::string& path, const std::string& name) {
  Result<> done = Ok{};
  for (const char* how : {kReadOnly, kUnchanging}) {
    auto statement = prepare("ATTACH ? AS " + name);
    if (!statement) return statement.error();
    done = statement->bind(0, uri_of(std::filesystem::absolute(path).string(), how)).run();
    if (done && number(fmt::format("SELECT count(*) FROM {}.sqlite_schema", name))) return done;
    if (done) (void)run("DETACH " + name);
  }
  return done ? Result<>(problem(database_.get(), path)) : done;
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK) return problem(database_.get(), *path_);
  return Statement(database_.get(), *path_, statement);
}

Result<std::int64_t> Database::number(const std::string& sql) {
  auto query = prepare(sql);
  if (!query) return query.error();
  auto row = query->step();
  if (!row) return row.error();
  return *row ? query->number(0) : 0;
}

std::int64_t Database::last_id() const { return sqlite3_last_insert_rowid(database_.get()); }
std::int64_t Database::changes() const { return sqlite3_changes64(database_.get()); }

Result<Transaction> Transaction::begin(Database& database) {
  if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return begun.error();
  return Transaction(database);
}
Transaction::~Transaction() {
  if (database_) (void)database_->run("ROLLBACK");
}
Result<> Transaction::commit() {
  auto done = database_->run("COMMIT");
  if (done) database_ = nullptr;
  return done;
}

}  // namespace gexp::store
