// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/lower/ops.h"
#include "compiler/plan/point_planner.h"
#include "ptx/take_registers.h"

// How a point is launched: the clauses of `launch`, and the warm-ups that are launches of their own.
namespace gexp::compiler {

Result<std::int64_t> PointPlanner::number(const FormulaPtr& formula, std::int64_t otherwise, std::int64_t low, std::int64_t high, const char* what) const {
  return formula ? whole(formula, names_, low, high, what) : Result<std::int64_t>(otherwise);
}

std::optional<Diagnostic> PointPlanner::chosen(std::int64_t first, std::int64_t count, std::int64_t grid) const {
  const auto& launch = stage_.launch;
  if (count == 0) return std::nullopt;
  const auto span = (launch.sm ? launch.sm : launch.sms)->span;
  if (grid != 1) return error("E0418", launch.grid->span, fmt::format("a chosen multiprocessor runs one block, not {}", grid), "write `grid 1`");
  if (launch.cluster) return error("E0418", launch.cluster->span, "clusters are not placed on a chosen multiprocessor", "leave `cluster` out");
  if (stage_.timing == Timing::Values) return error("E0418", span, "what threads keep is not told apart by multiprocessors", "time `each` or `total`");
  if (stage_.timing == Timing::Wall) return error("E0418", span, "`wall` times a whole launch, of which the chosen multiprocessor's part is not known", "time `each` or `total`");
  const auto* device = program_.device.get<Fields>();
  const auto known = device ? device->find("sms") : Fields::const_iterator{};
  const auto* there = device && known != device->end() ? known->second.get<Number>() : nullptr;
  if (there && static_cast<double>(first + count) > there->number) {
    return error("E0418", span, fmt::format("there is no multiprocessor {}: the device has {}, from 0 on", first + count - 1, there->number), "`device.sms` is how many there are");
  }
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::launch() {
  const auto& launch = stage_.launch;
  const auto grid = grid_of(launch.grid), block = block_of(launch.block);
  const auto cluster = number(launch.cluster, 1, 1, 16, "the cluster");
  const auto carveout = number(launch.carveout, -1, 0, std::int64_t{1} << 30, "the carve-out");
  const auto bank = number(launch.bank, 0, 1, 1 << 10, "the bank width");
  const auto smem = number(launch.smem, 0, 0, std::int64_t{1} << 30, "the shared memory");
  const auto persm = number(launch.persm, 0, 1, 64, "the number of blocks a multiprocessor");
  const auto sm = number(launch.sm, 0, 0, 1 << 16, "the multiprocessor"), sms = number(launch.sms, launch.sm ? 1 : 0, 1, 1 << 16, "the number of multiprocessors");
  const auto registers = number(launch.registers, 0, 1, ptx::kMostRegisters, "the number of registers of a thread");
  for (const auto* part : {&grid, &block, &cluster, &carveout, &bank, &smem, &persm, &sm, &sms, &registers}) {
    if (!*part) return part->error();
  }
  if (*bank != 0 && *bank != 4 && *bank != 8) {
    return error("E0418", launch.bank->span, fmt::format("the bank width is {} B: banks are 4 or 8 bytes wide", *bank), "write `bank 4B` or `bank 8B`");
  }
  if (*grid % *cluster != 0) {
    return error("E0418", launch.cluster->span, fmt::format("a grid of {} blocks cannot be cut into clusters of {}", *grid, *cluster), "take a grid that is a multiple of the cluster");
  }
  if (auto problem = chosen(*sm, *sms, *grid)) return problem;
  if (launch.limit) {
    auto limit = evaluate(*launch.limit, names_);
    if (!limit) return limit.error();
    const auto* n = limit->get<Number>();
    if (!n || !(n->number >= 1e-6 && n->number <= 3600)) {
      return error("E0418", launch.limit->span, fmt::format("the time limit of a launch is {}: 1us to 3600s are wanted", show(*limit)), "write `limit 100ms`");
    }
    plan_.limit = n->number;
  }
  plan_.grid = static_cast<std::uint32_t>(*grid);
  plan_.block = static_cast<std::uint32_t>(*block);
  plan_.cluster = static_cast<std::uint32_t>(*cluster);
  plan_.carveout = *carveout;
  plan_.bank = static_cast<std::uint32_t>(*bank);
  plan_.smem = static_cast<std::uint64_t>(*smem);
  plan_.persm = static_cast<std::uint32_t>(*persm);
  plan_.sm = static_cast<std::uint32_t>(*sm);
  plan_.sms = static_cast<std::uint32_t>(*sms);
  plan_.registers = static_cast<std::uint32_t>(*registers);
  return std::nullopt;
}

std::optional<Diagnostic> PointPlanner::launches_before() {
  for (const auto& warm : stage_.warm_launches) {
    const bool as_timed = !warm.grid && !warm.block;  // a kernel of a file, which is always a launch of its own
    const auto grid = as_timed ? Result<std::int64_t>(plan_.grid) : grid_of(warm.grid);
    const auto block = as_timed ? Result<std::int64_t>(plan_.block) : block_of(warm.block);
    if (!grid) return grid.error();
    if (!block) return block.error();
    if (auto problem = launch_before(warm.body, static_cast<std::uint32_t>(*grid), static_cast<std::uint32_t>(*block))) return problem;
  }
  const bool apart = stage_.timing == Timing::Wall || only_kernel(stage_.timed);
  return apart && !stage_.warm.empty() ? launch_before(stage_.warm, plan_.grid, plan_.block) : std::nullopt;
}

std::optional<Diagnostic> PointPlanner::launch_before(const Body& warm, std::uint32_t grid, std::uint32_t block) {
  const Body none;
  LaunchBefore before;
  before.grid = grid, before.block = block;
  if (grid == plan_.grid) before.cluster = plan_.cluster;
  if (const auto* own = only_kernel(warm)) {
    if (auto problem = kernel(*own, std::uint64_t{grid} * block, before.shape, before.kernel)) return problem;
    plan_.before.push_back(std::move(before));
    return std::nullopt;
  }
  auto made = body_shape({program_, stage_, names_, lets_, grid, block, before.cluster, none, warm, Timing::Wall}, chased_, before.body);
  if (!made) return made.error();
  before.shape = std::move(*made);
  plan_.before.push_back(std::move(before));
  return std::nullopt;
}

}  // namespace gexp::compiler
