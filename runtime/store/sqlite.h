// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lang/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

/// SQLite, as far as the store needs it. Every error is a diagnostic that names the file.
namespace gexp::store {

/// A prepared statement; values are bound and read by number, from 0.
class Statement {
 public:
  Statement& bind(int at, std::int64_t value);
  Statement& bind(int at, double value);
  Statement& bind(int at, std::string_view text);
  Statement& bind_blob(int at, std::string_view bytes);
  /// True: there is a row.
  Result<bool> step();
  /// Until there is no further row.
  Result<> run();
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  /// Valid until the next step.
  [[nodiscard]] std::string_view blob(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3* database, const std::string& path, sqlite3_stmt* statement) : database_(database), path_(&path), statement_(statement) {}
  sqlite3* database_;
  const std::string* path_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Mode { Create, Write, Read, Memory };  ///< Memory: a new one that goes with its connection; it has no path
  /// E0910: no such file, it cannot be written, it is none of SQLite's or damaged. Waits for other writers. Views, triggers and
  /// functions of the file never run; reading one opened by Mode::Read ends with E0911 after more steps than its pages explain.
  static Result<Database> open(const std::string& path, Mode mode);

  Result<> run(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  /// Another database, to be read from, under a name.
  Result<> attach(const std::string& path, const std::string& name);
  /// The one number that a query answers.
  Result<std::int64_t> number(const std::string& sql);
  [[nodiscard]] std::int64_t last_id() const;
  [[nodiscard]] std::int64_t changes() const;
  [[nodiscard]] const std::string& path() const { return *path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Database(std::unique_ptr<std::string> path, std::unique_ptr<sqlite3, Close> database) : path_(std::move(path)), database_(std::move(database)) {}
  std::unique_ptr<std::string> path_;  ///< statements point to it
  std::unique_ptr<std::int64_t> steps_;  ///< that reading may still take, in lots; null: any number. SQLite points to it
  std::unique_ptr<sqlite3, Close> database_;
};

/// Everything until `commit`, or nothing: what is not committed is undone when it goes.
class Transaction {
 public:
  static Result<Transaction> begin(Database& database);
  ~Transaction();
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  Result<> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

}  // namespace gexp::store
