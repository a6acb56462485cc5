// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace gexp::cli {

using Tree = nlohmann::ordered_json;

struct JsonWriter {
  static Tree tree(const Json& json) {
    switch (json.kind_) {
      case Json::Kind::Null: return nullptr;
      case Json::Kind::Bool: return json.bool_;
      case Json::Kind::Integer: return json.integer_;
      case Json::Kind::Natural: return json.natural_;
      case Json::Kind::Real: return json.real_;
      case Json::Kind::Text: return json.text_;
      case Json::Kind::Written: return Tree::parse(json.text_, nullptr, false);
      case Json::Kind::Array: {
        auto made = Tree::array();
        for (const auto& item : json.items_) made.push_back(tree(item));
        return made;
      }
      case Json::Kind::Object: break;
    }
    auto made = Tree::object();
    for (std::size_t i = 0; i < json.keys_.size(); ++i) made[json.keys_[i]] = tree(json.items_[i]);
    return made;
  }
};

Json::Json() = default;
Json::Json(std::nullptr_t) {}
Json::Json(bool value) : kind_(Kind::Bool), bool_(value) {}
Json::Json(double value) : kind_(Kind::Real), real_(value) {}
Json::Json(const char* text) : kind_(Kind::Text), text_(text) {}
Json::Json(std::string text) : kind_(Kind::Text), text_(std::move(text)) {}
Json::Json(std::string_view text) : kind_(Kind::Text), text_(text) {}
Json::Json(const std::vector<std::string>& texts) : kind_(Kind::Array), items_(texts.begin(), texts.end()) {}
Json::Json(std::initializer_list<Member> members) : kind_(Kind::Object) {
  for (const auto& member : members) (*this)[member.key] = member.value;
}

Json Json::array(std::initializer_list<Json> items) {
  Json made;
  made.kind_ = Kind::Array;
  made.items_ = items;
  return made;
}

Json Json::object() {
  Json made;
  made.kind_ = Kind::Object;
  return made;
}

Json Json::written(std::string text) {
  Json made(std::move(text));
  made.kind_ = Kind::Written;
  return made;
}

void Json::push_back(Json item) { items_.push_back(std::move(item)); }

Json& Json::operator[](std::string_view key) {
  kind_ = Kind::Object;
  const auto at = std::find(keys_.begin(), keys_.end(), key);
  if (at != keys_.end()) return items_[static_cast<std::size_t>(at - keys_.begin())];
  keys_.emplace_back(key);
  return items_.emplace_back();
}

void Json::update(const Json& other) {
  for (std::size_t i = 0; i < other.keys_.size(); ++i) (*this)[other.keys_[i]] = other.items_[i];
}

std::string Json::text() const { return JsonWriter::tree(*this).dump(1, ' ', false, Tree::error_handler_t::replace); }
std::string Json::line() const { return JsonWriter::tree(*this).dump(-1, ' ', false, Tree::error_handler_t::replace); }

std::string member_text(const std::string& json, const std::string& member) {
  const auto tree = Tree::parse(json, nullptr, false);
  return tree.is_object() && tree.contains(member) ? tree.at(member).dump() : std::string();
}

}  // namespace gexp::cli
