// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/formula/thread_range.h"

namespace gexp::compiler {

/// "+" of an addition; null where an operation has no sign in CUDA text that says the same.
const char* sign_of(Formula::Kind kind);

/// What a thread computes, as CUDA text over `tid lane warp cta gtid`, loop variables and arguments. Whatever is the same for
/// all threads is an argument with its value at this point, so that points that differ in values only share their text.
class ThreadCode {
 public:
  /// `tables` gets the patterns of which a thread reads items.
  ThreadCode(const Scope& scope, const ThreadLets& lets, const Ranges& threads, std::vector<std::vector<std::uint32_t>>& tables)
      : names_(&scope), lets_(lets), ranges_(threads), tables_(tables) {}

  /// `round` of an unrolled loop: a value known when the text is made.
  void set_round(const std::string& variable, double round);
  void begin_loop(const std::string& variable, const Range& rounds) { ranges_.set(variable, rounds); loops_.push_back(variable); }
  void end_loop();

  /// A variable of each thread; `text` is what it is read as. Those of a body end with it: `restore` takes what `bound` gave before.
  void declare(const std::string& name, const std::string& text, const Range& range) { variables_[name] = text, ranges_.set(name, range); }
  [[nodiscard]] bool has_variable(const std::string& name) const { return variables_.contains(name); }
  struct Bound {
    std::map<std::string, std::string> variables;
    Ranges ranges;
  };
  [[nodiscard]] Bound bound() const { return {variables_, ranges_}; }
  void restore(Bound bound) { variables_ = std::move(bound.variables), ranges_ = std::move(bound.ranges); }
  /// Whether its value hangs on what a thread has loaded or set.
  [[nodiscard]] bool reads_variable(const Formula& formula) const;

  /// rest + Σ slope × (loop variable): text for each; `affine` is false where the formula is no such sum (then rest is all of it).
  struct Offset {
    std::string rest;
    std::vector<std::pair<std::string, std::string>> slopes;
    bool affine = true;
  };
  Result<Offset> offset(const Formula& formula);
  /// A condition or a whole number.
  Result<std::string> text(const Formula& formula);
  /// A number that may have a fraction: a `float` of 4 bytes, a `double` of 8. Each operation is one of that type.
  Result<std::string> fraction_text(const Formula& formula, int bytes);
  [[nodiscard]] int fraction(const Formula& formula) const { return fraction_of(formula, lets_, ranges_); }
  /// The name of the argument that holds a value of this point.
  std::string argument(const std::string& key, std::int64_t value);
  /// Gives an argument its value, where it was not known when it was named.
  void settle_argument(const std::string& name, std::int64_t value) { values_.at(std::stoul(name.substr(1))) = value; }
  /// A whole number of this point (the count of a loop) as an argument; E0418 outside low..high.
  Result<std::string> whole_argument(const Formula& formula, std::int64_t low, std::int64_t high, const char* what, std::int64_t* value = nullptr);

  Result<Range> range(const Formula& formula) const { return range_of(formula, names_, lets_, ranges_); }
  [[nodiscard]] const Scope& scope() const { return names_; }
  [[nodiscard]] const Ranges& ranges() const { return ranges_; }
  [[nodiscard]] const ThreadLets& lets() const { return lets_; }
  [[nodiscard]] const std::vector<std::int64_t>& values() const { return values_; }

 private:
  bool in_loop(const Formula& formula) const;
  /// A comparison of numbers of which one has a fraction, and `floor` of such a one.
  Result<std::string> compared(const Formula& formula, int bytes);
  Result<std::string> floored(const Formula& formula);
  /// `item(pattern, index)` read from a table.
  Result<std::string> item(const Formula& formula, const std::string& index);
  /// Whether it is true or false rather than a number.
  [[nodiscard]] bool is_condition(const Formula& formula) const;
  /// A quotient or a rest. A power of two makes it a shift or a mask: a division of 64 bits takes a hundred instructions.
  Result<std::string> divided(const Formula& formula, const std::string& dividend, const std::string& divisor);
  std::string key_of(const Formula& formula) const;

  Names names_;
  ThreadLets lets_;
  Ranges ranges_;
  std::vector<std::string> loops_;
  std::map<std::string, double> rounds_;
  bool in_merger_ = false;  ///< its slots are computed before the clock starts: one text for all numbers of neighbours
  std::map<std::string, std::string> variables_;           ///< by name: what is read
  std::vector<std::vector<std::uint32_t>>& tables_;
  std::map<std::string, std::size_t> patterns_;            ///< by key of a pattern: its table
  std::vector<std::string> keys_;
  std::vector<std::int64_t> values_;
};

}  // namespace gexp::compiler
