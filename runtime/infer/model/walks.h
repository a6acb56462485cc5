// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/prepared_records.h"
#include "runtime/records/table.h"

/// What a hypothesis about a cache has to predict: which addresses were walked together, and how often each of them missed.
namespace gexp::infer::model {

constexpr std::uint32_t kSeveral = ~std::uint32_t{0};  // fact: stands for several

/// All steady laps over one set of addresses, whatever their order.
struct Footprint {
  std::string where;                     ///< of its first point: "sets, extra = 2"
  std::vector<std::uint32_t> addresses;  ///< indices into Walks::offsets, each once
  std::vector<std::uint32_t> visits, misses;  ///< by address: steady ones; those that scatter may have put on the wrong side are in neither
  std::vector<double> fits;              ///< by address: log-likelihood of its misses where all of its set fits
  std::vector<double> overflows;         ///< the same where its set overflows: it misses at a rate of its own
  std::vector<bool> missed;              ///< by address: more often than by accident
  std::vector<std::uint32_t> before;     ///< by address: the one that is always visited just before it; kSeveral: there is none
  /// The same counts of one of the orders in which its addresses were walked.
  struct OfOrder {
    std::vector<std::uint32_t> visits, misses;  ///< by address
  };
  std::vector<OfOrder> by_order;
  std::size_t orders = 0;                ///< of its walks
  double laps = 0;
  std::size_t whole_laps = 0;            ///< of them, those within one launch
  std::vector<std::uint64_t> missed_in;  ///< by address, `words()` each: a bit for each whole lap in which it missed
  std::vector<std::uint64_t> unsure_in;  ///< the same of laps in which it hit or missed: scatter does not let tell
  [[nodiscard]] bool never_misses() const { return std::all_of(misses.begin(), misses.end(), [](auto count) { return count == 0; }); }
  /// Whether all of it fits: a set that holds one line too many misses in each lap, whatever replaces lines, and this misses in fewer than
  /// every second one. The rest is interference.
  [[nodiscard]] bool stays_in() const { return 2.0 * std::accumulate(misses.begin(), misses.end(), 0U) <= laps; }
  [[nodiscard]] std::size_t words() const { return (whole_laps + 63) / 64; }
};

/// Whether a point's warm-up brings in all that its walk visits, so that no first visit of it is a cold one.
bool is_warmed(const records::Point& point);

/// Log-likelihood of so many misses in so many visits at a rate of which nothing is known beforehand (Jeffreys' prior).
double log_of_own_rate(double misses, double visits);
/// The same at the likeliest rate.
double log_of_likeliest_rate(double misses, double visits);

/// Log of the chance that none of so many visits misses, the rate known from `misses` of `visits`.
double log_of_silence(double misses, double visits, double so_many);

/// Whether an address misses more often than interference makes it.
bool is_no_accident(double misses, double visits, const MissRange& range);

/// The walks of one or several stages over one memory by one path.
struct Walks {
  std::vector<std::int64_t> offsets;  ///< bytes; every address that is walked, once
  std::vector<Footprint> footprints;
  std::size_t of_first_stage = 0;     ///< so many of them, where `walks_of` made them
  Silence silence;

  /// Adds the points of a stage. What they visit for the first time, without a warm-up over it, is no evidence: it may miss
  /// whatever fits. `stage` names it in messages.
  void add(const records::Table& table, const MissRange& range, const std::string& stage);
 private:
  std::uint32_t index_of(std::int64_t offset);
  std::unordered_map<std::int64_t, std::uint32_t> known_;
};

/// A stage, and what is slower than so many cycles, or than the fastest class, there.
struct WalkedStage {
  const records::Table* table;
  std::optional<MissRange> range;  ///< none: its latencies do not tell
  std::string name;                ///< in messages
};

/// The walks of stages over one memory by one path. Where much of a stage misses, it does not tell how often interference makes an access
/// miss: so what the others tell holds for all.
/// `most_silence`: as in Silence.
Walks walks_of(std::vector<WalkedStage> stages, double most_silence = kMostSilence);

/// The same of stages that were measured: those that tell nothing of what is slower than `slower_than`, in cycles, never miss.
WalkedStage walked_stage(const PreparedRecords& records, std::optional<double> slower_than, const std::string& name);
/// The walks of all measured stages over the memory of `stage`, by its path, made once; `measured` outlives them. A stage whose fastest
/// latencies are misses of `stage` is left out: it has no hits to tell its misses by.
class WalksByStage {
 public:
  explicit WalksByStage(const MeasuredStages& measured) : measured_(measured) {}
  const Walks& of(const compiler::Stage& stage, std::optional<double> slower_than);

 private:
  const MeasuredStages& measured_;
  std::map<std::pair<std::string, std::optional<double>>, Walks> made_;  ///< by the stages that take part
};

}  // namespace gexp::infer::model
