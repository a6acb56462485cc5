// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "compiler/codegen/body_writer.h"

// Variables of each thread. What one can be is what its type can be, so that no access that it decides leaves its memory, whatever was loaded.
namespace gexp::compiler {
namespace {

struct VariableType {
  std::string_view word, text;
  double low, high;
  int fraction = 0;
};

constexpr double k2to63 = 9223372036854775808.0;  // a number of 64 bits is computed with as one with a sign

constexpr auto kVariableTypes = std::to_array<VariableType>({
    {"u8", "unsigned char", 0, 255},
    {"s8", "signed char", -128, 127},
    {"u16", "unsigned short", 0, 65535},
    {"s16", "short", -32768, 32767},
    {"u32", "unsigned int", 0, 4294967295.0},
    {"s32", "int", -2147483648.0, 2147483647.0},
    {"u64", "unsigned long long", -k2to63, k2to63},
    {"s64", "long long", -k2to63, k2to63},
    {"f32", "float", -k2to63, k2to63, 4},
    {"f64", "double", -k2to63, k2to63, 8},
});

const VariableType& variable_type(std::string_view word) {
  for (const auto& type : kVariableTypes) {
    if (type.word == word) return type;
  }
  return kVariableTypes[4];  // the checker has refused other words
}

/// What was loaded as bits, as the type has it.
std::string of_bits(const VariableType& type, const std::string& value) {
  if (type.fraction == 4) return fmt::format("__uint_as_float((u32){})", value);
  return fmt::format(fmt::runtime(type.fraction == 8 ? "__longlong_as_double((long long){1})" : "({0}){1}"), type.text, value);
}

}  // namespace

BodyWriter::Variable& BodyWriter::declare_variable(const Op& op, const std::string& name, const std::string& word) {
  const auto& type = variable_type(word);
  const auto [declared, fresh_one] = declared_.try_emplace(&op);
  if (fresh_one) {  // its first value is given where it stands, in every round of an `unroll`
    declared->second = fresh("y");
    (rehearsed_ ? addresses_ : before_loops_) += fmt::format("{}{} {} = 0;\n", rehearsed_ ? "    " : "      ", type.text, declared->second);
  }
  code_.declare(name, type.fraction > 0 ? declared->second : fmt::format("(long long){}", declared->second), {type.low, type.high, 1, type.fraction});
  return variables_[name] = {declared->second, std::string(type.text), type.fraction, false};
}

std::optional<Diagnostic> BodyWriter::var(const Op& op, Region&) {
  auto value = value_text(*op.value, variable_type(op.type).fraction);
  if (!value) return value.error();
  auto& variable = declare_variable(op, op.variable, op.type);
  variable.settable = true;
  line("{} = ({})({});", variable.name, variable.type, *value);
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::assign(const Op& op, Region&) {
  const auto& variable = variables_.at(op.variable);
  auto value = value_text(*op.value, variable.fraction);
  if (!value) return value.error();
  line("{} = ({})({});", variable.name, variable.type, *value);
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::give(const Op& op, const Memory& memory, int width, const std::string& value) {
  reads_contents_ = true;
  if (width == 16) return error(op.span, "E0417", "a variable holds 1 to 8 bytes, not 16", "write `as 8B`");
  const bool whole = !is_fraction(memory.element), element = width == memory.element_bytes;
  if (!whole && !element) {
    return error(op.span, "E0428", fmt::format("a variable has whole elements, and `{}` holds {}, of another width", memory.name, memory.element), fmt::format("write `as {}B`", memory.element_bytes));
  }
  const auto type = !whole && width == 2 ? "f32" : whole ? fmt::format("{}{}", element && memory.element.starts_with('s') ? 's' : 'u', 8 * width) : memory.element;
  const bool known = code_.has_variable(op.gives);
  const auto& variable = known ? variables_.at(op.gives) : declare_variable(op, op.gives, type);
  if (!whole && variable.fraction == 0) {
    return error(op.span, "E0428", fmt::format("`{}` is a whole number, and `{}` holds {}", op.gives, memory.name, memory.element), fmt::format("declare it as `var {}: {} = 0`", op.gives, memory.element));
  }
  if (!known && whole && memory.holds && element) code_.declare(op.gives, fmt::format("(long long){}", variable.name), held_.at(memory.name));
  line("{} = ({}){};", variable.name, variable.type, !whole && width == 2 ? of_half(memory, value) : of_bits(variable_type(type), value));
  return std::nullopt;
}

/// An element of 2 B as f32. Every bf16 is the upper half of one; for f16 there is an instruction, which C has no word for without a header.
std::string BodyWriter::of_half(const Memory& memory, const std::string& bits) {
  if (memory.element == "bf16") return fmt::format("__uint_as_float((u32){} << 16)", bits);
  const auto made = fresh("h");
  line("float {0}; asm(\"{{ .reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h; }}\" : \"=f\"({0}) : \"r\"((u32){1}));", made, bits);
  return made;
}

/// What a store writes of a number that an element of fractions gets: to the nearest, of two the even one.
std::string BodyWriter::bits_of(const Memory& memory, const std::string& number) {
  if (memory.element == "f32") return fmt::format("__float_as_uint({})", number);
  if (memory.element == "f64") return fmt::format("__double_as_longlong({})", number);
  const auto given = fresh("h"), bits = fresh("h");
  line("const float {} = {};", given, number);
  if (memory.element == "bf16") return fmt::format("{0} != {0} ? 0x7fffu : (__float_as_uint({0}) + 0x7fffu + (__float_as_uint({0}) >> 16 & 1)) >> 16", given);
  line("u32 {0}; asm(\"{{ .reg .b16 h; cvt.rn.f16.f32 h, %1; cvt.u32.u16 %0, h; }}\" : \"=r\"({0}) : \"f\"({1}));", bits, given);
  return bits;
}

// The clock is read when what was loaded above in this body is there: in a kernel nothing else would hold the read back.
std::optional<Diagnostic> BodyWriter::stamp(const Op& op, Region& region) {
  consume_loaded(region);
  const auto& variable = code_.has_variable(op.variable) ? variables_.at(op.variable) : declare_variable(op, op.variable, "u32");
  settle("sum");
  line("{} = ({})(gexp_clock() - begin);", variable.name, variable.type);
  return std::nullopt;
}

std::optional<Diagnostic> BodyWriter::keep(const Op& op, Region& region) {
  if (place_.role) return error(op.span, "E0418", "`keep` stands in a launch of one stage", "time this stage `total` or `each`, or let no stage run beside it");
  auto value = code_.text(*op.value);
  if (!value) return value.error();
  constexpr double kMost = 1099511627776.0;  // 2^40: more than any record has
  plan_.kept += static_cast<std::uint64_t>(std::min(kMost, region.rounds));
  line("if (pass == 1) {{ if (taken + 1 < (u32){0}) records[gtid * {0} + 1 + taken] = (u32)({1}); ++taken; }}", kept_argument_, *value);
  return std::nullopt;
}

}  // namespace gexp::compiler
