// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lang/base/result.h"
#include "lang/base/value.h"

namespace gexp::compiler {

/// A checked expression, free of syntax: what the rest of gexp evaluates, at whatever binding time.
/// Immutable and shared; it keeps its place so that a failure at run time still points into the spec.
struct Formula {
  enum class Kind {
    Constant,       ///< constant
    Name,           ///< text
    Field,          ///< operands[0] . text
    Call,           ///< text(arguments)
    List,           ///< [operands]
    Comprehension,  ///< [operands[0] for loops]
    Negate, Not,
    Add, Subtract, Multiply, Divide, Div, Mod, Shl, Shr,
    Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual,
    And, Xor, Or,  ///< of conditions, or of the bits of whole numbers
    Within,   ///< operands: value, tolerance, target
    InRange,  ///< operands: value, low, high (both included)
    Else,     ///< operands[0] ?? operands[1]
  };
  struct Loop {  ///< `for name in from..to step step`, or `for name in list` (then `to` is null)
    std::string name;
    std::shared_ptr<const Formula> from, to, step;
  };
  /// `label: value over name by name where condition` of a call.
  struct Argument {
    std::string label;
    std::shared_ptr<const Formula> value;
    std::shared_ptr<const Formula> over;   ///< null when absent; `over n`, `over gcd(s, 32)`
    std::string by;
    std::shared_ptr<const Formula> where;  ///< null when absent
  };

  Kind kind = Kind::Constant;
  Span span;
  Value constant;
  std::string text;
  std::vector<std::shared_ptr<const Formula>> operands;
  std::vector<Argument> arguments;
  std::vector<Loop> loops;
};
using FormulaPtr = std::shared_ptr<const Formula>;

/// Where names and the calls that need records get their meaning. Scopes chain through `parent`.
class Scope {
 public:
  virtual ~Scope() = default;
  /// Unknown values (`known() == false`) stand for findings that were not found.
  [[nodiscard]] virtual const Value* lookup(const std::string& name) const = 0;
  /// Applies a function of the records (misses, median, …) in this scope; nullopt when it has no such function.
  [[nodiscard]] virtual std::optional<Result<Value>> call(const Formula& call) const { (void)call; return std::nullopt; }
};

/// A plain scope: names with values over an optional parent.
class Names final : public Scope {
 public:
  explicit Names(const Scope* parent = nullptr) : parent_(parent) {}
  void set(const std::string& name, Value value) { values_[name] = std::move(value); }
  [[nodiscard]] const Value* lookup(const std::string& name) const override;
  [[nodiscard]] std::optional<Result<Value>> call(const Formula& call) const override;
  [[nodiscard]] const std::map<std::string, Value>& values() const { return values_; }

 private:
  const Scope* parent_;
  std::map<std::string, Value> values_;
};

/// The value of a formula. An unknown operand makes the result unknown (except under `??`).
/// Errors (E04xx) point at the formula's span: division by zero, a list too long, an empty interval …
Result<Value> evaluate(const Formula& formula, const Scope& scope);

/// `function(argument)`.
Formula call_of(const std::string& function, const Formula& argument);

/// The names (roots of `a.b.c`) that a formula reads and does not bind itself.
std::vector<std::string> free_names(const Formula& formula);
/// Each of them in the order in which they stand, as often as they do.
void for_each_name(const Formula& formula, const std::function<void(const std::string&)>& visit);
/// Each name in a formula, and each field of a name as "stage.finding": in the order in which they stand, as often as they do.
std::vector<std::string> dotted_names(const Formula& formula);

/// The formula as text again, in the language's own form.
std::string show(const Formula& formula);

}  // namespace gexp::compiler
