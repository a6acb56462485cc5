// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/checked_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lang/base/budget.h"
#include "lang/base/visible.h"

namespace gexp::result {

bool is_word(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !text.empty() && !digit(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || digit(c); });
}

bool is_date(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";
  const auto fits = [](char form, char c) { return form == 'd' ? c >= '0' && c <= '9' : c == form; };
  return text.empty() || (text.size() == kForm.size() && std::equal(kForm.begin(), kForm.end(), text.begin(), fits));
}

namespace {

/// Why a text is not taken apart at all; empty: it may be. The parser nests no calls, but whoever reads its tree does, and
/// it looks for each new member among those before it.
std::string too_wide_or_deep(std::string_view text) {
  struct Level {
    bool object;
    std::size_t members;
  };
  std::vector<Level> levels;
  for (std::size_t at = 0; at < text.size(); ++at) {
    switch (text[at]) {
      case '"':
        for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\' ? 1 : 0;
        break;
      case '{':
      case '[':
        if (levels.size() == kMostDepth) return fmt::format("lists and objects are nested more than {} deep", kMostDepth);
        levels.push_back({text[at] == '{', 0});
        break;
      case '}':
      case ']':
        if (!levels.empty()) levels.pop_back();
        break;
      case ',':
        if (!levels.empty() && levels.back().object && ++levels.back().members == kMostMembers)
          return fmt::format("an object has more than {} members", kMostMembers);
        break;
      default: break;
    }
  }
  return {};
}

}  // namespace

void CheckedJson::wrong(const std::string& wanted) const {
  auto got = json_->is_structured() ? std::string(json_->is_array() ? "a list" : "an object") : json_->dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kShown = 60;
  if (got.size() > kShown) got = got.substr(0, kShown) + "…";
  throw BadShape{visible(fmt::format("`{}` is {}, not {}", name_, got, wanted))};
}

CheckedJson CheckedJson::at(std::string_view key) const {
  const auto found = object().json_->find(key);
  if (found == json_->end()) throw BadShape{visible(fmt::format("`{}` has no member `{}`", name_, key))};
  return CheckedJson(*found, key);
}

CheckedJson CheckedJson::item(std::size_t index) const {
  if (!Budget::tick()) wrong("read in time");  // whoever reads it says what ended it
  if (index >= list().size()) throw BadShape{fmt::format("`{}` lists only {} things", name_, size())};
  return CheckedJson((*json_)[index], name_);
}

bool CheckedJson::has(std::string_view key) const { return object().json_->contains(key); }

const CheckedJson& CheckedJson::list(std::size_t most) const {
  if (!json_->is_array()) wrong("a list");
  if (json_->size() > most) throw BadShape{fmt::format("`{}` lists {} things, more than {}", name_, json_->size(), most)};
  return *this;
}

const CheckedJson& CheckedJson::object() const {
  if (!json_->is_object()) wrong("an object");
  return *this;
}

bool CheckedJson::flag() const {
  if (!json_->is_boolean()) wrong("true or false");
  return json_->get<bool>();
}

double CheckedJson::number(double least, double most) const {
  if (!json_->is_number()) wrong("a number");
  const auto number = json_->get<double>();
  if (!std::isfinite(number) || number < least || number > most) wrong(fmt::format("a number from {} to {}", least, most));
  return number;
}

std::int64_t CheckedJson::whole(std::int64_t least, std::int64_t most) const {
  const auto wanted = fmt::format("a whole number from {} to {}", least, most);
  if (json_->is_number_unsigned() && json_->get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) wrong(wanted);
  if (!json_->is_number_integer()) wrong(wanted);
  const auto number = json_->get<std::int64_t>();
  if (number < least || number > most) wrong(wanted);
  return number;
}

std::uint64_t CheckedJson::natural(std::uint64_t most) const {
  if (!json_->is_number_unsigned() || json_->get<std::uint64_t>() > most) wrong(fmt::format("a whole number from 0 to {}", most));
  return json_->get<std::uint64_t>();
}

std::string CheckedJson::text(std::size_t most) const {
  if (!json_->is_string()) wrong("a text");
  const auto& text = json_->get_ref<const std::string&>();
  if (text.size() > most) wrong(fmt::format("a text of at most {} bytes", most));
  return text;
}

std::string CheckedJson::line(std::size_t most) const {
  auto line = text(most);
  if (find_control(line) != line.size() || line.find('\n') != std::string::npos) wrong("a line of text without control characters");
  return line;
}

std::string CheckedJson::name() const {
  auto word = text(kLongestName);
  if (!is_word(word)) wrong("a name of letters, digits and `_`");
  return word;
}

std::string CheckedJson::hash(bool may_be_empty) const {
  constexpr std::size_t kDigits = 64;
  auto digits = text(kDigits);
  const bool hex = std::all_of(digits.begin(), digits.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  if (!hex || (digits.size() != kDigits && !(may_be_empty && digits.empty()))) wrong("a SHA-256 in hexadecimal");
  return digits;
}

std::vector<std::string> CheckedJson::lines(std::size_t most) const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < list(most).size(); ++i) all.push_back(item(i).line());
  return all;
}

Result<nlohmann::ordered_json> parse_json(const std::string& text, const std::string& path) {
  if (const auto why = too_wide_or_deep(text); !why.empty()) return failure("E0904", fmt::format("{} is damaged: {}", path, why));
  struct CutShort {};
  try {
    return nlohmann::ordered_json::parse(text, [](int, nlohmann::ordered_json::parse_event_t, nlohmann::ordered_json&) {
      if (!Budget::tick()) throw CutShort{};
      return true;
    });
  } catch (const CutShort&) {
    return Budget::exceeded({});
  } catch (const nlohmann::json::parse_error& problem) {
    return failure("E0901", fmt::format("{} is no JSON, or cut short (byte {})", path, problem.byte), "was the run that wrote it stopped half-way?");
  } catch (const nlohmann::json::exception& problem) {
    return failure("E0904", fmt::format("{} is damaged: {}", path, problem.what()));
  }
}

}  // namespace gexp::result
