// SPDX-License-Identifier: Apache-2.0
// The results that a store keeps: listed, named, pruned.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "runtime/cli/app.h"
#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"

namespace gexp::cli {
namespace {

using Mode = store::Store::Mode;

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

int list_results(const Common& common, const store::Filter& filter) {
  auto opened = store::Store::open(store_path(common.store), Mode::Read);
  if (!opened) return refuse(opened.error(), nullptr, kEnvironment);
  auto entries = opened->list(filter);
  if (!entries) return refuse(entries.error(), nullptr, kEnvironment);
  if (common.json) {
    auto list = Json::array();
    for (const auto& entry : *entries) list.push_back(entry_json(entry));
    print_out("{}\n", list.text());
  } else {
    print_out("{}", entries->empty() ? "no results\n" : list_text(*entries));
  }
  return kDone;
}

int name_result(const Common& common, const std::string& name) {
  constexpr std::size_t kLongest = 64;
  const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) { return c < 128 && (std::isalnum(c) || c == '_' || c == '-'); });
  if (of_store(name) || name == kNoStore || name.starts_with('-') || !plain || name.size() > kLongest) {
    return refuse(failure("E0916", "that cannot name a result", "a name is of letters, digits, `_` and `-`, at most 64 of them, no number, and not `last`"), nullptr, kEnvironment);
  }
  auto opened = store::Store::open(store_path(common.store), Mode::Write);
  if (!opened) return refuse(opened.error(), nullptr, kEnvironment);
  auto entry = opened->find(common.file);
  if (!entry) return refuse(entry.error(), nullptr, kEnvironment);
  if (auto done = opened->rename(entry->id, name); !done) return refuse(done.error(), nullptr, kEnvironment);
  print_out("result {} {}\n", entry->id, name.empty() ? "has no name" : "is " + name);
  return kDone;
}

/// Which results go: those named, else those of the filter but the newest `keep`; of these, named ones stay. Running ones stay always.
struct Prune {
  std::vector<std::string> results;
  store::Filter filter;
  std::size_t keep = 0;
  bool dry = false;
};

int prune_results(const Common& common, const Prune& which) {
  const auto& filter = which.filter;
  if (which.results.empty() && which.keep == 0 && (filter.experiment + filter.device + filter.state + filter.since + filter.before).empty()) {
    return refuse(failure("E0916", "prune what?", "name results, or choose: --before DATE, --experiment NAME, --state \"broken off\", --keep N"), nullptr, kEnvironment);
  }
  auto opened = store::Store::open(store_path(common.store), Mode::Write);
  if (!opened) return refuse(opened.error(), nullptr, kEnvironment);
  std::vector<store::Entry> chosen;
  for (const auto& reference : which.results) {
    auto entry = opened->find(reference);
    if (!entry) return refuse(entry.error(), nullptr, kEnvironment);
    chosen.push_back(std::move(*entry));
  }
  if (which.results.empty()) {
    auto entries = opened->list(which.filter);
    if (!entries) return refuse(entries.error(), nullptr, kEnvironment);
    const auto keep = std::min(entries->size(), which.keep);
    entries->resize(entries->size() - keep);
    std::erase_if(*entries, [](const auto& entry) { return !entry.name.empty(); });
    chosen = std::move(*entries);
  }
  // One that was named, of another host, may be left over from a machine that is no more.
  std::erase_if(chosen, [&](const auto& entry) {
    const bool stays = entry.state == store::kRunning && (which.results.empty() || entry.here);
    if (stays) print_out("result {} is still running: it stays\n", entry.id);
    return stays;
  });
  std::vector<std::int64_t> ids;
  for (const auto& entry : chosen) ids.push_back(entry.id);
  print_out("{}", chosen.empty() ? "" : list_text(chosen));
  if (which.dry || ids.empty()) {
    print_out("{} results {}\n", ids.size(), which.dry ? "would go" : "removed");
    return kDone;
  }
  if (auto done = opened->remove(ids); !done) return refuse(done.error(), nullptr, kEnvironment);
  if (auto done = opened->compact(); !done) print(done.error(), nullptr);  // they are gone; their room stays with the file
  print_out("{} results removed\n", ids.size());
  return kDone;
}

/// A date is compared as the text that results have: nothing else may pass for one.
std::string date(const std::string& text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  bool fits = text.size() <= kForm.size() && (text.size() == 4 || text.size() == 7 || text.size() == 10 || text.size() >= 13);
  for (std::size_t i = 0; fits && i < text.size(); ++i) fits = kForm[i] == 'd' ? std::isdigit(static_cast<unsigned char>(text[i])) != 0 : text[i] == kForm[i];
  const auto number = [&](std::size_t at) { return std::atoi(text.substr(at, 2).c_str()); };
  if (fits && text.size() >= 7) fits = number(5) >= 1 && number(5) <= 12;
  if (fits && text.size() >= 10) fits = number(8) >= 1 && number(8) <= 31;
  return fits ? std::string() : text + " is no date: write 2026-11-22, 2026-11 or 2026";
}

void add_filter(Options& options, store::Filter& filter) {
  options.add("--experiment", &filter.experiment, "those whose experiment's name holds this");
  options.add("--on", &filter.device, "those on a device whose id or name holds this");
  options.add("--state", &filter.state, "complete, interrupted, broken off, faulted, out of time or running");
  options.add("--since", &filter.since, "no older than this date: 2026-11-22, 2026-11").checked_by(date);
  options.add("--before", &filter.before, "older than this date").checked_by(date);
}

class Results final : public Command {
 public:
  void declare(Options& options) override {
    add_filter(options, filter_);
    options.add("--last", &last_, "the newest so many").between(1, std::numeric_limits<std::uint32_t>::max());
    options.add("--json", &common_.json, "as JSON");
    add_store(options, common_.store);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::vector<std::string>{written_by_reading("", common_.store)}; }
  int run() override {
    filter_.last = static_cast<std::int64_t>(last_);
    return list_results(common_, filter_);
  }

 private:
  Common common_;
  store::Filter filter_;
  std::uint64_t last_ = 0;
};

class ResultsName final : public Command {
 public:
  void declare(Options& options) override {
    options.add("result", &common_.file, "its number, name, or last").must_be_given().offers(Offers::Results);
    options.add("name", &name_, "without it the result loses its name");
    add_store(options, common_.store);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::vector<std::string>{store_path(common_.store)}; }
  int run() override { return name_result(common_, name_); }

 private:
  Common common_;
  std::string name_;
};

class ResultsPrune final : public Command {
 public:
  void declare(Options& options) override {
    options.add("results", &prune_.results, "numbers or names").offers(Offers::Results);
    add_filter(options, prune_.filter);
    options.add("--keep", &prune_.keep, "but keep the newest so many of them");
    options.add("--dry-run", &prune_.dry, "only say which");
    add_store(options, common_.store);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::vector<std::string>{store_path(common_.store)}; }
  int run() override { return prune_results(common_, prune_); }

 private:
  Common common_;
  Prune prune_;
};

}  // namespace

std::unique_ptr<Command> new_results() { return std::make_unique<Results>(); }
std::unique_ptr<Command> new_results_name() { return std::make_unique<ResultsName>(); }
std::unique_ptr<Command> new_results_prune() { return std::make_unique<ResultsPrune>(); }

}  // namespace gexp::cli
