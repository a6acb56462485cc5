// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <algorithm>

#include "lang/parse.h"
#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/output.h"

namespace gexp::cli {
namespace {



int list_experiments() {
  const auto folder = experiments_folder();
  if (folder.empty()) {
    print(failure("E0712", "the folder of experiments that ship was not found", "set GEXP_EXPERIMENTS to it"), nullptr);
    return kEnvironment;
  }
  const auto files = shipped_experiments();
  std::size_t width = 0;
  for (const auto& file : files) width = std::max(width, file.size());
  for (const auto& file : files) {
    auto text = read_spec_file(folder + "/" + file);
    std::string doc;
    if (text) {
      Diagnostics ignored;
      doc = lang::parse(Source(file, *text), ignored).doc;
    }
    print_out("{:<{}}  {}\n", file, width, doc);
  }
  return kDone;
}


class List final : public Command {
 public:
  void declare(Options&) override {}
  int run() override { return list_experiments(); }
};

}  // namespace

std::unique_ptr<Command> new_list() { return std::make_unique<List>(); }

}  // namespace gexp::cli
