// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

#include "compiler/lower/lower.h"

/// The passes over the IR, in the order of the table. Each is a free function; its comment says what it requires and leaves.
namespace gexp::compiler::passes {

/// Requires: lowered. Refuses values that are worked out where they are read, one through the other, too deep down (E0101): everything that
/// walks a formula recurses. Changes nothing.
void limit_depth(Ir& ir, const Source& source, Diagnostics& diagnostics);

/// Requires: lowered. Leaves: every stage's `after`: the stages whose findings it reads.
void order_stages(Ir& ir, const Source& source, Diagnostics& diagnostics);

/// Requires: ordered. Refuses stages with too many points (E0440) where that is known before anything runs; changes nothing.
void limit_points(Ir& ir, const Source& source, Diagnostics& diagnostics);

/// Requires: ordered. Leaves: a kernel node for every shape whose widths are known before anything runs.
void collect_kernels(Ir& ir, const Source& source, Diagnostics& diagnostics);

/// Requires: ordered. Warns of stages that answer nothing and feed nothing (E0507, a warning); changes nothing.
void report_idle_stages(Ir& ir, const Source& source, Diagnostics& diagnostics);

/// Requires: ordered. Refuses `value(…, x: V)` of a point that a sweep, known before anything runs, does not have (E0445; a
/// warning where the points were given from outside); changes nothing.
void find_values_off_sweep(Ir& ir, const Source& source, Diagnostics& diagnostics);

/// Requires: ordered. Leaves: every stage's `key` and `reads`, by which a stage that was measured before is found again.
void key_stages(Ir& ir, const Source& source, Diagnostics& diagnostics);

struct Pass {
  std::string_view name;
  void (*run)(Ir&, const Source&, Diagnostics&);
};

inline constexpr std::array<Pass, 7> kPasses{{
    {"depth", limit_depth},
    {"order", order_stages},
    {"points", limit_points},
    {"values", find_values_off_sweep},
    {"kernels", collect_kernels},
    {"keys", key_stages},
    {"idle", report_idle_stages},
}};

}  // namespace gexp::compiler::passes
