// SPDX-License-Identifier: Apache-2.0
#include "tests/hostile/mutate.h"

#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <vector>

namespace gexp::hostile {
namespace {

using Json = nlohmann::ordered_json;
using Chance = std::mt19937_64;

std::size_t below(Chance& chance, std::size_t most) { return most == 0 ? 0 : static_cast<std::size_t>(chance() % most); }

/// Every value below, itself included.
void gather(Json& json, std::vector<Json*>& all) {
  all.push_back(&json);
  if (json.is_structured()) {
    for (auto& child : json) gather(child, all);
  }
}

std::string hostile_text(Chance& chance) {
  static const std::vector<std::string> kTexts = {"", "../../../etc/x", "/dev/zero", "\x1b]0;x\x07\x1b[2J", "\xc2\x9b", "\xe2\x80\xae", "x\ny", "sim:", "sim:/dev/zero.toml", "cuda:99", "%n%s", "a/b", "..",
                                                  "lat", "each", "done", "blocked", "2026-99-99T99:99:99Z", "KiB", "B/s", "nan", "{}", "</script><script>", "\"", "'; DROP TABLE runs; --"};
  return below(chance, 20) == 0 ? std::string(100'000, 'x') : kTexts[below(chance, kTexts.size())];
}

Json hostile_number(Chance& chance) {
  static const std::vector<Json> kNumbers = {0, -1, 1, 2, 3.5, -0.0, 1e12, -1e12, 1e308, -1e308, 5e-324, std::int64_t{1} << 31, std::int64_t{1} << 32, std::int64_t{1} << 53, std::int64_t{1} << 62,
                                             std::numeric_limits<std::uint64_t>::max(), std::numeric_limits<std::int64_t>::min(), 4294967295u, 65536, 1000000};
  return kNumbers[below(chance, kNumbers.size())];
}

Json hostile_value(Chance& chance) {
  switch (below(chance, 8)) {
    case 0: return hostile_text(chance);
    case 1: return nullptr;
    case 2: return Json::array();
    case 3: return Json::object();
    case 4: {
      Json deep = 1;
      for (auto levels = below(chance, 200); levels > 0; --levels) deep = Json::array({std::move(deep)});
      return deep;
    }
    case 5: return {{"n", hostile_number(chance)}, {"unit", "B"}};
    case 6: return below(chance, 2) == 0;
    default: return hostile_number(chance);
  }
}

void change(Json& root, Chance& chance) {
  std::vector<Json*> all;
  gather(root, all);
  auto& one = *all[below(chance, all.size())];
  auto& other = *all[below(chance, all.size())];
  switch (below(chance, 7)) {
    case 0: one = hostile_value(chance); break;
    case 1: one = one.is_string() ? Json(hostile_text(chance)) : hostile_number(chance); break;
    case 2: {
      auto copy = other;
      one = std::move(copy);
      break;
    }
    case 3:
      if (one.is_object() && !one.empty()) one.erase(std::next(one.begin(), static_cast<std::ptrdiff_t>(below(chance, one.size()))).key());
      else if (one.is_array() && !one.empty()) one.erase(one.begin() + static_cast<std::ptrdiff_t>(below(chance, one.size())));
      break;
    case 4:
      if (one.is_array()) {
        for (std::size_t i = 0, times = below(chance, 40); i < times; ++i) one.push_back(one.empty() ? hostile_value(chance) : Json(one[below(chance, one.size())]));
      } else if (one.is_object()) {
        one[hostile_text(chance)] = hostile_value(chance);
      }
      break;
    case 5:
      if (one.is_number()) one = one.get<double>() * (below(chance, 2) == 0 ? -1 : 1e9);
      break;
    default:
      if (one.is_number_integer()) one = one.get<std::int64_t>() + (below(chance, 2) == 0 ? 1 : -1);
  }
}

std::string damaged(std::string text, Chance& chance) {
  for (auto times = below(chance, 4) + 1; times > 0 && !text.empty(); --times) {
    const auto at = below(chance, text.size());
    switch (below(chance, 4)) {
      case 0: text[at] = static_cast<char>(chance()); break;
      case 1: text.resize(at); break;
      case 2: text.insert(at, std::string(below(chance, 300), "[{\"0,"[below(chance, 5)])); break;
      default: text.erase(at, below(chance, 60));
    }
  }
  return text;
}

}  // namespace

std::string mutated_json(const std::string& text, std::uint64_t seed) {
  Chance chance(seed);
  if (below(chance, 8) == 0) return damaged(text, chance);
  auto json = Json::parse(text);
  for (auto times = below(chance, 4) + 1; times > 0; --times) change(json, chance);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string mutated_model(const std::string& text, std::uint64_t seed) {
  Chance chance(seed);
  if (below(chance, 8) == 0) return damaged(text, chance);
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  static const std::vector<std::string> kValues = {"0", "-1", "1", "2", "3", "7", "1000000", "4294967296", "9223372036854775807", "-9223372036854775808", "1e308", "-0.0", "nan", "inf", "0.5", "\"\"", "\"1 B\"",
                                                   "\"4 TiB\"", "\"1e30 GiB\"", "\"1/0\"", "\"0/5\"", "[]", "[0]", "[1, 2]", "[-1]", "[[]]", "{}", "true", "1979-05-27", "\"sm\"", "\"device\"", "\"random\"", "\"lru\"",
                                                   "\"plru\"", "\"hashed\"", "\"victims\"", "\"l1\"", "[\"l1\"]", "[\"l2\", \"l1\"]"};
  for (auto times = below(chance, 3) + 1; times > 0 && !lines.empty(); --times) {
    const auto at = below(chance, lines.size());
    const auto equals = lines[at].find('=');
    switch (below(chance, 6)) {
      case 0: lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at)); break;
      case 1: lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(below(chance, lines.size())), lines[at]); break;
      case 2: std::swap(lines[at], lines[below(chance, lines.size())]); break;
      default:
        if (equals != std::string::npos) lines[at] = lines[at].substr(0, equals + 1) + " " + kValues[below(chance, kValues.size())];
    }
  }
  std::string made;
  for (const auto& line : lines) made += line + "\n";
  return made;
}

}  // namespace gexp::hostile
