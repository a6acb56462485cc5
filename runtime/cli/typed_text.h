// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lang/base/source.h"

/// What the short form of `-e` needs of text: its words, and text made of it that remembers where it was typed.
namespace gexp::cli {

/// Words outside comments and quoted texts; numbers with their units are none.
struct Words {
  std::vector<Span> outside;     ///< of brackets
  std::vector<Span> all;
  std::optional<Span> unclosed;  ///< a bracket

  explicit Words(std::string_view text, std::uint32_t from = 0);
};

/// A text made of literal parts and parts that were typed.
class Made {
 public:
  Made& operator<<(std::string_view literal);
  void typed(std::string_view whole, Span span);
  /// The text since `begin` stands for what was typed there.
  void stands_for(std::size_t begin, Span span);
  [[nodiscard]] const std::string& text() const { return text_; }

  /// Where a span of the text was typed, or what it was made of.
  [[nodiscard]] std::optional<Span> origin(Span span) const;

 private:
  std::string text_;
  std::vector<std::pair<std::uint32_t, Span>> origins_;  ///< from which byte of the text on
  std::vector<std::pair<Span, Span>> made_;
};

}  // namespace gexp::cli
