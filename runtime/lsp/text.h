// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/source.h"

/// Places as an editor counts them: lines and characters from 0, in the units that were agreed on.
namespace gexp::lsp {

enum class Encoding : std::uint8_t { Utf8, Utf16, Utf32 };

struct Place {
  std::uint32_t line = 0, character = 0;
  friend bool operator==(const Place&, const Place&) = default;
};
struct Range {
  Place start, end;
  friend bool operator==(const Range&, const Range&) = default;
};

/// The lines of a text, which outlives this. A line ends with `\n`, `\r\n` or `\r`.
class Lines {
 public:
  explicit Lines(std::string_view text);

  /// Of a place beyond its line the line's end, of one beyond the text the text's; never inside a character.
  [[nodiscard]] std::uint32_t offset(Place place, Encoding encoding) const;
  [[nodiscard]] Place place(std::uint32_t offset, Encoding encoding) const;
  [[nodiscard]] Range range(Span span, Encoding encoding) const {
    return {place(span.begin, encoding), place(span.end, encoding)};
  }

 private:
  [[nodiscard]] std::uint32_t end_of(std::size_t line) const;  ///< without its line end

  /// Units between the begin of the text and an offset.
  [[nodiscard]] std::uint32_t units(std::uint32_t offset, Encoding encoding) const;

  struct Units {
    std::uint32_t utf16 = 0, utf32 = 0;
  };
  std::string_view text_;
  std::vector<std::uint32_t> starts_;
  std::vector<Units> blocks_;  ///< before each block of the text: a line may be as long as the text
};

/// `/home/me/a b.gexp` of `file:///home/me/a%20b.gexp`; empty where it names no file of this machine.
std::string path_of(std::string_view uri);
std::string uri_of(std::string_view path);

}  // namespace gexp::lsp
