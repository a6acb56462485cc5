// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/codegen/append.h"
#include "compiler/codegen/body.h"
#include "compiler/codegen/thread_code.h"
#include "compiler/formula/each_thread.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"
#include "compiler/plan/calibrate.h"
#include "lang/atomics.h"
#include "lang/instructions.h"

/// Writes the holes of body.cu for one point. Only the files body*.cpp know this class.
namespace gexp::compiler {

class BodyWriter {
 public:
  BodyWriter(const BodyPlace& place, const std::vector<Chased>& chases, BodyPlan& plan)
      : place_(place), chases_(chases), plan_(plan), code_(place.scope, place.lets, thread_ranges(place.grid, place.block), plan.tables) {}

  Result<Shape> run();
  Result<BodyText> write();

 private:
  using Problem = std::optional<Diagnostic>;
  static constexpr std::int64_t kMaxCount = std::int64_t{1} << 32;
  static constexpr int kMaxOperations = 4096;  ///< after unrolling: bounds the text and the compile

  struct Loaded {
    std::string name;
    int width;
  };
  /// A body whose operations are being written.
  struct Region {
    double rounds = 1;           ///< how often it runs in all
    std::vector<Loaded> loaded;  ///< what its loads have read so far
    std::size_t stored = 0;      ///< of these, how many were stored
    std::vector<Loaded> results; ///< of atomic operations
  };
  /// Where a chase stands, as names of variables. It begins once: a round of a loop, or of an `unroll`, goes on where the last one ended.
  struct Cursor {
    std::string base, at, steps;
  };
  struct Enclosing {
    std::string variable, from;  ///< its first round, as text; of a `loop while` a word that no variable can have, and 0
    std::string begins, ends;    ///< pointers of the accesses inside: declared before the loop, moved on at the end of a round
    bool only_loads = true;      ///< no store and no barrier inside
    bool counted = true;         ///< false: of a `loop while`
  };

  /// A variable of each thread as the kernel's text has it.
  struct Variable {
    std::string name, type;
    int fraction = 0;  ///< bytes of a number that may have one
    bool settable = false;
  };

  static Diagnostic error(Span span, std::string code, std::string message, std::string hint = {});

  // The operations, a function each: body_accesses.cpp, body_arithmetic.cpp, body_control.cpp, body_interleave.cpp, body_variables.cpp
#define GEXP_OPERATION(word, kind, ...) Problem word(const Op& op, Region& region);
#include "lang/statements.def"

  // body.cpp: the region as a whole
  /// The operations of a body, then the consumption of what they loaded. `rounds`: how often the body runs in all.
  Problem body(const Body& ops, double rounds);
  Problem list(const Body& ops, Region& region);
  void consume_loaded(Region& region);
  void consume(const Loaded& value);
  /// Reads the clock once the address is there, which `settled` waits for: else the access would wait for it inside the region.
  void begin_timing(const std::string& settled);
  /// After the consumer: the clock, and the trace by the first lane of each warp. The first access's time in a calibrating pass, too.
  void end_timing(const Op& op, const Memory& memory, const std::string& now = "gexp_clock()");
  /// Holds the next clock read back until a value is there.
  void settle(const std::string& value) { line(settle_text(value)); }
  std::string record() const;

  // body_flags.cpp
  [[nodiscard]] std::size_t flag_of(const Op& op) const;

  // body_arithmetic.cpp
  /// E0430: there is none, E0501: the device or the compiler has it not, E0439: lanes of a warp are missing.
  Result<const lang::Instruction*> instruction_of(const Op& op);
  std::string matrices_of(const lang::Instruction& instruction);
  void declare_matrices(MemoryTexts& texts) const;

  // body_order.cpp
  /// E0429 a memory without atomic operations, E0431 no operation, E0501 the device has it not.
  Result<const lang::Atomic*> atomic_of(const Op& op, const Memory& memory);
  /// E0501 where the device has no scopes as the operation writes it; `compute` for other scopes than a cluster.
  [[nodiscard]] Problem scope_lacks(const Op& op, int compute) const;
  /// Why no bulk copy can be made here; else its barriers are declared.
  Problem bulk_lacks(const Op& op);
  void declare_barriers(MemoryTexts& texts) const;
  /// A tile of rows, as a bulk copy takes it. E0418 sides that it cannot have.
  struct Tile {
    int row = 0, rows = 0, pitch = 0;  ///< bytes, rows, bytes
    [[nodiscard]] int span() const { return (rows - 1) * pitch + row; }
  };
  Result<Tile> tile_of(const Op& op, const Memory& memory, int width) const;
  Problem copy_tile(const Op& op, const Memory& memory, const Tile& tile, const std::string& at, Region& region);
  /// The number of the parameter that tells the copy engine of such tiles of a memory.
  std::size_t map_of(const Memory& memory, const Tile& tile);
  Problem prefetch(const Op& op, const Memory& memory, const std::string& at);
  Problem copy(const Op& op, const Memory& memory, int width, const std::string& at, Region& region);

  // body_accesses.cpp
  /// How an access asks to be cached. E0417 bytes that cannot be fetched, E0501 what the device has not.
  Result<Manner> manner_here(const Op& op);
  Result<const Memory*> memory_of(const Op& op);
  Result<int> width_of(const Op& op, const Memory& memory) const;
  /// The variable that holds an access's address, settled before timing begins; loops move it on.
  Result<std::string> address(const Op& op, const Memory& memory, int width);
  /// E0420 and E0421 unless every access of every thread and round is inside the memory and aligned.
  Problem inside(const Op& op, const Memory& memory, std::uint64_t bytes, int width);
  std::vector<LoopRounds> rounds_around() const;
  /// Finds where the memory begins that an operation accesses: in another block of the cluster, too. E0447 no such block.
  Problem settle_base(const Op& op, const Memory& memory);
  [[nodiscard]] std::string base_of(const Op& op, const Memory& memory) const;
  void count(const Op& op, const Memory& memory, double rounds, int width);
  /// The chase at its place in the point: its memory, its width, and where it stands.
  struct Step {
    const Memory* memory = nullptr;
    int width = 4;
    std::int64_t steps = 0;
    const Cursor* cursor = nullptr;
  };
  Result<Step> step_of(const Op& op);
  void begin_chase(const Op& op, const Memory& memory, int width, const Chased& chased, const Cursor& cursor);

  // body_variables.cpp
  /// Declares a variable in the text, once for each operation that does.
  Variable& declare_variable(const Op& op, const std::string& name, const std::string& type);
  /// The text of a value for a variable or for an element: `fraction` as a variable has it.
  Result<std::string> value_text(const Formula& formula, int fraction) { return fraction > 0 ? code_.fraction_text(formula, fraction) : code_.text(formula); }
  /// What a load with `into` gives its variable.
  Problem give(const Op& op, const Memory& memory, int width, const std::string& value);
  static bool is_fraction(std::string_view element) { return element.starts_with('f') || element.starts_with('b'); }
  std::string of_half(const Memory& memory, const std::string& bits);
  std::string bits_of(const Memory& memory, const std::string& number);

  // body_control.cpp
  Problem loop_while(const Op& op, Region& region);
  /// Writes a body inside a loop, whose accesses the loop moves on; what was made for it is in `made`.
  Problem inner_body(const Op& op, double rounds, Enclosing enclosing, std::string& text, Enclosing& made);
  [[nodiscard]] bool data_dependent() const;

  // body_memories.cpp
  Problem memories(MemoryTexts& texts);
  bool needs_shared_cell();
  bool fetched(const std::string& memory);
  /// Bytes of a row of a texture with two dimensions; 0: it has one. E0241 where no texture has such rows.
  Result<std::uint64_t> pitch_of(const Memory& memory, std::uint64_t bytes) const;
  static std::string zeros_of(const Memory& memory, std::uint64_t bytes);
  /// Threads write the links of shared and local memories themselves, from tables of offsets and links.
  std::string links_of(const Memory& memory);

  Threads threads() const { return {code_.scope(), place_.lets, place_.grid, place_.block}; }
  void line(std::string_view text) { (text_->append(static_cast<std::size_t>(depth_) * 2, ' ') += text) += '\n'; }
  template <class First, class... More> void line(fmt::format_string<First, More...> format, First&& first, More&&... more) {
    text_->append(static_cast<std::size_t>(depth_) * 2, ' ');
    append(*text_, format, std::forward<First>(first), std::forward<More>(more)...);
    *text_ += '\n';
  }
  std::string bounds() const;
  bool each() const { return rehearsed_ && place_.timing == Timing::Each; }
  /// When a timed chase goes where the spec says: in the measuring pass, and in the rehearsal of a texture whose warm-up walks the same ring.
  [[nodiscard]] std::string at_its_place(const compiler::Op& op, const Memory& memory) const;
  std::string fresh(const char* prefix) { return prefix + std::to_string(next_++); }

  const BodyPlace& place_;
  const std::vector<Chased>& chases_;
  BodyPlan& plan_;
  ThreadCode code_;
  std::string* text_ = nullptr;
  std::string addresses_, before_loops_;
  std::vector<Enclosing> enclosing_;
  std::vector<const Formula*> conditions_;
  std::vector<FormulaPtr> negations_;                  ///< of conditions, behind `else`
  std::map<const Op*, std::string> declared_;          ///< by what declares it: the name of a variable in the text
  std::map<std::string, Variable> variables_;          ///< by their names in the spec, those of bodies that ended too
  std::map<const Op*, Cursor> cursors_;  ///< of the chases so far, of the warm-up or of the timed region: each has its own operations
  std::map<std::string, Range> held_;  ///< by memory with given contents: what an element can be
  std::set<std::string> used_;
  std::map<std::string, std::string> ranks_;            ///< by PTX that maps a memory to another block of the cluster: the name of its base there
  std::map<const Op*, std::string> ranked_;             ///< by an operation on such a memory: that name
  std::set<std::string> policies_;  ///< of the L2, which the text names
  const Memory* first_ = nullptr;  ///< what the timed region accesses first, and how
  bool first_chase_ = false;
  bool first_loads_ = true;  ///< it is a load, as a chain of hits is
  Manner first_manner_ = Via::Default;
  int first_width_ = 4;
  bool calibrates_ = false;  ///< passes after the timed one tell what the region costs
  bool barriers_ = false;    ///< the timed region has one, so that all threads of a block go through it
  bool rehearsed_ = false;
  std::size_t in_flight_ = 0;  ///< most loads of one body that nothing has used yet
  std::vector<lang::Instruction::Matrices> matrices_;  ///< in shared memory, of which instructions of `alu` make products
  std::vector<KernelParameter> tiles_;  ///< one for each kind of tile
  bool has_bulk_ = false;    ///< some copy is a bulk one
  bool reads_contents_ = false;  ///< the spec names what a load gives
  std::string kept_argument_;  ///< `values`: one more than the most that a thread keeps, the words that it has of the record
  int depth_ = 2, operations_ = 0, next_ = 0;
};

}  // namespace gexp::compiler
