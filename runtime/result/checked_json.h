// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/result.h"
#include "runtime/records/table.h"

/// JSON that a stranger may have written: each access names the type and the bounds that it accepts. Results, locks and the
/// store's records are read through this and nothing else, so what is read is what the schema says, or an error.
namespace gexp::result {

/// Thrown by CheckedJson, and caught in the file that reads: no exception leaves it.
struct BadShape {
  std::string what;
};

inline constexpr std::size_t kMostDepth = 64;        ///< of nested lists and objects
inline constexpr std::size_t kMostMembers = 4096;    ///< of one object: finding a member takes time in proportion to them
inline constexpr std::size_t kLongestLine = 1 << 16; ///< bytes of a text that is one line: a reason, a path
inline constexpr std::size_t kLongestName = 200;     ///< of a word of the language (lang/parse.cpp)
inline constexpr std::size_t kLongestFile = 4u << 20;  ///< bytes of a spec (lang/parse.h)
inline constexpr std::int64_t kMostCount = std::int64_t{1} << 53;  ///< whole numbers that a double holds

/// A word of the language: letters, digits and `_`, no digit first.
bool is_word(std::string_view text);
/// "2026-11-22T10:30:00Z", or nothing.
bool is_date(std::string_view text);

class CheckedJson {
 public:
  using Json = nlohmann::ordered_json;

  explicit CheckedJson(const Json& json, std::string_view name = "it") : json_(&json), name_(name) {}

  /// A member; `has` says whether there is one.
  [[nodiscard]] CheckedJson at(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const;
  [[nodiscard]] std::size_t size() const { return json_->size(); }
  [[nodiscard]] CheckedJson item(std::size_t index) const;
  /// Itself, a list of at most `most`.
  [[nodiscard]] const CheckedJson& list(std::size_t most = std::numeric_limits<std::size_t>::max()) const;
  [[nodiscard]] const CheckedJson& object() const;
  [[nodiscard]] const Json& json() const { return *json_; }

  [[nodiscard]] bool flag() const;
  [[nodiscard]] double number(double least = -std::numeric_limits<double>::max(), double most = std::numeric_limits<double>::max()) const;
  [[nodiscard]] std::int64_t whole(std::int64_t least, std::int64_t most) const;
  [[nodiscard]] std::uint64_t natural(std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) const;
  /// Any text, over several lines.
  [[nodiscard]] std::string text(std::size_t most) const;
  /// A text without a character that a terminal obeys (lang/base/visible.h), nor a newline.
  [[nodiscard]] std::string line(std::size_t most = kLongestLine) const;
  /// A word of the language: letters, digits and `_`. It can stand in a file's name.
  [[nodiscard]] std::string name() const;
  /// So many hexadecimal digits, or none where it may be empty.
  [[nodiscard]] std::string hash(bool may_be_empty = false) const;
  [[nodiscard]] std::vector<std::string> lines(std::size_t most) const;

  [[noreturn]] void wrong(const std::string& wanted) const;

 private:
  const Json* json_;
  std::string_view name_;
};

/// E0901: no JSON, or cut short. E0904: nested deeper, or with more members in one object, than any file of gexp. The
/// document takes up to 12 times as many bytes as the text.
Result<nlohmann::ordered_json> parse_json(const std::string& text, const std::string& path);

/// What is told of a run besides its ticks, which it has already: its windows lie within them.
void read_run_head(const CheckedJson& json, records::Run& run);

}  // namespace gexp::result
