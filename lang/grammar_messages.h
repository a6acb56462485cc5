// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lang/grammar.h"

/// What is said where a rule that must match does not: the end of a sentence that begins with what stands there.
namespace gexp::lang::grammar {

template <typename> inline constexpr const char* message = nullptr;

#define GEXP_SAYS(rule, text) template <> inline constexpr const char* message<rule> = text
GEXP_SAYS(string_end, "a text ends with `\"` on the line where it begins");
GEXP_SAYS(clause_value, "a value is wanted after `over`");
GEXP_SAYS(clause_name, "a name is wanted after `by`");
GEXP_SAYS(clause_condition, "a condition is wanted after `where`");
GEXP_SAYS(more_argument, "an argument is wanted after `,`");
GEXP_SAYS(close_call, "`)` or `,` is wanted in this call");
GEXP_SAYS(for_name, "a name is wanted after `for`");
GEXP_SAYS(for_in, "`in` is wanted after the name of `for`");
GEXP_SAYS(for_from, "an interval or a list is wanted after `in`");
GEXP_SAYS(for_to, "the end of the interval is wanted after `..`");
GEXP_SAYS(for_step, "a value is wanted after `step`");
GEXP_SAYS(list_item, "an item of the list is wanted");
GEXP_SAYS(close_bracket, "`]` is wanted");
GEXP_SAYS(close_length, "`]` is wanted");
GEXP_SAYS(close_names, "`)` is wanted");
GEXP_SAYS(open_bracket, "`[` and a length are wanted after the element");
GEXP_SAYS(group_item, "a value is wanted after `(`");
GEXP_SAYS(tuple_more, "a value is wanted after `,`");
GEXP_SAYS(close_group, "`)` is wanted");
GEXP_SAYS(field_text, "a field's name is wanted after `.`");
GEXP_SAYS(operand_after_sign, "a value is wanted after `-`");
GEXP_SAYS(right_factor, "a value is wanted after this operator");
GEXP_SAYS(right_term, "a value is wanted after this operator");
GEXP_SAYS(right_else, "a value is wanted after `\?\?`");
GEXP_SAYS(right_value, "a value is wanted after this comparison");
GEXP_SAYS(tolerance, "a tolerance is wanted after `within`");
GEXP_SAYS(of_word, "`of` is wanted after the tolerance");
GEXP_SAYS(target, "a value is wanted after `of`");
GEXP_SAYS(range_low, "an interval is wanted after `in`");
GEXP_SAYS(range_dots, "`..` and the end of the interval are wanted");
GEXP_SAYS(range_high, "the end of the interval is wanted after `..`");
GEXP_SAYS(negated, "a condition is wanted after `not`");
GEXP_SAYS(right_and, "a condition is wanted after `and`");
GEXP_SAYS(right_xor, "a value or condition is wanted after `xor`");
GEXP_SAYS(right_or, "a condition is wanted after `or`");
GEXP_SAYS(needed_name, "a name is wanted");
GEXP_SAYS(needed_pattern, "a name is wanted");
GEXP_SAYS(needed_word, "a word is wanted");
GEXP_SAYS(needed_scope, "a scope, cta, cluster, gpu or sys, is wanted");
GEXP_SAYS(needed_type, "a type is wanted, such as B, count or cycles");
GEXP_SAYS(needed_string, "a text in `\"` is wanted");
GEXP_SAYS(needed_value, "a value is wanted");
GEXP_SAYS(needed_condition, "a value or condition is wanted");
GEXP_SAYS(needed_transform, "a transformation is wanted: `soft_l1(line: 16B)`");
GEXP_SAYS(needed_call, "an analysis is wanted, such as `last_flat(misses(lat) over n)`");
GEXP_SAYS(gexp_word, "a file begins with `gexp 1`");
GEXP_SAYS(version, "the language's version is wanted after `gexp`");
GEXP_SAYS(experiment_word, "`experiment NAME` is wanted after the version");
GEXP_SAYS(as_word, "`as NAME` is wanted after the file");
GEXP_SAYS(interval_end, "the end of the interval is wanted after `..`");
GEXP_SAYS(to_word, "`to WIDTH` is wanted after `refine`");
GEXP_SAYS(on_word, "`on CONDITION` is wanted after the width");
GEXP_SAYS(needed_domain, "an interval or a list is wanted after `in`");
GEXP_SAYS(in_word, "`in` is wanted");
GEXP_SAYS(colon, "`:` and a type are wanted after the name");
GEXP_SAYS(equals, "`=` and a value are wanted");
GEXP_SAYS(needed_seed, "a whole number is wanted after `seed`");
GEXP_SAYS(open_brace, "`{` is wanted");
GEXP_SAYS(open_argument_types, "`(` and the arguments with their types are wanted after the name");
GEXP_SAYS(more_argument_type, "an argument and its type are wanted after `,`");
GEXP_SAYS(close_argument_types, "`)` or `,` is wanted in the arguments");
GEXP_SAYS(arrow, "`->` and the type of the answer are wanted after the arguments");
GEXP_SAYS(sweep_names, "a name, or `(a, b)`, is wanted after `sweep`");
GEXP_SAYS(why_word, "`why \"…\"` is wanted after the condition");
GEXP_SAYS(needed_body, "`{` and the operations are wanted");
GEXP_SAYS(body_close, "an operation or `}` is wanted");
GEXP_SAYS(by_word, "`by PATTERN` is wanted after the memory");
GEXP_SAYS(at_word, "`at OFFSET` is wanted after the memory");
GEXP_SAYS(needed_laps, "`laps N`, the most rounds, is wanted after the condition");
GEXP_SAYS(chase_count, "`laps N` or `steps N` is wanted after the pattern");
GEXP_SAYS(needed_instruction, "an instruction is wanted, such as fma.f32 after `alu` or add.u32 after `atomic`");
GEXP_SAYS(chain_word, "`chain N` is wanted after the instruction");
GEXP_SAYS(ilp_word, "`ilp N` is wanted after the chain");
GEXP_SAYS(entry_word, "`entry NAME(…)` is wanted after the file");
GEXP_SAYS(needed_entry, "the kernel's name is wanted after `entry`");
GEXP_SAYS(open_arguments, "`(` and the kernel's arguments are wanted after its name");
GEXP_SAYS(more_kernel_argument, "an argument is wanted after `,`");
GEXP_SAYS(close_arguments, "`)` or `,` is wanted in the kernel's arguments");
GEXP_SAYS(more_template_value, "a value is wanted after `,`");
GEXP_SAYS(needed_selector, "a model's or a GPU's name, or sm_NN, is wanted");
GEXP_SAYS(vs_word, "`vs X` is wanted after what is plotted");
#undef GEXP_SAYS

}  // namespace gexp::lang::grammar
