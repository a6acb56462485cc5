// SPDX-License-Identifier: Apache-2.0
#include "runtime/lsp/document.h"

#include <filesystem>

namespace gexp::lsp {
namespace {

std::string path_or_uri(const std::string& uri) {
  const auto path = path_of(uri);
  return path.empty() ? uri : std::filesystem::path(path).lexically_normal().generic_string();
}

/// Where `use "path"` looks first.
std::string beside(const std::string& by, const std::string& path) {
  return (std::filesystem::path(by).parent_path() / path).lexically_normal().generic_string();
}

}  // namespace

Document::Document(std::string uri, std::string text, std::int64_t version, const Documents& all)
    : uri_(std::move(uri)),
      path_(path_or_uri(uri_)),
      version_(version),
      all_(all),
      source_(std::make_shared<const Source>(path_, std::move(text))),
      lines_(source_->text()) {}

void Document::set_text(std::string text, std::int64_t version) {
  source_ = std::make_shared<const Source>(path_, std::move(text));
  lines_ = Lines(source_->text());
  version_ = version;
  forget();
}

/// An open document is newer than its file.
lang::Loader Document::loader() {
  return [this](const std::string& path, const std::string& by) -> Result<lang::LoadedText> {
    if (by.starts_with('/')) {
      const auto file = beside(by, path);
      used_paths_.insert(file);
      if (const auto* open = all_.of_path(file)) return lang::LoadedText{file, open->source()->text()};
    }
    if (!all_.options().load) return failure("E0122", "there are no files here");
    return all_.options().load(path, by);
  };
}

const Checked& Document::checked() {
  if (!checked_) {
    used_paths_.clear();
    checked_ = check_text(*source_, all_.options().models, loader());
  }
  return *checked_;
}

const View& Document::view() {
  if (!view_) {
    const auto& program = checked().program;
    view_ = view_text(source_, program ? &*program : nullptr, loader());
  }
  return *view_;
}

Document& Documents::open(const std::string& uri, std::string text, std::int64_t version) {
  by_uri_.erase(uri);
  return by_uri_.try_emplace(uri, uri, std::move(text), version, *this).first->second;
}

Document* Documents::find(const std::string& uri) {
  const auto found = by_uri_.find(uri);
  return found == by_uri_.end() ? nullptr : &found->second;
}

const Document* Documents::of_path(const std::string& path) const {
  for (const auto& [uri, document] : by_uri_) {
    if (document.path() == path) return &document;
  }
  return nullptr;
}

}  // namespace gexp::lsp
