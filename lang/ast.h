// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lang/base/source.h"
#include "lang/base/units.h"
#include "lang/operations.h"

/// The syntax tree of one `.gexp` file. Every node keeps its place. Names are as written; `check` has verified what they mean.
namespace gexp::lang {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

struct Word {  ///< an identifier or a contextual word, with its place
  std::string text;
  Span span;
};

struct Quantity {
  double number = 0;  ///< as written, before the unit
  std::string unit;   ///< as written; empty for a plain number
};
struct Text { std::string value; };
struct Name { std::string text; };
struct Member { ExprPtr of; Word field; };
struct CallArgument {
  std::optional<Word> label;
  ExprPtr value;
  ExprPtr over;                ///< null when absent
  std::optional<Word> by;
  ExprPtr where;               ///< null when absent
};
struct Call { Word callee; std::vector<CallArgument> arguments; };
struct ListOf { std::vector<ExprPtr> items; bool tuple = false; };  ///< `[a, b]`; or a tuple `(a, b)`, which only the list of a sweep takes
struct For { Word name; ExprPtr from, to, step; };  ///< `for name in from..to step step`; `to` null: `for name in list`
struct Comprehension { ExprPtr item; std::vector<For> loops; };
enum class UnaryOp { Negate, Not };
struct Unary { UnaryOp op; ExprPtr operand; };
enum class BinaryOp { Add, Subtract, Multiply, Divide, Div, Mod, Shl, Shr, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, And, Xor, Or, Else };
struct Binary { BinaryOp op; Span op_span; ExprPtr left, right; };
struct Within { ExprPtr value, tolerance, target; };  ///< `value within tolerance of target`
struct InRange { ExprPtr value, low, high; };         ///< `value in low..high`

struct Expr {
  Span span;
  std::variant<Quantity, Text, Name, Member, Call, ListOf, Comprehension, Unary, Binary, Within, InRange> node;
};

struct Domain {
  Span span;
  ExprPtr list;       ///< `[…]` or a list-valued expression; null for an interval
  ExprPtr from, to;
  enum class By { One, Step, Times, Points, LogPoints } by = By::One;
  ExprPtr amount;     ///< after step, times, points
  ExprPtr refine_to, refine_on;  ///< `refine to R on COND`, or on a value, or on `highest(VALUE)`
  ExprPtr until;                 ///< `until COND`
};

/// The Y of `refine … on highest(Y)`, around whose highest value a sweep is refined; of another `on` nothing.
inline const ExprPtr* refined_around(const Domain& domain) {
  const auto* call = domain.refine_on ? std::get_if<Call>(&domain.refine_on->node) : nullptr;
  if (!call || call->callee.text != "highest" || call->arguments.size() != 1) return nullptr;
  const auto& y = call->arguments.front();
  return y.label || y.over || y.by || y.where ? nullptr : &y.value;
}

struct Meta { Word key; std::string value; };
struct Param { Word name, type; ExprPtr value; std::optional<Domain> domain; std::string doc; };
struct Let { Word name; ExprPtr value; };
struct Require { ExprPtr condition; std::string otherwise; };
struct Budget { ExprPtr time, memory; };
struct Seed { std::uint64_t value = 0; };
struct Memory { Word name, element; ExprPtr length; Word space; ExprPtr page, align, holds, pitch; };
struct PatternDef { Word name; ExprPtr value; };
struct Sweep { std::vector<Word> names; Domain domain; };
struct Skip { ExprPtr condition; std::string why; };
struct Launch { ExprPtr grid, block, cluster, smem, persm, carveout, bank, sm, sms, limit, registers; std::optional<Word> place; };
struct Transform { ExprPtr call; };
struct Flush { Word level; };
/// `kernel "FILE" entry NAME(…)`: a launch of a kernel that somebody else wrote.
struct KernelArgument {
  Span span;
  std::optional<Word> name;  ///< of `NAME[N]`
  ExprPtr value;             ///< of any other
  ExprPtr entries;           ///< N
  std::optional<Word> pattern;  ///< `A by ring`
  ExprPtr width;             ///< `as WIDTH`
};
struct Define { Word name; ExprPtr value; };
struct KernelCall {
  Word path;    ///< its span has the quotes
  Word sha256;  ///< its span is the whole clause; empty when absent
  Word entry;
  std::vector<KernelArgument> arguments;
  std::vector<ExprPtr> templates;
  std::vector<Define> defines;
};
struct Op {
  using Kind = Operation;
  Kind kind = Kind::Chase;
  Span span;
  Word memory;                ///< chase, load, store
  Word pattern;               ///< chase; load, store `by` it: empty when they have an offset
  bool laps = true;           ///< chase: count in laps, else in steps
  ExprPtr count;              ///< chase, loop while: its laps
  ExprPtr at;                 ///< load, store
  ExprPtr width;              ///< `as WIDTH`; null when absent
  std::optional<Word> via;
  std::optional<Word> hint;   ///< chase, load, store
  ExprPtr fetch;              ///< chase, load: bytes to bring into the L2
  ExprPtr rank;               ///< chase, load, store, atomic: the block of the cluster whose shared memory it is
  std::optional<Word> level;    ///< load: `to l2`
  std::optional<Word> into;   ///< load: the memory in shared that it is copied into
  ExprPtr into_at;
  ExprPtr rows, pitch;        ///< load: of a tile, so many rows, each so many bytes behind the one before; null: it is none
  std::optional<Word> scope;  ///< atomic, fence
  bool red = false;           ///< atomic: returns nothing
  Word instruction;           ///< alu, atomic
  ExprPtr named;              ///< alu: the same as a value, where it may be the name of one
  ExprPtr chain, ilp;         ///< alu
  ExprPtr condition;          ///< branch, loop while
  Word variable;              ///< unroll, loop, var, assign
  ExprPtr from, to;           ///< unroll, loop
  std::optional<Word> gives;  ///< load: the variable that it gives what was loaded
  Word type;                  ///< var
  ExprPtr value;              ///< var, assign, store
  std::vector<Op> body;       ///< branch, unroll, loop, interleave
  std::vector<Op> otherwise;  ///< branch: after `else`
  KernelCall kernel;          ///< kernel
  Word flag;                  ///< signal, wait
  ExprPtr signals, bound;     ///< wait: how many more signals, and the cycles after which it is given up; null when absent
};
struct Warm { ExprPtr grid, block; std::vector<Op> body; };  ///< with grid or block: a launch of its own
struct Timed { Word name; Word how; std::vector<Op> body; };
struct RepeatUntil { ExprPtr at_least, at_most, until; };
struct Record { Word name; Word keep; };
struct Derive { Word name, type; ExprPtr value; };
struct Find { Word name, type; ExprPtr analysis; ExprPtr need; };  ///< analysis is a Call
struct Give { std::optional<Word> name; ExprPtr value; };
struct Selector { std::string text; Span span; };
struct Expect { ExprPtr condition; ExprPtr where; std::vector<Selector> on; std::string from; std::string xfail; };
struct Plot { ExprPtr y, x; std::optional<Word> by, drawn; std::vector<Word> log; };
struct Use {
  Word path;    ///< its span has the quotes
  Word as;
  Word sha256;  ///< its span is the whole clause; empty when absent
};
struct Statement;
struct Stage {
  Word name;
  std::optional<Word> beside;  ///< the stage in whose launch it runs
  std::string doc;
  std::vector<Statement> items;
  std::uint32_t end = 0;  ///< behind its `}`, or where it is given up; the statement's span is the line that opens it
};

/// `analysis NAME(argument: TYPE, …) -> TYPE { let … give … }`
struct AnalysisArgument { Word name, type; };
struct AnalysisDef {
  Word name;
  std::vector<AnalysisArgument> arguments;
  Word type;
  std::string doc;
  std::vector<Statement> items;
  std::uint32_t end = 0;  ///< as a stage's
};

struct Statement {
  Span span;
  std::variant<Meta, Param, Let, Require, Budget, Seed, Memory, PatternDef, AnalysisDef, Give, Stage, Sweep, Skip, Launch, Transform, Flush, Warm, Timed,
               RepeatUntil, Record, Derive, Find, Expect, Plot, Use> node;
};

struct File {
  int version = 0;
  Word experiment;
  std::string doc;
  std::vector<Statement> statements;
};

}  // namespace gexp::lang
