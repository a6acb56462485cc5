// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "runtime/sim/lane_memory.h"

// printf of a kernel: its format and its values lie in memory, as vprintf of the CUDA toolkit is given them.
namespace gexp::sim {
namespace {

// limit: of what a stranger's kernel can make of one call.
constexpr std::size_t kMostText = 4096;
constexpr int kMostWidth = 512;

/// "%-08.3lld": flags, width and precision as they are written, then a length, then what is shown.
struct Shown {
  std::string form = "%";
  bool is_long = false;
  char kind = 0;  ///< 0: not known
  std::size_t length = 0;  ///< characters of the format
};

Shown read_shown(std::string_view text) {
  Shown shown;
  std::size_t at = 1;
  const auto take = [&](auto is) {
    const std::size_t begin = at;
    while (at < text.size() && is(text[at])) ++at;
    return std::string(text.substr(begin, at - begin));
  };
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto number = [&] { return std::to_string(std::min(kMostWidth, std::atoi(take(digit).substr(0, 6).c_str()))); };
  shown.form += take([](char c) { return std::string_view("-+ #0").find(c) != std::string_view::npos; }).substr(0, 5);
  if (at < text.size() && digit(text[at])) shown.form += number();
  if (at < text.size() && text[at] == '.') ++at, shown.form += "." + number();
  const std::string length = take([](char c) { return std::string_view("hlzjt").find(c) != std::string_view::npos; });
  shown.is_long = length.find_first_of("lzjt") != std::string::npos;
  if (at < text.size() && std::string_view("diuoxXcspfFeEgGaA").find(text[at]) != std::string_view::npos) shown.kind = text[at++];
  shown.length = at;
  return shown;
}

template <class T> std::string formatted(const std::string& form, T value) {
  std::string text(2 * kMostText, '\0');
  const int length = std::snprintf(text.data(), text.size(), form.c_str(), value);
  text.resize(std::min(text.size() - 1, static_cast<std::size_t>(std::max(0, length))));
  return text;
}

}  // namespace

std::optional<LaneMemory::Printed> LaneMemory::printed(const Instruction& i, Warp& warp, Block& block, std::uint32_t lane,
                                                       std::uint64_t format, std::uint64_t values) {
  Instruction generic = i;
  generic.space = Space::Generic;
  bool good = true;
  const auto read = [&](std::uint64_t address, std::uint32_t bytes) -> std::uint64_t {
    std::uint64_t value = 0;
    const std::byte* const at = good ? locate(generic, Space::Generic, warp, block, address, lane, bytes) : nullptr;
    if (at) std::memcpy(&value, at, bytes);
    good &= at != nullptr;
    return value;
  };
  std::size_t characters = 2 * kMostText;  // limit: what is read of the format, and of all strings
  const auto string = [&](std::uint64_t address) {
    std::string text;
    for (; characters > 0 && text.size() < kMostText; --characters) {
      const auto c = static_cast<char>(read(address + text.size(), 1));
      if (c == 0) break;
      text += c;
    }
    return text;
  };
  const auto next = [&](std::uint32_t bytes) {
    values = (values + bytes - 1) / bytes * bytes;
    const std::uint64_t value = read(values, bytes);
    values += bytes;
    return value;
  };
  Printed made;
  const std::string text = string(format);
  for (std::size_t at = 0; at < text.size() && good && made.text.size() < kMostText;) {
    if (text[at] != '%') {
      made.text += text[at++];
      continue;
    }
    if (text.compare(at, 2, "%%") == 0) {
      made.text += '%', at += 2;
      continue;
    }
    const Shown shown = read_shown(std::string_view(text).substr(at));
    at += shown.length;
    if (shown.kind == 0) {  // fact: CUDA shows it as it is written
      made.text += text.substr(at - shown.length, shown.length);
      continue;
    }
    ++made.values;
    const bool whole = std::string_view("diuoxX").find(shown.kind) != std::string_view::npos;
    const bool with_sign = shown.kind == 'd' || shown.kind == 'i';
    const std::string form = shown.form + shown.kind;
    if (shown.kind == 's') made.text += formatted(shown.form + "s", string(next(8)).c_str());
    else if (shown.kind == 'c') made.text += formatted(shown.form + "c", static_cast<int>(next(4)));
    else if (shown.kind == 'p') made.text += formatted("%#llx", static_cast<unsigned long long>(next(8)));
    else if (!whole) made.text += formatted(form, std::bit_cast<double>(next(8)));
    else if (shown.is_long) made.text += formatted(shown.form + "ll" + shown.kind, static_cast<unsigned long long>(next(8)));
    else if (with_sign) made.text += formatted(form, static_cast<int>(static_cast<std::uint32_t>(next(4))));
    else made.text += formatted(form, static_cast<unsigned>(next(4)));
  }
  if (!good) return std::nullopt;
  made.text.resize(std::min(made.text.size(), kMostText));
  return made;
}

}  // namespace gexp::sim
