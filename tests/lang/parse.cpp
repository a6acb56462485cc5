// SPDX-License-Identifier: Apache-2.0
#include "lang/parse.h"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tests/lang/support.h"

using namespace gexp;
using namespace gexp::lang;
using gexp::test::files_under;
using gexp::test::read;

namespace {

struct Parsed {
  Source source;
  Diagnostics diagnostics;
  File file;
  explicit Parsed(const std::string& text) : source("test.gexp", "gexp 1\nexperiment x\n" + text + "\n"), file(lang::parse(source, diagnostics)) {}

  /// "E0103 setp; …": code and the text pointed at.
  [[nodiscard]] std::string points() const {
    std::string all;
    for (const auto& d : diagnostics.sorted()) all += (all.empty() ? "" : "; ") + d.code + " " + std::string(source.slice(d.span));
    return all;
  }
  template <class T> [[nodiscard]] const T& at(std::size_t index) const { return std::get<T>(file.statements.at(index).node); }
};

/// An expression with every operation in brackets: how it was read.
std::string shape(const Expr& expression);
std::string shape(const ExprPtr& expression) { return expression ? shape(*expression) : "-"; }

struct Shape {
  std::string operator()(const Quantity& q) const { return fmt::format("{}{}", q.number, q.unit); }
  std::string operator()(const Text& t) const { return fmt::format("\"{}\"", t.value); }
  std::string operator()(const Name& n) const { return n.text; }
  std::string operator()(const Member& m) const { return fmt::format("{}.{}", shape(m.of), m.field.text); }
  std::string operator()(const Call& c) const {
    std::vector<std::string> arguments;
    for (const auto& a : c.arguments) {
      arguments.push_back(fmt::format("{}{}{}{}{}", a.label ? a.label->text + ": " : "", shape(a.value), a.over ? " over " + shape(a.over) : "",
                                      a.by ? " by " + a.by->text : "", a.where ? " where " + shape(a.where) : ""));
    }
    return fmt::format("{}({})", c.callee.text, fmt::join(arguments, ", "));
  }
  std::string operator()(const ListOf& l) const {
    std::vector<std::string> items;
    for (const auto& item : l.items) items.push_back(shape(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::string operator()(const Comprehension& c) const {
    std::string text;
    for (const auto& f : c.loops) {
      text += fmt::format(" for {} in {}{}{}", f.name.text, shape(f.from), f.to ? ".." + shape(f.to) : "", f.step ? " step " + shape(f.step) : "");
    }
    return fmt::format("[{}{}]", shape(c.item), text);
  }
  std::string operator()(const Unary& u) const { return fmt::format("({}{})", u.op == UnaryOp::Not ? "not " : "-", shape(u.operand)); }
  std::string operator()(const Binary& b) const {
    static const char* signs[] = {"+", "-", "*", "/", "div", "mod", "shl", "shr", "==", "!=", "<", "<=", ">", ">=", "and", "xor", "or", "??"};
    return fmt::format("({} {} {})", shape(b.left), signs[static_cast<int>(b.op)], shape(b.right));
  }
  std::string operator()(const Within& w) const { return fmt::format("({} within {} of {})", shape(w.value), shape(w.tolerance), shape(w.target)); }
  std::string operator()(const InRange& r) const { return fmt::format("({} in {}..{})", shape(r.value), shape(r.low), shape(r.high)); }
};
std::string shape(const Expr& expression) { return std::visit(Shape{}, expression.node); }

std::string shape_of(const std::string& expression) {
  const Parsed parsed("let it = " + expression);
  CAPTURE(expression);
  REQUIRE(parsed.points() == "");
  REQUIRE(parsed.file.statements.size() == 1);
  return shape(parsed.at<Let>(0).value);
}

}  // namespace

TEST_CASE("every experiment and example parses") {
  for (const char* folder : {"experiments", "tests/cases/examples"}) {
    for (const auto& path : files_under(folder, ".gexp")) {
      CAPTURE(path.string());
      const Source source(path.string(), read(path));
      Diagnostics diagnostics;
      const auto file = lang::parse(source, diagnostics);
      CHECK(diagnostics.empty());
      CHECK(file.statements.size() >= 3);
      CHECK(file.version == 1);
    }
  }
}

TEST_CASE("operators bind as they are read") {
  CHECK(shape_of("1 + 2 * 3") == "(1 + (2 * 3))");
  CHECK(shape_of("1 - 2 - 3") == "((1 - 2) - 3)");
  CHECK(shape_of("a div b mod c") == "((a div b) mod c)");
  CHECK(shape_of("-a * b") == "((-a) * b)");
  CHECK(shape_of("- -a") == "(-(-a))");
  CHECK(shape_of("a ?? b + 1") == "(a ?? (b + 1))");
  CHECK(shape_of("a == b and c < d or not e") == "(((a == b) and (c < d)) or (not e))");
  CHECK(shape_of("not not a == b") == "(not (not (a == b)))");
  CHECK(shape_of("a within 2% of b and c in 1..4") == "((a within 2% of b) and (c in 1..4))");
  CHECK(shape_of("(a + b) * c") == "((a + b) * c)");
  CHECK(shape_of("a.b.c + 1") == "(a.b.c + 1)");
}

TEST_CASE("numbers, units, intervals and texts") {
  CHECK(shape_of("48KiB") == "48KiB");
  CHECK(shape_of("2%") == "2%");
  CHECK(shape_of("128ops/cycle") == "128ops/cycle");
  CHECK(shape_of("1elem") == "1elem");
  CHECK(shape_of("1.5") == "1.5");
  CHECK(shape_of("1e3") == "1000");
  CHECK(shape_of("2e3B") == "2000B");
  CHECK(shape_of("a in 1..2") == "(a in 1..2)");
  CHECK(shape_of("a in 1.5..2.5") == "(a in 1.5..2.5)");
  CHECK(shape_of("a in 1elem..b.c") == "(a in 1elem..b.c)");
  CHECK(shape_of("\"a # b\"") == "\"a # b\"");
}

TEST_CASE("lists and comprehensions") {
  CHECK(shape_of("[]") == "[]");
  CHECK(shape_of("[1, 2, ]") == "[1, 2]");
  CHECK(shape_of("[p * 2 for p in 0..8 step 2]") == "[(p * 2) for p in 0..8 step 2]");
  CHECK(shape_of("[m + w for m in sets.S.members for w in 0..7]") == "[(m + w) for m in sets.S.members for w in 0..7]");
  CHECK(shape_of("[(1, 2), (3, 4)]") == "[[1, 2], [3, 4]]");
}

TEST_CASE("calls, their labels and clauses") {
  CHECK(shape_of("f()") == "f()");
  CHECK(shape_of("last_flat(misses(lat) over n)") == "last_flat(misses(lat) over n)");
  CHECK(shape_of("f(per over gcd(s, 32) where word == 4B, word: 4B)") == "f(per over gcd(s, 32) where (word == 4B), word: 4B)");
  CHECK(shape_of("clusters(lat by seg)") == "clusters(lat by seg)");
  CHECK(shape_of("repeat(shuffle(p, 3), 2)") == "repeat(shuffle(p, 3), 2)");
  CHECK(shape_of("nonuniform(\n  a: [1B],\n  b: [2B])") == "nonuniform(a: [1B], b: [2B])");
}

TEST_CASE("clause words are names elsewhere") {
  CHECK(shape_of("step + line + page + block + grid + on + by") == "((((((step + line) + page) + block) + grid) + on) + by)");
  const Parsed parsed("param carveout: B = 0B\nstage s { launch grid grid block block carveout carveout }");
  CHECK(parsed.points() == "");
  const Parsed budget("budget time 4s\nmemory A: u32[4KiB] in global\nbudget memory 4MiB");
  CHECK(budget.points() == "");
  CHECK(budget.file.statements.size() == 3);
  const Parsed by_name("param most: B = 1MiB\nbudget time 1s memory most\n");
  CHECK(by_name.points() == "");
  CHECK(by_name.file.statements.size() == 2);
}

TEST_CASE("domains") {
  const auto domain = [](const std::string& text) {
    const Parsed parsed("stage s { sweep n in " + text + " }");
    CAPTURE(text);
    REQUIRE(parsed.points() == "");
    const auto& d = std::get<Sweep>(parsed.at<Stage>(0).items.at(0).node).domain;
    static const char* by[] = {"one", "step", "times", "points", "log points"};
    return shape(d.list) + " " + shape(d.from) + " " + shape(d.to) + " " + by[static_cast<int>(d.by)] + " " + shape(d.amount) + " " +
           shape(d.refine_to) + " " + shape(d.refine_on) + " " + shape(d.until);
  };
  CHECK(domain("0..9") == "- 0 9 one - - - -");
  CHECK(domain("0..9 step 2") == "- 0 9 step 2 - - -");
  CHECK(domain("1..9 times 2 refine to 1 on misses(t) > 0") == "- 1 9 times 2 1 (misses(t) > 0) -");
  CHECK(domain("1..9 points 5") == "- 1 9 points 5 - - -");
  CHECK(domain("1..9 points 5 log until a == b") == "- 1 9 log points 5 - - (a == b)");
  CHECK(domain("[1, 2]") == "[1, 2] - - one - - - -");
  CHECK(domain("a.list") == "a.list - - one - - - -");
}

TEST_CASE("statements keep every clause") {
  const Parsed parsed(R"(meta cite "a paper"
use "lib.gexp" as m sha256 "00ff"
param limit: B = 4KiB in 1KiB..8KiB doc "the limit"
param share: name = "threads" in ["threads", "warps"]
require limit > 1KiB else "too small"
budget time 30s memory 1MiB
seed 42
memory A: u64[limit] in shared page 2MiB align 128B
pattern ring = uniform(stride: 32B, span: limit)
stage s doc "why" {
  sweep (a, b) in [(1, 2), (3, 4)]
  skip a == 3 why "slow"
  launch grid 1 block 32 cluster 2 smem 4KiB persm 1 carveout 8KiB place tpc bank 8B sm 3 sms 2 limit 1s registers 40
  flush l2
  warm { chase A by ring steps 7 as 8B via cg load A at tid * 4B barrier }
  timed t total { unroll j in 0..3 { alu fma.f32 chain 4 ilp 2 } loop p in 0..1 { store A at 0B via ca as 8B } }
  repeat 3..9 until ci(median(t)) < 2%
  record t histogram
  derive y: ops/cycle = 4ops / median(t)
  find c: B = last_flat(y over a) need 95%
  expect c == 4KiB where a == 1 on gtx780, "GTX 980" from "paper" xfail "broken"
  plot y vs a by b log a, y
})");
  REQUIRE(parsed.points() == "");
  REQUIRE(parsed.file.statements.size() == 10);
  CHECK(parsed.at<Meta>(0).value == "a paper");
  CHECK(parsed.at<Use>(1).sha256.text == "00ff");
  CHECK(parsed.source.slice(parsed.at<Use>(1).sha256.span) == "sha256 \"00ff\"");
  CHECK(parsed.at<Param>(2).doc == "the limit");
  CHECK(parsed.at<Param>(3).domain->list != nullptr);
  CHECK(parsed.at<Seed>(6).value == 42);
  CHECK(shape(parsed.at<Memory>(7).align) == "128B");
  const auto& stage = parsed.at<Stage>(9);
  CHECK(stage.doc == "why");
  REQUIRE(stage.items.size() == 12);
  const auto& launch = std::get<Launch>(stage.items[2].node);
  CHECK(shape(launch.persm) == "1");
  CHECK(shape(launch.sm) == "3");
  CHECK(shape(launch.sms) == "2");
  CHECK(shape(launch.bank) == "8B");
  CHECK(shape(launch.registers) == "40");
  CHECK(launch.place->text == "tpc");
  const auto& warm = std::get<Warm>(stage.items[4].node);
  REQUIRE(warm.body.size() == 3);
  CHECK_FALSE(warm.body[0].laps);
  CHECK(shape(warm.body[0].width) == "8B");
  CHECK(warm.body[0].via->text == "cg");
  const auto& timed = std::get<Timed>(stage.items[5].node);
  REQUIRE(timed.body.size() == 2);
  CHECK(timed.body[0].body.at(0).instruction.text == "fma.f32");
  const auto& expect = std::get<Expect>(stage.items[10].node);
  REQUIRE(expect.on.size() == 2);
  CHECK(expect.on[1].text == "GTX 980");
  CHECK(expect.xfail == "broken");
  CHECK(std::get<Plot>(stage.items[11].node).log.size() == 2);
}

TEST_CASE("spans are the text itself") {
  const Parsed parsed("let a = 4KiB  +  (b * c)   # comment\nlet d = 1");
  const auto& let = parsed.at<Let>(0);
  CHECK(parsed.source.slice(let.value->span) == "4KiB  +  (b * c)");
  CHECK(parsed.source.slice(parsed.file.statements[0].span) == "let a = 4KiB  +  (b * c)");
  const auto& sum = std::get<Binary>(let.value->node);
  CHECK(parsed.source.slice(sum.op_span) == "+");
  CHECK(parsed.source.slice(sum.left->span) == "4KiB");
}

TEST_CASE("after a mistake the next statement is read") {
  CHECK(Parsed("let a = 4 +\nlet b = 7kB\nlet c = (1\nlet d = 4").points() == "E0103 ; E0109 kB; E0103 ");
  const Parsed parsed("let a = )\nmemory A: u32[4KiB] in global\nlet b = 2");
  CHECK(parsed.points() == "E0103 )");
  CHECK(parsed.file.statements.size() == 2);
}

TEST_CASE("mistakes are pointed at") {
  CHECK(Parsed("let load = 4").points() == "E0107 load");
  CHECK(Parsed("let a = 7%4").points() == "E0106 %");
  CHECK(Parsed("memory A: u32[48 KiB] in shared").points() == "E0105 48 KiB");
  CHECK(Parsed("let a = 0x10B").points() == "E0109 0x10B");
  CHECK(Parsed("stage s { sweep n in 1..4 setp 2 }").points() == "E0103 setp");
  CHECK(Parsed("stage s { swep n in 1..4 }").points() == "E0102 swep");
  CHECK(Parsed("stage s { chase A by p steps 4 }").points().substr(0, 5) == "E0108");
  CHECK(Parsed("stage s {\nstage t { }").points().substr(0, 5) == "E0104");
  CHECK(Parsed("}").points() == "E0104 }");
}
