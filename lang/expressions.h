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

/// How a stage keeps its record, for what can be asked of parts of it.
struct KeptRecord {
  std::string name;     ///< empty: the stage times nothing
  std::string how;      ///< each, total, wall
  std::string keep;     ///< raw, histogram, summary
  bool kernel = false;  ///< of a file: what its entries are, the file says
};

/// Which calls may stand somewhere.
enum class Calls {
  Functions,  ///< of values, records and patterns
  Analysis,   ///< a `find`: nothing but an analysis
  Both,       ///< what an analysis of one's own is composed of
};

struct PartRead {  ///< a name of part_names, and where it is read
  const PartName* part;
  Span span;
};
/// What the `where` and the `by` of a call take; of an analysis of one's own they go to each analysis in it.
struct Chosen {
  std::vector<PartRead> where;  ///< parts of the record
  std::optional<PartRead> by;   ///< if that is one
  bool grouped = false;         ///< there is a `by`
};

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
  const KeptRecord* record = nullptr;  ///< of the stage; null where there is none to ask about
  bool parts = false;            ///< a `where` or an `over`: it may read what tells a record's values apart
  bool accesses = false;         ///< a plot's axis: it may be `step` or `seg`
  bool find = false;             ///< of a find: its `where` may read the findings above it
  Calls calls = Calls::Functions;
  bool composed = false;         ///< in an analysis of one's own, whose lets may be findings
  const Chosen* chosen = nullptr;         ///< there: by which `where` and `by` it is used; null where by none
  const SymbolScope* used_from = nullptr; ///< there: the names where it is used; null where it is defined
};

/// What is known of an expression; `time` is that of the latest value it reads.
struct Typed {
  Type type;
  Time time = Time::File;
};

/// "it sweeps n, k", for hints; empty where nothing is swept.
std::string sweeps_of(const SymbolScope& names);

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
  Typed want(const ExprPtr& expression, const Type& wanted, const Place& place, std::string_view role);
  /// Reports that `type` (of `expression`) is not `wanted`, unless it fits. True when it fits.
  bool expect_type(const Expr& expression, const Type& type, const Type& wanted, std::string_view role);
  /// The analysis of a find: a call of the vocabulary's analyses.
  Typed check_analysis(const ExprPtr& expression, const Place& place);
  /// Checks an analysis where it is declared, for arguments that are whatever its types say. False when it has mistakes.
  bool check_definition(const AnalysisDef& definition);
  /// The file's own names, among which those of analyses and used files are looked up.
  void calls_among(const SymbolScope& names) { file_names_ = &names; }
  /// A name of one kind that a statement refers to (`chase A by P`); null after reporting.
  const Symbol* refer(const Word& word, const Place& place, const char* wanted);

  /// `chase A by m.ring`: checks that m is a used file and ring a pattern of it. False when the word has no `.`.
  bool module_pattern(const Word& word, const Place& place);

  [[nodiscard]] const Source& source() const { return source_; }
  /// Hands on the names of a scope that has been checked, and where they are known.
  void note(const SymbolScope& names, Span scope);

  /// Reports what no part of the stage's record can be taken by.
  void refuse_part(const KeptRecord* record, std::string_view part, Span span);

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
  std::string hint_for(const Expr& expression, const Type& type, const Type& wanted, std::string_view role) const;
  bool hidden_where_used(const std::string& name, Span span, const Place& place);
  bool known_in_time(const Symbol& symbol, Span span, const Place& place);
  /// Two operands that must be of one dimension; the common type, or Any after reporting.
  Type alike(const Expr& left, const Type& a, const Expr& right, const Type& b, Span span, const char* verb);
  Type number(const Expr& expression, const Type& type, std::string_view role);

  // check_own_analyses.cpp
  /// An analysis of the file or of a used one.
  struct OwnAnalysis {
    const Symbol* symbol = nullptr;
    const Exports* from = nullptr;  ///< the used file; null: this one
  };
  /// How it is used, for its body.
  struct UsedAt {
    std::vector<Symbol> arguments;
    const KeptRecord* record = nullptr;
    const Chosen* chosen = nullptr;
    const SymbolScope* names = nullptr;
  };
  /// What a callee that is no function of the language names; nothing, and `said` when that was a mistake.
  OwnAnalysis own_analysis(const Word& callee, const Place& place, bool& said);
  [[nodiscard]] std::vector<std::string_view> own_names() const;
  Typed of_own(const OwnAnalysis& own, const Call& call, const Expr& expression, const Place& place);
  bool match_arguments(const AnalysisDef& definition, const Call& call, Span span, std::vector<const CallArgument*>& given);
  Symbol argument_symbol(const AnalysisArgument& declared, const CallArgument& given, const std::string& of, const Place& place, bool& wrong);
  Chosen chosen_by(const CallArgument& first, const std::string& callee, const Place& place, bool& wrong);
  /// What it answers, with these arguments.
  Type answer_of(const AnalysisDef& definition, const UsedAt& used);
  Type given_by(const AnalysisDef& definition, std::vector<std::pair<const Give*, Type>> given);
  void check_chosen(const Callable& callable, const Call& call, const Place& place);
  void warn_of_unread(const AnalysisDef& definition);

  // calls.cpp
  struct Seen {
    Type subject, over;
    bool grouped = false;  ///< each value after `by` has an answer of its own
    Time time = Time::File;
    bool wrong = false;
  };
  Typed answer(const Callable& callable, const Seen& seen);
  void check_argument(const Callable& callable, const CallArgument& argument, std::size_t position, const Place& place, Seen& seen);
  void check_label(const Callable& callable, const CallArgument& argument, const Place& place, Seen& seen);
  void check_clauses(const Callable& callable, const CallArgument& argument, bool first, const Place& place, Seen& seen);
  // selections.cpp
  void check_where(const Callable& callable, const CallArgument& argument, const Place& place, Seen& seen);
  void check_over(const Callable& callable, const CallArgument& argument, const Place& place, Seen& seen);
  void check_by(const Callable& callable, const CallArgument& argument, const Place& place, Seen& seen);
  std::vector<PartRead> parts_of_where(const ExprPtr& where, const Place& place);
  bool check_parts(const Callable& callable, const Expr& subject, const std::vector<PartRead>& parts, const char* word, const Place& place);
  /// The parts that an expression reads; it is checked by `check`.
  template <class Check> std::vector<PartRead> parts_read(const Place& place, Check check);
  void check_presence(const Callable& callable, const Call& call, Span span, Seen& seen);
  void check_subject(const Callable& callable, const CallArgument& argument, std::size_t position, const Place& place, Seen& seen);

  Diagnostic& error(const char* code, Span span, std::string message, std::string hint = {}) {
    return diagnostics_.error(code, span, std::move(message), std::move(hint));
  }
  /// A note at the `let` or `find` that gave a name its value.
  void show_origin(Diagnostic& problem, const Expr& expression) const;
  /// The text of an expression on one line, shortened.
  [[nodiscard]] std::string text(Span span) const;

  const File& file_;
  const Source& source_;
  Diagnostics& diagnostics_;
  int element_;
  bool has_memory_;
  Declarations* declared_;
  const SymbolScope* file_names_ = nullptr;
  /// What was followed through analyses of one's own.
  struct WrittenOut {
    std::size_t of_find = 0;  ///< analyses of the current find
    std::size_t bytes = 0;    ///< of their texts, of all finds
  };
  WrittenOut written_out_;
  WrittenOut* expansions_ = &written_out_;  ///< that of the outermost checker
  std::vector<PartRead> parts_read_;
};

}  // namespace gexp::lang
