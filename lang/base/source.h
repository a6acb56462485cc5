// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gexp {

/// A stretch of a source text: byte offsets, `end` one past the last. {0,0} is "no place".
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  [[nodiscard]] bool empty() const { return begin == end; }
  friend bool operator==(const Span&, const Span&) = default;
};

/// The smallest span that covers both.
Span cover(Span a, Span b);

/// 1-based line and column; columns count bytes.
struct Position {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// One text that diagnostics can point into: a .gexp file, a -e one-liner, a device model.
class Source {
 public:
  Source(std::string path, std::string text);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string_view slice(Span span) const;
  [[nodiscard]] Position position(std::uint32_t offset) const;
  /// The line (1-based) without its line end; empty when there is no such line.
  [[nodiscard]] std::string_view line(std::uint32_t number) const;
  /// The byte offset of a 1-based line and column, clamped to the text.
  [[nodiscard]] std::uint32_t offset(Position position) const;

 private:
  std::string path_;
  std::string text_;
  std::vector<std::uint32_t> line_starts_;
};

}  // namespace gexp
