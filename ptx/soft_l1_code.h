// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <string>

#include "ptx/accesses.h"

/// The text of the code that the software cache adds to a kernel.
namespace gexp::ptx {

/// Registers and labels of one loop have its number in their names; scratch registers are the kernel's.
class SoftL1Code {
 public:
  SoftL1Code(const Function& kernel, const SoftL1& options, std::uint32_t lines, std::string prefix)
      : f_(kernel), o_(options), lines_(lines), p_(std::move(prefix)) {}

  [[nodiscard]] std::string take() { return std::move(out_); }
  template <class... T> void line(fmt::format_string<T...> format, T&&... values) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(values)...);
    out_ += '\n';
  }
  /// A name of this code's own: "%sl_t", "$sl_4".
  [[nodiscard]] std::string scratch(std::string_view name) const { return fmt::format("%{}_{}", p_, name); }
  [[nodiscard]] std::string of_loop(std::string_view name) const { return fmt::format("%{}{}_{}", p_, loop_, name); }
  [[nodiscard]] std::string of_use(std::string_view name, std::size_t k) const { return fmt::format("%{}{}_{}{}", p_, loop_, name, k); }
  [[nodiscard]] std::string label(std::string_view kind, std::size_t n) const { return fmt::format("${}{}_{}{}", p_, loop_, kind, n); }
  [[nodiscard]] std::string block(std::size_t b) const { return label("b", b); }
  [[nodiscard]] std::string select(std::size_t b) const { return label("select", b); }
  /// Where slice 1 is left for a block outside the loop.
  [[nodiscard]] std::string left(std::size_t b) const { return label("left", b); }
  /// A block of the kernel as it was, where slice 2 goes when it is done.
  [[nodiscard]] std::string original(std::size_t b) const { return fmt::format("${}_o{}", p_, b); }

  /// Declarations and values at the kernel's begin.
  void begin(const std::vector<CachedLoop>& loops);
  void enter(std::size_t number, const CachedLoop& loop) { loop_ = number, used_ = &loop.used; }

  /// Before the thread's end: of a thousand accesses that it counted, how many hit.
  void tell_hits(const std::vector<CachedLoop>& loops);

  // Slice 1.
  void count_guarded(const Statement& access, const Effect& effect, std::size_t k);  ///< simulates one access
  void leave_when_told(std::size_t header);
  void choose_when_told(std::size_t header);  ///< at the header of an inner loop, which is not left
  // Between the slices: threads that have counted enough choose, and go on at the header; the others are done. `inner`: slice 1 holds lines.
  void meet(std::size_t header, const std::vector<std::size_t>& exits, bool inner);
  // Slice 2, and slice 1 where it has inner loops; `counted`: those that go to memory are.
  void through_line(const Statement& access, const Effect& effect, std::size_t k, bool counted = false);
  void give_up_lines();  ///< written bytes go to memory; nothing is held then
  void aside();          ///< what accesses do that do not find their line, and inner headers that choose; after all else

 private:
  struct Miss {
    std::size_t loop, access, k;
  };
  struct Choice {
    std::size_t loop, header;
  };
  void choose();
  void count(const Statement& access, const Effect& effect, std::size_t k);
  [[nodiscard]] std::size_t parameter(std::size_t k) const { return (*used_)[k].parameter; }
  /// The address in a register, and in scratch `t` where its line begins.
  std::string tag(const Operand& address, std::size_t k);
  void offset(const std::string& address);  ///< in scratch `o`: within the line
  void write_back(std::size_t k);
  void move_line(const char* load, const std::string& from, const char* store, const std::string& to);
  void fill(std::size_t k);
  std::size_t skip_unless_guarded(const Statement& access);

  const Function& f_;
  const SoftL1& o_;
  const std::uint32_t lines_;
  std::string p_, out_;
  std::size_t loop_ = 0, next_ = 0;
  const std::vector<Used>* used_ = nullptr;
  std::vector<Miss> misses_;
  std::vector<Choice> choices_;
};

}  // namespace gexp::ptx
