// SPDX-License-Identifier: Apache-2.0
// A saved result to look at.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

#include "runtime/cli/output.h"
#include "runtime/cli/saved.h"
#include "runtime/cli/shared_options.h"
#include "runtime/report/counters_text.h"
#include "runtime/report/html.h"
#include "runtime/report/plot_text.h"
#include "runtime/report/text.h"
#include "runtime/result/figures.h"

namespace gexp::cli {
namespace {

/// Columns of the terminal, or as COLUMNS says; 80 where neither tells.
std::size_t terminal_columns() {
  const char* set = std::getenv("COLUMNS");
  if (const long columns = set ? std::strtol(set, nullptr, 10) : 0; columns > 0) return static_cast<std::size_t>(columns);
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

int show(const Common& common, const std::string& page, bool by_point) {
  const auto saved = read_saved(common.file, common.store);
  if (!saved) {
    print(saved.error(), nullptr);
    return kEnvironment;
  }
  if (by_point) {
    const auto text = report::counters_text(saved->result, report::CountsOf::Points);
    if (text.empty())
      return refuse(failure("E0731", "the result holds no counters", "`gexp run --counters` on a simulated device counts"),
                    nullptr, kEnvironment);
    print_out("{}{}", report::device_line(saved->result, colour_on(STDOUT_FILENO)), text);
    return kDone;
  }
  const auto figures = result::figures(saved->program, saved->result, report::kHtmlCells);
  if (!figures) {
    print(figures.error(), nullptr);
    return kEnvironment;
  }
  if (page.empty()) {
    const bool colour = colour_on(STDOUT_FILENO);
    print_out("{}", report::text(saved->program, saved->result, colour));
    for (const auto& figure : figures->plots) {
      const auto plot = report::plot_text(figure, terminal_columns(), colour);
      print_out("{}{}", plot.empty() ? "" : "\n", plot);
    }
    return kDone;
  }
  if (auto fine = may_write(page, common.file); !fine) {
    print(fine.error(), nullptr);
    return kEnvironment;
  }
  if (auto written = write_file(page, report::html(saved->program, saved->result, *figures)); !written) {
    print(written.error(), nullptr);
    return kEnvironment;
  }
  print_out("saved as {}\n", page);
  return kDone;
}

class Report final : public Command {
 public:
  void declare(Options& options) override {
    add_result(options, common_);
    options.add("--out", &page_, "write this HTML page, with interactive charts; it needs no other file and no network")
        .or_letter("-o")
        .offers(Offers::Files);
    options.add("--counters", &by_point_, "what `run --counters` counted at each point, in place of all else").excludes("--out");
    add_store(options, common_.store);
  }
  [[nodiscard]] std::optional<std::vector<std::string>> writes() const override { return std::vector<std::string>{written_by_reading(common_.file, common_.store), page_}; }
  int run() override { return show(common_, page_, by_point_); }

 private:
  Common common_;
  std::string page_;
  bool by_point_ = false;
};

}  // namespace

std::unique_ptr<Command> new_report() { return std::make_unique<Report>(); }

}  // namespace gexp::cli
