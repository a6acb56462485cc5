// SPDX-License-Identifier: Apache-2.0
// docs/language/grammar.md against the parser: the rules as they are written there accept the texts that the parser accepts.
#include <doctest/doctest.h>

#include <algorithm>

#include <map>
#include <memory>
#include <set>

#include "lang/words.h"
#include "tests/lang/short_texts.h"
#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::test;
namespace fs = std::filesystem;

namespace {

using Ends = std::set<std::size_t>;

/// One node of a rule: a word or mark, a symbol, or what brackets and bars make of others.
struct Node {
  enum class Kind { Literal, Symbol, Sequence, Choice, Optional, Many } kind = Kind::Literal;
  std::string text;
  bool touches = false;  ///< no space before it
  std::vector<Node> parts;
};

/// Reads EBNF as grammar.md explains it.
class Rules {
 public:
  explicit Rules(const std::string& document) {
    bool inside = false;
    std::istringstream lines(document.substr(0, document.find("## Characters")));
    std::string all;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("```")) inside = !inside;
      else if (inside) all += line + "\n";
    }
    text_ = all;
    while (skip(), at_ < text_.size()) {
      const auto name = word();
      skip();
      REQUIRE_MESSAGE(text_[at_] == '=', "no rule at: ", text_.substr(at_, 40));
      ++at_;
      rules[name] = choice();
    }
  }
  std::map<std::string, Node> rules;

 private:
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  std::string word() {
    const auto begin = at_;
    while (at_ < text_.size() && lang::is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  bool rule_begins() const {  // `name =` at the beginning of a line
    if (at_ != 0 && text_[at_ - 1] != '\n') return false;
    auto i = at_;
    while (i < text_.size() && lang::is_word(text_[i])) ++i;
    while (i < text_.size() && text_[i] == ' ') ++i;
    return i > at_ && text_[i] == '=';
  }
  Node choice() {
    Node node{Node::Kind::Choice, "", false, {sequence()}};
    while (skip(), at_ < text_.size() && text_[at_] == '|') ++at_, node.parts.push_back(sequence());
    return node;
  }
  Node sequence() {
    Node node{Node::Kind::Sequence, "", false, {}};
    bool touches = false;
    while (skip(), at_ < text_.size() && !rule_begins() && std::string_view("|)]}").find(text_[at_]) == std::string_view::npos) {
      if (text_.compare(at_, 2, "\xc2\xb7") == 0) {
        at_ += 2, touches = true;
        continue;
      }
      node.parts.push_back(item());
      node.parts.back().touches = std::exchange(touches, false);
    }
    return node;
  }
  Node item() {
    const char c = text_[at_];
    if (c == '"') {
      const auto end = text_.find('"', at_ + 1);
      Node node{Node::Kind::Literal, text_.substr(at_ + 1, end - at_ - 1), false, {}};
      at_ = end + 1;
      return node;
    }
    if (c == '(' || c == '[' || c == '{') {
      ++at_;
      auto inner = choice();
      skip();
      ++at_;
      return {c == '(' ? Node::Kind::Sequence : c == '[' ? Node::Kind::Optional : Node::Kind::Many, "", false, {std::move(inner)}};
    }
    REQUIRE_MESSAGE(lang::is_word_start(c), "no item at: ", text_.substr(at_, 40));
    return {Node::Kind::Symbol, word(), false, {}};
  }

  std::string text_;
  std::size_t at_ = 0;
};

/// All places where something that begins here can end.
class Recognizer {
 public:
  Recognizer(const std::map<std::string, Node>& rules, const std::string& text) : rules_(rules), text_(text) {}

  bool whole() {
    for (const auto end : of({Node::Kind::Symbol, "file", false, {}}, 0)) {
      if (space(end) == text_.size()) return true;
    }
    return false;
  }

 private:
  std::size_t space(std::size_t at) const {
    for (; at < text_.size(); ++at) {
      if (text_[at] == '#') at = std::min(text_.find('\n', at), text_.size()) - 1;
      else if (std::string_view(" \t\r\n\v\f").find(text_[at]) == std::string_view::npos) break;
    }
    return at;
  }
  std::size_t word(std::size_t at) const {
    if (at >= text_.size() || !lang::is_word_start(text_[at])) return at;
    while (at < text_.size() && lang::is_word(text_[at])) ++at;
    return at;
  }
  std::size_t digits(std::size_t at) const {
    while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') ++at;
    return at;
  }
  bool is(std::size_t at, char c) const { return at < text_.size() && text_[at] == c; }

  /// The section Characters, by hand; `at` when it does not begin here.
  std::size_t characters(const std::string& what, std::size_t at) const {
    const auto end = word(at);
    const bool reserved = lang::is_reserved(text_.substr(at, end - at));
    if (what == "WORD") return end;
    if (what == "NAME") return reserved ? at : end;
    if (what == "CALLEE") {
      if (reserved) return text_.compare(at, end - at, "repeat") != 0 ? at : end;
      return end > at && is(end, '.') && word(end + 1) > end + 1 ? word(end + 1) : end;
    }
    if (what == "PATTERN" || what == "TYPE" || what == "INSTRUCTION") {
      if (end == at || (what == "PATTERN" && reserved)) return at;
      auto last = end;
      while (is(last, what == "TYPE" ? '/' : '.') && word(last + 1) > last + 1) {
        last = word(last + 1);
        if (what != "INSTRUCTION") break;
      }
      return last;
    }
    if (what == "STRING") {
      if (!is(at, '"')) return at;
      const auto close = text_.find_first_of("\"\n", at + 1);
      return close != std::string::npos && text_[close] == '"' ? close + 1 : at;
    }
    auto last = digits(at);
    if (what == "DIGITS" || last == at) return last;
    if (is(last, '.') && digits(last + 1) > last + 1) last = digits(last + 1);
    if (is(last, 'e') || is(last, 'E')) {
      const auto sign = last + 1 + (is(last + 1, '+') || is(last + 1, '-') ? 1 : 0);
      if (digits(sign) > sign) last = digits(sign);
    }
    if (is(last, '%')) return last + 1;
    if (const auto unit = word(last); unit > last) {
      const auto per = is(unit, '/') ? text_.substr(unit + 1, word(unit + 1) - unit - 1) : "";
      return per == "cycle" || per == "s" ? unit + 1 + per.size() : unit;
    }
    return last;
  }

  Ends of(const Node& node, std::size_t at) {
    switch (node.kind) {
      case Node::Kind::Literal: {
        if (!node.touches) at = space(at);
        if (text_.compare(at, node.text.size(), node.text) != 0) return {};
        const auto end = at + node.text.size();
        if (lang::is_word(node.text[0]) && word(at) != end) return {};
        if ((node.text == "=" && is(end, '=')) || (node.text == "." && is(end, '.'))) return {};
        return {end};
      }
      case Node::Kind::Symbol: {
        if (!node.touches) at = space(at);
        if (const auto rule = rules_.find(node.text); rule != rules_.end()) {
          const auto key = std::pair{&rule->second, at};
          if (const auto known = known_.find(key); known != known_.end()) return known->second;
          auto ends = of(rule->second, at);
          return known_[key] = std::move(ends);
        }
        const auto end = characters(node.text, at);
        return end > at ? Ends{end} : Ends{};
      }
      case Node::Kind::Choice: {
        Ends all;
        for (const auto& part : node.parts) all.merge(of(part, at));
        return all;
      }
      case Node::Kind::Sequence: {
        Ends now{at};
        for (const auto& part : node.parts) {
          Ends next;
          for (const auto from : now) next.merge(of(part, from));
          now = std::move(next);
        }
        return now;
      }
      case Node::Kind::Optional: {
        auto ends = of(node.parts[0], at);
        ends.insert(at);
        return ends;
      }
      case Node::Kind::Many: {
        Ends all{at}, fresh{at};
        while (!fresh.empty()) {
          Ends next;
          for (const auto from : fresh) {
            for (const auto end : of(node.parts[0], from)) {
              if (all.insert(end).second) next.insert(end);
            }
          }
          fresh = std::move(next);
        }
        return all;
      }
    }
    return {};
  }

  const std::map<std::string, Node>& rules_;
  const std::string& text_;
  std::map<std::pair<const Node*, std::size_t>, Ends> known_;
};

/// Whether gexp finds mistakes of form: not those of numbers, units and limits, which the rules leave out.
bool parses(const std::string& text) {
  for (const auto& diagnostic : Checked(text).diagnostics.sorted()) {
    if ((diagnostic.code >= "E0102" && diagnostic.code <= "E0108") || diagnostic.code == "E0203") return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the rules of docs/language/grammar.md accept what the parser accepts") {
  const Rules rules(read(fs::path(GEXP_SOURCE_DIR) / "docs/language/grammar.md"));
  std::vector<std::string> texts;
  for (const char* folder : {"experiments", "tests/cases"}) {
    for (const auto& path : files_under(folder, ".gexp")) texts.push_back(read(path));
  }
  for (auto& text : short_texts()) texts.push_back(std::move(text));
  REQUIRE(texts.size() > 150);
  std::size_t accepted = 0;
  for (const auto& text : texts) {
    const auto problems = Checked(text).diagnostics.sorted();
    // A clause that stands twice, a byte of no text and too deep a nesting may or may not fit the rules; the parser tells them either way.
    if (std::any_of(problems.begin(), problems.end(), [](const Diagnostic& d) { return d.code == "E0110" || d.code == "E0101"; })) continue;
    const bool wanted = parses(text);
    accepted += wanted ? 1 : 0;
    const auto plain = text.starts_with("\xef\xbb\xbf") ? text.substr(3) : text;  // a byte order mark is no part of the text
    CHECK_MESSAGE(Recognizer(rules.rules, plain).whole() == wanted, std::string(wanted ? "only the parser accepts: " : "only the rules accept: "), text);
  }
  CHECK(accepted > 80);
}
