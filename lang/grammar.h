// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <tao/pegtl/ascii.hpp>
#include <tao/pegtl/memory_input.hpp>
#include <tao/pegtl/must_if.hpp>
#include <tao/pegtl/nothing.hpp>
#include <tao/pegtl/parse.hpp>
#include <tao/pegtl/rules.hpp>

#include "lang/words.h"

/// The grammar of `.gexp` (docs/language/grammar.md shows it for people). Included by parse.cpp and grammar_expressions.cpp alone: instantiating it takes seconds.
///
/// Newlines are whitespace. Every statement begins with a reserved word; clause words (`in step until …`) are contextual.
/// Wherever a rule has begun beyond doubt the rest is `must`, each with its own message (grammar_messages.h).
namespace gexp::lang::grammar {

using namespace tao::pegtl;

// ---- words -----------------------------------------------------------------------------------------------------------------
struct comment : seq<one<'#'>, until<eolf>> {};
struct ws : star<sor<space, comment>> {};

#define GEXP_WORD(word) seq<TAO_PEGTL_KEYWORD(word), ws>

/// A whole reserved word (words.h). By hand: a name is looked up once, where a choice of strings would try each of them.
struct reserved {
  using rule_t = reserved;
  using subs_t = empty_list;
  template <typename ParseInput> [[nodiscard]] static bool match(ParseInput& in) {
    std::size_t length = 0;
    while (in.current() + length != in.end() && is_word(in.current()[length])) ++length;
    if (!is_reserved(std::string_view(in.current(), length))) return false;
    in.bump_in_this_line(length);
    return true;
  }
};

struct name_text : seq<not_at<reserved>, identifier> {};  ///< a name that is declared or referred to by a statement
struct word_text : identifier {};                         ///< a contextual word: `global`, `ca`, `each`
struct name : seq<name_text, ws> {};
struct pattern_name_text : seq<not_at<reserved>, identifier, opt<one<'.'>, identifier>> {};  ///< `ring`, `m.ring` of a used file
struct pattern_name : seq<pattern_name_text, ws> {};
struct word : seq<word_text, ws> {};
struct type_text : seq<identifier, opt<one<'/'>, identifier>> {};
struct type : seq<type_text, ws> {};
struct instruction_text : seq<identifier, star<one<'.'>, identifier>> {};
struct instruction : seq<instruction_text, ws> {};

struct string_text : star<not_one<'"', '\n'>> {};
struct string_end : one<'"'> {};
struct string_body : seq<one<'"'>, string_text, must<string_end>> {};
struct string : seq<string_body, ws> {};

template <char C> struct mark : seq<one<C>, ws> {};
struct colon : mark<':'> {};
struct equals : seq<one<'='>, not_at<one<'='>>, ws> {};
struct open_brace : mark<'{'> {};
struct close_brace : mark<'}'> {};
struct open_bracket : mark<'['> {};
struct close_bracket : one<']'> {};
struct close_call : one<')'> {};
struct close_group : one<')'> {};
struct close_length : mark<']'> {};
struct close_names : mark<')'> {};
struct range_dots : seq<two<'.'>, ws> {};

// ---- expressions -----------------------------------------------------------------------------------------------------------
struct expression;
struct value;

struct number_text : seq<plus<digit>, opt<one<'.'>, plus<digit>>, opt<one<'e', 'E'>, opt<one<'+', '-'>>, plus<digit>>> {};
struct unit_text : sor<one<'%'>, seq<identifier, opt<one<'/'>, sor<TAO_PEGTL_KEYWORD("cycle"), TAO_PEGTL_KEYWORD("s")>>>> {};
struct quantity : seq<number_text, opt<unit_text>> {};

struct label_text : identifier {};
struct label : seq<label_text, ws, one<':'>, not_at<one<':'>>, ws> {};
struct clause_value : seq<value> {};
struct clause_name : seq<name> {};
struct clause_condition : seq<expression> {};
struct over : seq<GEXP_WORD("over"), must<clause_value>> {};
struct by : seq<GEXP_WORD("by"), must<clause_name>> {};
struct where : seq<GEXP_WORD("where"), must<clause_condition>> {};
struct argument_value : seq<expression> {};
struct argument : seq<opt<label>, argument_value, opt<over>, opt<by>, opt<where>> {};
struct more_argument : seq<argument> {};
struct callee
    : seq<sor<seq<at<TAO_PEGTL_STRING("repeat("), any>, identifier>, seq<not_at<reserved>, identifier, opt<one<'.'>, identifier>>>,
          at<one<'('>>> {};  ///< `median`, `m.cost` of a used file
struct call : seq<callee, one<'('>, ws, opt<argument, star<mark<','>, not_at<one<')'>>, must<more_argument>>, opt<mark<','>>>, must<close_call>> {};

struct for_name : seq<name> {};
struct for_in : GEXP_WORD("in") {};
struct for_from : seq<value> {};
struct for_to : seq<value> {};
struct for_step : seq<value> {};
struct for_clause
    : seq<GEXP_WORD("for"), must<for_name>, must<for_in>, must<for_from>,
          opt<range_dots, must<for_to>, opt<GEXP_WORD("step"), must<for_step>>>> {};
struct list_item : seq<expression> {};
struct list
    : seq<open_bracket,
          sor<close_bracket,
              seq<must<list_item>, sor<seq<plus<for_clause>, must<close_bracket>>,
                                       seq<star<mark<','>, not_at<one<']'>>, must<list_item>>, opt<mark<','>>, must<close_bracket>>>>>> {};

struct group_item : seq<expression> {};
struct tuple_more : seq<expression> {};
struct group : seq<mark<'('>, must<group_item>, star<mark<','>, must<tuple_more>>, must<close_group>> {};

struct reference : seq<not_at<reserved>, identifier> {};
struct field_text : identifier {};
struct field : seq<one<'.'>, not_at<one<'.'>>, must<field_text>> {};
struct text_value : seq<string_body> {};
struct path : seq<reference, star<field>> {};
struct primary : seq<sor<quantity, text_value, call, list, group, path>, ws> {};
struct negate : one<'-'> {};
struct operand_after_sign : seq<primary> {};
struct unary : sor<seq<plus<negate, ws>, must<operand_after_sign>>, primary> {};

struct times_sign : sor<one<'*'>, one<'/'>, TAO_PEGTL_KEYWORD("div"), TAO_PEGTL_KEYWORD("mod"), TAO_PEGTL_KEYWORD("shl"), TAO_PEGTL_KEYWORD("shr")> {};
struct plus_sign : one<'+', '-'> {};
struct else_sign : two<'?'> {};
struct right_factor : seq<unary> {};
struct product : seq<unary, star<times_sign, ws, must<right_factor>>> {};
struct right_term : seq<product> {};
struct sum : seq<product, star<plus_sign, ws, must<right_term>>> {};
struct right_else : seq<sum> {};
struct value : seq<sum, star<else_sign, ws, must<right_else>>> {};

struct compare_sign
    : sor<TAO_PEGTL_STRING("=="), TAO_PEGTL_STRING("!="), TAO_PEGTL_STRING("<="), TAO_PEGTL_STRING(">="), one<'<'>, one<'>'>> {};
struct right_value : seq<value> {};
struct compared : seq<compare_sign, ws, must<right_value>> {};
struct tolerance : seq<value> {};
struct of_word : GEXP_WORD("of") {};
struct target : seq<value> {};
struct within : seq<GEXP_WORD("within"), must<tolerance>, must<of_word>, must<target>> {};
struct range_low : seq<value> {};
struct range_high : seq<value> {};
struct in_range : seq<GEXP_WORD("in"), must<range_low>, must<range_dots>, must<range_high>> {};
struct comparison : seq<value, opt<sor<compared, within, in_range>>> {};
struct not_word : TAO_PEGTL_KEYWORD("not") {};
struct negated : seq<comparison> {};
struct negation : sor<seq<plus<not_word, ws>, must<negated>>, comparison> {};
struct right_and : seq<negation> {};
struct conjunction : seq<negation, star<GEXP_WORD("and"), must<right_and>>> {};
struct right_xor : seq<conjunction> {};
struct exclusion : seq<conjunction, star<GEXP_WORD("xor"), must<right_xor>>> {};
struct right_or : seq<exclusion> {};
struct expression : seq<exclusion, star<GEXP_WORD("or"), must<right_or>>> {};

// ---- statements ------------------------------------------------------------------------------------------------------------
struct needed_name : seq<name> {};
struct needed_pattern : seq<pattern_name> {};
struct needed_word : seq<word> {};
struct needed_scope : seq<not_at<reserved>, word> {};
struct needed_type : seq<type> {};
struct needed_string : seq<string> {};
struct needed_value : seq<value> {};
struct needed_condition : seq<expression> {};
struct needed_call : seq<call, ws> {};
struct needed_transform : seq<call, ws> {};

struct version_text : plus<digit> {};
struct version : seq<version_text, ws> {};
struct experiment_word : GEXP_WORD("experiment") {};
struct gexp_word : GEXP_WORD("gexp") {};
struct doc : seq<GEXP_WORD("doc"), must<needed_string>> {};
struct header : seq<ws, must<gexp_word>, must<version>, must<experiment_word>, must<needed_name>, opt<doc>> {};

struct meta : seq<GEXP_WORD("meta"), must<needed_word>, must<needed_string>> {};
struct as_word : GEXP_WORD("as") {};
struct sha256 : seq<GEXP_WORD("sha256"), must<needed_string>> {};
struct use : seq<GEXP_WORD("use"), must<needed_string>, must<as_word>, must<needed_name>, opt<sha256>> {};

struct interval_end : seq<value> {};
struct step_by : seq<GEXP_WORD("step"), must<needed_value>> {};
struct times_by : seq<GEXP_WORD("times"), must<needed_value>> {};
struct log_word : TAO_PEGTL_KEYWORD("log") {};
struct points_by : seq<GEXP_WORD("points"), must<needed_value>, opt<log_word, ws>> {};
struct to_word : GEXP_WORD("to") {};
struct on_word : GEXP_WORD("on") {};
struct refine : seq<GEXP_WORD("refine"), must<to_word>, must<needed_value>, must<on_word>, must<needed_condition>> {};
struct until_clause : seq<GEXP_WORD("until"), must<needed_condition>> {};
struct domain
    : seq<value, opt<range_dots, must<interval_end>, opt<sor<step_by, times_by, points_by>>>, opt<refine>, opt<until_clause>> {};
struct needed_domain : seq<domain> {};

struct in_word : GEXP_WORD("in") {};
struct param
    : seq<GEXP_WORD("param"), must<needed_name>, must<colon>, must<needed_type>, must<equals>, must<needed_value>,
          opt<GEXP_WORD("in"), must<needed_domain>>, opt<doc>> {};
struct let : seq<GEXP_WORD("let"), must<needed_name>, must<equals>, must<needed_condition>> {};
struct else_text : seq<GEXP_WORD("else"), must<needed_string>> {};
struct require : seq<GEXP_WORD("require"), must<needed_condition>, opt<else_text>> {};
struct budget_time : seq<GEXP_WORD("time"), must<needed_value>> {};
struct budget_memory : seq<GEXP_WORD("memory"), not_at<name, one<':'>>, must<needed_value>> {};  // not the next statement
struct budget : seq<GEXP_WORD("budget"), opt<budget_time>, opt<budget_memory>> {};
struct seed_text : plus<digit> {};
struct needed_seed : seq<seed_text, not_at<identifier_other>, ws> {};
struct seed : seq<GEXP_WORD("seed"), must<needed_seed>> {};
struct page_clause : seq<GEXP_WORD("page"), must<needed_value>> {};
struct align_clause : seq<GEXP_WORD("align"), must<needed_value>> {};
struct holds_clause : seq<GEXP_WORD("holds"), must<needed_value>> {};
struct pitch_clause : seq<GEXP_WORD("pitch"), must<needed_value>> {};
struct memory
    : seq<GEXP_WORD("memory"), must<needed_name>, must<colon>, must<needed_word>, must<open_bracket>, must<needed_value>,
          must<close_length>, must<in_word>, must<needed_word>, star<sor<page_clause, align_clause, holds_clause, pitch_clause>>> {};
struct pattern : seq<GEXP_WORD("pattern"), must<needed_name>, must<equals>, must<needed_condition>> {};
struct beside : seq<GEXP_WORD("beside"), must<needed_name>> {};
struct stage_open : seq<GEXP_WORD("stage"), must<needed_name>, opt<beside>, opt<doc>, must<open_brace>> {};

struct argument_type : seq<name, must<colon>, must<needed_type>> {};
struct more_argument_type : seq<argument_type> {};
struct open_argument_types : mark<'('> {};
struct close_argument_types : mark<')'> {};
struct arrow : seq<TAO_PEGTL_STRING("->"), ws> {};
struct analysis_open
    : seq<GEXP_WORD("analysis"), must<needed_name>, must<open_argument_types>,
          opt<argument_type, star<mark<','>, not_at<one<')'>>, must<more_argument_type>>, opt<mark<','>>>, must<close_argument_types>,
          must<arrow>, must<needed_type>, opt<doc>, must<open_brace>> {};
struct given_name : seq<name, equals> {};
struct give : seq<GEXP_WORD("give"), opt<given_name>, must<needed_condition>> {};

struct sweep_names : sor<seq<mark<'('>, must<needed_name>, star<mark<','>, must<needed_name>>, must<close_names>>, name> {};
struct sweep : seq<GEXP_WORD("sweep"), must<sweep_names>, must<in_word>, must<needed_domain>> {};
struct why_word : GEXP_WORD("why") {};
struct skip : seq<GEXP_WORD("skip"), must<needed_condition>, must<why_word>, must<needed_string>> {};
struct grid : seq<GEXP_WORD("grid"), must<needed_value>> {};
struct block : seq<GEXP_WORD("block"), must<needed_value>> {};
struct cluster : seq<GEXP_WORD("cluster"), must<needed_value>> {};
struct smem : seq<GEXP_WORD("smem"), must<needed_value>> {};
struct persm : seq<GEXP_WORD("persm"), must<needed_value>> {};
struct carveout : seq<GEXP_WORD("carveout"), must<needed_value>> {};
struct bank : seq<GEXP_WORD("bank"), must<needed_value>> {};
struct place : seq<GEXP_WORD("place"), must<needed_word>> {};
struct sms : seq<GEXP_WORD("sms"), must<needed_value>> {};
struct sm : seq<GEXP_WORD("sm"), must<needed_value>> {};
struct limit : seq<GEXP_WORD("limit"), must<needed_value>> {};
struct registers : seq<GEXP_WORD("registers"), must<needed_value>> {};
struct launch : seq<GEXP_WORD("launch"), star<sor<grid, block, cluster, smem, persm, carveout, bank, place, sms, sm, limit, registers>>> {};
struct flush : seq<GEXP_WORD("flush"), must<needed_word>> {};
struct transform : seq<GEXP_WORD("transform"), must<needed_transform>> {};

struct op;
struct body_open : open_brace {};
struct body_close : close_brace {};
struct body : seq<body_open, star<op>, must<body_close>> {};
struct needed_body : seq<body> {};
struct warm : seq<GEXP_WORD("warm"), star<sor<grid, block>>, must<needed_body>> {};
struct timed : seq<GEXP_WORD("timed"), must<needed_name>, must<needed_word>, must<needed_body>> {};
struct by_word : GEXP_WORD("by") {};
struct at_word : GEXP_WORD("at") {};
struct laps : seq<GEXP_WORD("laps"), must<needed_value>> {};
struct steps : seq<GEXP_WORD("steps"), must<needed_value>> {};
struct chase_count : sor<laps, steps> {};
struct as_clause : seq<GEXP_WORD("as"), must<needed_value>> {};
struct via_clause : seq<GEXP_WORD("via"), must<needed_word>> {};
struct hint_clause : seq<GEXP_WORD("hint"), must<needed_word>> {};
struct fetch_clause : seq<GEXP_WORD("fetch"), must<needed_value>> {};
struct rows_clause : seq<GEXP_WORD("rows"), must<needed_value>> {};
struct to_clause : seq<GEXP_WORD("to"), must<needed_word>> {};
struct into_clause : seq<GEXP_WORD("into"), must<needed_name>, opt<at_word, must<needed_value>>> {};
struct scope_clause : seq<GEXP_WORD("scope"), must<needed_scope>> {};
struct red_word : TAO_PEGTL_KEYWORD("red") {};
struct rank_clause : seq<GEXP_WORD("rank"), must<needed_value>> {};
struct access : sor<as_clause, via_clause, hint_clause, fetch_clause, rank_clause> {};
struct chase : seq<GEXP_WORD("chase"), must<needed_name>, must<by_word>, must<needed_pattern>, must<chase_count>, star<access>> {};
struct value_clause : seq<GEXP_WORD("value"), must<needed_condition>> {};
struct pattern_clause : seq<GEXP_WORD("by"), must<needed_pattern>> {};
struct place_at : seq<must<at_word>, must<needed_value>> {};
struct access_place : sor<pattern_clause, place_at> {};
struct load : seq<GEXP_WORD("load"), must<needed_name>, access_place, star<sor<access, to_clause, into_clause, rows_clause, pitch_clause>>> {};
struct store : seq<GEXP_WORD("store"), must<needed_name>, access_place, star<sor<access, value_clause>>> {};
struct chain_word : GEXP_WORD("chain") {};
struct ilp_word : GEXP_WORD("ilp") {};
struct needed_instruction : seq<instruction> {};
struct alu : seq<GEXP_WORD("alu"), must<needed_instruction>, must<chain_word>, must<needed_value>, must<ilp_word>, must<needed_value>> {};
struct barrier : GEXP_WORD("barrier") {};
struct signal : seq<GEXP_WORD("signal"), must<needed_name>> {};
struct wait_for : seq<GEXP_WORD("for"), must<needed_value>> {};
struct wait_within : seq<GEXP_WORD("within"), must<needed_value>> {};
struct wait : seq<GEXP_WORD("wait"), must<needed_name>, star<sor<wait_for, wait_within>>> {};
struct atomic
    : seq<GEXP_WORD("atomic"), must<needed_instruction>, must<needed_name>, must<at_word>, must<needed_value>,
          star<sor<seq<red_word, ws>, scope_clause, rank_clause>>> {};
struct fence : seq<GEXP_WORD("fence"), must<needed_scope>> {};
struct discard : seq<GEXP_WORD("discard"), must<needed_name>, must<at_word>, must<needed_value>> {};
struct drain : GEXP_WORD("drain") {};
struct branch : seq<GEXP_WORD("branch"), must<needed_condition>, must<needed_body>, opt<GEXP_WORD("else"), must<needed_body>>> {};
struct unroll : seq<GEXP_WORD("unroll"), must<needed_name>, must<in_word>, must<needed_value>, must<range_dots>, must<needed_value>, must<needed_body>> {};
struct needed_laps : seq<laps> {};
struct loop_while : seq<GEXP_WORD("while"), not_at<TAO_PEGTL_KEYWORD("in")>, must<needed_condition>, must<needed_laps>, must<needed_body>> {};
struct loop_over : seq<must<needed_name>, must<in_word>, must<needed_value>, must<range_dots>, must<needed_value>, must<needed_body>> {};
struct loop : seq<GEXP_WORD("loop"), sor<loop_while, loop_over>> {};
struct interleave : seq<GEXP_WORD("interleave"), must<needed_body>> {};
struct var : seq<GEXP_WORD("var"), must<needed_name>, must<colon>, must<needed_word>, must<equals>, must<needed_condition>> {};
struct assign : seq<GEXP_WORD("assign"), must<needed_name>, must<equals>, must<needed_condition>> {};

// A kernel of a file. Its entry may be called like a statement: `entry load(A)`.
struct entry_word : GEXP_WORD("entry") {};
struct entry_text : identifier {};
struct needed_entry : seq<entry_text, ws> {};
struct open_arguments : mark<'('> {};
struct close_arguments : mark<')'> {};
struct entries : seq<mark<'['>, must<needed_value>, must<close_length>> {};
struct kernel_argument : seq<sor<seq<name, entries>, value>, star<sor<pattern_clause, as_clause>>> {};
struct more_kernel_argument : seq<kernel_argument> {};
struct kernel_arguments : seq<opt<kernel_argument, star<mark<','>, not_at<one<')'>>, must<more_kernel_argument>>, opt<mark<','>>>> {};
struct more_template_value : seq<value> {};
struct template_clause : seq<GEXP_WORD("template"), must<needed_value>, star<mark<','>, must<more_template_value>>> {};
struct define_clause : seq<GEXP_WORD("define"), must<needed_word>, must<equals>, must<needed_value>> {};
struct kernel
    : seq<GEXP_WORD("kernel"), must<needed_string>, opt<sha256>, must<entry_word>, must<needed_entry>, must<open_arguments>,
          kernel_arguments, must<close_arguments>, star<sor<template_clause, define_clause>>> {};
struct stamp : seq<GEXP_WORD("stamp"), must<needed_name>> {};
struct keep : seq<GEXP_WORD("keep"), must<needed_condition>> {};
struct op : sor<chase, load, store, alu, barrier, atomic, fence, discard, drain, branch, unroll, loop, signal, wait, kernel, interleave, var, assign, stamp, keep> {};

struct repeat_until
    : seq<GEXP_WORD("repeat"), must<needed_value>, opt<range_dots, must<interval_end>>, opt<until_clause>> {};
struct record : seq<GEXP_WORD("record"), must<needed_name>, must<needed_word>> {};
struct derive : seq<GEXP_WORD("derive"), must<needed_name>, must<colon>, must<needed_type>, must<equals>, must<needed_condition>> {};
struct need : seq<GEXP_WORD("need"), must<needed_value>> {};
struct find : seq<GEXP_WORD("find"), must<needed_name>, must<colon>, must<needed_type>, must<equals>, must<needed_call>, opt<need>> {};
struct selector : sor<string, name> {};
struct needed_selector : seq<selector> {};
struct on_clause : seq<GEXP_WORD("on"), must<needed_selector>, star<mark<','>, must<needed_selector>>> {};
struct from_clause : seq<GEXP_WORD("from"), must<needed_string>> {};
struct xfail_clause : seq<GEXP_WORD("xfail"), must<needed_string>> {};
struct expect : seq<GEXP_WORD("expect"), must<needed_condition>, opt<where>, opt<on_clause>, opt<from_clause>, opt<xfail_clause>> {};
struct vs_word : GEXP_WORD("vs") {};
struct log_clause : seq<GEXP_WORD("log"), must<needed_name>, star<mark<','>, must<needed_name>>> {};
struct drawn_clause : seq<GEXP_WORD("as"), must<needed_word>> {};
struct plot : seq<GEXP_WORD("plot"), must<needed_value>, must<vs_word>, must<needed_value>, opt<by>, opt<drawn_clause>, opt<log_clause>> {};

struct statement
    : sor<meta, use, param, let, require, budget, seed, memory, pattern, analysis_open, give, stage_open, sweep, skip, launch, transform, flush, warm, timed,
          repeat_until, record, derive, find, expect, plot, op> {};

#undef GEXP_WORD

}  // namespace gexp::lang::grammar
