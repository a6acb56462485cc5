// SPDX-License-Identifier: Apache-2.0
#include "lang/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace gexp {
namespace {

constexpr std::array<Unit, 16> kUnits{{
    {"B", kBytes, 1},
    {"KiB", kBytes, 1024},
    {"MiB", kBytes, 1024.0 * 1024},
    {"GiB", kBytes, 1024.0 * 1024 * 1024},
    {"GB", kBytes, 1e9},
    {"elem", kBytes, 0},
    {"cycles", kCycles, 1},
    {"cycle", kCycles, 1},
    {"ops", kOps, 1},
    {"ns", kSeconds, 1e-9},
    {"us", kSeconds, 1e-6},
    {"ms", kSeconds, 1e-3},
    {"s", kSeconds, 1},
    {"MHz", {.seconds = -1}, 1e6},
    {"GHz", {.seconds = -1}, 1e9},
    {"%", {}, 0.01},
}};

const Unit* base_unit(std::string_view text) {
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) { return unit.text == text; });
  return found == kUnits.end() ? nullptr : &*found;
}

}  // namespace

Dimension operator*(Dimension a, Dimension b) {
  const auto add = [](std::int8_t x, std::int8_t y) { return static_cast<std::int8_t>(x + y); };
  return {add(a.bytes, b.bytes), add(a.cycles, b.cycles), add(a.seconds, b.seconds), add(a.ops, b.ops)};
}

Dimension operator/(Dimension a, Dimension b) {
  const auto less = [](std::int8_t x, std::int8_t y) { return static_cast<std::int8_t>(x - y); };
  return {less(a.bytes, b.bytes), less(a.cycles, b.cycles), less(a.seconds, b.seconds), less(a.ops, b.ops)};
}

std::string name(Dimension dimension) {
  if (dimension.none()) return "count";
  std::string above, below;
  const auto part = [&](const char* unit, const char* one, int exponent) {
    auto& text = exponent > 0 ? above : below;
    if (exponent == 0) return;
    if (!text.empty()) text += '*';
    text += exponent > 0 ? unit : one;
    if (std::abs(exponent) > 1) (text += '^') += std::to_string(std::abs(exponent));
  };
  part("B", "B", dimension.bytes);
  part("ops", "op", dimension.ops);
  part("cycles", "cycle", dimension.cycles);
  part("s", "s", dimension.seconds);
  if (above.empty()) above = "1";
  return below.empty() ? above : (above += '/') += below;
}

std::optional<Unit> find_unit(std::string_view text) {
  if (const auto* unit = base_unit(text)) return *unit;
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto* above = base_unit(text.substr(0, slash));
  const auto below = text.substr(slash + 1);
  if (!above || (below != "cycle" && below != "s")) return std::nullopt;
  return Unit{text, above->dimension / (below == "s" ? kSeconds : kCycles), above->scale};
}

std::vector<std::string_view> unit_words() {
  std::vector<std::string_view> words;
  for (const auto& unit : kUnits) words.push_back(unit.text);
  return words;
}

std::string show(double value, Dimension dimension) {
  if (dimension == kBytes && value == std::floor(value) && std::fabs(value) >= 1024) {
    for (const auto& [scale, unit] : {std::pair{1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}}) {
      if (std::fmod(value, scale) == 0) return fmt::format("{} {}", value / scale, unit);
    }
  }
  if (dimension == kBytes / kSeconds && std::fabs(value) >= 1e9) return fmt::format("{:.4g} GB/s", value / 1e9);
  const auto number = value == std::floor(value) && std::fabs(value) < 9e15 ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
  return dimension.none() ? number : number + " " + name(dimension);
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string_view>& words) {
  // Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours cost one each.
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  const auto distance = [&](std::string_view a, std::string_view b) {
    std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
    for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
    for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
      for (std::size_t j = 1; j <= b.size(); ++j) {
        const std::size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
        d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + change});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
      }
    }
    return d[a.size()][b.size()];
  };
  if (word.empty() || word.size() > 64) return std::nullopt;
  std::optional<std::string> best;
  std::size_t least = word.size() == 1 ? 1 : std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;  // of one letter only its other case is near
  constexpr std::size_t kMostWords = 2000;  // a hint is not worth more
  for (const auto candidate : std::span(words).first(std::min(words.size(), kMostWords))) {
    if (candidate == word || candidate.size() > 64) continue;
    const auto d = distance(word, candidate);
    if (d < least) {
      least = d;
      best = std::string(candidate);
    }
  }
  return best;
}

}  // namespace gexp
