// SPDX-License-Identifier: Apache-2.0
// docs/language/grammar.md against the parser: the rules as they are written there accept the texts that the parser accepts.
#include <doctest/doctest.h>

#include <algorithm>

#include <map>
#include <memory>
#include <set>

#include "lang/words.h"
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
    if (what == "CALLEE") return reserved && text_.compare(at, end - at, "repeat") != 0 ? at : end;
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
  const std::string head = "gexp 1 experiment t ";
  for (const char* one : {
           "let a = 1..2", "let a = [1, 2,]", "let a = [1, 2,,]", "let a = (1, 2)", "let a = (1, 2,)", "let a = f(1, 2,)", "let a = f(,)", "let a = f()", "let a = [ ]",
           "let a = f (1)", "let a = - - 4B ?? 3", "let a = not not b or c and not d", "let a = b < c < d", "let a = b within 2% of c in d..e", "let a = (b within 2% of c)",
           "let a = [x for x in 0..4 step 2 for y in l]", "let a = [for x in l]", "let a = b . c", "let a = b.c.d", "let a = b.load", "let a = 4 KiB", "let a = 4GB/s", "let a = 4GB/hour",
           "let a = 4GB/ s", "let a = 1e5 let b = 1e", "let a = \"x\ny\"", "let load = 4", "budget memory A: u32[4] in global", "budget memory 4MiB memory A: u32[4] in global",
           "budget time 4s", "budget", "seed 4", "seed 4B", "seed a", "meta a \"b\"", "meta load \"b\"", "use \"a\" as b", "use \"a\" as b sha256 \"c\"", "use \"a\"", "param a: B = 4 in 1..4 doc \"x\"",
           "param a: B/s = 4 in [1, 2] refine to 3 on x until y", "param a: B = 4 or 5", "memory A: u32[4] in global align 4 page 5", "memory A: u32 [4] in global", "pattern p = repeat(q, 3)",
           "let repeat = 3", "require a else \"b\"", "require a \"b\"", "expect a where b on c, \"d e\" from \"f\" xfail \"g\"", "expect a on", "stage s doc \"x\" { }", "stage s { stage t { } }",
           "stage s { sweep (a, b) in [(1, 2)] sweep a in b points 3 log refine to 3 on d until e }", "stage s { sweep a in 1..2 log }", "stage s { skip a }", "stage s { launch }",
           "stage s { launch place sm bank 4B persm 3 smem 4 cluster 3 }", "stage s { warm { } timed t each { loop i in 0..3 { branch a < 3 { barrier } } } }", "stage s { warm { chase A by m.r laps 3 as 4B via ca as 8B } }",
           "stage s { warm { chase A by m.r.s laps 3 } }", "stage s { warm { chase A by r } }", "stage s { timed t each { alu a.b.c chain 1 ilp 2 alu x chain 2 } }", "stage s { barrier }",
           "stage s { repeat 3 repeat 3..4 until a record t raw derive a: B = b find c: list = f(a over b by c where d, e: g) need 3% plot a vs b by c log d, e }",
           "stage s { find a: B = b }", "stage s { plot a }", "flush l2 }", "let a = b # c", "let a = b c", "memory A: u32[4] in global }", "let a = b == = c", "let a == b", "let a = b mod c div d * e / f",
           "let a = f(l: 3, m :4)", "let a = f(l: m: 3)", "let a = f(over 3)", "let over = 3 let by = over", "let a = repeat (3)",
           "let a = f(b over 1 or 2)", "let a = [b for b in 1 or 2..3]", "let a = b in 1..2 or 3", "let a = -not b",
           "param a: B = 4 in 1..2 or 3", "memory A: u32[4 or 5] in global", "budget time 1 or 2", "expect a or b",
           "stage s { sweep a in 1 or 2 }", "stage s { sweep a in 1..2 or 3 }", "stage s { sweep a in 1..2 step 1 or 2 }",
           "stage s { sweep a in 1..2 times 1 or 2 }", "stage s { sweep a in 1..2 points 1 or 2 }",
           "stage s { sweep a in 1..2 refine to 1 or 2 on b }", "stage s { sweep a in 1..2 refine to 1 on b or c until d or e }",
           "stage s { sweep a in 1..2 until b refine to 1 on c }", "stage s { launch grid 1 or 2 }", "stage s { launch block 1 or 2 }",
           "stage s { launch carveout 1 or 2 }", "stage s { skip a or b why \"c\" }", "stage s { skip a why }",
           "stage s { require a or b else \"c\" }", "stage s { let a = b or c }", "stage s { pattern a = b or c }",
           "stage s { repeat 1 or 2 }", "stage s { repeat 1..2 or 3 }", "stage s { repeat 1..2 until a or b }",
           "stage s { derive a: B = b or c }", "stage s { find a: B = f(b) need 1 or 2 }", "stage s { plot a or b vs c }",
           "stage s { plot a vs b or c }", "stage s { plot a vs b log c by d }", "stage s { record a }", "stage s { record a b c }",
           "stage s { flush }", "stage s { timed t { } }", "stage s { timed t each }", "stage s { warm }",
           "stage s { warm { chase A by r laps 1 or 2 } }", "stage s { warm { chase A by r steps 1 as 1 or 2 } }",
           "stage s { warm { load A at 1 or 2 } }", "stage s { warm { store A at 1 via cg as 2 } }", "stage s { warm { load A by 1 } }",
           "stage s { warm { alu x chain 1 or 2 ilp 1 } }", "stage s { warm { alu x chain 1 ilp 1 or 2 } }",
           "stage s { warm { unroll i in 1 or 2..3 { } } }", "stage s { warm { loop i in 1..2 or 3 { } } }",
           "stage s { warm { loop i in 1 { } } }", "stage s { warm { branch a or b { } } }", "stage s { warm { branch { } } }",
           "stage s { warm { barrier barrier } }", "stage s { expect a on b, where c }"}) {
    texts.push_back(head + one);
  }
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
