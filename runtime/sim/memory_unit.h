// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "runtime/sim/device_model.h"
#include "runtime/sim/events.h"
#include "runtime/sim/hierarchy.h"
#include "runtime/sim/server.h"
#include "runtime/sim/shared_memory.h"
#include "runtime/sim/under_way.h"
#include "runtime/sim/warp.h"

namespace gexp::sim {

class Observer;

/// How long loads and stores take: coalescing, the load units, tables of outstanding requests and ports of all SMs, and the
/// hierarchy behind them. It moves no data. A load's result becomes ready, in the warp's scoreboard, once all its pieces are back.
class MemoryUnit {
 public:
  /// `observer`: who is told of loads that are back, if anybody.
  MemoryUnit(const DeviceModel& model, Hierarchy& hierarchy, Events& events, Warps& warps, std::uint32_t bank_bytes,
             Observer* observer);

  /// A load, or an atomic operation, issues at `now`. Afterwards the warp is Ready, or Stalled.
  /// `more`: what else each lane asks for.
  void load(std::uint32_t warp, const Instruction& i, LoadPath path, const Addresses& addresses, std::uint32_t mask, std::uint64_t now,
            std::span<const Addresses> more = {});
  /// A load by one lane that issues at `now` and is over before anything else happens: nothing is under way, and what comes next waits
  /// for its result. The cycle at which that is ready: the same as by events, without them.
  std::uint64_t lone_load(std::uint32_t index, const Warp& warp, const Instruction& i, LoadPath path, std::uint64_t address,
                          std::uint64_t now);
  void store(std::uint32_t warp, const Addresses& addresses, std::uint32_t mask, std::uint64_t now);
  /// Cycles of an access to shared memory that issues at `now`.
  std::uint64_t shared(std::uint32_t sm, const Instruction& i, const Addresses& addresses, std::uint32_t mask, std::uint64_t now);
  /// Whether the warp may have one load more under way.
  [[nodiscard]] bool may_load(const Warp& warp) const { return model_.outstanding.loads_per_warp == 0 || warp.loads < model_.outstanding.loads_per_warp; }

  /// A bulk copy of so many bytes, which the copy engine asks for past the load units and the tables of requests. Its number.
  std::uint32_t bulk(std::uint32_t warp, const Instruction& i, LoadPath path, std::uint64_t from, std::uint64_t bytes, std::uint64_t now);

  /// What an event says has come about.
  void arrive(std::uint32_t request, std::uint64_t now);
  /// The number of the bulk copy that is done then; kNobody: none is.
  std::uint32_t come_back(std::uint32_t request, std::uint64_t now);
  void finish(std::uint32_t load, std::uint64_t now);

  /// Requests that accesses have made so far, and passes through the banks of shared memory.
  [[nodiscard]] std::uint64_t passes() const { return passes_; }
  /// Sectors that loads have asked for so far, and those of them that joined a request under way.
  [[nodiscard]] std::uint64_t sectors() const { return sectors_; }
  [[nodiscard]] std::uint64_t merged() const { return merged_; }
  /// When the last store will be done.
  [[nodiscard]] double last_store() const { return last_store_; }

 private:
  struct Load {
    std::uint32_t warp = 0;
    const Instruction* instruction = nullptr;
    LoadPath path = LoadPath::Default;
    std::uint32_t remaining = 0;  ///< requests that are not back
    std::uint32_t entry = 0;      ///< Prt: 1 while it holds one
    bool whole = false;           ///< every piece has been dealt with
    double ready = 0;             ///< of the pieces that the SM had
    std::uint64_t issued = 0;
    std::uint8_t depth = 0;  ///< where the furthest of its pieces were found, in the path
  };
  struct Request {
    std::uint32_t sm = 0;
    LoadPath path = LoadPath::Default;
    Hierarchy::Piece piece;
    std::uint8_t translated = 0;
    bool store = false;
    bool bulk = false;             ///< `waiters` is its load
    double left = 0;               ///< the SM
    std::uint32_t merged = 0;      ///< requests that it serves
    std::uint32_t waiters = kNobody;
    std::uint8_t depth = 0;  ///< where it was found
  };
  struct Waiter {
    std::uint32_t load = 0, next = kNobody;
  };
  /// A list whose free places are used again.
  template <class T> struct Pool {
    std::vector<T> items;
    std::vector<std::uint32_t> free;
    std::uint32_t add(T item) {
      if (free.empty()) return items.push_back(std::move(item)), static_cast<std::uint32_t>(items.size() - 1);
      const std::uint32_t at = free.back();
      free.pop_back();
      items[at] = std::move(item);
      return at;
    }
    void remove(std::uint32_t at) { free.push_back(at); }
    T& operator[](std::uint32_t at) { return items[at]; }
  };
  struct Sm {
    std::vector<Server> load_units;
    Server l1, stores, port, shared;
    std::uint32_t tpc = 0;
    std::uint32_t entries = 0, requests = 0;  ///< in use
    std::deque<std::uint32_t> stalled;        ///< warps, in order
    UnderWay pending;  ///< requests under way, by region and path
    UnderWay groups;   ///< the same, counted, where neighbouring lines share an entry
  };

  void coalesce(const Addresses& addresses, std::uint32_t mask, std::uint64_t sector, std::uint64_t region, std::span<const Addresses> more = {});
  /// Cycles from `time` until what the SM has of a piece is ready.
  std::uint64_t takes_here(Sm& sm, LoadPath path, double latency, double time);
  /// Cycles that so many bytes, ready to cross at `time`, wait for the SM's port and for that of its TPC.
  double cross(Sm& sm, double bytes, double time);
  /// The same of what the SM does not have.
  double leave(Sm& sm, LoadPath path, Hierarchy::Piece piece, double time);
  /// When it is back from what all SMs share.
  std::uint64_t back(LoadPath path, std::uint32_t sm, Hierarchy::Piece piece, std::uint8_t translated, std::uint64_t arrived);
  void go_on(std::uint32_t warp, std::uint64_t now);
  bool send(std::uint32_t load, Hierarchy::Piece piece, double time);
  bool join(std::uint32_t request, std::uint32_t load);
  [[nodiscard]] bool has_entry(const Sm& sm, const Load& load, Hierarchy::Piece piece) const;
  /// Entries of the table that a request takes: each notes so many of the threads that asked together.
  [[nodiscard]] std::uint32_t entries(const Hierarchy::Piece& piece) const {
    const std::uint32_t noted = model_.outstanding.threads;
    return noted == 0 ? 1 : (piece.threads + noted - 1) / noted;
  }
  /// Cycles of a load unit.
  [[nodiscard]] double issue(const Hierarchy::Piece& piece) const {
    return std::max<double>(model_.pipeline.transaction, model_.pipeline.thread * piece.threads);
  }
  /// The neighbouring lines that share an entry with a piece.
  [[nodiscard]] std::uint64_t group(LoadPath path, Hierarchy::Piece piece) const {
    return key(path, piece.region / (hierarchy_.region(path) * model_.outstanding.lines));
  }
  void complete(std::uint32_t load, std::uint64_t now);
  void tell(const Load& load, std::uint64_t now);
  static std::uint64_t key(LoadPath path, std::uint64_t region) { return region << 4 | static_cast<std::uint64_t>(path); }

  const DeviceModel& model_;
  Hierarchy& hierarchy_;
  Events& events_;
  Warps& warps_;
  Observer* observer_;
  SharedTiming shared_timing_;
  std::vector<Sm> sms_;
  std::vector<Server> tpc_ports_;  ///< empty: there are none
  std::array<double, kLoadPaths> here_{};  ///< cycles for which the SM gives a region, by path; 0: it takes none
  Pool<Load> loads_;
  Pool<Request> requests_;
  Pool<Waiter> waiters_;
  std::vector<Hierarchy::Piece> pieces_;  // of the access at hand
  double last_store_ = 0;
  std::uint64_t passes_ = 0, sectors_ = 0, merged_ = 0;
};

}  // namespace gexp::sim
