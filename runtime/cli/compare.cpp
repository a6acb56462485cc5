// SPDX-License-Identifier: Apache-2.0
// Two saved results, or two folders of them, finding by finding.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "runtime/cli/app.h"
#include "runtime/cli/saved.h"
#include "runtime/compare.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;

/// A saved result, or those of a folder, by experiment.
Result<std::map<std::string, runtime::RunResult>> read_results(const std::string& path, const std::string& store) {
  std::error_code error;
  std::vector<std::string> files;
  if (fs::is_directory(path, error)) {
    for (const auto& entry : fs::directory_iterator(path, error)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path().string());
    }
    if (files.empty()) return failure("E0711", fmt::format("the folder {} holds no result", path));
  } else {
    files.push_back(path);
  }
  std::map<std::string, runtime::RunResult> results;
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    auto saved = read_saved(file, store);
    if (!saved) return saved.error();
    auto* result = &saved->result;
    const auto experiment = result->experiment;
    if (const auto other = results.find(experiment); other != results.end()) {
      return failure("E0733", fmt::format("{} holds two results of experiment `{}`, of {} and {}", path, experiment, other->second.device.id, result->device.id), "compare them file by file");
    }
    results[experiment] = std::move(*result);
  }
  return results;
}

}  // namespace

int compare_command(const std::string& first, const std::string& second, const std::string& store, bool json) {
  auto a = read_results(first, store), b = read_results(second, store);
  for (const auto* results : {&a, &b}) {
    if (*results) continue;
    print(results->error(), nullptr);
    return kEnvironment;
  }
  auto list = nlohmann::ordered_json::array();
  std::size_t same = 0, all = 0, alone = 0;
  const auto only_in = [&](const std::string& experiment, const std::string& path) {
    ++alone;
    list.push_back({{"experiment", experiment}, {"only_in", path}});
    if (!json) fmt::print("{} is only in {}\n", experiment, path);
  };
  for (const auto& [name, result] : *a) {
    const auto other = b->find(name);
    if (other == b->end()) {
      only_in(name, first);
      continue;
    }
    for (const auto& row : runtime::compare({&result, &other->second})) {
      ++all, same += row.same ? 1 : 0;
      list.push_back({{"experiment", name}, {"id", row.id}, {"same", row.same}, {"values", row.values}});
      if (!row.same && !json) fmt::print("{}.{}: {} against {}\n", name, row.id, row.values[0], row.values[1]);
    }
  }
  for (const auto& [name, result] : *b) {
    if (!a->contains(name)) only_in(name, second);
  }
  if (json) fmt::print("{}\n", list.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  else fmt::print("{} of {} findings are the same\n", same, all);
  return same == all && alone == 0 ? kDone : kNotHeld;
}

}  // namespace gexp::cli
