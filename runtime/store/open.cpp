// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/store/schema.h"
#include "runtime/store/store.h"

// Opening a store: what it is, whether it is ours as a whole, and making or renewing it. A store may come from a stranger, so
// nothing of it is read before its schema is known to be the one that this file makes.
namespace gexp::store {
namespace {

constexpr int kApplication = 0x67657870;  // "gexp", as SQLite's application_id

struct Identity {
  std::int64_t application = 0, objects = 0, version = 0;
};

Result<Identity> identify(Database& database) {
  Identity identity;
  for (const auto& [to, sql] : {std::pair{&identity.application, "PRAGMA application_id"}, {&identity.objects, "SELECT count(*) FROM sqlite_schema"}, {&identity.version, "PRAGMA user_version"}}) {
    auto number = database.number(sql);
    if (!number) return number.error();
    *to = *number;
  }
  return identity;
}

Diagnostic newer(const Database& database, std::int64_t version, std::size_t known) {
  return failure("E0913", fmt::format("{} is a store of a newer gexp: its version is {}, this gexp knows {}", database.path(), version, known), "use a newer gexp, or name another store with --store");
}

/// Every object of a schema: its type, name, table and SQL.
Result<std::set<std::string>> objects(Database& database, const std::string& schema) {
  auto query = database.prepare(fmt::format("SELECT type, name, tbl_name, coalesce(sql, '') FROM {}.sqlite_schema", schema));
  if (!query) return query.error();
  std::set<std::string> all;
  for (;;) {
    auto row = query->step();
    if (!row) return row.error();
    if (!*row) return all;
    all.insert(fmt::format("{}\n{}\n{}\n{}", query->text(0), query->text(1), query->text(2), query->text(3)));
  }
}

}  // namespace

Result<> check_schema(Database& database, const std::vector<std::string>& versions, const std::string& schema) {
  auto version = database.number(fmt::format("PRAGMA {}.user_version", schema));
  if (!version) return version.error();
  const auto known = static_cast<std::int64_t>(versions.size());
  if (*version > known) return newer(database, *version, versions.size());
  auto model = Database::open("", Database::Mode::Memory);
  if (!model) return model.error();
  for (std::int64_t i = 0; i < *version; ++i) {
    if (auto done = model->run(versions[static_cast<std::size_t>(i)]); !done) return done;
  }
  auto wanted = objects(*model, "main"), held = objects(database, schema);
  if (!wanted) return wanted.error();
  if (!held) return held.error();
  if (*version >= 1 && *held == *wanted) return Ok{};
  return failure("E0911", fmt::format("{} is no store of gexp: it holds other tables, views or triggers than gexp makes", database.path()), "name another one with --store");
}

Result<> migrate(Database& database, const std::vector<std::string>& versions, bool may_write, int application) {
  const auto last = static_cast<std::int64_t>(versions.size());
  const auto version = [&] { return database.number("PRAGMA user_version"); };
  auto now = version();
  if (!now) return now.error();
  if (*now > last) return newer(database, *now, versions.size());
  if (*now == last || !may_write) return Ok{};
  auto transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  now = version();  // another process may have been faster
  if (!now) return now.error();
  if (application != 0) {
    if (auto done = database.run(fmt::format("PRAGMA application_id = {}", application)); !done) return done;
  }
  for (auto i = *now; i < last; ++i) {
    if (auto done = database.run(versions[static_cast<std::size_t>(i)]); !done) return done;
  }
  if (auto done = database.run(fmt::format("PRAGMA user_version = {}", std::max(*now, last))); !done) return done;
  return transaction->commit();
}

namespace {

/// Whether a database is a store of ours, or may become one.
Result<> recognize(Database& database, Database::Mode mode) {
  auto is = identify(database);
  if (!is) return is.error();
  if (is->application != kApplication && is->objects > 0) return failure("E0911", fmt::format("{} is a database of another program", database.path()), "name another store with --store");
  if (is->objects == 0 && mode != Database::Mode::Create) return failure("E0911", fmt::format("{} is empty", database.path()), "name another store with --store");
  if (is->version > static_cast<std::int64_t>(kVersions.size())) return newer(database, is->version, kVersions.size());
  return is->objects > 0 ? check_schema(database, kVersions) : Result<>(Ok{});
}

}  // namespace

Result<Store> Store::open(const std::string& path, Mode mode) {
  auto database = Database::open(path, mode);
  if (!database) return database.error();
  // In one reading: another process may be making it. Before WAL, which is written into the file: what is refused stays as it was.
  if (auto begun = database->run("BEGIN"); !begun) return begun.error();
  auto ours = recognize(*database, mode);
  (void)database->run("COMMIT");
  if (!ours) return ours.error();
  if (mode != Mode::Read) {
    if (mode == Mode::Create) (void)database->number("PRAGMA journal_mode = WAL");  // where it cannot be, a journal does
    for (const char* setting : {"PRAGMA synchronous = NORMAL", "PRAGMA foreign_keys = ON"}) {
      if (auto done = database->run(setting); !done) return done.error();
    }
  }
  if (auto done = migrate(*database, kVersions, mode != Mode::Read, kApplication); !done) return done.error();
  return Store(std::move(*database));
}

}  // namespace gexp::store
