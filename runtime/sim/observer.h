// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <vector>

#include "runtime/sim/observed.h"
#include "runtime/sim/ptx.h"
#include "runtime/sim/warp.h"

namespace gexp::sim {

/// Watches one launch: the machine tells it each issue, and it says why the warp had to wait for it. It changes nothing.
class Observer {
 public:
  /// `start`: cycle of the launch. `interval`: from one instruction of a warp to its next.
  Observer(const Kernel& kernel, std::uint64_t start, std::uint64_t interval, std::size_t most_spans);

  void begin(std::uint32_t warp, const Warp& w, std::uint64_t block, std::uint64_t now);
  /// `w.pc` is the instruction that issues at `now`, for the lanes `active`.
  void issue(std::uint32_t warp, const Warp& w, std::uint32_t active, std::uint64_t now);
  void fetched(std::uint32_t warp, std::uint64_t cycles) { tracks_[warp].fetch += cycles; }
  /// Its access found no entry to be booked in.
  void stalled(std::uint32_t warp) { tracks_[warp].after = Stall::Requests; }
  /// It would have issued so many cycles earlier, had its arithmetic unit been free.
  void unit_busy(std::uint32_t warp, std::uint64_t cycles) { tracks_[warp].unit += cycles; }
  /// A thread printed it. The last of what is too much is left out.
  void printed(const std::string& text) {
    const std::size_t room = kMostPrinted - result_.printed.size();
    result_.printed.append(text, 0, room);
    result_.printed_cut |= text.size() > room;
  }
  void parted() { ++result_.counters.diverged; }
  /// `turns`: that lanes took at one address beyond the first.
  void accessed(Space space, Kind kind, std::uint64_t passes, std::uint64_t turns);
  /// Sectors that all loads asked for, and those of them that joined a request under way.
  void requested(std::uint64_t sectors, std::uint64_t merged) {
    result_.counters.sectors = sectors, result_.counters.merged = merged;
  }
  /// A load of it, issued at `issued`, had its last data at `now`. `level`: as TimelineSpan has it.
  void loaded(std::uint32_t warp, const Instruction& i, std::uint64_t issued, std::uint64_t now, std::uint32_t level);
  void end(std::uint32_t warp, std::uint64_t now);

  /// Once the launch is over, at cycle `end`.
  Observed take(std::uint64_t end);

 private:
  /// A warp since it began.
  struct Track {
    std::uint32_t sm = 0, first_thread = 0;
    std::uint64_t block = 0, began = 0;
    std::uint64_t could = 0;              ///< cycle from which the next instruction could issue
    std::uint64_t fetch = 0, unit = 0;    ///< cycles that the instruction takes to come, and that its unit serves others
    Stall after = Stall::Issue;           ///< what the last instruction makes the next one wait for
    std::uint64_t issuing_since = 0;
    std::uint32_t issuing = kNobody;      ///< the first instruction since
    std::vector<Stall> made_by;           ///< slot: what made its value
  };

  /// What the operands of an instruction make it wait for, and until when.
  struct Wait {
    std::uint64_t until = 0;
    Stall stall = Stall::Arithmetic;
  };
  [[nodiscard]] Wait operands(const Track& track, const Warp& w, const Instruction& i) const;
  void note_results(Track& track, const Instruction& i) const;
  void wait(Track& track, std::uint32_t warp, std::uint32_t instruction, Stall stall, std::uint64_t until);
  /// `what`: its kind, stall and level.
  void span(std::uint32_t warp, std::uint64_t begin, std::uint64_t end, std::uint32_t instruction, TimelineSpan what);

  const Kernel& kernel_;
  std::uint64_t start_, interval_;
  std::size_t most_spans_;
  std::vector<Track> tracks_;       ///< by place of the warp
  std::vector<WorkCount> by_code_;  ///< by instruction
  Observed result_;
};

}  // namespace gexp::sim
