// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/ticks_text.h"

#include <charconv>
#include <limits>
#include <optional>
#include <string_view>

#include "runtime/result/result_words.h"

// In JSON a quotation mark within a string is written \", so the bytes "ticks" with both marks, and no backslash before them, are a
// whole string; followed by a colon they are a key.
namespace gexp::result {
namespace {

constexpr std::string_view kKey = "\"ticks\"";

void skip_space(std::string_view text, std::size_t& at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r')) ++at;
}

bool take(std::string_view text, std::size_t& at, char wanted) {
  skip_space(text, at);
  if (at >= text.size() || text[at] != wanted) return false;
  ++at;
  return true;
}

template <class Integer> std::optional<Integer> number(std::string_view text, std::size_t& at) {
  skip_space(text, at);
  Integer value = 0;
  const auto* begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
  if (error != std::errc() || (*begin == '0' && end - begin > 1)) return std::nullopt;
  at += static_cast<std::size_t>(end - begin);
  return value;
}

/// The list that begins at `at`, which then is behind it.
std::optional<std::vector<std::uint32_t>> decode(std::string_view text, std::size_t& at, ReadBudget& budget) {
  std::vector<std::uint32_t> ticks;
  if (!take(text, at, '[')) return std::nullopt;
  if (take(text, at, ']')) return ticks;
  do {
    const auto value = number<std::uint32_t>(text, at);
    if (!value || !take(text, at, ',')) return std::nullopt;
    const auto count = number<std::uint64_t>(text, at);
    if (!count || *count > kMaxTicks - ticks.size()) return std::nullopt;
    if (!budget.take(*count * kBytesATick)) throw TooLarge{};
    ticks.insert(ticks.end(), *count, *value);
  } while (take(text, at, ','));
  return take(text, at, ']') ? std::optional(std::move(ticks)) : std::nullopt;
}

}  // namespace

LiftedTicks lift_ticks(const std::string& text, ReadBudget& budget) {
  LiftedTicks made;
  std::size_t copied = 0;
  for (auto found = text.find(kKey); found != std::string::npos; found = text.find(kKey, found + 1)) {
    auto at = found + kKey.size();
    if ((found > 0 && text[found - 1] == '\\') || !take(text, at, ':')) continue;
    auto ticks = decode(text, at, budget);
    if (!ticks) return {};
    made.text.append(text, copied, found + kKey.size() - copied).append(":").append(std::to_string(made.ticks.size()));
    made.ticks.push_back(std::move(*ticks));
    copied = at;
    found = at - 1;
  }
  made.text.append(text, copied);
  made.lifted = true;
  return made;
}

}  // namespace gexp::result
