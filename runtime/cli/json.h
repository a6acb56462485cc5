// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gexp::cli {

/// JSON to be printed. nlohmann/json writes it, in json.cpp only: its templates take seconds of each file that sees them.
class Json {
 public:
  struct Member;

  Json();  ///< null
  Json(std::nullptr_t);
  Json(bool value);
  Json(double value);
  Json(std::signed_integral auto value) : kind_(Kind::Integer), integer_(value) {}
  Json(std::unsigned_integral auto value) : kind_(Kind::Natural), natural_(value) {}
  Json(const char* text);
  Json(std::string text);
  Json(std::string_view text);
  Json(const std::vector<std::string>& texts);
  /// An object; its members keep this order.
  Json(std::initializer_list<Member> members);
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json()) {}

  static Json array(std::initializer_list<Json> items = {});
  static Json object();
  /// JSON as it was written by someone else.
  static Json written(std::string text);

  void push_back(Json item);
  /// A member of an object, null until it is set. Null becomes an object.
  Json& operator[](std::string_view key);
  /// All members of another object, in place of those of the same name.
  void update(const Json& other);

  /// Over several lines, a space a level; or in one line. What is no UTF-8 is replaced.
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string line() const;

 private:
  friend struct JsonWriter;
  enum class Kind { Null, Bool, Integer, Natural, Real, Text, Array, Object, Written };

  Kind kind_ = Kind::Null;
  bool bool_ = false;
  std::int64_t integer_ = 0;
  std::uint64_t natural_ = 0;
  double real_ = 0;
  std::string text_;
  std::vector<std::string> keys_;  ///< of an object
  std::vector<Json> items_;        ///< of an array or an object
};

struct Json::Member {
  std::string key;
  Json value;
};

/// A member of the object that a JSON text is, in one line; empty where there is none.
std::string member_text(const std::string& json, const std::string& member);

}  // namespace gexp::cli
