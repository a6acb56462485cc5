// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "lang/base/source.h"
#include "lang/operations.h"

/// The parser's tree as it leaves the grammar: one node a rule that means something. build.cpp makes the syntax tree of it.
/// Its nodes live as long as the statement is read (grammar::Growth), its texts as long as the source.
namespace gexp::lang {

enum class Kind : std::uint8_t {
  None,
  // leaves
  Name, WordText, Type, Instruction, String, Label, Callee, Reference, Field, NumberText, UnitText, Negate, NotWord, TimesSign,
  PlusSign, ElseSign, CompareSign, LogWord, VersionText, SeedText, Entry,
  // expressions
  Quantity, TextValue, Call, List, Group, Path, Unary, Product, Sum, ValueChain, Comparison, Negation, Conjunction, Exclusion, Disjunction,
  // their parts
  Argument, Over, By, Where, For, Within, InRange,
  // clauses
  Doc, Domain, StepBy, TimesBy, PointsBy, Refine, Until, ElseText, BudgetTime, BudgetMemory, PageClause, AlignClause, HoldsClause, Sha256,
  Grid, Block, Cluster, Smem, Persm, Sm, Sms, Limit, Registers, Beside, WaitFor, WaitWithin, Carveout, Bank, Place, DrawnClause, Laps, Steps, AsClause, ViaClause, HintClause, FetchClause, RankClause, RowsClause, PitchClause, ToClause, IntoClause, ValueClause, ScopeClause, RedWord, Body, Need, OnClause, FromClause,
  XfailClause, LogClause, PatternClause, Entries, KernelArgument, TemplateClause, DefineClause, ArgumentType, GivenName,
  // statements
  Header,
#define GEXP_STATEMENT(word, kind, ...) kind,
#include "lang/statements.def"
  // operations
#define GEXP_OPERATION(word, kind, ...) kind,
#include "lang/statements.def"
};

inline bool is_statement(Kind kind) { return kind > Kind::Header; }
inline bool is_operation(Kind kind) { return kind >= Kind::Chase; }
/// Of a kind that is an operation.
inline Operation operation_of(Kind kind) { return static_cast<Operation>(static_cast<int>(kind) - static_cast<int>(Kind::Chase)); }

inline bool is_expression(Kind kind) { return kind >= Kind::Quantity && kind <= Kind::Disjunction; }

struct Tree {
  Kind kind = Kind::None;
  Span span;
  std::string_view text;  ///< of leaves
  std::span<const Tree* const> children;
};

}  // namespace gexp::lang
