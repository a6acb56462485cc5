// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/formula/formula.h"

namespace gexp::compiler {

/// The whole numbers that a formula can be over the threads and loop rounds of a launch: all of them are in [low, high] and
/// equal to low modulo `grid` (0: the formula has one value). Never too small a set, sometimes too large a one.
struct Range {
  double low = 0, high = 0;
  std::uint64_t grid = 0;
  int fraction = 0;  ///< of a variable that may hold a fraction: its bytes, 4 or 8, and no claim is made of its values
};

/// Of names: lane, tid, …, loop variables. They are few, and copied for each body: a list.
class Ranges {
 public:
  Ranges() = default;
  Ranges(std::initializer_list<std::pair<std::string, Range>> ranges) : list_(ranges) {}

  /// Null when there is none of that name.
  [[nodiscard]] const Range* find(std::string_view name) const {
    const auto found = std::find_if(list_.begin(), list_.end(), [&](const auto& one) { return one.first == name; });
    return found == list_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }
  void set(const std::string& name, const Range& range) {
    erase(name);
    list_.emplace_back(name, range);
  }
  void erase(std::string_view name) {
    std::erase_if(list_, [&](const auto& one) { return one.first == name; });
  }

 private:
  std::vector<std::pair<std::string, Range>> list_;
};

/// Lets whose values differ between threads, in the order of their declarations: they stand for their formulas.
class ThreadLets {
 public:
  void add(const std::string& name, FormulaPtr formula) { lets_.emplace_back(name, std::move(formula)); }
  /// Null when there is none of that name.
  [[nodiscard]] const Formula* find(const std::string& name) const;
  [[nodiscard]] const std::vector<std::pair<std::string, FormulaPtr>>& all() const { return lets_; }

 private:
  std::vector<std::pair<std::string, FormulaPtr>> lets_;
};

/// `lane tid warp gtid cta`: what every thread has a value of its own of.
bool is_thread_name(const std::string& name);
Ranges thread_ranges(std::uint32_t grid, std::uint32_t block);

/// One thread's names and lets after another's: those that some formulas read, and no others. `scope` outlives it.
class ThreadNames {
 public:
  ThreadNames(const Scope& scope, const ThreadLets& lets, const std::vector<const Formula*>& formulas);
  Result<> bind(std::uint32_t cta, std::uint32_t tid, std::uint32_t block);
  [[nodiscard]] const Names& names() const { return names_; }
  /// Whether a thread of another block may have another value of what is read.
  [[nodiscard]] bool tells_blocks() const { return cta_ || gtid_; }
  /// Whether another thread of the same block may.
  [[nodiscard]] bool tells_threads() const { return tid_ || lane_ || warp_ || gtid_; }

 private:
  Names names_;
  bool tid_, lane_, warp_, cta_, gtid_;  ///< which of them are read
  ThreadLets lets_;
};

/// The hint where a thread cannot compute something.
inline constexpr const char* kThreadArithmetic = "use + - * div mod and xor or shl shr min max merger of whole numbers";
/// The hint where a number with a fraction stands for a whole one.
inline constexpr const char* kWholeOfFraction = "`floor(x)` is the whole number below x";

/// E0428: a thread cannot compute a formula.
Diagnostic thread_error(const Formula& formula, std::string message, std::string hint = {});

/// Bytes of the numbers with a fraction that a formula reads, 4 or 8; 0 where it reads whole numbers alone. `floor` makes a whole number.
int fraction_of(const Formula& formula, const ThreadLets& lets, const Ranges& ranges);

/// Whether a formula's value differs where those of some names do; `merger` differs between threads.
template <class Varied> bool varies(const Formula& formula, const Varied& varied) {
  if (formula.kind == Formula::Kind::Call && formula.text == "unique") return false;  // counted once for all threads
  if (formula.kind == Formula::Kind::Call && formula.text == "merger") return true;
  if (formula.kind == Formula::Kind::Name) return varied(formula.text);
  const auto any = [&](const auto& part) { return part && varies(*part, varied); };
  return std::any_of(formula.operands.begin(), formula.operands.end(), any) ||
         std::any_of(formula.arguments.begin(), formula.arguments.end(), [&](const auto& a) { return any(a.value); }) ||
         std::any_of(formula.loops.begin(), formula.loops.end(), [&](const auto& l) { return any(l.from) || any(l.to) || any(l.step); });
}
/// Whether a formula's value differs between threads or rounds of a loop: whether it names one of these.
bool varies(const Formula& formula, const ThreadLets& lets, const Ranges& ranges);
/// Whether it differs between threads, outside all loops.
bool varies(const Formula& formula, const ThreadLets& lets);

/// `merger(m, of: threads|warps)` as a formula of tid, lane and warp: `tid div m`, `lane + 32 * (warp div m)` (Lashgar15 section 4).
Result<FormulaPtr> merger_formula(const Formula& call, const Scope& scope);

/// By how many bits a thread shifts; E0428 where that can be none of 0 to 53.
Result<Range> shift_of(const Formula& by, const Scope& scope, const ThreadLets& lets, const Ranges& ranges);
/// E0428 for what a thread cannot compute (a list, a condition where a number is meant, …).
Result<Range> range_of(const Formula& formula, const Scope& scope, const ThreadLets& lets, const Ranges& ranges);

}  // namespace gexp::compiler
