// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/codegen/body.h"
#include "compiler/codegen/roles.h"
#include "compiler/plan/expand.h"

namespace gexp::compiler {

/// What a kernel of a file is given at a point, in the order of its parameters.
struct KernelPlan {
  struct Argument {
    FileKernel::Argument::Kind kind = FileKernel::Argument::Kind::Value;
    std::string memory;  ///< Memory
    double value = 0;    ///< Value: in base units
    std::uint64_t first = 0;  ///< Record: the entry that it points to
    Span span;
  };
  std::vector<Argument> arguments;
  std::uint64_t entries = 0;  ///< of the record; 0: it has none
  std::uint32_t width = 4;    ///< bytes of an entry: 4 or 8
};

/// A warm-up that is a launch of its own: that of `wall`, and those with a grid or block.
struct LaunchBefore {
  Shape shape;
  BodyPlan body;
  KernelPlan kernel;  ///< of shapes that are kernels of files
  std::uint32_t grid = 1, block = 1, cluster = 1;
};

/// Where a role's blocks are to run: anywhere, on a chosen multiprocessor, or relative to the first block of the launch's first stage.
enum class Where { Any, Sm, Same, Other, SameTpc, OtherTpc, SameGpc, Block };

/// A stage's part in a launch of several.
struct RolePlan {
  RoleText text;
  Where where = Where::Any;
  std::uint32_t per_tpc = 2;       ///< multiprocessors of a TPC
  std::uint32_t first_thread = 0;  ///< of a block
  std::uint32_t records_at = 0;    ///< words behind which its record lies
  std::uint32_t shared_at = 0;     ///< bytes of a block's shared memory before its own
  std::uint32_t window = 0;        ///< `each`: accesses of a warp that are recorded
};

/// One sweep point, ready to run: everything that its launches need but the device's addresses.
struct PointPlan {
  Coordinates at;                          ///< sweeps
  std::map<std::string, Value> lets;       ///< the stage's lets and patterns that are alike for all threads, and counts as `unique(slot)`
  std::uint32_t grid = 1, block = 1;
  std::uint32_t cluster = 1;               ///< blocks of a cluster; 1: none
  std::int64_t carveout = -1;              ///< bytes; -1: as little as possible
  std::uint32_t bank = 0;                  ///< bytes; 0: the device's default
  std::vector<std::string> flushes;        ///< "l1" "l2" "tlb" "managed", before each launch
  std::uint64_t smem = 0;                  ///< bytes of dynamic shared memory besides the memories
  std::uint32_t persm = 0;                 ///< most blocks at once on a multiprocessor; 0: as many as fit
  std::uint32_t sm = 0;                    ///< first multiprocessor of those that are chosen
  std::uint32_t sms = 0;                   ///< how many run the block at once, each a repetition; 0: the device chooses one
  std::uint32_t registers = 0;             ///< that a thread takes; 0: what the compiler gives it
  double limit = 0;                        ///< seconds after which a launch has hung; 0: what the run allows
  Timing timing = Timing::Each;
  int width = 4;                           ///< bytes of one timed step of a lone chase
  std::shared_ptr<const Pattern> warm;     ///< of a lone chase by one thread; null: no warm-up, or another one
  std::shared_ptr<const Pattern> timed;    ///< likewise
  std::int64_t warm_steps = 0, steps = 0;  ///< accesses a thread (`total`, `wall`: of a lone chase)
  std::uint64_t moved = 0;                 ///< bytes that the timed region reads and writes, over all threads
  std::vector<Links> links;                ///< a memory once
  Shape shape;
  BodyPlan body;                           ///< of shapes made from body.cu
  KernelPlan kernel;                       ///< of shapes that are kernels of files
  std::vector<LaunchBefore> before;        ///< in turn, before each timed launch
  // Of a launch of several stages:
  RolePlan role;
  std::vector<PointPlan> beside;           ///< the other stages' parts
  std::vector<std::string> flags;          ///< all that they speak by
  std::uint32_t claimed = 0, together = 0; ///< blocks that are wanted, and blocks and parts of blocks that begin together
  std::uint32_t block_threads = 0, block_shared = 0, record_words = 0;
};

/// Bytes that the timed region reads and writes, over all threads. Negative: that of the kernel of a file, which is not known.
double moved_bytes(const PointPlan& plan);

/// The bytes of a memory that the point's accesses stay within.
std::uint64_t reach_of(const PointPlan& plan, const std::string& memory);

/// Plans one point. E04xx at the statement: an offset outside the memory, misaligned, visited twice in one ring, or linked to
/// two different successors; a `require` that fails; a count that is no whole number. `skipped` is set where a `skip` holds.
Result<PointPlan> plan_point(const Program& program, const Stage& stage, const Coordinates& at, const Scope& outer,
                             bool& skipped);

/// Every shape of a stage: one for each width, unrolling and ilp that its sweeps reach. `scope` holds params, lets and earlier
/// findings. Sweeps that no text depends on stay at their first and last value.
Result<std::vector<Shape>> stage_shapes(const Program& program, const Stage& stage, const Scope& scope);

}  // namespace gexp::compiler
