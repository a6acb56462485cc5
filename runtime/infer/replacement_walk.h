// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/infer/analysis.h"
#include "runtime/infer/set_index.h"

/// What the analysis `replacement` reads of the records: which lines of one set were visited in turn, and which of them missed.
namespace gexp::infer::replacing {

/// What a warm-up did to the set where it ends with lines that are no members and took every way.
struct Flood {
  std::vector<std::uint32_t> lines;  ///< all of its lines that are of the set, in turn; empty where nobody knows which are
};

/// One run: its warm-up, then what was recorded. A long run is recorded in windows, each by a launch of its own that begins with the
/// warm-up and walks to its window: a deterministic policy is then where it would be after one long launch.
struct Trace {
  std::size_t point = 0;             ///< whose run it is
  std::vector<std::uint32_t> lines;
  std::size_t warm = 0;              ///< accesses that were not recorded, at the beginning
  std::vector<bool> missed;          ///< of those after `warm`
  std::vector<bool> unsure;          ///< of the same: whether scatter may have made the one of the other
  std::vector<std::size_t> windows;  ///< where they begin in `missed`
  std::shared_ptr<const Flood> flood;  ///< before all of them; null where there is none
  /// Whether another run's accesses are the same, in a set that was in the same states.
  [[nodiscard]] bool walks_as(const Trace& other) const { return point == other.point && flood == other.flood && lines == other.lines; }
};

/// The number of a line that is of another set.
constexpr std::uint32_t kElsewhere = ~std::uint32_t{0};  // fact: stands for a line of another set

struct Walk {
  std::vector<Trace> traces;
  std::size_t lines = 0;   ///< members, numbered from 0
  std::size_t others = 0;  ///< lines of the same set that are walked in warm-ups alone, numbered from there on
};

/// The members' numbers, and on from there, as they come, those of other lines of the same set.
class LineNumbers {
 public:
  LineNumbers(const std::vector<std::int64_t>& members, std::int64_t line_bytes, std::optional<SetKey> set);
  [[nodiscard]] std::size_t members() const { return member_.size(); }
  [[nodiscard]] std::size_t others() const { return other_.size(); }
  /// Whether it is known which lines are of the set.
  [[nodiscard]] bool know_the_set() const { return set_.has_value(); }
  /// The lines of a pattern by step; kElsewhere for those of other sets, or, without `all`, for all that are no members.
  std::vector<std::uint32_t> of(const Pattern& pattern, bool all);

 private:
  std::int64_t line_bytes_;
  std::optional<SetKey> set_;
  std::uint64_t own_ = 0;
  std::map<std::int64_t, std::uint32_t> member_, other_;
};

/// nullopt where the walk leaves the members. `others`: it also visits lines of other sets, which do not matter to this one.
std::optional<Walk> read_walk(const Context& context, LineNumbers& numbers, const MissRange& border, bool others);

/// Of what `cache_sets` found; nullopt where its sets are chosen by what it could not tell.
std::optional<SetKey> set_of(const Fields& sets, std::int64_t line_bytes);

/// Offsets of a finding's list.
std::vector<std::int64_t> listed_members(const Value& value);
/// The lines that miss again and again: those of the one set that overflows, where the footprint is a line larger than the cache.
std::vector<std::int64_t> missed_lines(const Context& context, std::int64_t line_bytes, const MissRange& border);

}  // namespace gexp::infer::replacing
