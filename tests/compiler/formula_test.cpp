// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>


#include "compiler/codegen/template.h"
#include "compiler/formula/pattern.h"
#include "compiler/plan/expand.h"
#include "tests/compiler/compile.h"

using namespace gexp;
using namespace gexp::compiler;

namespace {

/// The value of an expression, written as the value of a let.
Result<Value> value_of(const std::string& expression, const std::string& before = "") {
  const auto compiled = test::compile("gexp 1\nexperiment t\n" + before + "\nlet it = " + expression + "\n");
  REQUIRE_MESSAGE(compiled.program, compiled.text());
  auto scope = file_scope(*compiled.program);
  if (!scope) return scope.error();
  return *scope->lookup("it");
}

double number(const std::string& expression, const std::string& before = "") {
  const auto value = value_of(expression, before);
  REQUIRE(value.ok());
  REQUIRE(value->get<Number>());
  return value->get<Number>()->number;
}

std::vector<std::int64_t> offsets(const std::string& expression) {
  const auto value = value_of(expression);
  REQUIRE(value.ok());
  const auto pattern = as_pattern(*value, {});
  REQUIRE(pattern.ok());
  return (*pattern)->offsets;
}

/// A constant that cannot be is refused while compiling.
std::string error_code(const std::string& expression) {
  return test::compile("gexp 1\nexperiment t\nlet it = " + expression + "\n").codes();
}

}  // namespace

TEST_CASE("arithmetic binds as it is read") {
  CHECK(number("1 + 2 * 3") == 7);
  CHECK(number("(1 + 2) * 3") == 9);
  CHECK(number("-7 mod 4") == 1);
  CHECK(number("7 div 2") == 3);
  CHECK(number("48KiB div 1KiB") == 48);
  CHECK(number("gcd(24, 32)") == 8);
  CHECK(number("min(3, 2, 5)") == 2);
  CHECK(number("10% * 50") == 5);
}

TEST_CASE("bits of whole numbers, in brackets beside comparisons") {
  CHECK(number("12 and 10") == 8);
  CHECK(number("12 or 3") == 15);
  CHECK(number("12 xor 10") == 6);
  CHECK(number("3 shl 4") == 48);
  CHECK(number("-7 shr 1") == -4);
  CHECK(number("-1 and 255") == 255);
  CHECK(number("1 + 1 shl 2") == 5);
  CHECK(number("96KiB and 63KiB") == 32 * 1024);
  CHECK(number("1 or 6 xor 2 and 3") == 5);  // and, then xor, then or
  CHECK(*value_of("(12 and 10) == 8 and not (1 == 1 xor 2 == 2)")->get<bool>());
  CHECK(error_code("0.5 and 1") == "E0404");
  CHECK(error_code("1 shl 54") == "E0404");
  CHECK(error_code("3 shl 53") == "E0404");
  CHECK(error_code("1 shr (0 - 1)") == "E0404");
  CHECK(error_code("4B and 1") == "E0211");
  CHECK(error_code("4 shl 1B") == "E0210");
  CHECK(error_code("1 == 1 and 4") == "E0215");
}

TEST_CASE("items of a pattern") {
  CHECK(number("item([8B, 4B], 1)") == 4);
  CHECK(error_code("item([8B, 4B], 2)") == "E0404");
  CHECK(error_code("item([8B, 4B], 0.5)") == "E0404");
}

TEST_CASE("values that cannot be are errors, not numbers") {
  CHECK(error_code("1 div 0") == "E0402");
  CHECK(error_code("gcd(1.5, 2)") == "E0404");
  CHECK(error_code("uniform(stride: 0B, span: 64B)") == "E0412");
  CHECK(error_code("[i * 1B for i in 0..1e12]") == "E0406");
}

TEST_CASE("the named patterns are sequences of the algebra") {
  CHECK(offsets("uniform(stride: 32B, span: 100B)") == std::vector<std::int64_t>{0, 32, 64, 96});
  CHECK(offsets("[i * 4B + j * 1KiB for i in 0..1 for j in 0..1]") == std::vector<std::int64_t>{0, 1024, 4, 1028});
  CHECK(offsets("nonuniform(a: uniform(stride: 8B, span: 0B), b: [64B, 0B])") == std::vector<std::int64_t>{64, 0});
  CHECK(offsets("repeat([0B, 4B], 2)") == std::vector<std::int64_t>{0, 4, 0, 4});
  auto mixed = offsets("shuffle(uniform(stride: 4B, span: 400B), 3)");
  CHECK(mixed != offsets("uniform(stride: 4B, span: 400B)"));
  CHECK(mixed == offsets("shuffle(uniform(stride: 4B, span: 400B), 3)"));
  CHECK(mixed != offsets("shuffle(uniform(stride: 4B, span: 400B), 4)"));
  std::sort(mixed.begin(), mixed.end());
  CHECK(mixed == offsets("uniform(stride: 4B, span: 400B)"));
}

TEST_CASE("bank is one offset a lane") {
  const auto value = value_of("bank(stride: 3, word: 8B)");
  REQUIRE(value.ok());
  const auto pattern = *value->get<std::shared_ptr<const Pattern>>();
  CHECK(pattern->threads == 32);
  CHECK(pattern->at(31, 0) == 31 * 24);
}

TEST_CASE("templates refuse holes that do not match") {
  CHECK(*Template::parse("t", "a ${x} b ${y:>4}")->fill({{"x", "1"}, {"y", "2"}}) == "a 1 b    2");
  CHECK(Template::parse("t", "${x}")->fill({}).error().code == "E0505");
  CHECK(Template::parse("t", "none")->fill({{"x", "1"}}).error().code == "E0505");
  CHECK(Template::parse("t", "${x").error().code == "E0505");
  CHECK(Template::parse("t", "${x:q}")->fill({{"x", "1"}}).error().code == "E0505");
}
