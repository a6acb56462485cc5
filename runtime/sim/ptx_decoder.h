// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sim/fragment.h"
#include "runtime/sim/ptx_decode.h"
#include "runtime/sim/ptx_forms.h"

/// How the files ptx_decode*.cpp decode one instruction between them.
namespace gexp::sim {

inline std::uint64_t ones(int width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

/// One PTX instruction on its way through. The first thing that does not fit is kept; what follows then does no harm.
class Decoder {
 public:
  Decoder(const Statement& statement, Names& names, Kernel& kernel);

  /// By the first form of ptx_forms() that has its name, its modifiers and its types.
  Result<std::vector<Instruction>> run();

  // What forms are decoded by.
  void plain(const Form& f);       ///< to = op(a[, b[, c]]), all of the type of the name
  void shift(const Form& f);
  void wide_multiply(const Form& f);
  void multiply24(const Form& f);
  void carry(const Form& f);
  void dot(const Form& f);
  void table(const Form& f);       ///< lop3
  void insert(const Form& f);      ///< bfi
  void mixed(const Form& f);       ///< operands narrower than the result
  void reciprocal(const Form& f);
  void test(const Form& f);
  void choose(const Form& f);      ///< selp, slct
  void compare(const Form& f);
  void set(const Form& f);
  void permute(const Form& f);
  void pairs(const Form& f);       ///< two integers of 16 bits in one register
  void not_negative(const Form& f);  ///< min.relu, max.relu of integers
  void two_singles(const Form& f);   ///< .f32x2
  void extreme(const Form& f);       ///< min, max of floats
  void video(const Form& f);
  void convert(const Form& f);
  void pack(const Form& f);
  void move(const Form& f);
  void window(const Form& f);      ///< cvta
  void is_space(const Form& f);
  void memory(const Form& f);
  void atomic(const Form& f);
  void phases(const Form& f);      ///< mbarrier
  void tell_barrier(const Form&);  ///< st.async, red.async
  void pending(const Form&);       ///< mbarrier.pending_count
  void arrive_after_copies(const Form&);  ///< cp.async.mbarrier.arrive
  void texture(const Form& f);
  void query(const Form&);         ///< txq, suq
  void surface(const Form&);       ///< suld, sust
  void matrix(const Form& f);      ///< ldmatrix, stmatrix
  void copy(const Form& f);        ///< cp.async
  void tile(const Form& f);        ///< cp.async.bulk.tensor
  void bulk(const Form& f);        ///< cp.async.bulk
  void bulk_store(const Form&);    ///< cp.async.bulk.global, cp.reduce.async.bulk
  void wait_for_stores(const Form&);  ///< cp.async.bulk.wait_group
  void wait(const Form& f);        ///< cp.async.wait_…
  void multiply_matrices(const Form& f);
  void multiply_shared(const Form& f);    ///< wgmma
  void fragment(const Form&);      ///< wmma.load, wmma.store
  void multiply_fragments(const Form&);
  void across(const Form& f);      ///< shfl, vote, match, redux, activemask, bar.warp.sync, elect
  void barrier(const Form& f);
  void stack(const Form& f);       ///< alloca, stacksave, stackrestore
  void branch(const Form& f);
  void call(const Form& f);
  void end(const Form& f);         ///< ret, exit, trap
  void nothing(const Form& f);
  void prefetch(const Form& f);
  void meet(const Form&);
  void map_shared(const Form&);
  void rank_of(const Form&);       ///< getctarank
  void fence(const Form& f);
  void policy(const Form& f);

 private:
  bool matches(const Form& f) const;
  [[nodiscard]] std::string_view name() const { return words_[0]; }
  bool has(std::string_view word) const { return std::find(words_.begin() + 1, words_.end(), word) != words_.end(); }
  Type type() const { return types_.empty() ? Type::None : types_.back(); }
  void fail(std::string message) {
    if (!failed_) failed_ = ptx_error(s_.opcode.line, std::move(message));
  }
  void unknown() { fail(fmt::format("unknown instruction '{}'", s_.opcode.text)); }
  void odd_operand() { fail(fmt::format("'{}' with an operand of a form that is not supported", s_.opcode.text)); }
  bool operands(std::size_t least, std::size_t most) {
    if (s_.operands.size() >= least && s_.operands.size() <= most) return true;
    fail(fmt::format("'{}' with {} operands", s_.opcode.text, s_.operands.size()));
    return false;
  }
  Instruction& add(const Instruction& i) { return out_.emplace_back(i); }

  Names::Register register_of(const Token& token);
  /// The slot of an operand that is read as `t`.
  std::uint32_t source(std::size_t index, Type t) { return source_of(s_.operands[index], t); }
  std::uint32_t source_of(const Operand& o, Type t);
  std::uint32_t named_source(const Operand& o, Type t);
  /// "_" is the sink of a result that nobody reads.
  std::uint32_t target_of(const Operand& o);
  std::uint32_t target() { return target_of(s_.operands.front()); }
  /// An operand's elements: of a vector, of the name of a vector register, or itself.
  std::vector<Operand> elements(const Operand& o) const;
  Instruction typed(Op op, Type t, Cost cost = Cost::Alu) const;
  Instruction* plain(Op op, std::size_t count, Cost cost = Cost::Alu);
  Op by_sign(const Form& f) const { return f.without_sign == Op::Mov || is_signed(type()) ? f.op : f.without_sign; }
  /// An instruction of many operands.
  Instruction& wide(WideOp op, Type t, const std::vector<std::uint32_t>& reads, const std::vector<std::uint32_t>& writes);
  std::uint32_t emit(Op op, Type t, std::uint32_t a, std::uint32_t b, std::uint32_t to);
  void compare_pairs(Op op);
  std::uint32_t part_of(const Operand& given, Type t);
  bool name_operation(Instruction& i, Type t) const;
  void other_end(Instruction& i, const Operand& o, Space space);
  std::uint32_t barrier_at(const Operand& o);
  void idle(bool fences);
  void atomic_wide(Instruction i);
  void atomic_vector(const Instruction& i, std::size_t at);
  Op comparison() const;
  void wait_for_copies();
  void unpack(const std::vector<Operand>& to, std::uint32_t from, Type whole);
  void address(Instruction& i, const Operand& o);
  bool placed(Instruction& i, const Operand& o, Type coordinates);
  bool special(const Operand& o, Type t);
  Space space();  ///< that it names: one, or none
  LoadPath path() const;
  void fragment_of_bits(bool load, bool sums, bool by_rows);
  void place_fragment(const Fragment& fragment, bool by_rows, bool load, std::uint32_t elements);
  bool fragment_shape(FragmentShape& shape, Type elements) const;
  std::vector<std::uint32_t> fragment_registers(const Operand& o, const Fragment& fragment, bool written);
  void access_fragment(const Fragment& f, bool by_rows, const std::vector<std::uint32_t>& registers, const Instruction& base,
                       std::uint32_t stride, bool load);
  void pass(const Operand& given, bool result, std::vector<Passed>& to);

  Statement s_;
  Names& names_;
  Kernel& kernel_;
  std::vector<std::string_view> words_;
  std::vector<Type> types_;
  Instruction base_;
  std::vector<Instruction> out_;
  std::optional<Diagnostic> failed_;
};

}  // namespace gexp::sim
