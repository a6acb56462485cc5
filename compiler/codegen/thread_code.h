// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "compiler/formula/thread_range.h"

namespace gexp::compiler {

/// What a thread computes, as CUDA text over `tid lane warp cta gtid`, loop variables and arguments. Whatever is the same for
/// all threads is an argument with its value at this point, so that points that differ in values only share their text.
class ThreadCode {
 public:
  ThreadCode(const Scope& scope, const ThreadLets& lets, const Ranges& threads) : names_(&scope), lets_(lets), ranges_(threads) {}

  /// `round` of an unrolled loop: a value known when the text is made.
  void set_round(const std::string& variable, double round);
  void begin_loop(const std::string& variable, const Range& rounds) { ranges_[variable] = rounds; loops_.push_back(variable); }
  void end_loop();

  /// rest + Σ slope × (loop variable): text for each; `affine` is false where the formula is no such sum (then rest is all of it).
  struct Offset {
    std::string rest;
    std::vector<std::pair<std::string, std::string>> slopes;
    bool affine = true;
  };
  Result<Offset> offset(const Formula& formula);
  /// A condition or a whole number.
  Result<std::string> text(const Formula& formula);
  /// The name of the argument that holds a value of this point.
  std::string argument(const std::string& key, std::int64_t value);
  /// A whole number of this point (the count of a loop) as an argument; E0418 outside low..high.
  Result<std::string> whole_argument(const Formula& formula, std::int64_t low, std::int64_t high, const char* what, std::int64_t* value = nullptr);

  Result<Range> range(const Formula& formula) const { return range_of(formula, names_, lets_, ranges_); }
  [[nodiscard]] const Scope& scope() const { return names_; }
  [[nodiscard]] const Ranges& ranges() const { return ranges_; }
  [[nodiscard]] const ThreadLets& lets() const { return lets_; }
  [[nodiscard]] const std::vector<std::int64_t>& values() const { return values_; }

 private:
  bool in_loop(const Formula& formula) const;
  std::string key_of(const Formula& formula) const;

  Names names_;
  ThreadLets lets_;
  Ranges ranges_;
  std::vector<std::string> loops_;
  std::map<std::string, double> rounds_;
  std::vector<std::string> keys_;
  std::vector<std::int64_t> values_;
};

}  // namespace gexp::compiler
