// SPDX-License-Identifier: Apache-2.0
// The results that a store keeps: listed, named, pruned, exported.
#include "runtime/cli/results.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "runtime/cli/lockfile.h"
#include "runtime/cli/saved.h"
#include "runtime/result/point_table.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Mode = store::Store::Mode;

int report_problem(const Diagnostic& problem) {
  print(problem, nullptr);
  return kEnvironment;
}

Json entry_json(const store::Entry& entry) {
  return {{"id", entry.id}, {"name", entry.name}, {"experiment", entry.experiment}, {"spec", entry.spec_path}, {"spec_sha256", entry.spec_sha256},
          {"device", entry.device}, {"device_name", entry.device_name}, {"simulated", entry.simulated}, {"seed", entry.seed}, {"date", entry.date}, {"host", entry.host},
          {"state", entry.state}, {"seconds", entry.seconds}, {"findings", entry.findings}, {"found", entry.found}, {"expectations", entry.expectations}, {"held", entry.held},
          {"points", entry.points}, {"records", entry.records}};
}

std::string list_text(const std::vector<store::Entry>& entries) {
  std::vector<std::vector<std::string>> rows = {{"id", "date", "experiment", "device", "state", "found", "held", "points", "time", "name"}};
  for (const auto& entry : entries) {
    const bool ended = entry.state != store::kRunning && entry.state != store::kBrokenOff;
    const auto of = [&](std::int64_t part, std::int64_t all) { return ended ? fmt::format("{}/{}", part, all) : std::string("-"); };
    rows.push_back({std::to_string(entry.id), entry.date, entry.experiment, entry.device, entry.state, of(entry.found, entry.findings), of(entry.held, entry.expectations),
                    ended ? std::to_string(entry.points) : "-", ended ? fmt::format("{:.1f} s", entry.seconds) : "-", entry.name});
  }
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool number = i == 0 || (i >= 5 && i <= 8);
      line += number ? fmt::format("{:>{}}  ", row[i], widths[i]) : fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

/// All stages that have records, each in a file of its own where there are several: NAME.STAGE.csv.
int export_csv(const Saved& saved, const std::string& wanted, const std::string& out) {
  std::vector<std::string> stages;
  for (const auto& stage : saved.result.stages) {
    if (wanted.empty() ? !stage.table.points.empty() : stage.name == wanted) stages.push_back(stage.name);
  }
  if (stages.empty()) stages = {wanted};  // point_table says what is wrong
  for (const auto& stage : stages) {
    const auto table = result::point_table(saved.program, saved.result, stage);
    if (!table) return report_problem(table.error());
    const auto path = stages.size() == 1 ? out : fmt::format("{}.{}.csv", fs::path(out).replace_extension().string(), stage);
    if (auto written = write_file(path, result::csv(*table)); !written) return report_problem(written.error());
    fmt::print("{}\n", path);
  }
  return kDone;
}

/// Into a temporary file beside it first: nothing half-made takes the name.
int export_bundle(const Common& common, const std::string& to) {
  auto kept = find_kept(common.file, common.store);
  if (!kept) return report_problem(kept.error());
  std::error_code error;
  for (const char* beside : {"-wal", "-shm"}) {
    if (fs::exists(to + beside, error)) return report_problem(failure("E0710", fmt::format("{} is a store that is in use, or was when it was left ({}{} is there)", to, to, beside), "name another file"));
  }
  if (store::is_database(to)) {
    auto before = store::Store::open(to, Mode::Read);
    const auto held = before ? before->list() : Result<std::vector<store::Entry>>(before.error());
    if (!held || held->size() != 1 || (*kept && fs::equivalent(to, (*kept)->store.path(), error))) return report_problem(failure("E0710", fmt::format("{} is a database that is there already, and no other bundle", to), "name another file"));
  }
  const auto temporary = fmt::format("{}.{}.tmp", to, getpid());
  fs::remove(temporary, error);
  Result<> made = Ok{};
  if (*kept) {
    auto source = store::Store::open((*kept)->store.path(), Mode::Read);
    made = source ? source->extract((*kept)->entry.id, temporary) : Result<>(source.error());
  } else {
    auto text = read_file(common.file);
    auto result = text ? result::from_json(*text, common.file) : Result<result::RunResult>(text.error());
    if (!result) return report_problem(result.error());
    auto target = store::Store::open(temporary, Mode::Create);
    if (!target) made = target.error();
    else if (auto added = target->add(*result, model_here(result->device)); !added) made = added.error();
    if (made) made = target->alone();
  }
  if (made) {
    fs::rename(temporary, to, error);
    if (error) made = failure("E0710", fmt::format("cannot write {}: {}", to, error.message()));
  }
  if (!made) {
    fs::remove(temporary, error);
    return report_problem(made.error());
  }
  fmt::print("{}\n", to);
  return kDone;
}

int export_text(const std::string& text, const std::string& to) {
  if (auto written = write_file(to, text); !written) return report_problem(written.error());
  fmt::print("{}\n", to);
  return kDone;
}

int export_cuda(const Common& common) {
  auto kept = find_kept(common.file, common.store);
  if (!kept) return report_problem(kept.error());
  if (!*kept) return report_problem(failure("E0916", fmt::format("{} holds no CUDA text", common.file), "a store does, and a bundle; `gexp emit` makes it anew"));
  auto kernels = (*kept)->store.kernels((*kept)->entry.id);
  if (!kernels) return report_problem(kernels.error());
  std::string text;
  if (kernels->empty()) return report_problem(failure("E0916", fmt::format("{} holds no CUDA text", common.file), "`gexp emit` makes it anew"));
  for (const auto& kernel : *kernels) text += fmt::format("// kernel {} from {}\n{}\n", kernel.key, kernel.file, *kernel.cuda);
  return export_text(text, common.out);
}

}  // namespace

int results_command(const Common& common, const store::Filter& filter) {
  auto opened = store::Store::open(store_path(common.store), Mode::Read);
  if (!opened) return report_problem(opened.error());
  auto entries = opened->list(filter);
  if (!entries) return report_problem(entries.error());
  if (common.json) {
    auto list = Json::array();
    for (const auto& entry : *entries) list.push_back(entry_json(entry));
    fmt::print("{}\n", list.dump(1, ' ', false, Json::error_handler_t::replace));
  } else {
    fmt::print("{}", entries->empty() ? "no results\n" : list_text(*entries));
  }
  return kDone;
}

int name_command(const Common& common, const std::string& name) {
  constexpr std::size_t kLongest = 64;
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_' || c == '-'); });
  if (of_store(name) || name == kNoStore || name.starts_with('-') || !plain || name.size() > kLongest) {
    return report_problem(failure("E0916", "that cannot name a result", "a name is of letters, digits, `_` and `-`, at most 64 of them, no number, and not `last`"));
  }
  auto opened = store::Store::open(store_path(common.store), Mode::Write);
  if (!opened) return report_problem(opened.error());
  auto entry = opened->find(common.file);
  if (!entry) return report_problem(entry.error());
  if (auto done = opened->rename(entry->id, name); !done) return report_problem(done.error());
  fmt::print("result {} {}\n", entry->id, name.empty() ? "has no name" : "is " + name);
  return kDone;
}

int prune_command(const Common& common, const Prune& which) {
  const auto& filter = which.filter;
  if (which.results.empty() && which.keep == 0 && (filter.experiment + filter.device + filter.state + filter.since + filter.before).empty()) {
    return report_problem(failure("E0916", "prune what?", "name results, or choose: --before DATE, --experiment NAME, --state \"broken off\", --keep N"));
  }
  auto opened = store::Store::open(store_path(common.store), Mode::Write);
  if (!opened) return report_problem(opened.error());
  std::vector<store::Entry> chosen;
  for (const auto& reference : which.results) {
    auto entry = opened->find(reference);
    if (!entry) return report_problem(entry.error());
    chosen.push_back(std::move(*entry));
  }
  if (which.results.empty()) {
    auto entries = opened->list(which.filter);
    if (!entries) return report_problem(entries.error());
    const auto keep = std::min(entries->size(), which.keep);
    entries->resize(entries->size() - keep);
    std::erase_if(*entries, [](const auto& entry) { return !entry.name.empty(); });
    chosen = std::move(*entries);
  }
  // One that was named, of another host, may be left over from a machine that is no more.
  std::erase_if(chosen, [&](const auto& entry) {
    const bool stays = entry.state == store::kRunning && (which.results.empty() || entry.here);
    if (stays) fmt::print("result {} is still running: it stays\n", entry.id);
    return stays;
  });
  std::vector<std::int64_t> ids;
  for (const auto& entry : chosen) ids.push_back(entry.id);
  fmt::print("{}", chosen.empty() ? "" : list_text(chosen));
  if (which.dry || ids.empty()) {
    fmt::print("{} results {}\n", ids.size(), which.dry ? "would go" : "removed");
    return kDone;
  }
  if (auto done = opened->remove(ids); !done) return report_problem(done.error());
  if (auto done = opened->compact(); !done) print(done.error(), nullptr);  // they are gone; their room stays with the file
  fmt::print("{} results removed\n", ids.size());
  return kDone;
}

int export_command(const Common& common, const std::string& stage) {
  const auto ending = fs::path(common.out).extension().string();
  if (auto fine = may_write(common.out, common.file); !fine && ending != ".gexpz") return report_problem(fine.error());
  if (auto writable = check_writable(common.out); !writable) return report_problem(writable.error());
  if (ending == ".gexpz") return export_bundle(common, common.out);
  if (ending == ".cu") return export_cuda(common);
  if (ending != ".json" && ending != ".csv" && ending != ".lock") {
    return report_problem(failure("E0916", fmt::format("{}: export to what?", common.out), "end the file's name in .gexpz (a bundle), .json, .csv, .cu or .lock"));
  }
  const auto saved = read_saved(common.file, common.store);
  if (!saved) return report_problem(saved.error());
  if (ending == ".csv") return export_csv(*saved, stage, common.out);
  return export_text(ending == ".json" ? result::to_json(saved->result) : lockfile(saved->result), common.out);
}

}  // namespace gexp::cli
