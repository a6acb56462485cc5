// SPDX-License-Identifier: Apache-2.0
// A kept result as a file of its own.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "lang/base/files.h"
#include "lang/base/visible.h"
#include "runtime/cli/app.h"
#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/result/export_table.h"
#include "runtime/result/lockfile.h"
#include "runtime/result/point_table.h"
#include "runtime/result/result_json.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;
using Mode = store::Store::Mode;

/// What of a result becomes a table.
struct Wanted {
  std::string stage;  ///< empty: all that have records
  bool records = false, findings = false, counters = false;
};

/// What an array does not say of itself: what it is of, and the units of its columns.
std::string units_text(const result::PointTable& table, const result::RunResult& result, const std::string& of) {
  auto columns = Json::array();
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const auto kind = result::kind_of(table, c);
    columns.push_back({{"name", visible(table.columns[c])}, {"unit", kind.unit}, {"type", kind.number ? "number" : "text"}});
  }
  return Json({{"experiment", result.experiment}, {"of", of}, {"device", result.device.name}, {"simulated", result.device.kind == "simulated"},
               {"date", result.date}, {"spec_sha256", result.spec_sha256}, {"columns", std::move(columns)}})
             .text() +
         "\n";
}

/// Comma-separated, or NumPy's array with its units beside it.
int write_table(const result::PointTable& table, const result::RunResult& result, const std::string& of, const std::string& path) {
  const bool array = fs::path(path).extension() == ".npy";
  if (auto written = write_file(path, array ? result::npy(table) : result::csv(table)); !written) return refuse(written.error(), nullptr, kEnvironment);
  print_out("{}\n", path);
  if (!array) return kDone;
  if (auto written = write_file(path + ".json", units_text(table, result, of)); !written) return refuse(written.error(), nullptr, kEnvironment);
  print_out("{}.json\n", path);
  return kDone;
}

/// All stages that have records, each in a file of its own where there are several: NAME.STAGE.csv.
int export_table(const Saved& saved, const Wanted& wanted, const std::string& out) {
  if (wanted.findings) return write_table(result::finding_table(saved.result), saved.result, "findings", out);
  std::vector<std::string> stages;
  for (const auto& stage : saved.result.stages) {
    if (wanted.stage.empty() ? !(wanted.counters ? stage.counters.empty() : stage.table.points.empty())
                             : stage.name == wanted.stage)
      stages.push_back(stage.name);
  }
  if (stages.empty()) stages = {wanted.stage};  // point_table says what is wrong
  for (const auto& stage : stages) {
    const auto table = wanted.counters  ? result::counter_table(saved.result, stage)
                       : wanted.records ? result::record_table(saved.program, saved.result, stage)
                                        : result::point_table(saved.program, saved.result, stage);
    if (!table) return refuse(table.error(), nullptr, kEnvironment);
    const fs::path path(out);
    const auto to = stages.size() == 1 ? out : fmt::format("{}.{}{}", fs::path(out).replace_extension().string(), stage, path.extension().string());
    if (const int exit = write_table(*table, saved.result,
                                     (wanted.counters  ? "counters of "
                                      : wanted.records ? "records of "
                                                       : "points of ") +
                                         stage,
                                     to);
        exit != kDone)
      return exit;
  }
  return kDone;
}

/// Into a temporary file beside it first: nothing half-made takes the name.
int export_bundle(const Common& common, const std::string& to) {
  auto kept = find_kept(common.file, common.store);
  if (!kept) return refuse(kept.error(), nullptr, kEnvironment);
  std::error_code error;
  for (const char* beside : {"-wal", "-shm"}) {
    if (fs::exists(to + beside, error)) return refuse(failure("E0710", fmt::format("{} is a store that is in use, or was when it was left ({}{} is there)", to, to, beside), "name another file"), nullptr, kEnvironment);
  }
  if (store::is_database(to)) {
    auto before = store::Store::open(to, Mode::Read);
    const auto held = before ? before->list() : Result<std::vector<store::Entry>>(before.error());
    if (!held || held->size() != 1 || (*kept && fs::equivalent(to, (*kept)->store.path(), error))) return refuse(failure("E0710", fmt::format("{} is a database that is there already, and no other bundle", to), "name another file"), nullptr, kEnvironment);
  }
  // An empty file is an empty database: nobody else can have made it, nor laid a link in its place.
  std::string temporary;
  const int file = open_beside(to, temporary);
  if (file < 0) return refuse(failure("E0710", fmt::format("cannot write {}: {}", to, std::strerror(errno))), nullptr, kEnvironment);
  close(file);
  Result<> made = Ok{};
  if (*kept) {
    auto source = store::Store::open((*kept)->store.path(), Mode::Read);
    made = source ? source->extract((*kept)->entry.id, temporary) : Result<>(source.error());
  } else {
    auto text = read_file(common.file);
    auto result = text ? result::from_json(*text, common.file) : Result<result::RunResult>(text.error());
    if (!result) return refuse(result.error(), nullptr, kEnvironment);
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
    return refuse(made.error(), nullptr, kEnvironment);
  }
  print_out("{}\n", to);
  return kDone;
}

int export_text(const std::string& text, const std::string& to) {
  if (auto written = write_file(to, text); !written) return refuse(written.error(), nullptr, kEnvironment);
  print_out("{}\n", to);
  return kDone;
}

int export_cuda(const Common& common) {
  auto kept = find_kept(common.file, common.store);
  if (!kept) return refuse(kept.error(), nullptr, kEnvironment);
  if (!*kept) return refuse(failure("E0916", fmt::format("{} holds no CUDA text", common.file), "a store does, and a bundle; `gexp emit` makes it anew"), nullptr, kEnvironment);
  auto kernels = (*kept)->store.kernels((*kept)->entry.id);
  if (!kernels) return refuse(kernels.error(), nullptr, kEnvironment);
  std::string text;
  if (kernels->empty()) return refuse(failure("E0916", fmt::format("{} holds no CUDA text", common.file), "`gexp emit` makes it anew"), nullptr, kEnvironment);
  for (const auto& kernel : *kernels) text += fmt::format("// kernel {} from {}\n{}\n", kernel.key, kernel.file, *kernel.cuda);
  return export_text(text, common.out);
}

/// By the ending of `common.out`: .json, .csv, .npy, .cu, .lock, or a bundle, .gexpz.
int export_result(const Common& common, const Wanted& wanted) {
  const auto ending = fs::path(common.out).extension().string();
  const bool table = ending == ".csv" || ending == ".npy";
  if (auto fine = may_write(common.out, common.file); !fine && ending != ".gexpz") return refuse(fine.error(), nullptr, kEnvironment);
  if (auto writable = check_writable(common.out); !writable) return refuse(writable.error(), nullptr, kEnvironment);
  if (!table && (wanted.records || wanted.findings || wanted.counters || !wanted.stage.empty())) {
    return refuse(
        failure("E0916",
                fmt::format(
                    "{} is no table: `--stage`, `--records`, `--counters` and `--findings` choose what a .csv or .npy holds",
                    common.out)),
        nullptr, kEnvironment);
  }
  if (ending == ".gexpz") return export_bundle(common, common.out);
  if (ending == ".cu") return export_cuda(common);
  if (ending != ".json" && !table && ending != ".lock") {
    return refuse(failure("E0916", fmt::format("{}: export to what?", common.out), "end the file's name in .gexpz (a bundle), .json, .csv, .npy, .cu or .lock"), nullptr, kEnvironment);
  }
  const auto saved = read_saved(common.file, common.store);
  if (!saved) return refuse(saved.error(), nullptr, kEnvironment);
  if (table) return export_table(*saved, wanted, common.out);
  return export_text(ending == ".json" ? result::to_json(saved->result) : result::lockfile(saved->result), common.out);
}

class Export final : public Command {
 public:
  void declare(Options& options) override {
    add_result(options, common_);
    options.add("file", &common_.out, "its ending says what it becomes").must_be_given().offers(Offers::Files);
    options.add("--stage", &wanted_.stage, "of a .csv or .npy: this stage only");
    options.add("--records", &wanted_.records, "of a .csv or .npy: every value of the records, in place of what was measured at each point");
    options.add("--findings", &wanted_.findings, "of a .csv or .npy: the findings").excludes("--records").excludes("--stage");
    options.add("--counters", &wanted_.counters, "of a .csv or .npy: what `run --counters` counted at each point")
        .excludes("--records")
        .excludes("--findings");
    add_store(options, common_.store);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override {
    return std::vector<std::string>{written_by_reading(common_.file, common_.store), common_.out, common_.out + ".json"};
  }
  int run() override { return export_result(common_, wanted_); }

 private:
  Common common_;
  Wanted wanted_;
};

}  // namespace

std::unique_ptr<Command> new_export() { return std::make_unique<Export>(); }

}  // namespace gexp::cli
