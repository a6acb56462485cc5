// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/progress.h"

#include <fmt/format.h>

#include <algorithm>

namespace gexp::report {
namespace {

constexpr std::size_t kBar = 24, kShortBar = 10;  // columns within the brackets
constexpr std::size_t kFew = 4;                   // things, and
constexpr double kSoon = 2;                       // seconds, that say nothing of the rest
constexpr double kLong = 100 * 3600;              // seconds: a longer time left is no help to anybody

/// Columns: a character is as wide as any other.
std::size_t columns(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string cut(const std::string& text, std::size_t width) {
  std::size_t end = 0, shown = 0;
  for (; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) != 0x80 && ++shown > width) break;
  }
  return text.substr(0, end);
}

std::string count(const Going& going) {
  return going.of ? fmt::format("{} of {} {}", going.done, *going.of, going.things) : fmt::format("{} {}", going.done, going.things);
}

std::string rate(const Going& going) { return going.rate ? fmt::format(", {:.{}f}/s", *going.rate, *going.rate < 9.95 ? 1 : 0) : ""; }

std::string left(const Going& going) {
  if (!going.left || *going.left >= kLong) return "";
  const double seconds = *going.left;
  if (seconds < 99.5) return fmt::format(", {:.0f} s left", std::max(1.0, seconds));
  return seconds < 99.5 * 60 ? fmt::format(", {:.0f} min left", seconds / 60) : fmt::format(", {:.0f} h left", seconds / 3600);
}

std::string at(const Going& going) { return going.at.empty() ? "" : ", " + going.at; }

std::string bar(const Going& going, std::size_t wide) {
  const auto full = *going.of > 0 ? std::min(going.done, *going.of) * wide / *going.of : wide;
  return " [" + std::string(full, '#') + std::string(wide - full, '-') + "]";
}

}  // namespace

std::string progress_text(const Going& going) { return going.what + ": " + count(going) + rate(going) + left(going) + at(going); }

std::string progress_line(const Going& going, std::size_t width, bool colour) {
  const auto what = cut(going.what, width);
  auto room = width - columns(what);
  const auto fitting = [&](std::string text) {
    if (columns(text) > room) return std::string();
    room -= columns(text);
    return text;
  };
  const auto counted = fitting("  " + count(going));
  std::string drawn;
  if (going.of && !counted.empty()) {
    drawn = fitting(bar(going, kBar));
    if (drawn.empty()) drawn = fitting(bar(going, kShortBar));
  }
  const auto more = counted.empty() ? "" : left(going);
  const auto remaining = fitting(more), pace = counted.empty() ? "" : fitting(rate(going)), where = counted.empty() ? "" : fitting(at(going));
  return what + (colour && !drawn.empty() ? "\033[36m" + drawn + "\033[0m" : drawn) + counted + pace + remaining + where;
}

std::optional<double> Speed::rate() const {
  if (times_.size() <= kFew || times_.back() - times_.front() < kSoon) return std::nullopt;
  return static_cast<double>(times_.size() - 1) / (times_.back() - times_.front());
}

std::optional<double> Speed::left(std::size_t of) const {
  if (!rate() || of < times_.size()) return std::nullopt;
  const auto done = times_.size() - 1, half = done / 2;
  return static_cast<double>(of - done) * (times_.back() - times_[half]) / static_cast<double>(done - half);
}

}  // namespace gexp::report
