// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "lang/base/result.h"
#include "lang/base/stopwatch.h"

namespace gexp {

/// What a command may take: wall time, host memory, and, while a text is compiled, work. A command makes one and its parts make
/// narrower ones inside it. A thread works for the one that a `Use` made its own; every loop whose length a spec decides asks that
/// one (`tick`, `spend`), and ends with `exceeded` when it is told no. Nothing is limited where there is none.
class Budget {
 public:
  enum class End : std::uint8_t { None, Work, Memory, Time, Interrupted };
  struct Limits {
    double seconds = std::numeric_limits<double>::infinity();  ///< from now on
    std::uint64_t memory = 0;                ///< bytes that the process may hold of the host's memory; 0: as outside
    std::function<bool()> interrupted = {};  ///< asked by any thread; empty: as outside
    std::size_t threads = 0;                 ///< that may work for it at once; 0: as outside, and outside of any as many as the machine has
    double grace = 0;                        ///< the time and the interrupts outside end it so many seconds later: what ends a run in an orderly way
  };
  /// Inside the thread's own: never more time than that has left. Outside of any, the memory is default_memory_budget().
  explicit Budget(Limits limits, const Budget* outer = own());

  /// What is over, if something is: looks at the clock, for an interrupt, and at the memory that the process holds.
  [[nodiscard]] End look() const;
  [[nodiscard]] double seconds_left() const;
  [[nodiscard]] std::uint64_t memory() const { return memory_; }
  [[nodiscard]] std::size_t threads() const { return threads_; }

  /// While one lives, the thread works for that budget; it outlives it. Null: for none.
  class Use {
   public:
    explicit Use(const Budget* budget);
    explicit Use(const Budget& budget) : Use(&budget) {}
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    const Budget* outer_;
  };

  /// What working out a text may cost this thread. While one lives, every operation, every value kept or copied (48 bytes a unit)
  /// and every step of a pattern is counted; when all is spent, what asks for more gets E0444. An inner one takes from the outer
  /// one too. Without one no work is counted: a run takes the time that its budget says.
  class Work {
   public:
    explicit Work(std::int64_t units);
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;
    /// Whether nothing is left of what the innermost one allows.
    [[nodiscard]] static bool exhausted();

   private:
    std::int64_t outer_;  ///< what the outer one had left
    std::int64_t units_;
  };

  /// The thread's own; null: none.
  [[nodiscard]] static const Budget* own() { return thread_.own; }
  /// One step, or so many of about 100 ns: false when the thread is to end.
  [[nodiscard]] static bool tick(std::int64_t steps = 1) { return (thread_.until_look -= steps) > 0 || look_again(); }
  /// The same, looked at now.
  [[nodiscard]] static bool go_on() { return look_again(); }
  /// Another thread was told no, and this one needs what it was making: from now on as if this one had been told the same.
  static void told_elsewhere();
  /// How often the thread was told no so far: what was made between two equal answers is whole.
  [[nodiscard]] static std::uint64_t refusals() { return thread_.refusals; }
  /// The same as tick, counted as work.
  [[nodiscard]] static bool spend(std::int64_t units);
  /// So much memory is about to be filled: counted as work, and false where it would be more than may be held.
  [[nodiscard]] static bool spend_bytes(std::uint64_t bytes);
  /// Why the thread was told no last: E0444, or E0721 for what a run is ended by.
  [[nodiscard]] static Diagnostic exceeded(Span span);
  /// Whether a diagnostic is of a run that has to end, whatever was being done: its time is over, or it was interrupted.
  [[nodiscard]] static bool ends_run(const Diagnostic& diagnostic);

 private:
  struct Thread {
    const Budget* own;
    std::int64_t until_look, work_left;
    std::uint64_t asked;  ///< bytes for which there was no room
    End refused;
    std::uint64_t refusals;
  };
  [[nodiscard]] bool is_interrupted() const;
  static bool look_again();
  static bool refuse(End why, std::uint64_t asked = 0);

  static constexpr std::int64_t kUncounted = std::numeric_limits<std::int64_t>::max();
  static constinit thread_local Thread thread_;

  const Budget* outer_;
  Stopwatch watch_;
  double seconds_ = std::numeric_limits<double>::infinity();
  std::uint64_t memory_ = 0;
  std::size_t threads_ = 0;
  std::function<bool()> interrupted_;
  double grace_ = 0;
  mutable std::atomic<double> ending_ = -1;       ///< seconds of watch_ at which an interrupt outside was seen first
  mutable std::atomic<double> memory_seen_ = -1;  ///< seconds of watch_ at which somebody looked at the memory
  mutable std::atomic<bool> memory_over_ = false;
};

/// Of one compile: about a second, and less than 0.5 GiB. What ships takes a sixty-fourth at most.
inline constexpr std::int64_t kCompileUnits = std::int64_t{1} << 23;

/// The memory that a command may hold unless it is told otherwise, in bytes: half of what this machine, or the control group that
/// the process is in, has free now.
std::uint64_t default_memory_budget();
/// What the process holds of the host's memory, in bytes.
std::uint64_t resident_bytes();

}  // namespace gexp
