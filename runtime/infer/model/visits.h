// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "runtime/records/table.h"

/// Which accesses of a table are visits of the same thing.
namespace gexp::infer {

/// Bytes that lie in one place (a slice, a partition) on every GPU: an access costs what its place does.
inline constexpr std::int64_t kPlaceBytes = 32;  // fact: bytes that lie in one place on every GPU

/// What a visit is counted under. An access that is served by another level than before has another rate at another point, step or
/// position, or so early in a run, as the first one is that finds nothing there; what its place costs it costs at every point, and what the clock's pace does, every access of a run.
enum class Shared : std::uint8_t { Point, Step, Access, Place, Run, Order };
inline constexpr Shared kEveryShared[] = {Shared::Point, Shared::Step, Shared::Access, Shared::Place, Shared::Run, Shared::Order};  // fact: all of them

/// Each access of tables that walk one memory, with the cell that it falls into, for each way of counting. Large tables are thinned: whole
/// places are left out, so that what is kept has all its visits.
class Visits {
 public:
  explicit Visits(const std::vector<const records::Table*>& tables);

  struct Visit {
    std::uint32_t tick, point, step, access, place, run, order;  ///< cells, numbered from 0 over the tables
  };
  [[nodiscard]] const std::vector<Visit>& all() const { return visits_; }
  [[nodiscard]] std::size_t cells(Shared by) const { return cells_[static_cast<std::size_t>(by)]; }
  /// Accesses of the tables for one that was kept.
  [[nodiscard]] double thinned() const { return thinned_; }

 private:
  std::vector<Visit> visits_;
  std::size_t cells_[std::size(kEveryShared)] = {};
  double thinned_ = 1;
};

inline std::uint32_t cell_of(const Visits::Visit& visit, Shared by) {
  switch (by) {
    case Shared::Point: return visit.point;
    case Shared::Step: return visit.step;
    case Shared::Access: return visit.access;
    case Shared::Place: return visit.place;
    case Shared::Run: return visit.run;
    case Shared::Order: return visit.order;
  }
  return 0;
}

}  // namespace gexp::infer
