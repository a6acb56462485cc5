// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cli/last_resort.h"
#include "runtime/cli/output.h"
#include "runtime/cli/run.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/report/text.h"
#include "runtime/result/point_table.h"
#include "runtime/result/result_json.h"

namespace gexp::cli {
namespace {

constexpr double kSaying = 0.5;  // seconds, once it was told to end

int infer(const Common& common, const std::string& points) {
  catch_interrupts();
  const Budget limits(limits_of(common, common.time_limit));
  const Budget::Use use(limits);
  auto saved = [&] {
    const LastResort last_resort(limits);
    return read_saved(common.file, common.store);
  }();
  const int over = interrupted() ? kInterrupted : limits.look() == Budget::End::Time ? kFault : kDone;
  if (!saved) return refuse(saved.error(), nullptr, over != kDone ? over : kEnvironment);
  auto& [program, result] = *saved;
  const Budget saying({.grace = kSaying});
  const Budget::Use use_saying(saying);
  if (!points.empty()) {
    const auto table = result::point_table(program, result, points);
    if (!table) {
      print(table.error(), nullptr);
      return kSpec;
    }
    print_out("{}", result::csv(*table));
    return kDone;
  }
  int exit = kDone;
  if (!common.out.empty()) exit = save_result(result, common.out);
  if (common.json) {
    print_out("{}", result::to_json(result));
  } else {
    print_out("{}", report::text(program, result, colour_on(STDOUT_FILENO)));
  }
  return exit != kDone ? exit : over != kDone ? over : exit_of(result);
}

class Infer final : public Command {
 public:
  void declare(Options& options) override {
    add_result(options, common_);
    add_store(options, common_.store);
    options.add("--json", &common_.json, "print the result as JSON");
    add_out(options, common_, "save the result with the new findings");
    add_time_limit(options, common_, "seconds after which it ends, with what was answered so far");
    add_memory_limit(options, common_);
    options.add("--points", &points_, "instead: what was measured at each point of this stage, comma-separated, to be drawn").excludes("--json").excludes("--out");
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::vector<std::string>{written_by_reading(common_.file, common_.store), common_.out}; }
  int run() override { return infer(common_, points_); }

 private:
  Common common_;
  std::string points_;
};

}  // namespace

std::unique_ptr<Command> new_infer() { return std::make_unique<Infer>(); }

}  // namespace gexp::cli
