// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/memory_unit.h"

#include <algorithm>
#include <bit>

#include "runtime/sim/nearest.h"
#include "runtime/sim/observer.h"

// A warp's access is split into pieces, one a region. Each goes through the warp's load unit, is looked up in the SM, and what is
// not there is booked, crosses the SM's port and arrives, an event of its own, at what all SMs share. With no entry to be booked in,
// the warp is stalled, and all later loads of its SM behind it. So latency rises and throughput saturates as loads grow, and
// requests under way = throughput x latency (Little's law), without any curve in the model.
namespace gexp::sim {
namespace {

/// A store may be so far ahead of its SM's port, cycles: what a store queue holds (assumed).
constexpr double kStoreQueue = 256;
/// Bulk copies may be so far ahead of it: what the copy engine takes before a warp must wait (assumed).
constexpr double kCopyQueue = 4096;

std::uint64_t cycles(double time) { return not_below(std::max(0.0, time - 1e-6)); }
std::uint64_t latency_cycles(double latency) { return nearest(std::max(1.0, latency)); }

}  // namespace

MemoryUnit::MemoryUnit(const DeviceModel& model, Hierarchy& hierarchy, Events& events, Warps& warps, std::uint32_t bank_bytes,
                       Observer* observer)
    : model_(model),
      hierarchy_(hierarchy),
      events_(events),
      warps_(warps),
      observer_(observer),
      shared_timing_(model.shared, bank_bytes),
      sms_(static_cast<std::size_t>(model.sms)) {
  for (Sm& sm : sms_) sm.load_units.resize(model.pipeline.load_units);
  if (model.bandwidth.tpc > 0) {
    for (std::uint32_t sm = 0; sm < sms_.size(); ++sm) sms_[sm].tpc = place_of(model, Scope::Tpc, sm);
    tpc_ports_.resize(sms_.size());
  }
  for (std::size_t path = 0; path < here_.size() && model.bandwidth.l1 > 0; ++path)
    here_[path] = static_cast<double>(hierarchy.region(static_cast<LoadPath>(path))) / model.bandwidth.l1;
}

void MemoryUnit::coalesce(const Addresses& addresses, std::uint32_t mask, std::uint64_t sector, std::uint64_t region, std::span<const Addresses> more) {
  pieces_.clear();
  const int shift = std::countr_zero(sector);  // regions and sectors are powers of two
  const auto add = [&](std::uint64_t address) {
    const std::uint64_t into = address & (region - 1), begin = address - into;
    const std::uint32_t bit = 1u << (into >> shift);
    // Neighbours mostly follow each other.
    for (std::size_t k = pieces_.size(); k-- > 0;) {
      if (pieces_[k].region != begin) continue;
      pieces_[k].sectors |= bit;
      ++pieces_[k].threads;
      return;
    }
    pieces_.push_back({begin, bit});
  };
  each_lane(mask, [&](std::uint32_t lane) { add(addresses[lane]); });
  for (const Addresses& others : more) each_lane(mask, [&](std::uint32_t lane) { add(others[lane]); });
  passes_ += pieces_.size();
}

bool MemoryUnit::has_entry(const Sm& sm, const Load& load, Hierarchy::Piece piece) const {
  const Outstanding& o = model_.outstanding;
  switch (o.kind) {
    case Outstanding::Kind::Unlimited: return true;
    case Outstanding::Kind::Mshr:
      // One that would need more than there are takes all.
      return sm.entries == 0 || sm.entries + entries(piece) <= o.entries || (o.lines > 1 && sm.groups.find(group(load.path, piece)));
    case Outstanding::Kind::Prt: return (load.entry != 0 || sm.entries < o.entries) && (o.requests == 0 || sm.requests < o.requests);
  }
  return true;
}

inline std::uint64_t MemoryUnit::takes_here(Sm& sm, LoadPath path, double latency, double time) {
  const double wait = sm.l1.wait(time, here_[static_cast<std::size_t>(path)]);
  return (wait > 0 ? cycles(wait) : 0) + latency_cycles(latency);
}

[[gnu::always_inline]] inline double MemoryUnit::cross(Sm& sm, double bytes, double time) {
  const double wait = model_.bandwidth.sm > 0 ? sm.port.wait(time, bytes / model_.bandwidth.sm) : 0;
  if (tpc_ports_.empty()) [[likely]] return wait;
  return wait + tpc_ports_[sm.tpc].wait(time + wait, bytes / model_.bandwidth.tpc);
}

[[gnu::always_inline]] inline double MemoryUnit::leave(Sm& sm, LoadPath path, Hierarchy::Piece piece, double time) {
  return cross(sm, static_cast<double>(hierarchy_.sector(path)) * piece.count(), time);
}

[[gnu::always_inline]] inline std::uint64_t MemoryUnit::back(LoadPath path, std::uint32_t sm, Hierarchy::Piece piece,
                                                             std::uint8_t translated, std::uint64_t arrived) {
  const double latency = hierarchy_.far(path, sm, piece, translated, static_cast<double>(arrived));
  return std::max(arrived, arrived - hierarchy_.way(path) + latency_cycles(latency));
}

/// False: the entry holds as many requests as it can.
bool MemoryUnit::join(std::uint32_t request, std::uint32_t load) {
  Request& r = requests_[request];
  if (model_.outstanding.kind == Outstanding::Kind::Mshr && model_.outstanding.merges > 0 && r.merged >= model_.outstanding.merges) return false;
  ++r.merged;
  r.waiters = waiters_.add({load, r.waiters});
  ++loads_[load].remaining;
  return true;
}

/// False: there is no entry for it now, and nothing has changed.
bool MemoryUnit::send(std::uint32_t load, Hierarchy::Piece piece, double time) {
  Load& l = loads_[load];
  Warp& warp = warps_[l.warp];
  Sm& sm = sms_[warp.sm];
  const bool near = hierarchy_.has_near(l.path);
  const bool merges = near || model_.outstanding.kind == Outstanding::Kind::Mshr;
  if (merges) {
    const std::uint32_t* const under_way = sm.pending.find(key(l.path, piece.region));
    if (under_way && (piece.sectors & ~requests_[*under_way].piece.sectors) == 0) {
      const bool joined = join(*under_way, load);
      if (joined) merged_ += static_cast<std::uint64_t>(piece.count());
      return joined;
    }
  }
  const bool full = !has_entry(sm, l, piece);
  if (full && !(near && hierarchy_.holds(l.path, warp.sm, piece))) return false;
  const Hierarchy::Near found = hierarchy_.near(l.path, warp.sm, piece);
  if (found.latency > 0) l.ready = std::max(l.ready, time + static_cast<double>(takes_here(sm, l.path, found.latency, time)));
  l.depth = std::max(l.depth, found.depth);
  if (found.missing == 0) return true;

  Request request{.sm = warp.sm, .path = l.path, .piece = {piece.region, found.missing, piece.threads}, .translated = found.translated, .left = time, .merged = 1};
  const bool mshr = model_.outstanding.kind == Outstanding::Kind::Mshr, shares = mshr && model_.outstanding.lines > 1;
  if (shares ? ++sm.groups[group(l.path, piece)] == 1 : mshr || (model_.outstanding.kind == Outstanding::Kind::Prt && l.entry == 0)) sm.entries += entries(piece);
  l.entry = 1;
  ++sm.requests;
  request.waiters = waiters_.add({load, kNobody});
  ++l.remaining;
  const std::uint32_t index = requests_.add(request);
  if (merges) sm.pending[key(l.path, piece.region)] = index;
  const double wait = leave(sm, l.path, {piece.region, found.missing}, time);
  events_.add(cycles(time + wait) + hierarchy_.way(l.path), Event::Kind::Arrive, index);
  return true;
}

void MemoryUnit::load(std::uint32_t warp, const Instruction& i, LoadPath path, const Addresses& addresses, std::uint32_t mask, std::uint64_t now,
                      std::span<const Addresses> more) {
  Warp& w = warps_[warp];
  // Constant memory gives all lanes one word at a time (Wong10 section IV-K).
  const bool broadcast = path == LoadPath::Constant;
  coalesce(addresses, mask, broadcast ? 4 : hierarchy_.sector(path), broadcast ? 4 : hierarchy_.region(path), more);
  if (broadcast) {
    for (Hierarchy::Piece& piece : pieces_) piece = hierarchy_.piece(path, piece.region);
  }
  for (const Hierarchy::Piece& piece : pieces_) sectors_ += static_cast<std::uint64_t>(piece.count());
  for (std::size_t k = 0; k < i.count; ++k) w.ready[i.data[k]] = kNever;
  if (i.kind == Kind::Copy) ++*w.slot(i.data[0]);
  if (i.kind == Kind::Atomic) w.ready[i.to] = kNever;
  w.ready[kTrue] = 0;
  ++w.loads;
  w.stalled_load = loads_.add({.warp = warp, .instruction = &i, .path = path, .issued = now});
  std::swap(w.rest, pieces_);
  std::reverse(w.rest.begin(), w.rest.end());
  Sm& sm = sms_[w.sm];
  // Loads leave an SM in order, hits behind a stalled one too.
  if (sm.stalled.empty()) go_on(warp, now);
  else w.state = Warp::State::Stalled;
  if (w.state == Warp::State::Stalled) sm.stalled.push_back(warp);
}

std::uint64_t MemoryUnit::lone_load(std::uint32_t index, const Warp& warp, const Instruction& i, LoadPath path, std::uint64_t address,
                                    std::uint64_t now) {
  Sm& sm = sms_[warp.sm];
  Server& unit = sm.load_units[warp.load_unit];
  ++passes_, ++sectors_;
  // Who waits for nobody goes on in whole cycles: what it computes next does not hang on the host's conversions of fractions.
  const bool at_once = unit.free() <= static_cast<double>(now);
  const double start = at_once ? static_cast<double>(now) : unit.free();
  const Hierarchy::Piece piece = hierarchy_.piece(path, address);
  const Hierarchy::Near found = hierarchy_.near(path, warp.sm, piece);
  unit.wait(static_cast<double>(now), issue(piece));
  const bool here = found.missing == 0;
  std::uint64_t ready = 0;
  if (here) {
    const std::uint64_t takes = takes_here(sm, path, found.latency, start);
    ready = at_once ? now + takes : std::max(now + 1, cycles(start + static_cast<double>(takes)));
  } else {
    const Hierarchy::Piece missing{piece.region, found.missing};
    const double wait = leave(sm, path, missing, start);
    const std::uint64_t left = at_once && wait == 0 ? now : cycles(start + wait);
    ready = back(path, warp.sm, missing, found.translated, left + hierarchy_.way(path));
  }
  if (observer_)
    tell({.warp = index, .instruction = &i, .path = path, .issued = now, .depth = here ? found.depth : hierarchy_.depth()},
         ready);
  return ready;
}

/// Sends the pieces that are left, as far as there are entries.
void MemoryUnit::go_on(std::uint32_t warp, std::uint64_t now) {
  Warp& w = warps_[warp];
  Server& unit = sms_[w.sm].load_units[w.load_unit];
  w.state = Warp::State::Stalled;
  const std::uint32_t load = w.stalled_load;
  while (!w.rest.empty()) {
    // The unit's time is taken once the piece has gone.
    const double start = std::max(static_cast<double>(now), unit.free());
    if (!send(load, w.rest.back(), start)) return;
    unit.wait(static_cast<double>(now), issue(w.rest.back()));
    w.rest.pop_back();
  }
  w.state = Warp::State::Ready;
  w.stalled_load = kNobody;
  Load& l = loads_[load];
  l.whole = true;
  if (l.remaining > 0) return;
  const std::uint64_t ready = std::max(now + 1, cycles(l.ready));
  // With the number of loads under way limited, their ends matter even when nobody waits for the data.
  if (model_.outstanding.loads_per_warp > 0) return events_.add(ready, Event::Kind::Finish, load);
  complete(load, ready);
}

void MemoryUnit::tell(const Load& load, std::uint64_t now) {
  const int cache = hierarchy_.cache_at(load.path, load.depth);
  const auto level = cache >= 0 ? static_cast<std::uint32_t>(cache) : load.path == LoadPath::Host ? kFromHost : load.path == LoadPath::Peer ? kFromPeer : kFromMemory;
  observer_->loaded(load.warp, *load.instruction, load.issued, now, level);
}

void MemoryUnit::complete(std::uint32_t load, std::uint64_t now) {
  const Load l = loads_[load];
  if (observer_) tell(l, now);
  Warp& w = warps_[l.warp];
  const Instruction& i = *l.instruction;
  if (model_.outstanding.kind == Outstanding::Kind::Prt && l.entry != 0) --sms_[w.sm].entries;
  loads_.remove(load);
  if (!warps_.loaded(l.warp)) return;
  const bool others = i.kind == Kind::Copy && --*w.slot(i.data[0]) > 0;  // copies are under way
  for (std::size_t k = 0; k < i.count && !others; ++k) w.ready[i.data[k]] = now;
  if (i.kind == Kind::Atomic) w.ready[i.to] = now;
  w.ready[kTrue] = 0;
  if (w.state != Warp::State::Waiting) return;
  w.state = Warp::State::Ready;
  w.next = std::max(w.next, now);
  events_.add(w.next, Event::Kind::Run, l.warp);
}

void MemoryUnit::finish(std::uint32_t load, std::uint64_t now) { complete(load, now); }

void MemoryUnit::arrive(std::uint32_t request, std::uint64_t now) {
  Request& r = requests_[request];
  if (r.store) {
    last_store_ = std::max(last_store_, hierarchy_.store(r.sm, r.piece, static_cast<double>(now)));
    requests_.remove(request);
    return;
  }
  const std::uint64_t returns = back(r.path, r.sm, r.piece, r.translated, now);
  r.depth = hierarchy_.depth();
  events_.add(returns, Event::Kind::Return, request);
}

std::uint32_t MemoryUnit::bulk(std::uint32_t warp, const Instruction& i, LoadPath path, std::uint64_t from, std::uint64_t bytes, std::uint64_t now) {
  const std::uint32_t sm = warps_[warp].sm, load = loads_.add({.warp = warp, .instruction = &i, .path = path, .whole = true, .issued = now});
  const std::uint64_t sector = hierarchy_.sector(path);
  while (bytes > 0) {
    Hierarchy::Piece piece = hierarchy_.piece(path, from);
    const std::uint64_t end = std::min(piece.region + hierarchy_.region(path), from + bytes);
    for (std::uint64_t at = from / sector * sector; at < end; at += sector) piece.sectors |= hierarchy_.piece(path, at).sectors;
    ++passes_, sectors_ += static_cast<std::uint64_t>(piece.count());
    const Hierarchy::Near found = hierarchy_.near(path, sm, piece);
    const double wait = leave(sms_[sm], path, piece, static_cast<double>(now));
    const std::uint32_t request = requests_.add({.sm = sm, .path = path, .piece = {piece.region, found.missing}, .translated = found.translated, .bulk = true, .waiters = load, .depth = found.depth});
    ++loads_[load].remaining;
    const bool here = found.missing == 0;
    events_.add(cycles(static_cast<double>(now) + wait) + (here ? latency_cycles(found.latency) : hierarchy_.way(path)),
                here ? Event::Kind::Return : Event::Kind::Arrive, request);
    bytes -= end - from, from = end;
    if (wait > kCopyQueue) warps_[warp].next = std::max(warps_[warp].next, cycles(static_cast<double>(now) + wait - kCopyQueue));
  }
  return load;
}

std::uint32_t MemoryUnit::come_back(std::uint32_t request, std::uint64_t now) {
  const Request r = requests_[request];
  if (r.bulk) {
    requests_.remove(request);
    Load& l = loads_[r.waiters];
    l.depth = std::max(l.depth, r.depth);
    if (--l.remaining > 0) return kNobody;
    if (observer_) tell(l, now);
    loads_.remove(r.waiters);
    return r.waiters;
  }
  Sm& sm = sms_[r.sm];
  const std::uint64_t region = key(r.path, r.piece.region);
  const std::uint32_t* const under_way = sm.pending.find(region);
  if (under_way && *under_way == request) sm.pending.erase(region);
  requests_.remove(request);
  --sm.requests;
  if (model_.outstanding.kind == Outstanding::Kind::Mshr) {
    std::uint32_t* const of = model_.outstanding.lines > 1 ? sm.groups.find(group(r.path, r.piece)) : nullptr;
    if (!of || --*of == 0) sm.entries -= entries(r.piece);
    if (of && *of == 0) sm.groups.erase(group(r.path, r.piece));
  }
  for (std::uint32_t at = r.waiters; at != kNobody;) {
    const Waiter waiter = waiters_[at];
    waiters_.remove(at);
    at = waiter.next;
    Load& l = loads_[waiter.load];
    l.depth = std::max(l.depth, r.depth);
    if (--l.remaining > 0 || !l.whole) continue;
    complete(waiter.load, std::max(now, cycles(l.ready)));
  }
  while (!sm.stalled.empty()) {
    const std::uint32_t warp = sm.stalled.front();
    go_on(warp, now);
    if (warps_[warp].state == Warp::State::Stalled) break;
    sm.stalled.pop_front();
    warps_[warp].next = std::max(now, warps_[warp].next);
    events_.add(warps_[warp].next, Event::Kind::Run, warp);
  }
  return kNobody;
}

void MemoryUnit::store(std::uint32_t warp, const Addresses& addresses, std::uint32_t mask, std::uint64_t now) {
  Warp& w = warps_[warp];
  Sm& sm = sms_[w.sm];
  const std::uint64_t sector = hierarchy_.store_sector();
  coalesce(addresses, mask, sector, std::max<std::uint64_t>(128, sector));
  for (const Hierarchy::Piece& piece : pieces_) {
    const double bytes = static_cast<double>(sector) * piece.count();
    double wait = model_.bandwidth.stores > 0 ? sm.stores.wait(static_cast<double>(now), bytes / model_.bandwidth.stores) : 0;
    wait += cross(sm, bytes, static_cast<double>(now) + wait);
    const std::uint32_t request = requests_.add({.sm = w.sm, .path = LoadPath::Default, .piece = piece, .store = true, .left = static_cast<double>(now)});
    const std::uint64_t arrives = cycles(static_cast<double>(now) + wait) + hierarchy_.way(LoadPath::Default);
    w.stored = std::max(w.stored, arrives + hierarchy_.way(LoadPath::Default));
    events_.add(arrives, Event::Kind::Arrive, request);
    if (wait > kStoreQueue) w.next = std::max(w.next, cycles(static_cast<double>(now) + wait - kStoreQueue));
  }
}

std::uint64_t MemoryUnit::shared(std::uint32_t sm, const Instruction& i, const Addresses& addresses, std::uint32_t mask, std::uint64_t now) {
  std::uint32_t ways = 1;
  if (!one_lane(mask)) {
    std::array<std::uint32_t, kLanes> offsets{};
    each_lane(mask, [&](std::uint32_t lane) { offsets[lane] = static_cast<std::uint32_t>(addresses[lane]); });
    ways = shared_timing_.ways(offsets, mask, static_cast<std::uint32_t>(i.bytes) * i.count);
  }
  passes_ += ways;
  const double rate = model_.bandwidth.shared;
  const double wait = rate > 0 ? sms_[sm].shared.wait(static_cast<double>(now), ways * 128.0 / rate) : 0;
  return shared_timing_.cycles(ways) + cycles(wait);
}

}  // namespace gexp::sim
