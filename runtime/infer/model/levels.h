// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "runtime/infer/modes.h"
#include "runtime/infer/model/visits.h"
#include "runtime/records/table.h"

/// The levels of one stage: which modes of its ticks are answers of different levels, and not scatter, slices or a tail.
namespace gexp::infer {

/// What makes two neighbouring modes different, in nats against scatter: one rate of the slower one for every access.
struct ModeEvidence {
  double level = 0;  ///< its rate is another one at each point, step or position: what came before decides
  double place = 0;  ///< its rate is another one at each place, at whatever point: where the address lies decides
  double run = 0;    ///< its rate is another one in each run, whatever is accessed: the clock's pace decides
};

struct LevelFit {
  std::vector<Mode> modes;  ///< cells of the histogram, fastest first
  std::vector<Mode> tails;  ///< modes that follow a level at one rate: refresh, an interrupt, another program
  bool places_differ = false;  ///< modes that places explain are one level here: its places are to be told apart first
  double nats = 0;             ///< description length of the ticks: which level answered, what a tail struck, and how a level's ticks are spread
};

class LevelFinder {
 public:
  /// `others`: what else walked the same memory by the same path. What decides between two modes shows there, too.
  /// `places`: Even where what places take is out of the ticks: an address that is slow at each first visit is absent then, and not far.
  enum class Places { Differ, Even };
  LevelFinder(const records::Table& table, const Histogram& histogram, const std::vector<const records::Table*>& others = {}, Places places = Places::Differ);
  [[nodiscard]] LevelFit fit(ModeCriteria criteria);
  /// Of cells [a.begin, a.end) and [b.begin, b.end), of which the latter are slower.
  [[nodiscard]] ModeEvidence evidence(const Mode& a, const Mode& b);

 private:
  [[nodiscard]] double own_rates_by(Shared by, const Mode& a, const Mode& b);
  /// Parts that a mode has and its smoothed histogram does not show.
  std::vector<Mode> refined(const Mode& mode, bool& places_differ);
  /// Neighbours that only places tell apart become one.
  void join_places(std::vector<Mode>& modes, bool& places_differ);
  [[nodiscard]] bool is_tail(const std::vector<Mode>& levels, const Mode& mode);
  /// Nats by which a mode is a level of its own rather than a tail of `level`; `likely`: it is narrow enough, and has enough accesses.
  [[nodiscard]] double own_level(const Mode& level, const Mode& mode, bool likely);
  /// Nats by which visits to what was visited just before, which always hit, are in `mode` as often as all others that are in it or in
  /// `level`, rather than as good as never.
  [[nodiscard]] double strikes_hits(const Mode& level, const Mode& mode) const;
  /// What it costs to say which level answered each access, by the rates of what decides that best (Dirichlet-multinomial).
  [[nodiscard]] double nats_of_identities(const std::vector<Mode>& modes) const;
  [[nodiscard]] double support(const Mode& mode) const;

  const records::Table& table_;
  const Histogram& histogram_;
  const Places places_;
  std::vector<Visits::Visit> visits_;  ///< by cell of the histogram
  std::vector<std::size_t> begins_;    ///< of each cell
  std::size_t cells_[std::size(kEveryShared)];
  std::vector<double> hits_;  ///< by cell of the histogram, of visits to what was visited just before; empty where there are none
  double thinned_ = 1;        ///< accesses for each visit that is looked at
  std::size_t lengths_ = 0;   ///< different lengths of walks
};

}  // namespace gexp::infer
