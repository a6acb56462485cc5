// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <charconv>

#include "runtime/sim/mma_shape.h"
#include "runtime/sim/ptx_decoder.h"

// Where a warp goes on, what it waits for, and what its lanes do together.
namespace gexp::sim {

void Decoder::branch(const Form& f) {
  const bool table = f.name == "brx";
  if (!operands(table ? 2 : 1, table ? 2 : 1)) return;
  Instruction i = base_;
  i.kind = table ? Kind::BranchTable : Kind::Branch;
  if (table) i.a = source(0, Type::U32);
  add(i);
}

/// alloca.u64 pointer, bytes[, align]; stacksave.u64 d, which is one of no bytes; stackrestore.u64 a.
void Decoder::stack(const Form& f) {
  constexpr std::uint64_t kLeastAlign = 8, kMostAlign = 1u << 23;
  const bool allocates = f.name == "alloca", restores = f.name == "stackrestore";
  if (!operands(allocates ? 2 : 1, allocates ? 3 : 1)) return;
  Instruction i = typed(Op::Mov, type());
  i.kind = Kind::Stack;
  i.moves = restores;
  std::uint64_t align = allocates ? kLeastAlign : 1;
  if (s_.operands.size() == 3) {
    const Operand& given = s_.operands[2];
    const auto asked = given.kind == Operand::Kind::Number ? literal(given.token.text, given.minus, Type::U32) : std::nullopt;
    if (!asked || !std::has_single_bit(*asked) || *asked > kMostAlign) return odd_operand();
    align = std::max(align, *asked);
  }
  i.offset = static_cast<std::int64_t>(align);
  i.a = allocates ? source(1, type()) : restores ? source(0, type()) : names_.constant(0);
  if (!restores) i.to = target();
  kernel_.allocates = true;
  add(i);
}

void Decoder::end(const Form& f) {
  Instruction i = base_;
  i.kind = f.name == "trap" || f.name == "brkpt" ? Kind::Trap : f.name == "ret" && names_.in_function() ? Kind::Return : Kind::Exit;
  add(i);
}

void Decoder::idle(bool fences) {
  Instruction i = base_;
  i.kind = Kind::Nothing;
  i.fences = fences;
  add(i);
}

void Decoder::nothing(const Form&) { idle(false); }

/// A fence of a wider scope than the block waits for the warp's stores.
void Decoder::fence(const Form&) { idle(has("gl") || has("sys") || has("gpu") || has("cluster")); }

/// A policy tells caches what to keep. None of the models hears of it.
void Decoder::policy(const Form&) {
  if (s_.operands.empty()) return odd_operand();
  emit(Op::Mov, Type::B64, names_.constant(0), kTrue, target());
}

/// What an operand of a call passes: a vector, each of its registers.
void Decoder::pass(const Operand& given, bool result, std::vector<Passed>& to) {
  for (const Operand& o : elements(given)) {
    const auto* variable = o.kind == Operand::Kind::Name ? names_.find_variable(o.token.text) : nullptr;
    if (variable && variable->space == Space::Frame) to.push_back({variable->slot, variable->bytes});
    else to.push_back({result ? target_of(o) : source_of(o, Type::B64), 0});
  }
}

/// "call (results), function, (arguments), prototype;", all but the function optional.
void Decoder::call(const Form&) {
  std::size_t at = 0;
  const auto& given = s_.operands;
  Call call;
  const auto list = [&](bool results) {
    std::vector<Passed> passed_ones;
    if (at >= given.size() || given[at].kind != Operand::Kind::List) return passed_ones;
    for (const Operand& o : given[at].items) pass(o, results, passed_ones);
    ++at;
    return passed_ones;
  };
  call.results = list(true);
  if (at >= given.size() || given[at].kind != Operand::Kind::Name) return odd_operand();
  const Operand& callee = given[at++];
  call.arguments = list(false);
  Instruction i = base_;
  i.kind = Kind::Call;
  if (const auto pointer = names_.find_register(callee.token.text)) {
    i.a = pointer->slot;
  } else if (const auto function = names_.find_function(callee.token.text)) {
    call.function = *function;
  } else if (callee.token.is("vprintf")) {
    if (call.arguments.size() != 2 || call.results.size() != 1) return odd_operand();
    call.function = Call::kPrint;
  } else if (callee.token.is("__assertfail")) {
    i.kind = Kind::Trap;
    return void(add(i));
  } else {
    return fail(fmt::format("function '{}' has no body in this text", callee.token.text));
  }
  i.list = static_cast<std::uint32_t>(kernel_.calls.size());
  kernel_.calls.push_back(std::move(call));
  add(i);
}

/// bar.sync a[, b]; bar.red.op d, a[, b], c.
void Decoder::barrier(const Form&) {
  const bool reduces = has("red");
  const std::size_t first = reduces ? 1 : 0, least = reduces ? 3 : 1;
  if (!operands(least, least + 1)) return;
  Instruction i = base_;
  i.kind = Kind::Barrier;
  i.waits = !has("arrive");
  i.a = source(first, Type::U32);
  if (s_.operands.size() > least) i.b = source(first + 1, Type::U32);
  if (reduces) {
    if (has("popc") != (type() == Type::U32)) return unknown();
    i.offset = has("popc") ? 1 : has("and") ? 2 : 3;
    i.c = source_of(s_.operands.back(), Type::Pred);
    i.to = target();
  }
  add(i);
}

/// barrier.cluster.arrive; barrier.cluster.wait.
void Decoder::meet(const Form&) {
  if (!operands(0, 0)) return;
  Instruction i = base_;
  i.kind = Kind::Meet;
  i.waits = has("wait");
  add(i);
}

/// offset: of shfl 0 up, 1 down, 2 bfly, 3 idx; of vote 0 all, 1 any, 2 uni, 3 ballot; of match 0 any, 1 all; of redux an AtomicOp.
void Decoder::across(const Form& f) {
  const bool sync = has("sync") && f.name != "movmatrix";  // which all lanes run
  const auto& given = s_.operands;
  const auto second = [&](Type) {
    return given[0].items.empty() ? names_.temporary() : target_of(given[0].items[0]);
  };
  const auto mode = [&](std::initializer_list<std::string_view> words) {
    const auto* found = std::find_if(words.begin(), words.end(), [this](std::string_view word) { return has(word); });
    return found - words.begin();
  };
  const Type t = type();
  Instruction* made = nullptr;
  const std::size_t read = f.name == "shfl" ? 3 : f.name == "vote" || f.name == "match" || f.name == "redux" || f.name == "movmatrix" ? 1 : 0;
  const std::size_t results = f.name == "bar" ? 0 : 1;
  if (!operands(results + read + sync, results + read + sync)) return;
  std::vector<std::uint32_t> from;
  for (std::size_t k = 0; k < read; ++k) from.push_back(source(results + k, k > 0 ? Type::U32 : t == Type::B32 && f.name == "vote" ? Type::Pred : t));
  if (sync) from.push_back(source(given.size() - 1, Type::U32));
  if (f.name == "bar") made = &wide(WideOp::Meet, Type::B32, from, {});
  else if (f.name == "elect") made = &wide(WideOp::Elect, Type::B32, from, {target(), second(Type::Pred)});
  else if (f.name == "movmatrix") made = &wide(WideOp::Transpose, Type::B32, from, {target()});
  else if (f.name == "activemask") made = &wide(WideOp::Active, t, from, {target()});
  else if (f.name == "shfl") made = &wide(WideOp::Shuffle, t, from, {target(), second(Type::Pred)}), made->offset = mode({"up", "down", "bfly", "idx"});
  else if (f.name == "vote") made = &wide(WideOp::Vote, t, from, {target()}), made->offset = mode({"all", "any", "uni", "ballot"});
  else if (f.name == "match") made = &wide(WideOp::Match, t, from, {target(), second(Type::Pred)}), made->offset = mode({"any", "all"});
  else made = &wide(WideOp::Reduce, t, from, {target()});
  if (f.name == "redux") {
    constexpr std::pair<std::string_view, AtomicOp> kOps[] = {{"add", AtomicOp::Add}, {"and", AtomicOp::And}, {"or", AtomicOp::Or}, {"xor", AtomicOp::Xor}};
    for (const auto& [word, op] : kOps) {
      if (has(word)) made->atomic = op;
    }
    if (has("min")) made->atomic = is_signed(t) ? AtomicOp::MinS : AtomicOp::MinU;
    if (has("max")) made->atomic = is_signed(t) ? AtomicOp::MaxS : AtomicOp::MaxU;
  }
  made->meets = sync;
}

/// mma.sync.aligned.SHAPE.row.col.dtype.atype.btype.ctype d, a, b, c (mma_shape.h).
void Decoder::multiply_matrices(const Form&) {
  if (!operands(4, 4)) return;
  MmaShape shape;
  std::vector<MmaElement> elements_named;
  std::vector<bool> by_rows;
  for (const std::string_view word : words_) {
    if (const auto element = mma_element(word)) elements_named.push_back(*element);
    if (word == "row" || word == "col") by_rows.push_back(word == "row");
    if (word.size() > 1 && word[0] == 'm' && word[1] >= '0' && word[1] <= '9') shape.name(word);
  }
  if (elements_named.size() != 4 || by_rows.size() != 2) return unknown();
  shape.d = elements_named[0], shape.a = elements_named[1], shape.b = elements_named[2], shape.c = elements_named[3];
  shape.a_by_rows = by_rows[0], shape.b_by_rows = by_rows[1];
  shape.exclusive = has("xor");
  if (!shape.exists()) return unknown();
  const std::uint32_t counts[] = {shape.registers_of_sums(shape.d), shape.registers_of_a(), shape.registers_of_b(), shape.registers_of_sums(shape.c)};
  const MmaElement held[] = {shape.d, shape.a, shape.b, shape.c};
  std::vector<std::uint32_t> from, to;
  for (std::size_t o = 0; o < 4; ++o) {
    // A single register may stand without braces.
    const std::vector<Operand> items = elements(s_.operands[o]);
    if (items.size() != counts[o]) return fail(fmt::format("'{}' with {} elements where {} belong", s_.opcode.text, items.size(), counts[o]));
    const Type t = held[o] == MmaElement::F64 ? Type::F64 : o == 3 && held[o] == MmaElement::F32 ? Type::F32 : Type::B32;
    for (const Operand& item : items) {
      if (o == 0) to.push_back(target_of(item));
      else from.push_back(source_of(item, t));
    }
  }
  Instruction& i = wide(WideOp::Mma, shape.d == MmaElement::F64 ? Type::F64 : Type::B32, from, to);
  i.cost = Cost::Multiply;
  i.offset = shape.packed();
}

/// wgmma.mma_async.sync.aligned.m64nNkK.dtype.atype.btype d, a, b, scale, 1, 1[, 0, 0], of matrices in shared memory; a may be four registers,
/// and then only b has a word on its order. from: of a's elements, offset: of b's. It takes no time that commit_group and wait_group would tell: its results are awaited as those of mma.
void Decoder::multiply_shared(const Form& f) {
  std::uint32_t n = 0;
  for (const std::string_view word : words_) {
    if (word.starts_with("m64n")) std::from_chars(word.data() + 4, word.data() + word.size(), n);
  }
  const bool bytes8 = f.sources.empty();  // e4m3 and e5m2 are no types of registers
  const auto narrow = [&](std::size_t from_behind) { return words_[words_.size() - from_behind] == "e4m3" ? Type::E4m3x2 : Type::E5m2x2; };
  if (n == 0 || n % 8 != 0 || n > 256 || types_.size() != (bytes8 ? 1u : 3u)) return unknown();
  const Type of_a = bytes8 ? narrow(2) : types_[1], of_b = bytes8 ? narrow(1) : types_[2];
  const bool halves = bits(of_a) == 16 && !bytes8;
  if (!has(fmt::format("m64n{}k{}", n, halves ? 16 : 32)) || (halves && of_a != of_b)) return unknown();
  if (s_.operands.size() < 4) return odd_operand();
  const bool in_registers = s_.operands[1].kind == Operand::Kind::Vector;
  const std::size_t scales = types_[0] == Type::F32 ? 2 : 0, count = 4 + scales + (!halves ? 0 : in_registers ? 1 : 2);
  if (!operands(count, count)) return;
  for (std::size_t o = 4; o < count; ++o) {
    if (s_.operands[o].minus || literal(s_.operands[o].token.text, false, Type::U32).value_or(2) != (o < 4 + scales ? 1u : 0u)) return fail(fmt::format("'{}' of matrices that are negated or transposed", s_.opcode.text));
  }
  const std::vector<Operand> items = elements(s_.operands[0]);
  if (items.size() != n / 2) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text));
  std::vector<std::uint32_t> from, to;
  for (const Operand& item : items) to.push_back(target_of(item)), from.push_back(to.back());
  const std::vector<Operand> of_rows = in_registers ? elements(s_.operands[1]) : std::vector<Operand>();
  if (in_registers && of_rows.size() != 4) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text));
  for (const Operand& item : of_rows) from.push_back(source_of(item, Type::B32));
  if (!in_registers) from.push_back(source(1, Type::U64));
  from.push_back(source(2, Type::U64)), from.push_back(source(3, Type::Pred));
  Instruction& i = wide(WideOp::Wgmma, types_[0], from, to);
  i.cost = Cost::Multiply;
  i.from = of_a;
  i.offset = static_cast<std::int64_t>(of_b);
}

}  // namespace gexp::sim
