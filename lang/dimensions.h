// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/base/units.h"

/// What the checker knows of a value before it exists: its kind and its dimension.
namespace gexp::lang {

struct Type {
  enum class Kind {
    Any,        ///< not known, or already reported: goes with everything
    Number,     ///< dimension
    Bool,
    Text,
    List,       ///< of item
    Pattern,    ///< a sequence of byte offsets
    Structure,  ///< fields
    Record,     ///< the column of a timed region; dimension: cycles, or seconds for `wall`
  };
  using Field = std::pair<std::string, Type>;

  Kind kind = Kind::Any;
  Dimension dimension;
  bool zero = false;     ///< a written plain 0: goes with any dimension
  bool line = false;     ///< the structure of `linear`, declared as `line`
  std::shared_ptr<const Type> item;
  std::shared_ptr<const std::vector<Field>> fields;
  std::shared_ptr<const std::map<std::string_view, const Type*>> index;  ///< of many fields, by name

  [[nodiscard]] bool any() const { return kind == Kind::Any; }
  [[nodiscard]] bool number() const { return kind == Kind::Number; }
  [[nodiscard]] bool plain() const { return number() && dimension.none(); }
  /// Null when there is no such field.
  [[nodiscard]] const Type* field(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> field_names() const;
};

Type any_type();
Type number_of(Dimension dimension);
Type bool_type();
Type text_type();
Type list_of(Type item);
Type pattern_type();
Type record_of(Dimension dimension);
Type structure_of(std::vector<Type::Field> fields, bool line = false);

/// "bytes", "a plain number", "a condition", "a list of cycles": the words of messages.
std::string describe(const Type& type);
/// "B", "cycles", "a plain number": for messages about dimensions.
std::string describe(Dimension dimension);

/// May a value of one type stand where the other is meant? Any goes with everything, a written 0 with every dimension,
/// a list of bytes with a pattern.
bool fits(const Type& value, const Type& wanted);

/// What `device` is: facts that the device's interface tells, by name. runtime/device_facts.h gives the values.
const Type& device_type();
/// What `model` is: a simulated device's structure, which expects of the file alone may read. runtime/sim/model_structure.cpp gives the values.
const Type& model_type();

/// The type that a word such as `B`, `ops/cycle` or `list` declares; nullopt when there is none of that name.
std::optional<Type> declared_type(std::string_view word);
/// The same of an argument of an analysis, which may be a `record` or a `pattern` too.
std::optional<Type> argument_type(std::string_view word);
/// Every word of declared_type and of argument_type, and those of a parameter: for hints.
const std::vector<std::string_view>& type_words();
const std::vector<std::string_view>& argument_type_words();
const std::vector<std::string_view>& param_type_words();

}  // namespace gexp::lang
