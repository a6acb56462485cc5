// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/saved.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "lang/base/files.h"
#include "lang/base/sha256.h"
#include "runtime/cli/app.h"
#include "runtime/cli/use.h"
#include "runtime/device/facts.h"
#include "runtime/measure/session.h"
#include "runtime/result/read_budget.h"
#include "runtime/result/shape.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;
using Mode = store::Store::Mode;

Result<std::optional<Kept>> kept_in(const std::string& path, const std::string& reference) {
  auto opened = store::Store::open(path, Mode::Read);
  if (!opened) return opened.error();
  auto entry = opened->find(reference);
  if (!entry) return entry.error();
  return std::optional<Kept>(Kept{std::move(*opened), std::move(*entry)});
}

/// A store that holds one result stands for it.
Result<std::optional<Kept>> only_one(const std::string& path) {
  auto opened = store::Store::open(path, Mode::Read);
  if (!opened) return opened.error();
  auto all = opened->list();
  if (!all) return all.error();
  if (all->size() != 1) return failure("E0914", fmt::format("{} holds {} results", path, all->size()), all->empty() ? "" : fmt::format("write {}:{} for result {}, or {}:last", path, all->front().id, all->front().id, path));
  return std::optional<Kept>(Kept{std::move(*opened), all->front()});
}

}  // namespace

bool of_store(const std::string& reference) { return reference == "last" || (!reference.empty() && reference.find_first_not_of("0123456789") == std::string::npos); }

Result<std::vector<std::string>> result_files(const std::string& reference) {
  std::error_code error;
  if (of_store(reference) || !fs::is_directory(reference, error)) return std::vector{reference};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(reference, error)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  }
  if (files.empty()) return failure("E0711", fmt::format("the folder {} holds no result", reference), "`gexp survey --out FOLDER` writes some");
  std::sort(files.begin(), files.end());
  return files;
}

std::string store_path(const std::string& named) { return named.empty() ? store::kDefaultPath : named; }

std::string model_here(const device::DeviceInfo& device) {
  if (device.kind != "simulated") return "";
  const auto model = sim::read_model(device.id.substr(std::string_view("sim:").size()));
  return model && sha256_hex(model->text()) == device.model_sha256 ? model->text() : "";
}

Result<std::optional<Kept>> find_kept(const std::string& reference, const std::string& store) {
  std::error_code error;
  if (!of_store(reference) && fs::is_regular_file(reference, error)) {
    if (store::is_database(reference)) return only_one(reference);
    return std::optional<Kept>();
  }
  if (const auto colon = reference.rfind(':'); colon != std::string::npos && colon > 0 && fs::is_regular_file(reference.substr(0, colon), error)) {
    return kept_in(reference.substr(0, colon), reference.substr(colon + 1));
  }
  if (const auto other = other_than_file(reference); !other.empty() && !of_store(reference)) return failure("E0711", fmt::format("{} is {}, not a file", reference, other));
  const auto path = store_path(store);
  if (path == kNoStore) return failure("E0711", fmt::format("there is no file {}", reference));
  if (!fs::exists(path, error)) return failure("E0711", fmt::format("there is no file {}, and no store {} that could hold it", reference, path), "`gexp run` makes a store; --store names another");
  return kept_in(path, reference);
}

std::string written_by_reading(const std::string& reference, const std::string& store) {
  std::error_code error;
  const auto colon = reference.rfind(':');
  for (const auto& path : {reference, colon == std::string::npos ? "" : reference.substr(0, colon)}) {
    if (!of_store(reference) && fs::is_regular_file(path, error)) return fs::exists(path + "-wal", error) ? path : "";
  }
  const auto path = store_path(store);
  return fs::exists(path + "-wal", error) ? path : "";
}

Result<Saved> read_saved(const std::string& reference, const std::string& store) {
  auto kept = find_kept(reference, store);
  if (!kept) return kept.error();
  Result<result::RunResult> result = failure("E0711", "");
  if (*kept) {
    result = (*kept)->store.read((*kept)->entry.id);
  } else {
    auto text = read_regular_file(reference, result::ReadBudget().bytes());
    if (!text) return text.error();
    result = result::from_json(*text, reference);
  }
  if (!result) return result.error();
  int exit = kDone;
  compiler::Options options;
  options.settings = result->settings;
  options.measured = true;
  options.load = stored(result->used);
  options.outside = [](const std::string&, const std::string&) { return true; };  // it holds them
  auto loaded = compile_text(Source(result->spec_path, result->spec_text), options, exit);
  if (!loaded) return failure("E0904", fmt::format("the spec in {} does not compile", reference));
  if (auto fits = result::check_shape(loaded->program, *result, reference); !fits) return fits.error();
  loaded->program.device = device::device_facts(result->device);
  if (auto done = measure::infer_again(loaded->program, *result); !done) return done.error();
  return Saved{std::move(loaded->program), std::move(*result)};
}

}  // namespace gexp::cli
