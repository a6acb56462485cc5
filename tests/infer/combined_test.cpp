// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/combined.h"

#include <doctest/doctest.h>

#include "runtime/infer/analysis.h"

using namespace gexp;
using namespace gexp::infer;
using compiler::Formula;
using compiler::FormulaPtr;

namespace {

FormulaPtr named(const std::string& text) {
  auto made = std::make_shared<Formula>();
  made->kind = Formula::Kind::Name;
  made->text = text;
  return made;
}

FormulaPtr of(Formula::Kind kind, FormulaPtr a, FormulaPtr b) {
  auto made = std::make_shared<Formula>();
  made->kind = kind;
  made->operands = {std::move(a), std::move(b)};
  return made;
}

Finding part(const std::string& id, double value, double low, double high, double confidence) {
  Finding made;
  made.id = id;
  made.value = Value(value, kCycles);
  made.interval = {low, high};
  made.confidence = confidence;
  made.status = Finding::Status::Found;
  return made;
}

compiler::Question asked(FormulaPtr formula) {
  compiler::Question question;
  question.id = "s.c";
  question.type = "cycles";
  question.combined = std::move(formula);
  question.parts = {"s.c.a", "s.c.b"};
  return question;
}

const FormulaPtr kGap = of(Formula::Kind::Subtract, named("s.c.b"), named("s.c.a"));

}  // namespace

TEST_CASE("a combined finding is no surer than the least sure of its parts, and its ends lie where theirs do") {
  const compiler::Names none;
  const auto made = combine(asked(kGap), {part("s.c.a", 32, 31, 33, 0.95), part("s.c.b", 280, 270, 300, 0.99)}, none);
  CHECK(made.status == Finding::Status::Found);
  CHECK(made.value == Value(248.0, kCycles));
  CHECK(made.confidence == 0.95);
  REQUIRE(made.interval);
  CHECK(made.interval->first == 237);
  CHECK(made.interval->second == 269);
  CHECK(made.evidence.find("s.c.a = 32 cycles (95.00 %)") != std::string::npos);
}

TEST_CASE("where a part is undetermined, it is, for the same reason") {
  const compiler::Names none;
  auto gone = part("s.c.a", 32, 31, 33, 0.95);
  gone.withdraw("other walks contradict it");
  const auto made = combine(asked(kGap), {gone, part("s.c.b", 280, 270, 300, 0.99)}, none);
  CHECK(made.status == Finding::Status::Undetermined);
  CHECK(made.why.find("`s.c.a`") != std::string::npos);
  CHECK(made.why.find("other walks contradict it") != std::string::npos);
  CHECK(made.confidence == 0);
}

TEST_CASE("a finding of an earlier stage counts as what it is made of") {
  auto hit = part("first.hit", 32, 31, 33, 0.8);
  compiler::Names scope;
  scope.set("first", Value(Fields{{"hit", hit.value}}));
  auto field = std::make_shared<Formula>();
  field->kind = Formula::Kind::Field;
  field->text = "hit";
  field->operands = {named("first")};
  auto question = asked(of(Formula::Kind::Subtract, named("s.c.b"), field));
  question.parts = {"s.c.b"};
  const std::vector<Finding> all{hit, part("s.c.b", 280, 270, 300, 0.99)};
  CHECK(combine(question, all, scope).status == Finding::Status::Undetermined);  // 80 % is below what is needed
  CHECK(infer::below_need(0.5, 0.95) == "its confidence of 50.00 % is below the 95 % that is needed");
  CHECK(infer::below_need(0.99949, 0.9995) == "its confidence of 99.949 % is below the 99.95 % that is needed");
  question.need = 0.5;
  CHECK(combine(question, all, scope).confidence == 0.8);
}

TEST_CASE("no interval is told where a divisor passes zero, or a part is read twice") {
  const compiler::Names none;
  const std::vector<Finding> all{part("s.c.a", 1, -1, 3, 0.95), part("s.c.b", 280, 270, 300, 0.99)};
  CHECK(!combine(asked(of(Formula::Kind::Divide, named("s.c.b"), named("s.c.a"))), all, none).interval);
  CHECK(!combine(asked(of(Formula::Kind::Subtract, kGap, named("s.c.a"))), all, none).interval);
  CHECK(combine(asked(kGap), all, none).interval);
}

TEST_CASE("no interval is told where a divisor made of parts passes zero, though no part does") {
  const compiler::Names none;
  const std::vector<Finding> all{part("s.c.a", 100, 90, 110, 0.95), part("s.c.b", 105, 104, 106, 0.99)};
  CHECK(!combine(asked(of(Formula::Kind::Divide, named("s.c.b"), kGap)), all, none).interval);
  const std::vector<Finding> apart{part("s.c.a", 50, 49, 51, 0.95), part("s.c.b", 105, 104, 106, 0.99)};
  auto reads_each_once = asked(of(Formula::Kind::Divide, named("s.c.a"), named("s.c.b")));
  CHECK(combine(reads_each_once, apart, none).interval);
}

TEST_CASE("what is beyond a number is no finding") {
  const compiler::Names none;
  const std::vector<Finding> all{part("s.c.a", 1e200, 1e200, 1e200, 0.95), part("s.c.b", 1e200, 1e200, 1e200, 0.99)};
  CHECK(combine(asked(of(Formula::Kind::Multiply, named("s.c.a"), named("s.c.b"))), all, none).status == Finding::Status::Undetermined);
}

TEST_CASE("parts that answer each value after `by` are combined one by one") {
  const compiler::Names none;
  auto a = part("s.c.a", 0, 0, 0, 0.95), b = part("s.c.b", 0, 0, 0, 0.99);
  a.value = Value(List{Value(30.0, kCycles), Value(40.0, kCycles)});
  b.value = Value(List{Value(100.0, kCycles), Value(100.0, kCycles)});
  auto question = asked(kGap);
  question.each = true;
  CHECK(combine(question, {a, b}, none).value == Value(List{Value(70.0, kCycles), Value(60.0, kCycles)}));
  b.value = Value(List{Value(100.0, kCycles)});
  CHECK(combine(question, {a, b}, none).status == Finding::Status::Undetermined);
}

TEST_CASE("a finding of records that another one chose is no surer than that one, and needs it") {
  compiler::Question question;
  question.id = "s.hit";
  question.type = "cycles";
  question.arguments.emplace_back();
  question.arguments[0].value = named("lat");
  question.arguments[0].where = of(Formula::Kind::LessEqual, named("n"), named("C"));
  auto size = part("s.C", 4096, 4096, 4100, 0.97);
  const auto other_stage = part("t.C", 4096, 4096, 4100, 0.5);

  CHECK(missing_part(question, {other_stage, size}).empty());
  auto hit = part("s.hit", 30, 30, 30, 0.99);
  no_surer_than_chosen_by(hit, question, {other_stage, size});
  CHECK(hit.status == Finding::Status::Found);
  CHECK(hit.confidence == 0.97);

  size.confidence = 0.8;  // below what the question needs
  no_surer_than_chosen_by(hit, question, {other_stage, size});
  CHECK(hit.status == Finding::Status::Undetermined);
  CHECK(hit.why == "30 cycles looks likely, but its confidence of 80.00 % is below the 90 % that is needed: it is that of `s.C`");

  size.status = Finding::Status::Undetermined;
  CHECK(missing_part(question, {other_stage, size}) == "it needs s.C, which was not found");
  question.arguments[0].where = of(Formula::Kind::LessEqual, named("n"), of(Formula::Kind::Else, named("C"), named("most")));
  CHECK(missing_part(question, {other_stage, size}).empty());
}
