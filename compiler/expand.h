// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compiler/emit.h"
#include "compiler/program.h"

namespace gexp::compiler {

/// Where one sweep point stands: names and values of the sweeps, outermost first.
using Coordinates = std::vector<std::pair<std::string, Value>>;

/// One sweep point, ready to run: everything that its launches need but the device's addresses.
struct PointPlan {
  Coordinates at;                          ///< sweeps
  std::map<std::string, Value> lets;       ///< the stage's lets (not its patterns)
  std::string memory;
  std::uint32_t grid = 1, block = 1;
  std::int64_t carveout = -1;              ///< bytes; -1: as little as possible
  std::uint32_t bank = 0;                  ///< bytes; 0: the device's default
  int width = 4;                           ///< bytes of one timed load
  std::shared_ptr<const Pattern> warm;     ///< null: no warm-up
  std::shared_ptr<const Pattern> timed;
  std::int64_t warm_steps = 0, steps = 0;  ///< accesses a thread
  /// What memory must hold: a link at each offset (bytes), pointing to the next offset of the same ring.
  std::vector<std::int64_t> link_offsets, link_targets;
  Shape shape;
};

/// Parameters and file-level lets and patterns as a scope.
Result<Names> file_scope(const Program& program);

/// Bytes of a memory: its length times its element, or its length where that is given in bytes.
Result<std::uint64_t> memory_bytes(const Memory& memory, const Scope& scope);

/// The values of one sweep in a scope that holds the sweeps outside it.
Result<std::vector<Value>> sweep_values(const Sweep& sweep, const Scope& scope);
/// Gives a sweep's names one of its values.
void bind_sweep(const Sweep& sweep, const Value& value, Names& names);

/// Bytes of one timed load of a chase.
Result<int> chase_width(const Program& program, const Chase& chase, const Scope& scope);

/// Plans one point. E04xx at the statement: an offset outside the memory, misaligned, visited twice in one ring, or linked to
/// two different successors; a `require` that fails; a count that is no whole number. `skipped` is set where a `skip` holds.
Result<PointPlan> plan_point(const Program& program, const Stage& stage, const Coordinates& at, const Scope& outer,
                             bool& skipped);

}  // namespace gexp::compiler
