// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/formula/thread_range.h"

namespace gexp::compiler {

/// What a memory must hold before a launch: at each offset (bytes) the offset of the next access of the same ring.
struct Links {
  std::string memory;
  int width = 4;  ///< bytes of one step: a link is an index of such steps
  std::vector<std::int64_t> offsets, targets;
};

/// One parameter of a kernel made from body.cu, in its order.
struct KernelParameter {
  enum class Kind { Memory, Texture, IdleTexture, Table, Value, Tile };
  Kind kind = Kind::Value;
  std::string memory;       ///< Memory, Texture, Tile: its name
  std::size_t table = 0;    ///< Table: index
  std::int64_t value = 0;   ///< Value
  std::uint32_t row_bytes = 0, rows = 0;  ///< Tile: of that memory, so many bytes of each of so many rows
  std::uint64_t pitch = 0;                ///< Tile, Texture, IdleTexture: from one row to the next; of a texture with one dimension 0
};

/// How body.cu runs one point.
struct BodyPlan {
  std::vector<KernelParameter> parameters;        ///< after the fixed ones (see the template)
  std::vector<std::vector<std::uint32_t>> tables; ///< read by threads before timing: first links, links of shared and local memories
  std::uint64_t shared_bytes = 0;                 ///< memories in shared memory and the idle cell behind them
  std::int64_t accesses = 0;                      ///< `each`: accesses of one thread in the timed region
  std::uint64_t moved = 0;                        ///< bytes that the timed region reads and writes, over all threads
  std::uint64_t kept = 0;                         ///< `values`: the most that a thread keeps
  bool moved_known = true;                        ///< false: what is moved hangs on what is loaded
  bool may_hang = false;                          ///< it has a loop whose end hangs on what is loaded: the kernel says where one does not end
  std::map<std::string, std::uint64_t> reach;     ///< of each memory that is loaded or stored, no access is at or beyond this byte
};

/// Where a body is made for: a point of a stage.
struct BodyPlace {
  const Program& program;
  const Stage& stage;
  const Scope& scope;      ///< sweeps, lets, params
  const ThreadLets& lets;
  std::uint32_t grid = 1, block = 1;
  std::uint32_t cluster = 1;  ///< blocks of a cluster; 1: none
  const Body& warm;
  const Body& timed;
  Timing timing = Timing::Total;
  bool chosen = false;     ///< it runs on chosen multiprocessors
  bool role = false;       ///< it is one of several in a launch (codegen/roles.h)
  const std::vector<std::string>* flags = nullptr;  ///< of a role: the launch's
};

/// A chase's pattern at a point; the operation's position in the stage is its index in `patterns`.
struct Chased {
  const Op* op = nullptr;
  std::shared_ptr<const Pattern> pattern;
  std::int64_t steps = 0;
};

/// What a body is in text, for the templates that hold it.
struct BodyText {
  std::string constants, parameters, setup, warm, addresses, timed, settle, record, calibrate;
  bool calibrates = false, barriers = false;
  int passes = 2;
};

/// The same as body_shape, without the kernel around it.
Result<BodyText> body_text(const BodyPlace& place, const std::vector<Chased>& chases, BodyPlan& plan);

/// Makes the kernel shape of any stage and says how to run it. Errors at the operation: an access that may leave its memory
/// (E0420), a misaligned one (E0421), what a thread cannot compute (E0428), what an operation cannot do (E0417, E0429–E0432).
Result<Shape> body_shape(const BodyPlace& place, const std::vector<Chased>& chases, BodyPlan& plan);

}  // namespace gexp::compiler
