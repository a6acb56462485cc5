// SPDX-License-Identifier: Apache-2.0
#include "runtime/jit/ptx_entries.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace gexp::jit {
namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '%';
}

/// Words, a directive or a type with its point, and signs, one after the other; comments and texts are left out.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {}

  /// Empty at the end.
  std::string_view next() {
    skip();
    const auto begin = at_;
    if (at_ < text_.size()) ++at_;
    if (begin < text_.size() && (in_word(text_[begin]) || text_[begin] == '.')) {
      while (at_ < text_.size() && in_word(text_[at_])) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.size(), std::min(text_.find("*/", at_ + 2), text_.size() - 2) + 2);
      else if (c == '"')
        at_ = std::min(std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1, text_.size());
      else if (c == ' ' || (c >= '\t' && c <= '\r'))
        ++at_;
      else
        return;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// ".u32": its bytes; 0: no type.
std::uint32_t bytes_of(std::string_view type) {
  if (type.size() < 3 || std::string_view("usbf").find(type[1]) == std::string_view::npos) return 0;
  std::uint32_t bits = 0;
  const auto [end, error] = std::from_chars(type.data() + 2, type.data() + type.size(), bits);
  return error == std::errc() && end == type.data() + type.size() ? bits / 8 : 0;
}

/// One after `.param`, up to the `,` or `)` behind it, which is returned.
std::string_view parameter(Words& words, std::vector<PtxParameter>& into) {
  PtxParameter made;
  for (auto word = words.next();; word = words.next()) {
    if (word.empty() || word == "," || word == ")") {
      into.push_back(made);
      return word;
    }
    if (word == "[") made.is_array = true;
    if (const auto bytes = bytes_of(word); word[0] == '.' && bytes > 0 && made.bytes == 0)
      made.bytes = bytes, made.is_float = word[1] == 'f';
  }
}

}  // namespace

std::vector<PtxEntry> ptx_entries(std::string_view text) {
  std::vector<PtxEntry> entries;
  Words words(text);
  for (auto word = words.next(); !word.empty();) {
    if (word != ".entry") {
      word = words.next();
      continue;
    }
    PtxEntry entry{std::string(words.next()), {}};
    word = words.next();
    if (word == "(") {
      do word = words.next() == ".param" ? parameter(words, entry.parameters) : std::string_view();
      while (word == ",");
    }
    const bool known = std::any_of(entries.begin(), entries.end(), [&](const PtxEntry& each) { return each.name == entry.name; });
    if (!known) entries.push_back(std::move(entry));
    word = words.next();
  }
  return entries;
}

std::string readable_name(const std::string& name) {
  int status = 0;
  char* const made = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string text = status == 0 && made ? made : name;
  std::free(made);
  return text;
}

std::string short_name(const std::string& name) {
  const std::string whole = readable_name(name);
  std::string text = whole.substr(0, whole.find_first_of("(<"));
  return text.substr(text.rfind(' ') + 1);  // a template's begins with what it returns
}

}  // namespace gexp::jit
