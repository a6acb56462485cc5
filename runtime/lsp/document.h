// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "runtime/lsp/lsp.h"
#include "runtime/lsp/view.h"

/// The open documents, and what is known of each.
namespace gexp::lsp {

class Documents;

class Document {
 public:
  Document(std::string uri, std::string text, std::int64_t version, const Documents& all);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  [[nodiscard]] const std::string& uri() const { return uri_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::int64_t version() const { return version_; }
  [[nodiscard]] const std::shared_ptr<const Source>& source() const { return source_; }
  [[nodiscard]] const Lines& lines() const { return lines_; }
  /// Files that its `use` statements name, found or not.
  [[nodiscard]] const std::set<std::string>& used_paths() const { return used_paths_; }

  void set_text(std::string text, std::int64_t version);
  /// What it uses has changed.
  void forget() { checked_.reset(), view_.reset(); }

  /// Both are worked out when they are asked for, once for each text.
  const Checked& checked();
  const View& view();

 private:
  [[nodiscard]] lang::Loader loader();

  std::string uri_, path_;  ///< the path; the URI of what is no file
  std::int64_t version_;
  const Documents& all_;
  std::shared_ptr<const Source> source_;
  Lines lines_;
  std::set<std::string> used_paths_;
  std::optional<Checked> checked_;
  std::optional<View> view_;
};

class Documents {
 public:
  explicit Documents(const Options& options) : options_(options) {}

  Document& open(const std::string& uri, std::string text, std::int64_t version);
  void close(const std::string& uri) { by_uri_.erase(uri); }
  /// Null when it is not open.
  Document* find(const std::string& uri);
  [[nodiscard]] const Document* of_path(const std::string& path) const;
  [[nodiscard]] std::map<std::string, Document>& all() { return by_uri_; }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  const Options& options_;
  std::map<std::string, Document> by_uri_;
};

}  // namespace gexp::lsp
