// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "runtime/store/schema.h"
#include "runtime/store/store.h"

// What is done to results that a store holds already: named, removed, copied to a store of their own.
namespace gexp::store {

Result<> Store::rename(std::int64_t id, const std::string& name) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  auto taken = database_.prepare("UPDATE runs SET name = NULL WHERE name = ? OR id = ?");
  if (!taken) return taken.error();
  if (auto done = taken->bind(0, name).bind(1, id).run(); !done) return done;
  if (!name.empty()) {
    auto given = database_.prepare("UPDATE runs SET name = ? WHERE id = ?");
    if (!given) return given.error();
    if (auto done = given->bind(0, name).bind(1, id).run(); !done) return done;
  }
  return transaction->commit();
}

Result<> Store::remove(const std::vector<std::int64_t>& ids) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  for (const auto id : ids) {
    auto one = database_.prepare("DELETE FROM runs WHERE id = ?");
    if (!one) return one.error();
    if (auto done = one->bind(0, id).run(); !done) return done;
  }
  for (const char* orphans : {"DELETE FROM kernels WHERE key NOT IN (SELECT key FROM run_kernels)", "DELETE FROM models WHERE sha256 NOT IN (SELECT model FROM run_models)"}) {
    if (auto done = database_.run(orphans); !done) return done;
  }
  return transaction->commit();
}

Result<> Store::compact() { return database_.run("VACUUM"); }

Result<> Store::alone() {
  auto done = database_.number("PRAGMA journal_mode = DELETE");
  return done ? Result<>(Ok{}) : Result<>(done.error());
}

Result<> Store::extract(std::int64_t id, const std::string& to) {
  auto made = Store::open(to, Mode::Create);
  if (!made) return made.error();
  auto& target = made->database_;
  if (auto done = target.attach(path(), "source"); !done) return done;
  if (auto ours = check_schema(target, kVersions, "source"); !ours) return ours;
  if (auto done = target.run(fmt::format(
      "BEGIN;"
      "INSERT INTO runs SELECT * FROM source.runs WHERE id = {0};"
      "INSERT INTO heads SELECT * FROM source.heads WHERE run = {0};"
      "INSERT INTO stages SELECT * FROM source.stages WHERE run = {0};"
      "INSERT INTO rounds SELECT * FROM source.rounds WHERE run = {0};"
      "INSERT INTO kernels SELECT * FROM source.kernels WHERE key IN (SELECT key FROM source.run_kernels WHERE run = {0});"
      "INSERT INTO run_kernels SELECT * FROM source.run_kernels WHERE run = {0};"
      "INSERT INTO models SELECT * FROM source.models WHERE sha256 IN (SELECT model FROM source.run_models WHERE run = {0});"
      "INSERT INTO run_models SELECT * FROM source.run_models WHERE run = {0};"
      "COMMIT", id)); !done) return done;
  if (auto done = target.run("DETACH source"); !done) return done;
  return made->alone();
}

}  // namespace gexp::store
