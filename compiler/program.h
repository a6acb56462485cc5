// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "compiler/formula/formula.h"
#include "lang/operations.h"

/// What the compiler hands to the runtime: stages in the order in which they can run, the CUDA text of their kernels, how to
/// make the trials of a point, and the questions to ask of the records. No I/O, no device.
namespace gexp::compiler {

struct Parameter {
  std::string name;
  Value value;  ///< after --set
  std::string doc;
};

/// A file that the spec uses, or one of those uses; with these a program can be compiled again without any file.
struct UsedFile {
  std::string by, path;  ///< `use "path"` in the file `by`
  std::string file;      ///< what that was
  std::string sha256, text;  ///< of a file that is no text (.npy) in base64
};

struct Binding {  ///< `let`, `pattern`, `derive`
  enum class Kind { Let, Pattern, Derive };
  Kind kind;
  std::string name;
  FormulaPtr formula;
};

struct Require {
  FormulaPtr condition;
  std::string otherwise;
};

struct MemorySpace;  // compiler/memory/memory_space.h

struct Memory {
  std::string name;
  int element_bytes = 4;  ///< 4 or 8 hold a chase's links
  std::string element;    ///< as written: "u32"
  FormulaPtr length;      ///< of dimension bytes (the whole array) or a plain count of elements
  const MemorySpace* space = nullptr;  ///< one of those that there are, never null in a program
  FormulaPtr page, align;  ///< bytes; null when absent
  FormulaPtr pitch;        ///< of a texture with two dimensions: bytes from one row to the next; null: it has one
  FormulaPtr holds;        ///< what its elements are before anything runs, and stay; null: not defined
  Span span;
};

struct Sweep {
  enum class Kind { Step, Times, Points, LogPoints, List };
  std::vector<std::string> names;  ///< several: a zip, each item of the list a list
  Kind kind = Kind::Step;
  FormulaPtr from, to;   ///< both included
  FormulaPtr by;         ///< step, factor or number of points; null: step 1
  FormulaPtr list;       ///< Kind::List
  FormulaPtr refine_to, refine_on;  ///< bisect gaps over which the condition changes, down to this width
  bool refine_highest = false;      ///< bisect those on both sides of where `refine_on` is highest
  FormulaPtr until;      ///< stop this sweep after the first value at which it holds
  Span span;
};

struct Skip {
  FormulaPtr condition;
  std::string why;
};

struct Launch {
  FormulaPtr grid, block;                   ///< null: 1
  FormulaPtr cluster;                       ///< blocks a cluster; null when absent
  FormulaPtr smem;                          ///< bytes of dynamic shared memory besides the memories; null when absent
  FormulaPtr persm;                         ///< most blocks at once on a multiprocessor; null when absent
  FormulaPtr carveout, bank;                ///< bytes; null when absent
  FormulaPtr sm;                            ///< number of the multiprocessor that the block runs on; null: any
  FormulaPtr sms;                           ///< multiprocessors that run the block at once, each a repetition; null: one
  FormulaPtr limit;                         ///< seconds after which a launch has hung; null: what the run allows
  FormulaPtr registers;                     ///< that a thread takes; null: what the compiler gives it
  std::string place;                        ///< "any" (or empty), "sm", "tpc", "gpc"
  Span span;
};

enum class Via { Default, Ca, Cg, Cv, Nc, Tex, Cs, Lu, Ldu, Volatile, Bulk, Wb, Wt };
const char* word(Via via);  ///< "ca"; "" for Default

/// A kernel that a file of somebody else holds, and what it is given.
struct FileKernel {
  struct Argument {
    enum class Kind { Value, Memory, Record };
    Kind kind = Kind::Value;
    std::string name;     ///< Memory, Record
    FormulaPtr value;     ///< as it is written; of what is named, the name
    FormulaPtr entries;   ///< Record: null for one a thread
    FormulaPtr width;     ///< Record: bytes of an entry; null: 4
    bool linked = false;  ///< Memory: it holds the links of a chase, which stands in the operation's body
    Span span;
  };
  struct Define {
    std::string name;
    FormulaPtr value;
  };
  std::string path;  ///< as written
  Span path_span;
  std::string entry;
  Span entry_span;
  std::vector<Argument> arguments;
  std::vector<FormulaPtr> templates;
  std::vector<Define> defines;
  std::shared_ptr<const Source> source;  ///< the file
  std::string sha256;                    ///< of its text
  [[nodiscard]] bool ptx() const { return path.ends_with(".ptx"); }
};

using ArgumentKind = FileKernel::Argument::Kind;

/// One operation of a body; which members count depends on the kind.
struct Op {
  using Kind = lang::Operation;
  Kind kind = Kind::Chase;
  Span span;
  std::string memory;       ///< Chase, Load, Store
  FormulaPtr width;         ///< bytes of one access; null: the memory's element
  Via via = Via::Default;
  std::string hint;         ///< Chase, Load, Store: "evict_first", "l2_evict_last"; empty: none
  FormulaPtr fetch;         ///< Chase, Load: bytes that the L2 is to bring; null: the device's choice
  FormulaPtr rank;          ///< Chase, Load, Store, Atomic: the block of the cluster whose shared memory it is; null: the thread's own
  std::string level;         ///< Load: the level that the line is brought to, and nothing read; empty: none
  std::string into;         ///< Load: the memory that it is copied into; empty: a register
  FormulaPtr into_at;
  FormulaPtr rows, pitch;   ///< Load: of a tile, whose row is `width`; null: it is none
  std::string scope;        ///< Atomic, Fence; empty: the device's choice
  bool red = false;         ///< Atomic: it returns nothing
  std::string pattern;      ///< Chase
  FormulaPtr count;         ///< Chase; Loop with a condition: the most rounds
  bool laps = true;         ///< Chase: count is in laps of the pattern, else in steps
  FormulaPtr at;            ///< Load, Store: byte offset of a thread's access
  std::string instruction;  ///< Alu: its name, or that of a value that is its name; Atomic
  Span instruction_span;
  FormulaPtr named;         ///< Alu: the value of that name; null where an instruction is meant beyond doubt
  FormulaPtr chain, ilp;    ///< Alu: dependent instructions in a chain, and chains beside each other
  FormulaPtr condition;     ///< Branch; Loop: as long as it holds, and then it has no bounds
  std::string variable;     ///< Unroll, Loop, Var, Assign
  FormulaPtr from, to;      ///< Unroll, Loop: both included
  std::string gives;        ///< Load: the variable that it gives what was loaded; empty: none
  std::string type;         ///< Var, as written
  FormulaPtr value;         ///< Var, Assign; Store: null where it writes what a load read
  std::vector<Op> otherwise;  ///< Branch
  std::vector<Op> body;     ///< Branch, Unroll, Loop, Interleave; of a Kernel a chase for each memory that holds links
  std::shared_ptr<const FileKernel> kernel;  ///< Kernel
  std::string flag;           ///< Signal, Wait
  FormulaPtr signals, bound;  ///< Wait: how many more signals (null: 1), and the cycles after which it is given up (null: kPatience)
};
using Body = std::vector<Op>;

struct Repeat {
  std::int64_t at_least = 5, at_most = 5;
  FormulaPtr until;  ///< null: exactly at_least
};

enum class Timing { Each, Total, Wall, Values };
const char* word(Timing timing);

enum class Keep { Raw, Histogram, Summary };

/// `transform soft_l1(line: L, monitor: N, hits: P)`: the software cache that the timed kernel is given.
struct SoftCache {
  FormulaPtr line;     ///< bytes; 0: the kernel stays as it is
  FormulaPtr monitor;  ///< accesses of a thread; null: 300
  FormulaPtr hits;     ///< place of an argument, the memory whose hits the record tells; null: none
  Span span;
};

struct Flush {
  std::string level;  ///< "l1", "l2", "tlb", "managed"
  Span span;
};

/// `find NAME: TYPE = ANALYSIS(…) need P`
struct Question {
  std::string id;        ///< "stage.name"
  std::string type;      ///< as written: "B", "count", "cycles", "name", "list", "line", …
  std::string analysis;
  std::vector<Formula::Argument> arguments;
  bool each = false;     ///< each value after `by` has an answer of its own
  double need = 0.9;     ///< least confidence, 0..1; below it the finding is undetermined
  FormulaPtr combined;   ///< of an analysis of one's own: what it gives, of the answers to `parts`; null of every other
  std::vector<std::string> parts;  ///< ids of questions above it in the stage; their `type` is empty
  Span span;
};

struct Expectation {
  FormulaPtr condition;
  FormulaPtr where;             ///< null when absent; where it does not hold, nothing is expected
  std::vector<std::string> on;  ///< selectors; empty: every device
  std::string from;             ///< the source
  std::string xfail;            ///< why it is expected to fail; empty when it is not
  std::string text;             ///< as written
  Span span;
};

struct Plot {
  FormulaPtr y, x;
  std::string by;
  std::vector<std::string> log;
  Span span;
  bool heatmap = false;
};

/// A warm-up by a launch of its own, before the one that is timed.
struct WarmLaunch {
  FormulaPtr grid, block;  ///< null: 1
  Body body;
};

/// A finding of another stage that decides what a stage measures.
struct StageInput {
  std::size_t stage = 0;
  std::string finding;  ///< empty: all of that stage's
  friend bool operator==(const StageInput&, const StageInput&) = default;
};

struct Stage {
  // Compiled once, in program.cpp: each file that has one would compile its own (docs/decisions/build-time.md).
  Stage();
  Stage(const Stage&);
  Stage(Stage&&) noexcept;
  Stage& operator=(const Stage&);
  Stage& operator=(Stage&&) noexcept;
  ~Stage();

  std::string name, doc;
  std::vector<Sweep> sweeps;
  std::vector<Binding> bindings;  ///< lets and patterns in order, evaluated at every point
  std::vector<Require> requires_;
  std::vector<Skip> skips;
  Launch launch;
  std::optional<SoftCache> transform;
  std::vector<Flush> flushes;
  std::vector<WarmLaunch> warm_launches;
  Body warm, timed;
  std::string timed_name;
  Timing timing = Timing::Each;
  Repeat repeat;
  Keep keep = Keep::Raw;
  std::vector<Binding> derives;
  std::vector<Question> finds;
  std::vector<Expectation> expects;
  std::vector<Plot> plots;
  std::optional<std::size_t> leader;  ///< the stage in whose launch it runs, at that stage's points
  std::vector<std::size_t> beside;    ///< the stages that run in its launch, right behind it in the file
  std::vector<FormulaPtr> counting;   ///< its formulas that call `unique`, in their order
  std::vector<std::size_t> after;  ///< indices of the stages whose findings it reads
  std::string key;                 ///< SHA-256 of what decides what it measures, as far as the file tells
  std::vector<StageInput> reads;   ///< what does besides, and is known when it runs
  Span span;
};

struct Program {
  // Compiled once, in program.cpp: each file that has one would compile its own (docs/decisions/build-time.md).
  Program();
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  /// "stage.finding".
  [[nodiscard]] std::string id_of(const StageInput& read) const { return stages[read.stage].name + "." + read.finding; }

  std::string experiment, doc;
  int nvrtc = 0;  ///< that makes machine code for the device, times ten: 118 for 11.8; 0: not known, or the device takes PTX
  Value device;  ///< facts of the device that is to run it, read as `device.sms`; unknown until one is chosen
  std::vector<std::pair<std::string, std::string>> meta;
  std::vector<UsedFile> used;  ///< one a statement, each text with those that it uses itself
  std::vector<Parameter> parameters;  ///< those of a used file as "m.limit"
  std::vector<Binding> lets;  ///< file-level lets and patterns, in order
  std::vector<Require> requires_;
  std::vector<Memory> memories;
  FormulaPtr budget_time, budget_memory;  ///< null when absent
  std::uint64_t seed = 0;
  std::vector<Stage> stages;  ///< in an order in which they can run
  std::vector<Expectation> expects;
  std::string ir;  ///< the graph as text, for `emit --ir`
  std::string dot;  ///< and for Graphviz
};

}  // namespace gexp::compiler
