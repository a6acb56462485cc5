// SPDX-License-Identifier: Apache-2.0
// One thread a GPU, each with a worker of its own: the devices share nothing but this machine's cores.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "runtime/cli/progress.h"
#include "runtime/cli/run.h"
#include "runtime/compare.h"
#include "runtime/cuda/cuda.h"
#include "runtime/report/text.h"

namespace gexp::cli {
namespace {

using Json = nlohmann::ordered_json;

/// "out.json" of cuda:1 is "out-cuda1.json".
std::string path_of(const std::string& out, std::size_t ordinal) {
  const std::filesystem::path path(out);
  return (path.parent_path() / fmt::format("{}-cuda{}{}", path.stem().string(), ordinal, path.extension().string())).string();
}

/// The exit code of all: of the device that fared worst.
int worst(const std::vector<Ran>& runs) {
  for (const int code : {kInterrupted, kEnvironment, kFault, kSpec, kNotHeld}) {
    if (std::any_of(runs.begin(), runs.end(), [&](const Ran& run) { return run.exit == code; })) return code;
  }
  return kDone;
}

std::string comparison_text(const std::vector<runtime::Compared>& rows, const std::vector<const runtime::RunResult*>& results) {
  std::string text = fmt::format("\n{} GPUs compared\n", results.size());
  std::string same;
  std::size_t width = 8;
  for (const auto& row : rows) width = std::max(width, row.id.size());
  for (const auto& row : rows) {
    if (row.same) {
      same += (same.empty() ? "" : ", ") + row.id;
      continue;
    }
    text += fmt::format("  {:<{}}  differs:", row.id, width);
    for (std::size_t i = 0; i < results.size(); ++i) text += fmt::format("{} {} {}", i ? "," : "", results[i]->device.id, row.values[i]);
    text += "\n";
  }
  return text + (same.empty() ? "" : fmt::format("  the same on all: {}\n", same));
}

Json comparison_json(const std::vector<runtime::Compared>& rows) {
  Json list = Json::array();
  for (const auto& row : rows) list.push_back({{"id", row.id}, {"same", row.same}, {"values", row.values}});
  return list;
}

}  // namespace

int survey(const Common& common, const Loaded& loaded) {
  const auto gpus = cuda::devices();
  if (!gpus) {
    print(gpus.error(), nullptr);
    return kEnvironment;
  }
  for (std::size_t i = 0; i < gpus->size() && !common.out.empty(); ++i) {
    if (auto writable = check_writable(path_of(common.out, i)); !writable) {
      print(writable.error(), nullptr);
      return kEnvironment;
    }
  }
  catch_interrupts();
  std::vector<Ran> runs(gpus->size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      threads.emplace_back([&, i] {
        const auto& id = (*gpus)[i].id;
        StderrProgress progress(common.quiet, id);
        runs[i] = run_on(id, common, loaded, progress);
      });
    }
  }
  std::vector<const runtime::RunResult*> results;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!runs[i].result) continue;
    results.push_back(&*runs[i].result);
    if (common.out.empty()) continue;
    if (const int saved = save_result(*runs[i].result, path_of(common.out, i)); saved != kDone) runs[i].exit = saved;
  }
  const auto rows = runtime::compare(results);
  if (common.json) {
    Json all = {{"schema", "gexp.survey/1"}, {"compared", comparison_json(rows)}, {"results", Json::array()}};
    for (const auto* result : results) all["results"].push_back(Json::parse(runtime::to_json(*result)));
    fmt::print("{}\n", all.dump(1, ' ', false, Json::error_handler_t::replace));
  } else {
    for (const auto& run : runs) {
      if (run.result) fmt::print("{}\n", report::text(run.program, *run.result, colour_on(STDOUT_FILENO)));
    }
    fmt::print("{}", comparison_text(rows, results));
  }
  return worst(runs);
}

}  // namespace gexp::cli
