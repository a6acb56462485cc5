// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/sim/machine.h"
#include "runtime/sim/observer.h"

// Where blocks and warps begin and end, and where their threads wait for each other.
namespace gexp::sim {

/// A cluster starts as a whole, once there is room for all of it.
void Machine::start_blocks(std::uint64_t now) {
  std::vector<Block*> cluster;
  while (next_block_ < c_.shape.grid.count()) {
    cluster.clear();
    const auto sms = placement_.enter(cluster_);
    if (sms.empty()) return;
    for (const std::uint32_t sm : sms) {
      std::uint32_t index = static_cast<std::uint32_t>(blocks_.size());
      if (free_blocks_.empty()) blocks_.emplace_back();
      else index = free_blocks_.back(), free_blocks_.pop_back();
      Block& block = blocks_[index];
      block.id = next_block_++;
      block.index = index;
      block.sm = sm;
      block.rank = static_cast<std::uint32_t>(cluster.size());
      block.phases = block.arrived = 0;
      block.live = static_cast<std::uint32_t>(c_.shape.block.count());
      block.shared.assign(static_cast<std::size_t>(c_.kernel.shared_bytes) + c_.shape.shared_bytes, std::byte{0});
      cluster.push_back(&block);
    }
    for (Block* const block : cluster) {
      block->cluster = cluster;
      for (std::uint32_t thread = 0; thread < block->live; thread += kLanes) start_warp(block->index, thread, now);
    }
  }
}

/// The places of a cluster's blocks are free once all of them have ended.
void Machine::end_block(Block& block, std::uint64_t now) {
  placement_.leave(block.sm);
  const bool over = std::all_of(block.cluster.begin(), block.cluster.end(), [](const Block* each) { return each->live == 0; });
  if (!over) return;
  for (const Block* each : block.cluster) free_blocks_.push_back(each->index);
  start_blocks(now);
}

void Machine::start_warp(std::uint32_t block, std::uint32_t first_thread, std::uint64_t now) {
  const std::uint32_t index = warps_.add(), number = first_thread / kLanes;
  Warp& w = warps_[index];
  w.block = block;
  w.sm = blocks_[block].sm;
  ++sms_[w.sm].warps;
  w.scheduler = number % c_.model.pipeline.schedulers;
  w.load_unit = number % c_.model.pipeline.load_units;
  w.first_thread = first_thread;
  w.width = std::min(kLanes, static_cast<std::uint32_t>(c_.shape.block.count()) - first_thread);
  w.live = w.width == kLanes ? ~0u : (1u << w.width) - 1;
  w.values.assign(static_cast<std::size_t>(w.width) * c_.kernel.slots, 0);
  w.ready.assign(c_.kernel.slots, 0);
  w.local.assign(static_cast<std::size_t>(w.width) * c_.kernel.local_bytes, std::byte{0});
  if (!c_.kernel.functions.empty() || c_.kernel.allocates) w.stacks.assign(w.width, CallStack{{}, {}, c_.kernel.stack_begin});
  w.next = now;
  for (std::uint32_t lane = 0; lane < w.width; ++lane) {
    w.slot(kTrue)[lane] = 1;
    for (const Preset& preset : c_.kernel.presets) w.slot(preset.slot)[lane] = preset_value(preset, w, lane);
  }
  if (c_.observer) c_.observer->begin(index, w, blocks_[block].id, now);
  events_.add(now, Event::Kind::Run, index);
}

std::uint64_t Machine::preset_value(const Preset& preset, const Warp& w, std::uint32_t lane) const {
  const auto along = [&](const device::Extent& extent, std::uint64_t number) {
    if (preset.value == 0) return number % extent.x;
    return preset.value == 1 ? number / extent.x % extent.y : number / extent.x / extent.y;
  };
  const auto length = [&](const device::Extent& extent) { return preset.value == 0 ? extent.x : preset.value == 1 ? extent.y : extent.z; };
  switch (preset.what) {
    case Preset::What::Value: return preset.value;
    case Preset::What::Tid: return along(c_.shape.block, w.first_thread + lane);
    case Preset::What::Ntid: return length(c_.shape.block);
    case Preset::What::Ctaid: return along(c_.shape.grid, blocks_[w.block].id);
    case Preset::What::Nctaid: return length(c_.shape.grid);
    case Preset::What::ClusterRank: return blocks_[w.block].rank;
    case Preset::What::ClusterSize: return cluster_;
    case Preset::What::Cluster: return blocks_[w.block].id / cluster_;
    case Preset::What::Clusters: return c_.shape.grid.count() / cluster_;
    case Preset::What::LaneId: return lane;
    case Preset::What::WarpId: return w.first_thread / kLanes;
    case Preset::What::SmId: return w.sm;
    case Preset::What::NSmId: return static_cast<std::uint64_t>(c_.model.sms);
    case Preset::What::LaneMask: {
      const std::uint64_t eq = 1ull << lane, lt = eq - 1;
      const std::uint64_t masks[] = {eq, lt, lt | eq, ~(lt | eq), ~lt};
      return masks[preset.value] & 0xffffffffu;
    }
    case Preset::What::SharedDynamic: return c_.shape.shared_bytes;
    case Preset::What::SharedTotal: return c_.kernel.shared_bytes + c_.shape.shared_bytes;
    case Preset::What::Global: return c_.globals[preset.value];
    case Preset::What::GlobalHigh: return c_.globals[preset.value] >> 32;
  }
  return 0;
}

Machine::Step Machine::barrier(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  const auto lane = static_cast<std::size_t>(std::countr_zero(active));
  const auto id = static_cast<std::uint32_t>(w.slot(i.a)[lane]);
  const auto wanted = i.b == kTrue ? 0u : static_cast<std::uint32_t>(w.slot(i.b)[lane]);
  if (id > 15) return fault(fmt::format("barrier {} of 16 ({})", id, place_of(c_.kernel, i)));
  auto found = std::find_if(barriers_.begin(), barriers_.end(), [&](const Barrier& b) { return b.block == w.block && b.id == id; });
  if (found == barriers_.end()) found = barriers_.insert(found, Barrier{w.block, id, 0, 0, 0, {}});
  // fact: before compute capability 7.0 a warp comes as a whole, whichever of its lanes do (PTX ISA, bar).
  const std::uint32_t all = wanted != 0 ? kLanes : static_cast<std::uint32_t>(std::popcount(w.live));
  found->threads += stack_ ? all : static_cast<std::uint32_t>(std::popcount(active));
  found->wanted = wanted;
  if (i.offset != 0) each_lane(active, [&](std::uint32_t l) { found->yes += w.slot(i.c)[l] != 0; });
  each_lane(w.mask, [&](std::uint32_t l) { w.pcs[l] = w.pc + 1; });
  if (i.waits) {
    found->waiting.push_back({index, active, w.pc});
    w.at_barrier |= active;
  }
  release_full_barriers(w.block, issue);
  return Step::Regroup;
}

void Machine::release_full_barriers(std::uint32_t block, std::uint64_t now) {
  for (std::size_t k = 0; k < barriers_.size();) {
    Barrier& b = barriers_[k];
    if (b.block != block || b.threads < (b.wanted != 0 ? b.wanted : blocks_[block].live)) {
      ++k;
      continue;
    }
    for (const Waiting& waiting : b.waiting) {
      Warp& w = warps_[waiting.warp];
      const Instruction& i = code_[waiting.instruction];
      if (i.offset != 0) {  // bar.red: 1 popc, 2 and, 3 or
        const std::uint64_t result = i.offset == 1 ? b.yes : i.offset == 2 ? b.yes == b.threads : b.yes != 0;
        each_lane(waiting.lanes, [&](std::uint32_t lane) { w.slot(i.to)[lane] = result; });
        w.ready[i.to] = now + c_.model.pipeline.barrier;
      }
      let_go(waiting, now + c_.model.pipeline.barrier);
    }
    barriers_.erase(barriers_.begin() + static_cast<std::ptrdiff_t>(k));
  }
}

void Machine::let_go(const Waiting& waiting, std::uint64_t when) {
  Warp& w = warps_[waiting.warp];
  w.at_barrier &= ~waiting.lanes;
  w.next = std::max(w.next, when);
  if (w.state != Warp::State::Barrier) return;
  w.state = Warp::State::Ready;
  events_.add(w.next, Event::Kind::Run, waiting.warp);
}

/// The barrier of a cluster, in its two halves: a thread comes, and later waits for all others to have come as often.
Machine::Step Machine::cluster_barrier(std::uint32_t index, const Instruction& i, std::uint32_t active, std::uint64_t issue) {
  Warp& w = warps_[index];
  Block& first = *blocks_[w.block].cluster.front();
  each_lane(w.mask, [&](std::uint32_t l) { w.pcs[l] = w.pc + 1; });
  if (!i.waits) {
    each_lane(active, [&](std::uint32_t l) { ++w.met[l]; });
    first.arrived += static_cast<std::uint32_t>(std::popcount(active));
    release_meeting(first, issue);
    return Step::Regroup;
  }
  std::uint32_t waiting = 0;
  each_lane(active, [&](std::uint32_t l) { waiting |= static_cast<std::uint32_t>(w.met[l] > first.phases) << l; });
  if (waiting != 0) first.meeting.push_back({index, waiting, w.pc}), w.at_barrier |= waiting;
  else w.next = std::max(w.next, first.met_at);
  return Step::Regroup;
}

void Machine::release_meeting(Block& first, std::uint64_t now) {
  std::uint32_t live = 0;
  for (const Block* each : first.cluster) live += each->live;
  if (first.arrived == 0 || first.arrived < live) return;
  ++first.phases, first.arrived = 0;
  first.met_at = now + c_.model.clusters.barrier;
  for (const Waiting& waiting : std::exchange(first.meeting, {})) let_go(waiting, first.met_at);
}

/// True: they were the warp's last.
bool Machine::end_lanes(std::uint32_t warp, std::uint32_t lanes, std::uint64_t now) {
  Warp& w = warps_[warp];
  const std::uint32_t index = w.block;
  Block& block = blocks_[index];
  Block& first = *block.cluster.front();
  each_lane(lanes, [&](std::uint32_t lane) { first.arrived -= w.met[lane] > first.phases; });  // who has ended is waited for no more
  w.live &= ~lanes;
  block.live -= static_cast<std::uint32_t>(std::popcount(lanes));
  end_ = std::max(end_, now);
  const bool ended = w.live == 0;
  if (ended && c_.observer) c_.observer->end(warp, now);
  if (ended) --sms_[w.sm].warps, warps_.end(warp);
  release_meeting(first, now);
  if (block.live > 0) release_full_barriers(index, now);
  else end_block(block, now);
  return ended;
}

std::string Machine::deadlock() const {
  std::size_t threads = 0;
  for (const Barrier& b : barriers_) threads += b.threads;
  std::vector<Waiting> waiting = barriers_.empty() ? std::vector<Waiting>() : barriers_.front().waiting;
  for (const Block& block : blocks_) {
    for (const Waiting& each : block.meeting) threads += static_cast<std::size_t>(std::popcount(each.lanes));
    if (waiting.empty()) waiting = block.meeting;
  }
  const std::string place = waiting.empty() ? "a barrier" : place_of(c_.kernel, code_[waiting.front().instruction]);
  return fmt::format("a deadlock: {} threads wait at barriers that others do not reach ({})", threads, place);
}

}  // namespace gexp::sim
