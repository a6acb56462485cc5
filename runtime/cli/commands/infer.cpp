// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cli/run.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/report/text.h"
#include "runtime/result/point_table.h"
#include "runtime/result/result_json.h"

namespace gexp::cli {
namespace {

int infer(const Common& common, const std::string& points) {
  auto saved = read_saved(common.file, common.store);
  if (!saved) {
    print(saved.error(), nullptr);
    return kEnvironment;
  }
  auto& [program, result] = *saved;
  if (!points.empty()) {
    const auto table = result::point_table(program, result, points);
    if (!table) {
      print(table.error(), nullptr);
      return kSpec;
    }
    fmt::print("{}", result::csv(*table));
    return kDone;
  }
  int exit = kDone;
  if (!common.out.empty()) exit = save_result(result, common.out);
  if (common.json) {
    fmt::print("{}", result::to_json(result));
  } else {
    fmt::print("{}", report::text(program, result, colour_on(STDOUT_FILENO)));
  }
  return exit != kDone ? exit : exit_of(result);
}

class Infer final : public Command {
 public:
  void declare(Options& options) override {
    add_result(options, common_);
    add_store(options, common_.store);
    options.add("--json", &common_.json, "print the result as JSON");
    add_out(options, common_, "save the result with the new findings");
    options.add("--points", &points_, "instead: what was measured at each point of this stage, comma-separated, to be drawn").excludes("--json").excludes("--out");
  }
  int run() override { return infer(common_, points_); }

 private:
  Common common_;
  std::string points_;
};

}  // namespace

std::unique_ptr<Command> new_infer() { return std::make_unique<Infer>(); }

}  // namespace gexp::cli
