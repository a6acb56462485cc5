// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lang/number_file.h"
#include "lang/words.h"

// JSON, as far as lists of numbers need it: numbers, texts, lists of numbers, objects of these, and lists of such objects. Spatter's files
// are lists of objects whose patterns are lists of indices or texts.
namespace gexp::lang {
namespace {

constexpr std::size_t kMostObjects = 4096, kMostMembers = 64, kLongestText = 4096;

class Json {
 public:
  Json(const Source& source, Diagnostics& diagnostics) : text_(source.text()), diagnostics_(diagnostics) {}

  std::optional<Fields> run() {
    skip();
    Fields all;
    if (peek() == '{') {
      if (!object(all)) return std::nullopt;
    } else if (peek() == '[') {
      ++at_;
      skip();
      if (!(peek() == '{' ? objects(all) : items(all["items"]))) return std::nullopt;
    } else {
      return fail("a list of numbers, an object or a list of objects is wanted"), std::nullopt;
    }
    skip();
    if (at_ < text_.size()) return fail("the file goes on behind its value"), std::nullopt;
    return all;
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip() { while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_; }

  bool fail(std::string message, std::string hint = "", std::size_t from = std::string::npos) {
    const auto begin = static_cast<std::uint32_t>(std::min(from == std::string::npos ? at_ : from, text_.size()));
    const auto end = static_cast<std::uint32_t>(std::min(std::max<std::size_t>(at_, begin + 1), text_.size()));
    diagnostics_.error("E0130", {begin, std::max(begin, end)}, std::move(message), std::move(hint));
    return false;
  }

  bool take(char wanted) {
    skip();
    if (peek() != wanted) return fail(fmt::format("`{}` is wanted", wanted));
    ++at_;
    skip();
    return true;
  }

  bool number(Value& into) {
    const auto from = at_;
    double value = 0;
    const bool sign = peek() == '-' || (peek() >= '0' && peek() <= '9');
    const auto parsed = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (!sign || parsed.ec != std::errc() || !std::isfinite(value)) {
      while (is_word(peek())) ++at_;
      return fail(fmt::format("`{}` is no number", text_.substr(from, std::max<std::size_t>(at_ - from, 1))), "numbers are finite, such as 64 or 0.5", from);
    }
    at_ = static_cast<std::size_t>(parsed.ptr - text_.data());
    if (++numbers_ > kMostNumbers) return fail(fmt::format("more than {} numbers", kMostNumbers), "compute what follows a rule: `[x * 4B for x in 0..7]`", from);
    into = Value(value);
    return true;
  }

  bool word(std::string& into) {
    const auto from = at_;
    for (++at_; peek() != '"'; ++at_) {
      if (at_ >= text_.size() || peek() == '\n' || peek() == '\\' || at_ - from > kLongestText) return fail("a text ends with `\"` on its line, and holds no `\\`", "", from);
    }
    into = text_.substr(from + 1, at_ - from - 1);
    ++at_;
    return true;
  }

  /// Numbers behind `[` up to its `]`.
  bool items(Value& into) {
    List list;
    const auto from = at_;
    if (peek() == ']') return fail("a list without a number", "a list has one number or more", from - 1);
    for (;;) {
      if (peek() == '[') return fail("a list lies in this list, and one list of numbers is wanted", "write an object of lists: {\"gather\": [0, 1], \"scatter\": [2, 3]}");
      if (peek() == '{' || peek() == '"') return fail("a number is wanted in this list");
      Value next;
      if (!number(next)) return false;
      list.push_back(std::move(next));
      skip();
      if (peek() == ']') break;
      if (!take(',')) return false;
    }
    ++at_;
    into = Value(std::move(list));
    return true;
  }

  bool objects(Fields& all) {
    std::vector<Fields> runs;
    for (;;) {
      if (runs.size() >= kMostObjects) return fail(fmt::format("more than {} objects", kMostObjects));
      if (peek() != '{') return fail("an object is wanted, like the one before it");
      if (!object(runs.emplace_back())) return false;
      skip();
      if (peek() == ']') break;
      if (!take(',')) return false;
    }
    ++at_;
    if (runs.size() == 1) all = runs[0];
    for (std::size_t i = 0; i < runs.size(); ++i) all[fmt::format("run{}", i)] = Value(std::move(runs[i]));
    return true;
  }

  bool object(Fields& into) {
    ++at_;
    skip();
    if (peek() == '}') return fail("an object without a member", "", at_ - 1);
    for (;;) {
      const auto from = at_;
      if (peek() != '"') return fail("a name in `\"` is wanted");
      std::string name;
      if (!word(name)) return false;
      std::replace(name.begin(), name.end(), '-', '_');
      if (name.empty() || !is_word_start(name[0]) || !std::all_of(name.begin(), name.end(), is_word)) return fail(fmt::format("`{}` is no name", name), "a name has the letters a to z, digits and `_`", from);
      if (into.contains(name)) return fail(fmt::format("`{}` stands twice in this object", name), "keep one of them", from);
      if (into.size() >= kMostMembers) return fail(fmt::format("more than {} members", kMostMembers));
      if (!take(':') || !member(name, into[name])) return false;
      skip();
      if (peek() == '}') break;
      if (!take(',')) return false;
    }
    ++at_;
    return true;
  }

  bool member(const std::string& name, Value& into) {
    const auto from = at_;
    if (peek() == '[') {
      ++at_;
      skip();
      return items(into);
    }
    if (peek() != '"') return peek() == '{' ? fail("a number, a text or a list of numbers is wanted here") : number(into);
    std::string text;
    if (!word(text)) return false;
    if (!name.starts_with("pattern")) return into = Value(std::move(text)), true;
    auto pattern = spatter_pattern(text);
    if (!pattern.problem.empty()) return fail(fmt::format("`{}` is no pattern", text), pattern.problem, from);
    numbers_ += pattern.indices.size();
    if (numbers_ > kMostNumbers) return fail(fmt::format("more than {} numbers", kMostNumbers), "", from);
    into = Value(std::move(pattern.indices));
    return true;
  }

  const std::string& text_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0, numbers_ = 0;
};

}  // namespace

std::optional<Fields> read_json_numbers(const Source& source, Diagnostics& diagnostics) { return Json(source, diagnostics).run(); }

}  // namespace gexp::lang
