// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lang/expressions.h"

/// The statements of a stage, and what they share with those of the file.
namespace gexp::lang {

/// A stage's findings as the structure that later stages read, with their declared types.
Type declared_findings(const Stage& stage);
/// E0204 unless the word is one of those.
void check_word(Diagnostics& diagnostics, const Word& word, const Words& words);
/// A domain, whose items must fit `type`; the type of an item. `records` is where refine and until conditions stand.
Type check_domain(ExpressionChecker& expressions, Diagnostics& diagnostics, const Domain& domain, const Type& type, const Place& place, const Place& records);
void check_expect(ExpressionChecker& expressions, const Expect& expect, const Place& place);
/// What to write instead of a word that is no type.
std::string meant_type(const std::string& word, const std::vector<std::string_view>& types);
/// Whether what an analysis gives may be declared so.
bool answers(const Type& type, const Type& declared);
/// The word that declares a type.
std::string written_type(const Type& type);
/// Whether it is a variable that `assign`, `into` and `stamp` may give another value.
bool is_settable(const Symbol* symbol);
/// The statement word that a statement begins with.
Span first_word(const Source& source, Span span);
inline Type plain() { return number_of({}); }
inline Type bytes() { return number_of(kBytes); }
/// The type of a name with this value: a written 0 is a plain number from then on.
Type settled(Type type);

/// E0219 for every statement of a kind that may stand once, after the first.
template <class T> void only_once(const std::vector<Statement>& statements, const Source& source, Diagnostics& diagnostics) {
  const Statement* first = nullptr;
  for (const auto& each : statements) {
    if (!std::holds_alternative<T>(each.node)) continue;
    if (first) {
      const auto word = first_word(source, each.span);
      auto& problem = diagnostics.error("E0219", word, "a second `" + std::string(source.slice(word)) + "` here", "keep one of them");
      problem.notes.push_back({first_word(source, first->span), "the first one"});
    } else {
      first = &each;
    }
  }
}

class StageChecker {
 public:
  StageChecker(ExpressionChecker& expressions, Diagnostics& diagnostics, const SymbolScope& file, std::size_t index)
      : expressions_(expressions), diagnostics_(diagnostics), names_(&file), index_(index) {}

  /// Checks every statement; the findings with their types. `inside` is where its names are known. `leader`: in whose launch it runs.
  Type run(const Stage& stage, Span inside, const StageChecker* leader = nullptr);

 private:
  [[nodiscard]] Place at(const char* what, Time limit, bool threads = false) const;
  [[nodiscard]] Place rows(const char* what, bool find = false) const;
  void plot_by(const Plot& plot, const Place& place);
  void declare_all(const Stage& stage);
  /// E0440: more than kMaxSweeps.
  void limit_sweeps(const Stage& stage);
  void add(Symbol::Kind kind, const Word& name, std::uint32_t usable_from, Time time, Type type = any_type());
  void refuse_name_of(const Stage& stage, const Word& pattern);
  void settle(const Word& name, Type type, Time time);
  void ops(const std::vector<Op>& body, const SymbolScope& names);
  void op(const Op& each, const Place& place, SymbolScope& names);
  /// `var`, `assign` and what a load gives to a variable: each is declared once, above where it is read, in a body around it.
  void declare_variable(const Word& name, std::uint32_t usable_from, bool settable, SymbolScope& names);
  void settable(const Word& name, const Place& place);
  void variable(const Op& each, const Place& place, SymbolScope& names);
  void chase(const Op& each, const Place& place, const Place& counted);
  void interleave(const Op& each, const Place& place);
  /// What may follow an operation: widths, paths, hints, levels, targets and scopes. `counted`: where a number of the point stands.
  void clauses(const Op& each, const Place& place, const Place& counted);
  void refuse_chases(const std::vector<Op>& body);

  // check_launch.cpp: stages of one launch
  /// The sweeps, lets and patterns of the stage whose points these are.
  void declare_of(const StageChecker& leader);
  void refuse_of_leader(const Stage& stage);
  void refuse_flags(const std::vector<Op>& body);

  // check_kernel.cpp
  void kernel(const Op& op, const Place& place);
  void kernel_argument(const KernelArgument& argument, const Place& place);
  /// A number, or what stands in a text, as C++ is to read it.
  void kernel_text(const ExprPtr& value, const Place& place, const char* role);
  /// Where a kernel may stand, and what it must be given there. `timed`: null in a warm-up.
  void kernels(const std::vector<Op>& body, const Timed* timed);
  void kernel_record(const Op& op, const Timed* timed);
  /// What `launch` cannot ask of a kernel whose text is not gexp's, and what `transform` can ask of no other.
  void kernel_launch(const Stage& stage);
  void transformation(const Transform& transform);
  [[nodiscard]] const Symbol* named_by(const KernelArgument& argument) const;

  // A function each for the statements of a stage; others are misplaced.
#define GEXP_CHECKED_File(kind)
#define GEXP_CHECKED_Stage(kind) void check(const kind& statement, Span span);
#define GEXP_CHECKED_Both(kind) GEXP_CHECKED_Stage(kind)
#define GEXP_CHECKED_Anywhere(kind) GEXP_CHECKED_Stage(kind)
#define GEXP_CHECKED_Analysis(kind)
#define GEXP_STATEMENT(word, kind, rule, level, ...) GEXP_CHECKED_##level(kind)
#include "lang/statements.def"
  void check(const Stage& stage, Span span);
  void check(const Give& give, Span span);
  template <class T> void check(const T&, Span span) { misplaced(span); }
#undef GEXP_CHECKED_File
#undef GEXP_CHECKED_Stage
#undef GEXP_CHECKED_Both
#undef GEXP_CHECKED_Anywhere
#undef GEXP_CHECKED_Analysis
  void misplaced(Span span);
  void tuples(const Sweep& sweep, const Place& place);
  /// Declared types: the type, or Any after E0213.
  Type declared(const Word& word);

  ExpressionChecker& expressions_;
  Diagnostics& diagnostics_;
  SymbolScope names_;
  SymbolScope row_names_{&names_};  ///< those, and how the launches of a point ended
  std::size_t index_;
  std::size_t launch_ = kNoStage;  ///< the stage in whose launch this one runs
  KeptRecord record_;
};

/// E0229, E0231: stages that run beside others, and the flags of their launches, as far as one stage does not tell.
void check_launches(const File& file, Diagnostics& diagnostics);

}  // namespace gexp::lang
