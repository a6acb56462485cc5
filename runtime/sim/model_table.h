// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/diagnostic.h"
#include "runtime/sim/toml_tree.h"

namespace gexp::sim {

/// Reads one table of a model file. Every question it is asked makes a key known; what is left over at finish() is a typo.
/// Codes: E0602 unknown key or name, E0603 missing key, E0604 wrong type, E0605 value out of bounds.
class ModelTable {
 public:
  ModelTable(const TomlValue& table, Span place, std::string name, Diagnostics& diagnostics)
      : table_(table), place_(place), name_(std::move(name)), diagnostics_(diagnostics) {}

  /// The value of a key, of the kind asked for; null, with a diagnostic, when it is absent or of another kind.
  const TomlValue* required(std::string_view key, TomlValue::Kind kind);
  const TomlValue* optional(std::string_view key, TomlValue::Kind kind);
  [[nodiscard]] bool has(std::string_view key) { return get(key) != nullptr; }
  [[nodiscard]] const TomlValue* get(std::string_view key);

  std::uint64_t whole(std::string_view key, std::uint64_t least, std::uint64_t most);
  std::uint64_t whole_or(std::string_view key, std::uint64_t fallback, std::uint64_t least, std::uint64_t most);
  /// A number, or a fraction as text: 0.25 or "2/3".
  double number(std::string_view key, double least, double most);
  double number_or(std::string_view key, double fallback, double least, double most);
  /// A number of bytes, at least 1: 32 or "16 KiB".
  std::uint64_t size(std::string_view key, std::uint64_t most);
  std::uint64_t size_or(std::string_view key, std::uint64_t fallback, std::uint64_t most);
  /// Numbers of bytes, each of which may be 0.
  std::vector<std::uint64_t> sizes(std::string_view key, std::uint64_t most);
  /// Bytes a cycle: 32 or "109.38 GB/s", which the clock converts; 0 without the key.
  double rate_or_none(std::string_view key, double clock_hz);
  /// A frequency in Hz: "1006 MHz".
  double frequency(std::string_view key);
  std::string text(std::string_view key);
  /// One of `words`; the first when it is none of them.
  std::string choice(std::string_view key, const std::vector<std::string_view>& words);
  std::vector<std::uint64_t> wholes(std::string_view key, std::uint64_t least, std::uint64_t most);
  std::vector<double> numbers(std::string_view key, double least, double most);

  /// Complains about keys nobody asked for, and about missing ones unless such a key looks like them. Call last.
  void finish();

  [[nodiscard]] Span place() const { return place_; }
  /// Where a key's value is; the table's place when it is absent.
  [[nodiscard]] Span place(std::string_view key) const;
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const TomlValue& table() const { return table_; }
  void error(std::string code, Span span, std::string message, std::string hint = {}) {
    ++errors_;
    diagnostics_.error(std::move(code), span, std::move(message), std::move(hint));
  }
  /// Errors of this table so far.
  [[nodiscard]] std::size_t errors() const { return errors_; }
  /// Makes a key known without reading it.
  void know(std::string_view key) { known_.emplace(key); }
  Diagnostics& diagnostics() { return diagnostics_; }

 private:
  void missing(std::string_view key);
  std::uint64_t size_of(const TomlValue& value, std::string_view key, std::uint64_t least, std::uint64_t most);
  bool inside(const TomlValue& value, std::string_view key, double number, double least, double most);

  const TomlValue& table_;
  Span place_;
  std::string name_;
  Diagnostics& diagnostics_;
  std::set<std::string, std::less<>> known_;
  std::vector<std::string> missing_;
  std::size_t errors_ = 0;
};

/// "did you mean 'x'?" or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& words);

/// The keys of a table that say where its values are from, and are none themselves.
inline constexpr std::string_view kSourceKeys[] = {"source", "assumed", "found"};
bool tells_source(std::string_view key);

/// Every value of a model says where it is from: its table, or one around it, has a `source`, `assumed` gives a reason for
/// the whole table or for the key, or `found` names the finding that the key's value is. E0607 where none does, E0602 where `assumed`
/// or `found` names a key that is not there.
void check_sources(const TomlValue& root, Diagnostics& diagnostics);

}  // namespace gexp::sim
