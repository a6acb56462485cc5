// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lang/base/value.h"

namespace gexp::infer {

/// An answer: what the records show, how sure, and why; or that they do not show it, and what would decide.
struct Finding {
  enum class Status { Found, Undetermined, Assumed };
  std::string id;    ///< "capacity.C"
  Value value;       ///< unknown unless Found or Assumed
  std::string unit;  ///< "B", "cycles", "count", "name", …
  /// In the value's unit: the true value lies within, at `confidence`. Absent for names and structures.
  std::optional<std::pair<double, double>> interval;
  bool exact = true;      ///< false: the records tell the interval, and no value within it from another one
  double confidence = 0;  ///< 0..1
  Status status = Status::Undetermined;
  std::string why;       ///< undetermined: the reason and what would decide it; found: one sentence of method and support
  std::string evidence;  ///< which rows: "n = 12288 B (0 of 384 positions miss) and n = 12320 B (97 miss)"
  double lines_held = 0;  ///< of sets that are undetermined, as some have room yet: lines that they were seen to hold together; 0: not known

  /// Makes it undetermined: "12 KiB looked likely: `reason`".
  void withdraw(const std::string& reason);
};

/// The findings of a file by their names.
struct Findings {
  std::vector<Finding>& all;
  /// Null where there is none, or it is undetermined.
  [[nodiscard]] Finding* find(const std::string& id) const;
};

const char* word(Finding::Status status);

}  // namespace gexp::infer
