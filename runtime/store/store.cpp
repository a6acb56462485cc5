// SPDX-License-Identifier: Apache-2.0
#include "runtime/store/store.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "lang/base/sha256.h"
#include "lang/base/visible.h"
#include "runtime/result/checked_json.h"
#include "runtime/result/point_table.h"
#include "runtime/result/result_json.h"
#include "runtime/store/packed.h"
#include "runtime/store/stage_records.h"

namespace gexp::store {
namespace {

constexpr const char* kColumns =
    "id, coalesce(name, ''), experiment, spec_path, spec_sha256, device, device_name, simulated, seed, date, host, owner, state, seconds, findings, found, expectations, held, points, records";

std::string host() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  return name;
}

/// "NUMBER START": a process, told from a later one of the same number; empty: there is none, or it has ended.
std::string process(long number) {
  std::ifstream in(fmt::format("/proc/{}/stat", number));
  std::string text((std::istreambuf_iterator<char>(in)), {});
  const auto name_ends = text.rfind(')');
  if (name_ends == std::string::npos) return "";
  std::istringstream rest(text.substr(name_ends + 1));
  std::string state, field, start;
  rest >> state;  // field 3 of proc(5)'s stat; the start is field 22
  for (int i = 0; i < 19 && rest >> field; ++i) start = field;
  if (state == "Z" || state == "X") return "";
  return fmt::format("{} {}", number, start);
}

bool alive(const std::string& owner) { return !owner.empty() && process(std::strtol(owner.c_str(), nullptr, 10)) == owner; }

bool is_line(const std::string& text) { return text.size() <= 4096 && find_control(text) == text.size() && text.find('\n') == std::string::npos; }

/// A row of kColumns. E0912: it is none that gexp writes.
Result<Entry> entry_of(const Statement& row, const Database& database) {
  Entry entry;
  entry.id = row.number(0);
  entry.name = row.text(1), entry.experiment = row.text(2), entry.spec_path = row.text(3), entry.spec_sha256 = row.text(4);
  entry.device = row.text(5), entry.device_name = row.text(6), entry.simulated = row.number(7) != 0;
  const auto seed = row.text(8);
  const auto parsed = std::from_chars(seed.data(), seed.data() + seed.size(), entry.seed);
  entry.date = row.text(9), entry.host = row.text(10), entry.state = row.text(12), entry.seconds = row.real(13);
  entry.findings = row.number(14), entry.found = row.number(15), entry.expectations = row.number(16), entry.held = row.number(17);
  entry.points = row.number(18), entry.records = row.number(19);
  bool good = parsed.ec == std::errc() && parsed.ptr == seed.data() + seed.size() && entry.seconds >= 0 && std::isfinite(entry.seconds) && result::is_word(entry.experiment) && result::is_date(entry.date);
  for (const auto* text : {&entry.name, &entry.spec_path, &entry.spec_sha256, &entry.device, &entry.device_name, &entry.host, &entry.state}) good = good && is_line(*text);
  for (const auto number : {entry.findings, entry.found, entry.expectations, entry.held, entry.points, entry.records}) good = good && number >= 0;
  if (!good) return failure("E0912", fmt::format("{} is damaged: its row in the list of results is none that gexp writes", where(database, entry.id)), "name another store with --store");
  entry.here = entry.host == host();
  if (entry.state == kRunning && entry.here && !alive(row.text(11))) entry.state = kBrokenOff;
  return entry;
}

}  // namespace

std::string fingerprint(const result::RunResult& head) {
  Sha256 all;
  all.add_field(head.spec_text).add_field(head.gexp_version).add_field(head.nvrtc).add_field(fmt::format("{}", head.seed));
  for (const auto& used : head.used) all.add_field(used.path).add_field(used.sha256);
  for (const auto& [name, value] : head.settings) all.add_field(name).add_field(value);
  const auto& device = head.device;
  all.add_field(device.kind).add_field(device.id).add_field(device.name).add_field(device.uuid).add_field(device.driver).add_field(device.model_sha256);
  return all.hex();
}

const char* state_word(result::RunResult::End end) {
  using End = result::RunResult::End;
  switch (end) {
    case End::Complete: return "complete";
    case End::Interrupted: return "interrupted";
    case End::Faulted: return "faulted";
    case End::OutOfTime:
    case End::OutOfDefaultTime:
    case End::OutOfSetTime: return "out of time";
  }
  return "";
}

bool is_database(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;  // a pipe would be waited for
  std::ifstream in(path, std::ios::binary);
  std::string head(15, '\0');
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  return in && head == "SQLite format 3";
}

Result<std::vector<Entry>> Store::list(const Filter& filter) {
  auto query = database_.prepare(fmt::format("SELECT {} FROM runs WHERE instr(lower(experiment), lower(?)) AND (instr(lower(device), lower(?)) OR instr(lower(device_name), lower(?))) "
                                             "AND date >= ? AND (? = '' OR date < ?) ORDER BY id DESC", kColumns));
  if (!query) return query.error();
  query->bind(0, filter.experiment).bind(1, filter.device).bind(2, filter.device).bind(3, filter.since).bind(4, filter.before).bind(5, filter.before);
  std::vector<Entry> entries;
  auto done = each(query, [&](Statement& row) -> Result<> {
    if (filter.last > 0 && static_cast<std::int64_t>(entries.size()) == filter.last) return Ok{};
    auto entry = entry_of(row, database_);
    if (!entry) return entry.error();
    if (entry->state.rfind(filter.state, 0) == 0) entries.push_back(std::move(*entry));
    return Ok{};
  });
  if (!done) return done.error();
  std::reverse(entries.begin(), entries.end());
  return entries;
}

Result<Entry> Store::find(const std::string& reference) {
  std::int64_t id = 0;
  const auto parsed = std::from_chars(reference.data(), reference.data() + reference.size(), id);
  const bool number = parsed.ec == std::errc() && parsed.ptr == reference.data() + reference.size();
  auto query = database_.prepare(fmt::format("SELECT {} FROM runs WHERE {}", kColumns, number ? "id = ?" : reference == "last" ? "id = (SELECT max(id) FROM runs)" : "name = ?"));
  if (!query) return query.error();
  if (number) query->bind(0, id);
  else if (reference != "last") query->bind(0, reference);
  auto row = query->step();
  if (!row) return row.error();
  if (*row) return entry_of(*query, database_);
  auto all = list();
  if (!all) return all.error();
  if (all->empty()) return failure("E0914", fmt::format("{} holds no results yet", path()), "`gexp run` puts them there");
  std::vector<std::string_view> names;
  for (const auto& entry : *all) names.push_back(entry.name);
  const auto near = number ? std::nullopt : nearest(reference, names);
  return failure("E0914", fmt::format("{} holds no result {}", path(), number ? reference : "`" + reference + "`"),
                 near && !near->empty() ? fmt::format("did you mean `{}`?", *near) : "`gexp results` lists them");
}

Result<result::RunResult> Store::read(std::int64_t id) {
  const auto place = where(database_, id);
  auto head = database_.prepare("SELECT data FROM heads WHERE run = ?");
  if (!head) return head.error();
  head->bind(0, id);
  auto row = head->step();
  if (!row) return row.error();
  if (!*row) return failure("E0914", fmt::format("{} holds no result {}", path(), id), "`gexp results` lists them");
  result::ReadBudget budget;
  auto text = unpacked(head->blob(0), place, budget);
  if (!text) return text.error();
  auto result = result::from_json(*text, place);
  if (!result) return result;
  auto stages = database_.prepare("SELECT data FROM stages WHERE run = ? ORDER BY number");
  if (!stages) return stages.error();
  stages->bind(0, id);
  auto done = each(stages, [&](Statement& stage) -> Result<> {
    auto json = unpacked(stage.blob(0), place, budget);
    if (!json) return json.error();
    auto read = result::stage_from_json(*json, place, budget);
    if (!read) return read.error();
    result->stages.push_back(std::move(*read));
    return Ok{};
  });
  if (!done) return done.error();
  for (auto& stage : result->stages) {
    if (auto read = read_records(database_, id, stage, budget); !read) return read.error();
  }
  return result;
}

Result<std::string> Store::model(const std::string& sha256) {
  auto query = database_.prepare("SELECT text FROM models WHERE sha256 = ?");
  if (!query) return query.error();
  query->bind(0, sha256);
  auto row = query->step();
  if (!row) return row.error();
  if (!*row) return std::string();
  result::ReadBudget budget;
  return unpacked(query->blob(0), fmt::format("a model in {}", path()), budget);
}

Result<std::vector<result::KernelRecord>> Store::kernels(std::int64_t id) {
  auto query = database_.prepare("SELECT template, key, cuda FROM kernels JOIN run_kernels USING (key) WHERE run = ? ORDER BY template, key");
  if (!query) return query.error();
  query->bind(0, id);
  std::vector<result::KernelRecord> kernels;
  result::ReadBudget budget;
  auto done = each(query, [&](Statement& row) -> Result<> {
    auto cuda = unpacked(row.blob(2), where(database_, id), budget);
    if (!cuda) return cuda.error();
    kernels.push_back({row.text(0), row.text(1), false, 0, std::make_shared<const std::string>(std::move(*cuda))});
    return Ok{};
  });
  if (!done) return done.error();
  return kernels;
}

Result<std::unique_ptr<Recording>> Store::begin(const result::RunResult& head, const std::string& model) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return transaction.error();
  auto row = database_.prepare("INSERT INTO runs (experiment, spec_path, spec_sha256, device, device_name, simulated, seed, fingerprint, date, host, owner, state, seconds, findings, found, "
                               "expectations, held, points, records) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, 0, 0)");
  if (!row) return row.error();
  const auto& device = head.device;
  row->bind(0, head.experiment).bind(1, head.spec_path).bind(2, head.spec_sha256).bind(3, device.id).bind(4, device.name).bind(5, std::int64_t{device.kind == "simulated"});
  row->bind(6, std::to_string(head.seed)).bind(7, fingerprint(head)).bind(8, head.date).bind(9, host()).bind(10, process(getpid())).bind(11, kRunning);
  if (auto done = row->run(); !done) return done.error();
  const auto id = database_.last_id();
  auto kept = database_.prepare("INSERT INTO heads VALUES (?, ?)");
  if (!kept) return kept.error();
  if (auto done = kept->bind(0, id).bind_blob(1, packed(result::head_to_json(head))).run(); !done) return done.error();
  if (!model.empty()) {
    auto text = database_.prepare("INSERT OR IGNORE INTO models VALUES (?, ?)");
    if (!text) return text.error();
    if (auto done = text->bind(0, device.model_sha256).bind_blob(1, packed(model)).run(); !done) return done.error();
    auto of_run = database_.prepare("INSERT INTO run_models VALUES (?, ?)");
    if (!of_run) return of_run.error();
    if (auto done = of_run->bind(0, id).bind(1, device.model_sha256).run(); !done) return done.error();
  }
  if (auto done = transaction->commit(); !done) return done.error();
  auto own = Store::open(path(), Mode::Write);
  if (!own) return own.error();
  return std::make_unique<Recording>(std::move(own->database_), id, head.date, false);
}

Result<std::optional<Entry>> Store::take_over(const std::string& wanted) {
  auto transaction = Transaction::begin(database_);  // of two that want it, one gets it
  if (!transaction) return transaction.error();
  auto query = database_.prepare(fmt::format("SELECT {} FROM runs WHERE fingerprint = ? ORDER BY id DESC LIMIT 1", kColumns));
  if (!query) return query.error();
  query->bind(0, wanted);
  auto row = query->step();
  if (!row) return row.error();
  if (!*row) return std::optional<Entry>();
  auto found = entry_of(*query, database_);
  if (!found) return found.error();
  auto& entry = *found;
  if (entry.state == kRunning) return failure("E0915", fmt::format("run {} of {} is still running, as process {} on {}", entry.id, entry.experiment, std::strtol(query->text(11).c_str(), nullptr, 10), entry.host),
                                              fmt::format("wait for it, or run without --resume; if {} is no more, `gexp results prune {}`", entry.host, entry.id));
  if (entry.state == state_word(result::RunResult::End::Complete)) return std::optional<Entry>();
  auto mine = database_.prepare("UPDATE runs SET state = ?, host = ?, owner = ? WHERE id = ?");
  if (!mine) return mine.error();
  if (auto done = mine->bind(0, kRunning).bind(1, host()).bind(2, process(getpid())).bind(3, entry.id).run(); !done) return done.error();
  query = failure("", "");  // a statement that is under way keeps the transaction open
  if (auto done = transaction->commit(); !done) return done.error();
  return std::optional<Entry>(std::move(entry));
}

Result<std::unique_ptr<Recording>> Store::go_on(const Entry& run) {
  auto own = Store::open(path(), Mode::Write);
  if (!own) return own.error();
  return std::make_unique<Recording>(std::move(own->database_), run.id, run.date, true);
}

Result<std::int64_t> Store::add(const result::RunResult& result, const std::string& model) {
  auto recording = begin(result, model);
  if (!recording) return recording.error();
  for (const auto& stage : result.stages) {
    for (const auto& point : stage.table.points) {
      if (point.runs.empty()) continue;
      const auto at = result::coordinates(stage.table, point);
      (*recording)->keep(stage.name, {{at.begin(), at.end()}, 0, point, {}, true});
    }
  }
  if (auto done = (*recording)->finish(result); !done) return done.error();
  return (*recording)->id();
}

}  // namespace gexp::store
