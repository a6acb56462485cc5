// SPDX-License-Identifier: Apache-2.0
// Expectations of a finding that is an interval: it holds, or does not, where it does for every value within.
#include <cmath>
#include <doctest/doctest.h>

#include "compiler/pipeline.h"
#include "runtime/result/judge.h"

using namespace gexp;
using Status = result::Judgement::Status;

namespace {

result::Judgement judged(const std::string& condition, bool exact, std::pair<double, double> interval = {2048, 4095}) {
  const Source source("t.gexp", "gexp 1\nexperiment t\nmemory A: u32[64KiB] in global\nstage s {\n  sweep n in 1KiB..4KiB times 2\n  pattern r = uniform(stride: 32B, span: n)\n"
                                "  launch grid 1 block 1\n  timed lat each { chase A by r laps 2 via nc }\n  find C: B = last_flat(misses(lat) over n)\n}\nexpect " + condition + "\n");
  Diagnostics diagnostics;
  const auto program = compiler::compile(source, {}, diagnostics);
  REQUIRE(program);
  infer::Finding finding;
  finding.id = "s.C", finding.value = Value(2048.0, kBytes), finding.status = infer::Finding::Status::Found;
  finding.interval = interval, finding.exact = exact;
  compiler::Names scope;
  scope.set("s", Value(Fields{{"C", finding.value}}));
  return result::judge(program->expects[0], scope, {}, {finding});
}

/// What `expect s.kind.name == truth` is worth, in a set of so many ways; truth is what a model says.
Status of_policy(const std::string& found, const std::string& truth, double ways, bool of_tlb = false, const char* op = "==") {
  compiler::Formula root, model, equal;
  using Kind = compiler::Formula::Kind;
  const auto field = [](compiler::Formula of, const char* text) {
    compiler::Formula formula;
    formula.kind = Kind::Field, formula.text = text;
    formula.operands = {std::make_shared<const compiler::Formula>(std::move(of))};
    return formula;
  };
  root.kind = Kind::Name, root.text = "s";
  model.kind = Kind::Name, model.text = "model";
  equal.kind = *op == '=' ? Kind::Equal : Kind::NotEqual;
  equal.operands = {std::make_shared<const compiler::Formula>(field(field(root, "kind"), "name")),
                    std::make_shared<const compiler::Formula>(field(field(model, "nc"), "replacement"))};
  compiler::Expectation expectation;
  expectation.condition = std::make_shared<const compiler::Formula>(std::move(equal));
  compiler::Names scope;
  Fields cache{{"replacement", Value(truth)}};
  if (of_tlb) cache["reach"] = Value(4096.0, kBytes);
  scope.set("s", Value(Fields{{"kind", Value(Fields{{"name", Value(found)}, {"ways", Value(ways)}})}}));
  scope.set("model", Value(Fields{{"nc", Value(std::move(cache))}}));
  return result::judge(expectation, scope, {}, {}).status;
}

}  // namespace

TEST_CASE("two names of one policy are no error, in a set of as many ways as were found") {
  CHECK(of_policy("lru", "lru", 16) == Status::Pass);
  CHECK(of_policy("lru", "plru", 2) == Status::Pass);
  CHECK(of_policy("lru", "plru", 4) == Status::Fail);
  CHECK(of_policy("nru", "qlru_h00_m0_r0_u1", 8) == Status::Pass);
  CHECK(of_policy("nru", "qlru_h00_m0_r0_u1", 8, false, "!=") == Status::Fail);
  CHECK(of_policy("qlru_h00_m1_r0_u1", "qlru_h00_m1_r2_u1", 8) == Status::Fail);
  CHECK(of_policy("qlru_h00_m1_r0_u1", "qlru_h00_m1_r2_u1", 8, true) == Status::Pass);  // no launch empties a TLB
  CHECK(of_policy("qlru_h00_m3_r2_u0", "qlru_h10_m3_r2_u0", 16) == Status::Unknown);
  CHECK(of_policy("lru", "random", 2) == Status::Fail);
}

namespace {

/// What `expect s.S.FIELD == model.nc.FIELD` is worth, where lines up to `last` were walked.
Status of_functions(const char* name, Fields found, Fields truth, double last) {
  using Kind = compiler::Formula::Kind;
  const auto field = [](const char* of, const char* inner, const char* text) {
    compiler::Formula root, middle, formula;
    root.kind = Kind::Name, root.text = of;
    middle.kind = Kind::Field, middle.text = inner, middle.operands = {std::make_shared<const compiler::Formula>(std::move(root))};
    formula.kind = Kind::Field, formula.text = text, formula.operands = {std::make_shared<const compiler::Formula>(std::move(middle))};
    return std::make_shared<const compiler::Formula>(std::move(formula));
  };
  compiler::Formula equal;
  equal.kind = Kind::Equal;
  equal.operands = {field("s", "S", name), field("model", "nc", name)};
  compiler::Expectation expectation;
  expectation.condition = std::make_shared<const compiler::Formula>(std::move(equal));
  found["members"] = List{Value(0.0, kBytes), Value(last, kBytes)};
  compiler::Names scope;
  scope.set("s", Value(Fields{{"S", Value(std::move(found))}}));
  scope.set("model", Value(Fields{{"nc", Value(std::move(truth))}}));
  return result::judge(expectation, scope, {}, {}).status;
}

Fields functions(const char* word, const std::vector<std::vector<double>>& rows) {
  List bits;
  for (const auto& row : rows) {
    List parts;
    for (const double bit : row) parts.emplace_back(bit);
    bits.push_back(row.size() == 1 && *word == 'b' ? parts[0] : Value(std::move(parts)));
  }
  return {{"mapping", Value(std::string(word))}, {"bits", Value(std::move(bits))}};
}

}  // namespace

TEST_CASE("functions of the address are those of the lines that were walked") {
  const auto found = functions("xor", {{5, 12}, {6}, {7}}), truth = functions("xor", {{5, 12}, {6, 13}, {7, 14}});
  CHECK(of_functions("bits", found, truth, 6000) == Status::Pass);
  CHECK(of_functions("mapping", found, truth, 6000) == Status::Pass);
  CHECK(of_functions("bits", found, truth, 9000) == Status::Fail);  // bit 13 was walked
  CHECK(of_functions("bits", functions("bits", {{5}, {6}, {7}}), truth, 6000) == Status::Fail);  // bit 12 was
  CHECK(of_functions("mapping", functions("bits", {{5}, {6}, {7}}), truth, 4000) == Status::Pass);
  CHECK(of_functions("bits", functions("xor", {{5, 6}, {6}}), functions("bits", {{5}, {6}}), 4000) == Status::Pass);  // another basis
  CHECK(of_functions("bits", functions("bits", {{5}}), functions("bits", {{5}, {13}}), 6000) == Status::Fail);  // half of the sets were not reached
}

TEST_CASE("groups that have turns are those of the lines of a set") {
  const auto with_groups = [](const std::vector<std::vector<double>>& set, const std::vector<std::vector<double>>& groups) {
    auto fields = functions("xor", set);
    fields["groups"] = functions("xor", groups)["bits"];
    return fields;
  };
  const auto truth = with_groups({{7, 9}, {8, 10}}, {{9, 14}, {7, 12, 18}});
  const auto found = [&](const std::vector<std::vector<double>>& groups) {
    return of_functions("groups", with_groups({}, groups), truth, 100000);
  };
  CHECK(found({{9, 14}, {7, 12}}) == Status::Pass);  // no line differed in bit 18
  CHECK(found({{7, 14}, {9, 12}}) == Status::Pass);  // bits 7 and 9 together are the set's
  CHECK(found({{9, 14}, {7, 13}}) == Status::Fail);
  CHECK(found({{7, 12}, {9, 14}}) == Status::Fail);  // another order of turns
  CHECK(found({{9, 14}}) == Status::Fail);
}

TEST_CASE("an expectation of an interval is judged where all of its values agree") {
  CHECK(judged("s.C == 2KiB", true).status == Status::Pass);
  CHECK(judged("s.C == 3KiB", true).status == Status::Fail);
  CHECK(judged("s.C == 2KiB", false).status == Status::Unknown);
  CHECK(judged("s.C == 3KiB", false).status == Status::Unknown);
  CHECK(judged("s.C == 8KiB", false).status == Status::Fail);
  CHECK(judged("s.C < 8KiB", false).status == Status::Pass);
  CHECK(judged("s.C < 3KiB", false).status == Status::Unknown);
  CHECK(judged("s.C within 60% of 3KiB", false).status == Status::Pass);
  // Neither end holds, and a value between them does.
  CHECK(judged("s.C within 1% of 3KiB", false).status == Status::Unknown);
  CHECK(judged("abs(s.C - 3KiB) <= 16B", false).status == Status::Unknown);
  CHECK(judged("abs(3KiB - s.C) <= 16B", false).status == Status::Unknown);
  CHECK(judged("s.C > 3000B and s.C < 3100B", false).status == Status::Unknown);
  CHECK(judged("s.C in 3000B..3100B", false).status == Status::Unknown);
  CHECK(judged("s.C != 3KiB", false).status == Status::Unknown);
  CHECK(judged("abs(s.C - 8KiB) <= 16B", false).status == Status::Fail);
  CHECK(judged("abs(s.C - 3KiB) <= 2KiB", false).status == Status::Pass);
  // A stranger's result may hold anything.
  CHECK(judged("s.C == 2KiB", false, {4095, 2048}).status == Status::Unknown);
  CHECK(judged("s.C == 2KiB", false, {NAN, NAN}).status == Status::Unknown);
  CHECK(judged("s.C < 8KiB", false, {-INFINITY, INFINITY}).status == Status::Unknown);
  CHECK(judged("s.C == 3KiB", false).observed.find("s.C is between 2 KiB and 4095 B, told no finer") != std::string::npos);
}
