// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/codegen/body.h"

/// Kernels in which several bodies run at once, made from roles.cu.
namespace gexp::compiler {

/// Words at the begin of the control words, and between two flags.
inline constexpr std::size_t kControlWords = 64;
/// Words that a role writes for each warp: clocks before and after the region, 64 bits each, and the multiprocessor.
inline constexpr std::size_t kWarpWords = 5;
/// Cycles after which a `wait` is given up that says nothing else.
inline constexpr std::int64_t kWaitCycles = std::int64_t{1} << 24;

/// The blocks of a launch one of whose stages is in the first one's GPC come in clusters of so many: a GPU runs each cluster in one GPC.
inline constexpr std::uint32_t kGpcCluster = 8;  // fact: the most that every device with clusters takes (CUDA C Programming Guide)

/// A body as a role of a launch.
struct RoleText {
  BodyText body;
  Timing timing = Timing::Total;
  bool warps = false;       ///< more than one
  std::string where;        ///< condition of `sm` and `leader`; empty: it has warps of the first role's blocks
  bool relative = false;    ///< the condition reads `leader`
  bool in_gpc = false;      ///< it reads `home`, the number of the leader's cluster, and `cluster`, that of the own one
};

/// The parameters that a role has before those of its body: its first thread in a block, its threads, its blocks, where its record is, the
/// room for times of accesses, where these wait in its shared memory, where that begins, and its multiprocessor.
inline constexpr const char* kRoleParameters[] = {"first", "threads", "blocks", "record", "window", "trace", "shared", "sm"};

Shape roles_shape(const std::vector<const RoleText*>& roles, std::size_t flags, Span span);

}  // namespace gexp::compiler
