// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lang/ast.h"
#include "lang/base/diagnostic.h"
#include "lang/dimensions.h"

/// What names mean, where, and when their values are known.
namespace gexp::lang {

/// When a value is known; each later than those above it.
enum class Time {
  File,     ///< params, lets, memories: before anything runs
  Point,    ///< sweep variables: one value a point
  Thread,   ///< lane, tid, warp, gtid: one value a thread
  Row,      ///< the timed record and what is derived from it: after the runs of a point
  Finding,  ///< after every point of the stage
};
/// When a value of this time is known, as messages put it: "at each point".
const char* known(Time time);
/// When a place that may read values up to this time is settled: "before the runs of a point".
const char* settled(Time limit);

class SymbolScope;

/// What a file offers to one that uses it: its params, lets, patterns and analyses.
struct Exports {
  Type type;  ///< a structure of them
  /// Those that differ from thread to thread, where they are declared: they are no values.
  std::map<std::string, Span, std::less<>> per_thread;
  std::shared_ptr<const Source> source = nullptr;
  std::shared_ptr<const File> file = nullptr;          ///< what its analyses are made of; null of a file of numbers
  std::shared_ptr<const SymbolScope> names = nullptr;  ///< what is declared in it
};

struct Symbol {
  enum class Kind { Param, Let, Memory, Pattern, Stage, Sweep, Thread, Record, Column, Derive, Find, Loop, Module, Outcome, Variable, Analysis, Argument };
  Kind kind = Kind::Let;
  std::string name;
  Span span;            ///< of the declaration; empty for the built-in ones
  Type type;
  Time time = Time::File;
  std::uint32_t usable_from = 0;  ///< byte offset where its statement ends: earlier uses are errors (0: anywhere in the scope)
  std::size_t stage = 0;          ///< Stage: its index
  std::string element;            ///< Memory; Variable that a load gave its value: of the memory that it came from
  bool settable = false;          ///< Variable: `assign` and `into` may give it another value
  bool per_thread = false;        ///< a pattern or let of the file that reads lane, tid, …
  std::shared_ptr<const Exports> module = nullptr;  ///< Module; null when the file has mistakes or was not read
  const AnalysisDef* analysis = nullptr;            ///< Analysis
  bool flawed = false;                              ///< Analysis: it has mistakes of its own, so that nothing more is said where it is used
  mutable bool used = false;                        ///< Analysis: something asks it
};
/// "a parameter", "a memory", …
const char* describe(Symbol::Kind kind);

/// Names over an outer scope; an inner name hides an outer one. Symbols keep their address.
class SymbolScope {
 public:
  explicit SymbolScope(const SymbolScope* outer = nullptr) : outer_(outer) {}

  /// Adds a name; E0201 with a note at the first when this very scope has it already (the first then stays).
  Symbol& declare(Symbol symbol, Diagnostics& diagnostics);
  [[nodiscard]] const Symbol* find(std::string_view name) const;
  [[nodiscard]] Symbol* find_here(std::string_view name);
  [[nodiscard]] const Symbol* find_here(std::string_view name) const;
  /// Every name in sight, for hints.
  [[nodiscard]] std::vector<std::string_view> names() const;
  [[nodiscard]] const SymbolScope* outer() const { return outer_; }
  /// Those of this very scope, in the order of their declarations.
  [[nodiscard]] const std::list<Symbol>& symbols() const { return symbols_; }

 private:
  const SymbolScope* outer_;
  std::list<Symbol> symbols_;  ///< most scopes have a few, many have none
  std::unordered_map<std::string_view, Symbol*> by_name_;
};

/// A name of a checked file and where it is known, besides in its declaration: for editors. A name that is known in two stretches
/// of the text comes twice.
struct Declared {
  Symbol symbol;
  Span scope;
};
using Declarations = std::vector<Declared>;

/// lane, tid, warp, gtid; step, lap and seg, which tell the accesses of a record apart.
const SymbolScope& builtin_names();
/// How launches may end other than well: `hang` and `fault`, where `inside` has no such names. Of a point, or of a stage as its expects read it.
void declare_outcomes(SymbolScope& inside, Time time);

/// "did you mean `X`?", or nothing.
std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& words);
/// The same; when no word is near, all of them when they are few.
std::string did_you_mean_one_of(std::string_view word, const std::vector<std::string_view>& words);

}  // namespace gexp::lang
