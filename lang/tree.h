// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lang/base/source.h"

/// The parser's tree as it leaves the grammar: one node a rule that means something. build.cpp makes the syntax tree of it.
namespace gexp::lang {

enum class Kind : std::uint8_t {
  None,
  // leaves
  Name, WordText, Type, Instruction, String, Label, Callee, Reference, Field, NumberText, UnitText, Negate, NotWord, TimesSign,
  PlusSign, ElseSign, CompareSign, LogWord, VersionText, SeedText,
  // expressions
  Quantity, TextValue, Call, List, Group, Path, Unary, Product, Sum, ValueChain, Comparison, Negation, Conjunction, Disjunction,
  // their parts
  Argument, Over, By, Where, For, Within, InRange,
  // clauses
  Doc, Domain, StepBy, TimesBy, PointsBy, Refine, Until, ElseText, BudgetTime, BudgetMemory, PageClause, AlignClause, Sha256,
  Grid, Block, Cluster, Smem, Persm, Sm, Sms, Carveout, Bank, Place, Laps, Steps, AsClause, ViaClause, Body, Need, OnClause, FromClause,
  XfailClause, LogClause,
  // statements
  Header, Meta, Use, Param, Let, Require, Budget, Seed, Memory, Pattern, StageOpen, Sweep, Skip, Launch, Flush, Warm, Timed, Chase,
  Load, Store, Alu, Barrier, Branch, Unroll, Loop, RepeatUntil, Record, Derive, Find, Expect, Plot,
};

inline bool is_expression(Kind kind) { return kind >= Kind::Quantity && kind <= Kind::Disjunction; }

struct Tree {
  Kind kind = Kind::None;
  Span span;
  std::string text;  ///< of leaves
  std::vector<std::unique_ptr<Tree>> children;
};

}  // namespace gexp::lang
