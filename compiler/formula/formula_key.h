// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "compiler/formula/formula.h"

/// Formulas and values as canonical text: equal texts mean the same. For keys of what was measured; nobody reads it.
namespace gexp::compiler {

/// Exact: numbers with every bit, patterns by their offsets.
std::string value_key(const Value& value);
/// The same behind a text.
void add_value_key(const Value& value, std::string& text);

/// Writes formulas whose names stand for what they mean. How a formula is laid out, what its loop variables are called
/// and where it stands in the file do not show.
class FormulaKeys {
 public:
  /// Adds what `root.path[0].path[1]…` means to the text; false: the name itself, such as `device.sms` or `tid`.
  using Meaning = std::function<bool(const std::string& root, const std::vector<std::string>& path, std::string& text)>;
  explicit FormulaKeys(Meaning meaning) : meaning_(std::move(meaning)) {}

  /// "-" for null.
  std::string key(const FormulaPtr& formula);
  /// The same behind a text.
  void add(const FormulaPtr& formula, std::string& text);
  /// A name that is bound from here on: a loop's variable. Named by its depth.
  void bind(const std::string& name) { bound_.push_back(name); }
  void unbind() { bound_.pop_back(); }

 private:
  void add(const Formula& formula, std::string& text);
  void named(const std::string& root, const std::vector<std::string>& path, std::string& text);
  void call(const Formula& formula, std::string& text);
  void comprehension(const Formula& formula, std::string& text);

  Meaning meaning_;
  std::vector<std::string> bound_;
};

}  // namespace gexp::compiler
