// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

#include "lang/grammar_messages.h"
#include "lang/tree.h"

/// Which rules leave a node in the tree, and the PEGTL control that makes it while the grammar matches. PEGTL's own parse_tree
/// allocates a node for every attempt of every rule; here a node is made once its rule has matched, three times as fast.
namespace gexp::lang::grammar {

template <Kind K, bool Fold = false> struct leaves {
  static constexpr Kind kind = K;
  static constexpr bool fold = Fold;  ///< a chain of one is the thing itself
};

template <typename Rule> struct left_by : leaves<Kind::None> {};
#define GEXP_KEEP(rule, kind) template <> struct left_by<rule> : leaves<Kind::kind> {}
#define GEXP_FOLD(rule, kind) template <> struct left_by<rule> : leaves<Kind::kind, true> {}
GEXP_KEEP(name_text, Name); GEXP_KEEP(pattern_name_text, Name); GEXP_KEEP(word_text, WordText); GEXP_KEEP(type_text, Type); GEXP_KEEP(instruction_text, Instruction);
GEXP_KEEP(string_text, String); GEXP_KEEP(label_text, Label); GEXP_KEEP(callee, Callee); GEXP_KEEP(reference, Reference);
GEXP_KEEP(field_text, Field); GEXP_KEEP(number_text, NumberText); GEXP_KEEP(unit_text, UnitText); GEXP_KEEP(negate, Negate);
GEXP_KEEP(not_word, NotWord); GEXP_KEEP(times_sign, TimesSign); GEXP_KEEP(plus_sign, PlusSign); GEXP_KEEP(else_sign, ElseSign);
GEXP_KEEP(compare_sign, CompareSign); GEXP_KEEP(log_word, LogWord); GEXP_KEEP(version_text, VersionText); GEXP_KEEP(seed_text, SeedText);
GEXP_KEEP(quantity, Quantity); GEXP_KEEP(text_value, TextValue); GEXP_KEEP(call, Call); GEXP_KEEP(list, List); GEXP_KEEP(group, Group);
GEXP_KEEP(path, Path);
GEXP_FOLD(unary, Unary); GEXP_FOLD(product, Product); GEXP_FOLD(sum, Sum); GEXP_FOLD(value, ValueChain);
GEXP_FOLD(comparison, Comparison); GEXP_FOLD(negation, Negation); GEXP_FOLD(conjunction, Conjunction); GEXP_FOLD(exclusion, Exclusion); GEXP_FOLD(expression, Disjunction);
GEXP_KEEP(argument, Argument); GEXP_KEEP(over, Over); GEXP_KEEP(by, By); GEXP_KEEP(where, Where); GEXP_KEEP(for_clause, For);
GEXP_KEEP(within, Within); GEXP_KEEP(in_range, InRange);
GEXP_KEEP(doc, Doc); GEXP_KEEP(domain, Domain); GEXP_KEEP(step_by, StepBy); GEXP_KEEP(times_by, TimesBy); GEXP_KEEP(points_by, PointsBy);
GEXP_KEEP(refine, Refine); GEXP_KEEP(until_clause, Until); GEXP_KEEP(else_text, ElseText); GEXP_KEEP(budget_time, BudgetTime);
GEXP_KEEP(budget_memory, BudgetMemory); GEXP_KEEP(page_clause, PageClause); GEXP_KEEP(align_clause, AlignClause); GEXP_KEEP(holds_clause, HoldsClause); GEXP_KEEP(sha256, Sha256);
GEXP_KEEP(grid, Grid); GEXP_KEEP(block, Block); GEXP_KEEP(cluster, Cluster); GEXP_KEEP(smem, Smem); GEXP_KEEP(persm, Persm); GEXP_KEEP(registers, Registers);
GEXP_KEEP(sm, Sm); GEXP_KEEP(sms, Sms); GEXP_KEEP(limit, Limit); GEXP_KEEP(beside, Beside); GEXP_KEEP(wait_for, WaitFor);
GEXP_KEEP(wait_within, WaitWithin);
GEXP_KEEP(carveout, Carveout); GEXP_KEEP(bank, Bank); GEXP_KEEP(place, Place); GEXP_KEEP(drawn_clause, DrawnClause); GEXP_KEEP(laps, Laps); GEXP_KEEP(steps, Steps);
GEXP_KEEP(as_clause, AsClause); GEXP_KEEP(via_clause, ViaClause); GEXP_KEEP(hint_clause, HintClause); GEXP_KEEP(fetch_clause, FetchClause); GEXP_KEEP(rank_clause, RankClause);
GEXP_KEEP(rows_clause, RowsClause); GEXP_KEEP(pitch_clause, PitchClause);
GEXP_KEEP(to_clause, ToClause); GEXP_KEEP(into_clause, IntoClause); GEXP_KEEP(scope_clause, ScopeClause); GEXP_KEEP(red_word, RedWord);
GEXP_KEEP(value_clause, ValueClause); GEXP_KEEP(body, Body); GEXP_KEEP(need, Need);
GEXP_KEEP(on_clause, OnClause); GEXP_KEEP(from_clause, FromClause); GEXP_KEEP(xfail_clause, XfailClause); GEXP_KEEP(log_clause, LogClause);
GEXP_KEEP(entry_text, Entry); GEXP_KEEP(pattern_clause, PatternClause); GEXP_KEEP(entries, Entries);
GEXP_KEEP(kernel_argument, KernelArgument); GEXP_KEEP(template_clause, TemplateClause); GEXP_KEEP(define_clause, DefineClause);
GEXP_KEEP(argument_type, ArgumentType); GEXP_KEEP(given_name, GivenName);
GEXP_KEEP(header, Header);
#define GEXP_STATEMENT(word, kind, rule, ...) GEXP_KEEP(rule, kind);
#define GEXP_OPERATION(word, kind, ...) GEXP_KEEP(word, kind);
#include "lang/statements.def"
#undef GEXP_KEEP
#undef GEXP_FOLD

/// What has matched so far: finished nodes of one statement.
struct Growth {
  /// Where a rule under way began, and how many nodes there were.
  struct Mark {
    std::size_t nodes;
    const char* begin;
  };
  const char* text = nullptr;  ///< where the source begins
  std::vector<const Tree*> nodes;

  /// A new statement: the nodes of the one before are gone.
  void begin(const char* source) {
    text = source;
    nodes.clear();
    arena_.release();
  }

  /// A node over those that came since the mark; its pointers to them lie right behind it.
  void finish(Kind kind, const Mark& mark, const char* current) {
    const auto count = nodes.size() - mark.nodes;
    auto* const node = new (arena_.allocate(sizeof(Tree) + count * sizeof(const Tree*), alignof(Tree))) Tree;
    node->kind = kind;
    node->span = {static_cast<std::uint32_t>(mark.begin - text), static_cast<std::uint32_t>(current - text)};
    const auto first = nodes.begin() + static_cast<std::ptrdiff_t>(mark.nodes);
    if (first == nodes.end()) {
      node->text = {mark.begin, current};
    } else {
      auto* const children = reinterpret_cast<const Tree**>(node + 1);
      node->children = {children, std::copy(first, nodes.end(), children)};
      nodes.erase(first, nodes.end());
    }
    if (kind == Kind::Body) {
      while (text[node->span.end - 1] != '}') --node->span.end;  // a body ends with its brace, not with the space after it
    } else if (kind > Kind::Path && !node->children.empty()) {   // so does whatever ends with one of its parts
      node->span.end = node->span.begin;
      for (const auto& child : node->children) node->span.end = std::max(node->span.end, child->span.end);
    }
    nodes.push_back(node);
  }

 private:
  std::array<std::byte, 1 << 14> room_;  // of most statements
  std::pmr::monotonic_buffer_resource arena_{room_.data(), room_.size()};
};

using Input = memory_input<tracking_mode::lazy, eol::lf_crlf, const char*>;

/// Rules that another file than the one that reads them instantiates (grammar_expressions.cpp): together they take twice as long to compile.
template <typename Rule> inline constexpr bool apart = false;
/// Matches a rule that is apart.
template <typename Rule> bool match_apart(Input& in, Growth& growth);
#define GEXP_APART(rule)                              \
  template <> inline constexpr bool apart<rule> = true; \
  template <> bool match_apart<rule>(Input & in, Growth & growth)
GEXP_APART(value);
GEXP_APART(expression);
GEXP_APART(domain);
#undef GEXP_APART
#define GEXP_MATCH_APART(rule) \
  template <> bool match_apart<rule>(Input & in, Growth & growth) { \
    return control<rule>::match_here<apply_mode::action, rewind_mode::required, nothing, control>(in, growth); \
  }

struct messages {
  template <typename Rule> static constexpr bool raise_on_failure = false;
  template <typename Rule> static constexpr auto message = grammar::message<Rule>;
};

/// Looks ahead and consumes nothing: what it saw is no part of the tree.
template <typename Rule> inline constexpr bool looks_ahead = false;
template <typename... Rules> inline constexpr bool looks_ahead<at<Rules...>> = true;
template <typename... Rules> inline constexpr bool looks_ahead<not_at<Rules...>> = true;

/// The letter that whatever matches a rule begins with, where the rule says one: a text that begins otherwise is not compared with the word.
template <typename Rule, typename Parts> inline constexpr char begins_with = '\0';
template <char First, char... More, typename Parts> inline constexpr char begins_with<internal::string<First, More...>, Parts> = First;
template <typename... Rules, typename First, typename... More>
inline constexpr char begins_with<internal::seq<Rules...>, type_list<First, More...>> = begins_with<typename First::rule_t, typename First::subs_t>;

template <typename Rule> struct control : must_if<messages>::control<Rule> {
  static constexpr Kind kind = left_by<Rule>::kind;
  /// Rules that consist of others may leave nodes behind when they fail half-way.
  static constexpr bool marked = kind != Kind::None || !std::is_same_v<typename Rule::subs_t, empty_list>;

  template <apply_mode A, rewind_mode M, template <typename...> class Action, template <typename...> class Control, typename Input>
  static bool match(Input& in, Growth& growth) {
    if constexpr (constexpr char letter = begins_with<typename Rule::rule_t, typename Rule::subs_t>; letter != '\0') {
      if (in.empty() || *in.current() != letter) return false;
    }
    if constexpr (apart<Rule>) return match_apart<Rule>(in, growth);
    else return match_here<A, M, Action, Control>(in, growth);
  }
  template <apply_mode A, rewind_mode M, template <typename...> class Action, template <typename...> class Control, typename Input>
  static bool match_here(Input& in, Growth& growth) {
    const Growth::Mark mark{growth.nodes.size(), in.current()};
    const bool matched = tao::pegtl::match<Rule, A, M, Action, Control>(in, growth);
    if (marked && (!matched || looks_ahead<Rule>) && growth.nodes.size() > mark.nodes) growth.nodes.resize(mark.nodes);
    const bool folds = left_by<Rule>::fold && growth.nodes.size() == mark.nodes + 1;
    if (kind != Kind::None && matched && !folds) growth.finish(kind, mark, in.current());
    return matched;
  }
};

}  // namespace gexp::lang::grammar
