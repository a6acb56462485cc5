// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/command.h"

namespace gexp::cli {

#define GEXP_COMMAND(function, name, group, help) std::unique_ptr<Command> new_##function();
#include "runtime/cli/commands.def"
#undef GEXP_COMMAND

const std::vector<CommandRow>& commands() {
  static const std::vector<CommandRow> rows = {
#define GEXP_COMMAND(function, name, group, help) {name, group, help, new_##function},
#include "runtime/cli/commands.def"
#undef GEXP_COMMAND
  };
  return rows;
}

std::vector<ListedCommand> listed_commands() {
  std::vector<ListedCommand> listed;
  for (const auto& row : commands()) {
    if (row.group.empty()) continue;
    auto& made = listed.emplace_back(ListedCommand{row.name, row.group, row.help, {}});
    row.make()->declare(made.options);
  }
  return listed;
}

}  // namespace gexp::cli
