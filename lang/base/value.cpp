// SPDX-License-Identifier: Apache-2.0
#include "lang/base/value.h"

#include <fmt/format.h>

namespace gexp {

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;
namespace {

struct Shower {
  std::string operator()(std::monostate) const { return "unknown"; }
  std::string operator()(const Number& n) const { return show(n.number, n.dimension); }
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(const List& list) const {
    std::string text = "[";
    constexpr std::size_t kMost = 4096;
    for (std::size_t i = 0; i < list.size() && i < kMost; ++i) text += (i ? ", " : "") + show(list[i]);
    return text + (list.size() > kMost ? fmt::format(", … {} items]", list.size()) : "]");
  }
  std::string operator()(const Fields& fields) const {
    std::string text = "{";
    for (const auto& [key, value] : fields) text += (text.size() > 1 ? ", " : "") + key + ": " + show(value);
    return text + "}";
  }
  std::string operator()(const std::shared_ptr<const Pattern>& pattern) const {
    return fmt::format("a pattern of {} steps", pattern->steps);
  }
};

}  // namespace

std::string show(const Value& value) { return std::visit(Shower{}, value.of); }

}  // namespace gexp
