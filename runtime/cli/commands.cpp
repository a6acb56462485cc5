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

}  // namespace gexp::cli
