// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "compiler/formula/formula.h"
#include "compiler/program.h"
#include "runtime/infer/classes.h"
#include "runtime/infer/drift.h"
#include "runtime/records/table.h"

namespace gexp::infer {

/// What all questions of a stage share, made once from its records, which it refers to.
class PreparedRecords {
 public:
  /// `others`: as of `classify`; of no use where the clock drifted.
  /// Where the budget ended it, its classes say so.
  explicit PreparedRecords(const records::Table& table, const std::vector<const records::Table*>& others = {});
  /// As measured, or, where the clock drifted, every run brought to one pace.
  [[nodiscard]] const records::Table& table() const { return corrected_ ? corrected_->table : table_; }
  [[nodiscard]] const Classes& classes() const { return classes_; }
  /// Whether some of what misses is told on average alone (paired_visits.h).
  [[nodiscard]] bool has_untold_misses() const;
  /// How far the clock drifted, as a share of its pace; 0 where it did not.
  [[nodiscard]] double drift() const { return corrected_ ? corrected_->drift : 0; }

 private:
  const records::Table& table_;
  std::optional<DriftCorrected> corrected_;
  Classes classes_;
  mutable std::optional<bool> untold_;
};

/// What the stage's formulas name besides its records: the lets of its own on which all points agree, and what stands outside, which outlives this.
compiler::Names names_in(const records::Table& table, const compiler::Scope& outer);

/// The stages of a file that were measured so far: what they walked bears on what another one asks of the same cache.
class MeasuredStages {
 public:
  struct Measured {
    const compiler::Stage* stage;
    const records::Table* table;
    mutable std::shared_ptr<const PreparedRecords> prepared;  ///< made when first asked for
    std::shared_ptr<const records::Table> part = nullptr;     ///< holds the table where it is a part of the stage's points
    /// For this room. CutShort.
    [[nodiscard]] const PreparedRecords& records() const;
  };
  /// Stage and table outlive this.
  void add(const compiler::Stage& stage, const records::Table& table, std::shared_ptr<const PreparedRecords> prepared = nullptr) {
    all_.push_back({&stage, &table, std::move(prepared)});
  }
  [[nodiscard]] const std::deque<Measured>& all() const { return all_; }
  /// Those that chase through the same memory by the same path and at the same carve-out, one timed access after the other.
  [[nodiscard]] std::vector<const Measured*> of_same_access(const compiler::Stage& stage) const;
  /// The records of all such stages that launch the same, cold ones, too: their levels are one device's.
  [[nodiscard]] std::vector<const records::Table*> of_same_levels(const compiler::Stage& stage) const;
  /// The same once for each carve-out and each size of shared memory, where a stage sweeps them: points of another one are of another cache.
  /// The first one has the stages that sweep neither.
  [[nodiscard]] std::vector<MeasuredStages> by_setup(const compiler::Scope& outer) const;
  /// `names_in` of that stage; what is outside where it was not measured.
  [[nodiscard]] compiler::Names names_of(const compiler::Stage& stage, const compiler::Scope& outer) const;

 private:
  std::deque<Measured> all_;
};

}  // namespace gexp::infer
