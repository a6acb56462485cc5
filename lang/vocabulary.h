// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

/// Every word that the checker knows besides names: functions, analyses, pattern constructors, contextual words.
namespace gexp::lang {

/// What a labelled parameter takes.
enum class Takes {
  Nothing, Bytes, Plain, Cycles, Text, BytesList, PlainList, TextList, Neighbours, CacheSets,
  PerPoint,  ///< a plain number of each point, where other labels of an analysis are the same for all points
};

struct Label {
  std::string_view name;
  Takes takes = Takes::Nothing;
  bool optional = false;
};

struct Callable {
  enum class Kind {
    Analysis,   ///< of a `find`: a pure function of the stage's table
    Column,     ///< of a record, at one point
    Function,   ///< of values
    Pattern,    ///< makes a sequence of byte offsets
  };
  enum class Subject { None, Record, Value, Number, Pattern, List, Text, Anything };  ///< the unlabelled arguments
  enum class Clause { Never, May, Must };
  /// Which parts of a record it can be asked about; no row of the vocabulary of records leaves that open.
  enum class Parts {
    None,    ///< what it tells is of the whole region or launch
    Traces,  ///< it follows an access to the next: the whole trace of a warp, a thread or a block, and no less
    Values,  ///< any values
  };
  enum class Answer {
    Over,          ///< the dimension of what follows `over`
    Subject,       ///< the dimension of the argument; of a record its time, of a list its items'
    Plain, Bytes, Cycles, PlainList, CyclesList, SubjectList, Condition, Pattern,
    Slope,         ///< the structure of linear: slope intercept r2
    Slopes,        ///< a list of these, each with what it is `at`
    CacheSets, Replacement, Hits, Places, Alike, Contention, PairConflicts, Recurrence, BankConflicts, Spikes, Outstanding, Saturation,
  };

  std::string_view name;
  Kind kind = Kind::Function;
  Subject subject = Subject::Number;
  int least = 1, most = 1;  ///< number of unlabelled arguments
  Answer answer = Answer::Subject;
  std::array<Label, 6> labels{};
  Clause over = Clause::Never;
  Clause by = Clause::Never;  ///< May: it has a meaning of its own; else each value after `by` has an answer of its own
  Clause where = Clause::Never;
  Parts parts = Parts::None;
  bool over_finding = false;  ///< what follows `over` is a finding of the same stage
  bool free_labels = false;   ///< labels are the user's: nonuniform's parts, value's coordinates
  std::string_view usage{};   ///< an example, for hints
  std::string_view purpose{}; ///< the question that an analysis answers; what another gives, without a full stop
};

std::span<const Callable> vocabulary();
/// Null when there is no such function.
const Callable* find_callable(std::string_view name);
/// Names of the analyses, or of all other callables.
std::vector<std::string_view> callable_names(bool analyses);

/// A name by which `where`, `by` and `over` take parts of a record.
struct PartName {
  std::string_view name;
  bool within_trace;  ///< it parts the accesses of one trace; else it parts traces
  std::string_view about;
};
/// All of them, of lang/parts.def.
std::span<const PartName> part_names();
/// Null when it is none of them.
const PartName* find_part(std::string_view name);

/// The contextual words of one place: where `memory … in`, `via`, `flush`, `timed` and `record` look.
struct Words {
  std::string_view what;  ///< "a memory space"
  std::vector<std::string_view> words;
  [[nodiscard]] bool has(std::string_view word) const;
};
const Words& element_words();
const Words& space_words();
const Words& via_words();
const Words& hint_words();
const Words& level_words();
const Words& scope_words();
const Words& flush_words();
const Words& timing_words();
const Words& keep_words();
const Words& neighbour_words();
const Words& place_words();
const Words& drawing_words();
const Words& variable_words();

/// The size of one element in bytes; 0 when there is no such element.
int element_size(std::string_view element);

}  // namespace gexp::lang
