// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/formula/formula.h"
#include "compiler/program.h"
#include "runtime/infer/classes.h"
#include "runtime/records/table.h"

namespace gexp::infer {

/// What `misses` is while a stage shows one class of latency: all its accesses may hit, and all may miss.
enum class OneClass {
  NoMiss,   ///< 0, for a rule that decides what is measured next: nothing was seen to miss
  Unknown,  ///< for a finding
};

/// The records of one point as a scope: sweep coordinates, lets, derives, and the functions of a record.
class PointScope final : public compiler::Scope {
 public:
  /// `runs`: only the first so many; 0: all.
  PointScope(const records::Table& table, const Classes& classes, std::size_t point, const compiler::Stage& stage,
             const compiler::Scope& outer, OneClass one_class, std::size_t runs = 0);

  [[nodiscard]] const Value* lookup(const std::string& name) const override;
  [[nodiscard]] std::optional<Result<Value>> call(const compiler::Formula& call) const override;
  /// What a formula is of each run by itself.
  [[nodiscard]] Result<std::vector<Value>> by_run(const compiler::Formula& formula) const;

 private:
  [[nodiscard]] std::optional<Result<Value>> answer(const compiler::Formula& call) const;
  [[nodiscard]] Result<Value> of_record(const compiler::Formula& call) const;
  /// Of a call with a `where` or a `by`: of the values that it selects, or a list of what it is of each part.
  [[nodiscard]] Result<Value> of_parts(const compiler::Formula& call) const;
  /// The share of all accesses that took longer than so many cycles, whatever they were.
  [[nodiscard]] Result<Value> slower(const compiler::Formula& call) const;
  /// By warp of the last run: its multiprocessor, or a clock.
  [[nodiscard]] Value clocks(const std::string& name) const;
  /// median, mean, … of the record's samples.
  [[nodiscard]] Value of_samples(const std::string& function) const;
  [[nodiscard]] Result<Value> spread(const compiler::Formula& inner) const;
  [[nodiscard]] Result<Value> stable(const compiler::Formula& inner) const;
  [[nodiscard]] std::optional<MissRange> misses(const compiler::Formula& call) const;
  [[nodiscard]] std::size_t runs() const;
  [[nodiscard]] const records::Point& point() const { return table_.points[point_]; }

  const records::Table& table_;
  const Classes& classes_;
  std::size_t point_;
  const compiler::Stage& stage_;
  const compiler::Scope& outer_;
  OneClass one_class_;
  std::size_t runs_;
  std::size_t first_run_ = 0;
  mutable std::map<std::string, Value> derived_;
};

/// Whether a formula of records reads how the launches of its point ended, itself or by a derived value: `end` is "hang" or "fault".
bool reads_outcome(const compiler::Stage& stage, const compiler::Formula& formula, std::string_view end);
bool reads_outcome(const compiler::Stage& stage, const compiler::Formula& formula);

/// What stands after `above:` in a call: which level's misses it is about. Null where nothing does.
const compiler::Formula* above_of(const std::vector<compiler::Formula::Argument>& arguments);
/// The cycles after `above:` in a call of `misses` or `missed`; `slower_than` stays as it is without it. False: it is there and not known.
bool read_above(const compiler::Formula& call, const compiler::Scope& scope, std::optional<double>& slower_than);

/// Accesses of a point that miss: the median over runs, interference left out.
double count_misses(const records::Point& point, std::size_t first_run, std::size_t runs, const MissRange& missed);
/// By step of the walk: whether it surely misses at some time.
std::vector<bool> positions_missed(const records::Point& point, const MissRange& missed);
/// Share of a point's distinct positions that ever miss.
double share_missed(const records::Point& point, std::size_t first_run, std::size_t runs, const MissRange& missed);

}  // namespace gexp::infer
