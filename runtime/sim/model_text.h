// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lang/base/source.h"
#include "lang/base/value.h"
#include "runtime/sim/toml_tree.h"

namespace gexp::sim {

/// A text as TOML writes it: in quotation marks.
std::string quoted(const std::string& text);
std::string number_text(double value);
/// A number of bytes: 128, or "16 KiB" in quotation marks.
std::string size_text(double bytes);
/// A number, or a list of them: [7, 8], [[7, 11], [8]].
std::string list_text(const Value& value);

/// The text of a model in which single values are replaced. All else of it stays as it was written: comments, order, other tables.
class ModelText {
 public:
  /// Keys from the root to a value: {"paths", "ca", "latency", "l1"}.
  using Path = std::vector<std::string>;

  /// `model`: one that check_model takes.
  explicit ModelText(const Source& model) : path_(model.path()), text_(model.text()) {}

  /// Puts `value`, as TOML writes it, at a place, and says where it is from: under `found` the finding, under `assumed` the reason. What
  /// was said of that key before goes. False: the table is not there.
  bool set(const Path& path, const std::string& value, const std::string& word, const std::string& from);
  /// Of a key that is there and says nothing of its source, as the model's name.
  void replace(const Path& path, const std::string& value);
  /// Takes a key and what says where it is from out of its table.
  void remove(const Path& path);
  /// The text of a value, as it stands; nothing where it is not there.
  [[nodiscard]] std::optional<std::string> value(const Path& path) const;
  /// The comment at the top, in place of the one that is there. Lines without `#`.
  void head(const std::vector<std::string>& lines);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] Source source() const { return {path_, text_}; }

 private:
  [[nodiscard]] std::optional<Span> span_of(const Path& path) const;

  std::string path_, text_;
};

}  // namespace gexp::sim
