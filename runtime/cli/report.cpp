// SPDX-License-Identifier: Apache-2.0
// A saved result to look at.
#include <fmt/format.h>
#include <unistd.h>

#include "runtime/cli/app.h"
#include "runtime/cli/saved.h"
#include "runtime/figures.h"
#include "runtime/report/html.h"
#include "runtime/report/text.h"

namespace gexp::cli {

int report_command(const std::string& reference, const std::string& page) {
  const auto saved = read_saved(reference);
  if (!saved) {
    print(saved.error(), nullptr);
    return kEnvironment;
  }
  const auto figures = runtime::figures(saved->program, saved->result, report::kHtmlCells);
  if (!figures) {
    print(figures.error(), nullptr);
    return kEnvironment;
  }
  if (page.empty()) {
    fmt::print("{}", report::text(saved->program, saved->result, colour_on(STDOUT_FILENO)));
    return kDone;
  }
  if (auto written = write_file(page, report::html(saved->program, saved->result, *figures)); !written) {
    print(written.error(), nullptr);
    return kEnvironment;
  }
  fmt::print("saved as {}\n", page);
  return kDone;
}

}  // namespace gexp::cli
