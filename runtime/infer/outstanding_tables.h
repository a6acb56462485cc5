// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "runtime/infer/requests.h"

/// Which table of outstanding requests explains where curves of time over threads jump. outstanding_tables.cpp says how.
namespace gexp::infer {

/// One curve of launches that ask for more and more.
struct RequestCurve {
  std::string name;
  std::vector<RequestCounts> asked;
  std::vector<double> threads, times;  ///< times: beyond the shortest of all, in latencies
  std::optional<std::size_t> last;     ///< before the rise that may be a table's; nullopt where no rise can be judged
  double odds = 0;                     ///< logarithm: how much likelier a table makes that rise than issuing does
  [[nodiscard]] double places() const { return std::log(static_cast<double>(times.size())); }
  [[nodiscard]] bool jumps() const { return last && odds > places(); }
};

/// Finds the rise that leads past a latency, and judges it by the others from the first point to half as many again.
void judge_rise(RequestCurve& series);

/// Index of the last time below `limit`; nullopt where there is none.
std::optional<std::size_t> last_below(const std::vector<double>& times, double limit);

enum class TableKind { None, Own, Warps, Lines, Instructions, Both };

struct TableHypothesis {
  TableKind kind = TableKind::None;
  double entries = 0, next = INFINITY;  ///< as many fit, `next` do not; of both: instructions
  double requests = 0, past = INFINITY;  ///< of both: lines
  double evidence = 0;                  ///< logarithm
  double others = 0;                    ///< what jumps elsewhere than predicted would add if something else made them
  std::size_t jumps = 0;                ///< curves of which it predicts that
};

/// All hypotheses, best first, and what each kind weighs.
struct TableWeights {
  std::vector<TableHypothesis> all;
  std::map<TableKind, double> kinds;
  double unseen = 0;  ///< of all that predict no jump
  double sum = 0, most = -INFINITY;
  [[nodiscard]] double of(const TableHypothesis& each) const { return std::exp(each.evidence - most) / sum; }
};

TableWeights weigh_tables(const std::vector<RequestCurve>& all);

/// Values of one number: `low` fits and `high` does not.
struct EntryRange {
  double low = 0, high = INFINITY, weight = 0;
};

/// The likeliest numbers of one kind, with as many neighbours as make them sure, as far as they can.
struct TableEntries {
  EntryRange entries, requests;
  double weight = 0;
};
TableEntries table_of(const TableWeights& weights, TableKind kind);

}  // namespace gexp::infer
