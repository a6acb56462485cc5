// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/passes/passes.h"

namespace gexp::compiler::passes {

void report_idle_stages(Ir& ir, const Source&, Diagnostics& diagnostics) {
  for (const auto& stage : ir.program.stages) {
    if (stage.leader || !stage.beside.empty()) continue;  // what it does may be all that it is for
    if (stage.finds.empty() && stage.plots.empty() && stage.expects.empty()) {
      diagnostics.warning("E0507", stage.span, fmt::format("stage `{}` measures but asks nothing of its records", stage.name),
                          "add a `find`, an `expect` or a `plot`");
    }
  }
}

}  // namespace gexp::compiler::passes
