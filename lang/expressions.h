// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>

#include "lang/ast.h"
#include "lang/base/diagnostic.h"
#include "lang/names.h"
#include "lang/vocabulary.h"

/// Types and binding times of expressions.
namespace gexp::lang {

inline constexpr std::size_t kNoStage = static_cast<std::size_t>(-1);

/// Where an expression stands: which names it sees, and which of their values exist by then.
struct Place {
  const SymbolScope* names = nullptr;
  const char* what = "";         ///< "a sweep", "this launch": for messages
  Time limit = Time::File;       ///< the latest values that it may read
  bool threads = false;          ///< may it read lane, tid, warp, gtid
  std::size_t stage = kNoStage;  ///< the stage it stands in; findings of earlier ones are values
  std::size_t launch = kNoStage; ///< the first stage of the launch that it is in: what that launch finds is known after it
  bool after_all = false;        ///< an expect of the file: findings of every stage
  bool ordered_derives = false;  ///< a derive reads only those above it
  bool makes_points = false;     ///< a sweep: it reads other sweeps, but nothing that is computed at its points
  bool once = false;             ///< judged once for all points: nothing that differs from point to point
};

/// What is known of an expression; `time` is that of the latest value it reads.
struct Typed {
  Type type;
  Time time = Time::File;
};

class ExpressionChecker {
 public:
  /// `element`: the one element size of the file's memories, 0 when they differ or there are none.
  /// `declared`, when wanted, gets the names that are noted.
  ExpressionChecker(const File& file, const Source& source, Diagnostics& diagnostics, int element, bool has_memory,
                    Declarations* declared = nullptr)
      : file_(file), source_(source), diagnostics_(diagnostics), element_(element), has_memory_(has_memory), declared_(declared) {}

  /// Checks an expression; after a mistake its type is Any, so that one mistake is one diagnostic. Null gives Any.
  Typed check(const ExprPtr& expression, const Place& place);
  /// Checks that it is of `wanted`; `role` begins the message: "the stride". Returns its time.
  Typed want(const ExprPtr& expression, const Type& wanted, const Place& place, const std::string& role);
  /// Reports that `type` (of `expression`) is not `wanted`, unless it fits. True when it fits.
  bool expect_type(const Expr& expression, const Type& type, const Type& wanted, const std::string& role);
  /// The analysis of a find: a call of the vocabulary's analyses.
  Typed check_analysis(const ExprPtr& expression, const Place& place);
  /// A name of one kind that a statement refers to (`chase A by P`); null after reporting.
  const Symbol* refer(const Word& word, const Place& place, const char* wanted);

  /// `chase A by m.ring`: checks that m is a used file and ring a pattern of it. False when the word has no `.`.
  bool module_pattern(const Word& word, const Place& place);

  [[nodiscard]] const Source& source() const { return source_; }
  /// Hands on the names of a scope that has been checked, and where they are known.
  void note(const SymbolScope& names, Span scope);

  bool read_per_thread = false;  ///< set when a name is read that differs from thread to thread; whoever asks clears it

 private:
  Typed check(const Expr& expression, const Place& place);
  Typed of(const Quantity& quantity, const Expr& expression, const Place& place);
  Typed of(const Name& name, const Expr& expression, const Place& place);
  Typed of(const Member& member, const Expr& expression, const Place& place);
  Typed of(const Call& call, const Expr& expression, const Place& place);
  Typed of(const ListOf& list, const Expr& expression, const Place& place);
  Typed of(const Comprehension& comprehension, const Expr& expression, const Place& place);
  Typed of(const Unary& unary, const Expr& expression, const Place& place);
  Typed of(const Binary& binary, const Expr& expression, const Place& place);
  Typed of(const Within& within, const Expr& expression, const Place& place);
  Typed of(const InRange& range, const Expr& expression, const Place& place);
  Typed of(const Text& text, const Expr& expression, const Place& place);

  Typed module_value(const Symbol& module, const Word& field, Span whole, const Place& place);
  Typed stage_finding(const Symbol& stage, const Member& member, const Expr& expression, const Place& place);
  /// E0202, or E0301 when a stage that this place is not in has the name.
  void unknown(const std::string& name, Span span, const Place& place, std::string_view wanted = "a value");
  std::string hint_for(const Expr& expression, const Type& type, const Type& wanted, const std::string& role) const;
  bool known_in_time(const Symbol& symbol, Span span, const Place& place);
  /// Two operands that must be of one dimension; the common type, or Any after reporting.
  Type alike(const Expr& left, const Type& a, const Expr& right, const Type& b, Span span, const char* verb);
  Type number(const Expr& expression, const Type& type, const std::string& role);

  // calls.cpp
  struct Seen {
    Type subject, over;
    Time time = Time::File;
    bool wrong = false;
  };
  Typed answer(const Callable& callable, const Seen& seen);
  void check_argument(const Callable& callable, const CallArgument& argument, std::size_t position, const Place& place, Seen& seen);
  void check_label(const Callable& callable, const CallArgument& argument, const Place& place, Seen& seen);
  void check_clauses(const Callable& callable, const CallArgument& argument, bool first, const Place& place, Seen& seen);
  void check_by(const Callable& callable, const Word& by, const Place& place);
  void check_presence(const Callable& callable, const Call& call, Span span, Seen& seen);
  void check_subject(const Callable& callable, const CallArgument& argument, std::size_t position, const Place& place, Seen& seen);

  Diagnostic& error(const char* code, Span span, std::string message, std::string hint = {}) {
    return diagnostics_.error(code, span, std::move(message), std::move(hint));
  }
  /// The text of an expression on one line, shortened.
  [[nodiscard]] std::string text(Span span) const;

  const File& file_;
  const Source& source_;
  Diagnostics& diagnostics_;
  int element_;
  bool has_memory_;
  Declarations* declared_;
  bool analysis_allowed_ = false;
};

}  // namespace gexp::lang
