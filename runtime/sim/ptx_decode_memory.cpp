// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "runtime/sim/phases.h"
#include "runtime/sim/ptx_decoder.h"

// Instructions that access memory.
namespace gexp::sim {

Space Decoder::space() {
  constexpr std::string_view kSpaces = "global shared shared::cta shared::cluster local param param::entry param::func const";
  const auto named = std::count_if(words_.begin() + 1, words_.end(), [&](std::string_view word) { return lists(kSpaces, word); });
  if (named > 1) fail(fmt::format("'{}' names {} memory spaces where one belongs", s_.opcode.text, named));
  if (has("global")) return Space::Global;
  if (has("shared") || has("shared::cta") || has("shared::cluster")) return Space::Shared;
  if (has("local")) return Space::Local;
  if (has("param") || has("param::entry") || has("param::func")) return Space::Param;
  if (has("const")) return Space::Const;
  return Space::Generic;
}

LoadPath Decoder::path() const {
  if (has("nc")) return LoadPath::Nc;
  if (has("ca")) return LoadPath::Ca;
  if (has("cg")) return LoadPath::Cg;
  // A volatile load must see other agents' stores: it is fetched again, as with .cv.
  if (has("cv") || has("volatile") || has("mmio")) return LoadPath::Cv;
  if ((has("relaxed") || has("acquire")) && (has("gpu") || has("sys"))) return LoadPath::Cg;
  return LoadPath::Default;
}

void Decoder::address(Instruction& i, const Operand& o) {
  if (o.kind != Operand::Kind::Address) return fail(fmt::format("'{}' without an address", s_.opcode.text));
  if (!o.items.empty()) return odd_operand();
  i.offset = o.offset;
  if (o.token.kind == Token::Kind::Number) {
    i.a = names_.constant(literal(o.token.text, false, Type::U64).value_or(0));
  } else if (const auto found = names_.find_register(o.token.text)) {
    i.a = found->slot;
    if (i.space == Space::Param && names_.in_function()) i.space = Space::Frame;
  } else if (const auto* variable = names_.find_variable(o.token.text)) {
    // Where a variable lies is known, so an access without a space need not look.
    if (i.space == Space::Generic || variable->space == Space::Frame) i.space = variable->space;
    i.a = variable->slot;
  } else {
    fail(fmt::format("unknown name '{}'", o.token.text));
  }
}

void Decoder::memory(const Form&) {
  const bool load = name() != "st", halves = type() == Type::B128;  // two registers of 64 bits
  const Type t = halves ? Type::B64 : type();
  // With a cache policy there is a third operand, which changes no value.
  if (!operands(2, has("L2::cache_hint") ? 3 : 2)) return;
  Instruction i = typed(Op::Mov, t);
  i.kind = load ? Kind::Load : Kind::Store;
  i.allocates = !has("L1::no_allocate");
  i.space = space();
  i.path = path();
  i.bytes = static_cast<std::uint8_t>(bits(t) / 8);
  address(i, s_.operands[load ? 1 : 0]);
  const std::size_t count = has("v8") ? 8 : has("v4") ? 4 : has("v2") || halves ? 2 : 1;
  i.count = static_cast<std::uint8_t>(count);
  const std::vector<Operand> items = elements(s_.operands[load ? 0 : 1]);
  if (items.size() != count || i.bytes * count > 32) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text));
  for (std::size_t k = 0; k < count; ++k) {
    if (load && items[k].token.is("_")) {
      i.data[k] = names_.temporary();
    } else if (load) {
      const Names::Register r = register_of(items[k].token);
      i.data[k] = r.slot;
      // A narrow signed load fills the whole register.
      if (is_signed(t)) i.extend = ones(bits(r.type)) & ~i.mask;
    } else {
      i.data[k] = source_of(items[k], t);
    }
  }
  add(i);
}

/// A load without a result. Of an address outside every allocation nothing comes.
void Decoder::prefetch(const Form&) {
  if (!operands(1, 1)) return;
  Instruction i = typed(Op::Mov, Type::B32);
  i.kind = Kind::Load;
  i.space = space();
  i.path = has("L1") ? LoadPath::Default : LoadPath::Cg;
  i.bytes = 1;
  i.prefetches = true;
  address(i, s_.operands[0]);
  i.data[0] = names_.temporary();
  add(i);
}

/// Which operation an atomic one, or a bulk reduction, does to elements of type `t`. False: none of them does.
bool Decoder::name_operation(Instruction& i, Type t) const {
  constexpr std::pair<std::string_view, AtomicOp> kOps[] = {{"add", AtomicOp::Add}, {"exch", AtomicOp::Exch}, {"cas", AtomicOp::Cas}, {"and", AtomicOp::And},
                                                            {"or", AtomicOp::Or}, {"xor", AtomicOp::Xor}, {"inc", AtomicOp::Inc}, {"dec", AtomicOp::Dec}};
  for (const auto& [word, op] : kOps) {
    if (has(word)) i.atomic = op;
  }
  if (has("min")) i.atomic = is_signed(t) ? AtomicOp::MinS : AtomicOp::MinU;
  if (has("max")) i.atomic = is_signed(t) ? AtomicOp::MaxS : AtomicOp::MaxU;
  if (is_float(t) || is_small_float(t)) i.atomic = AtomicOp::FAdd, i.op = Op::FAdd;
  i.bytes = static_cast<std::uint8_t>(bits(t) / 8);
  // "inc" and "dec" wrap at an unsigned value; the others of the bits are for what has no sign.
  return (i.atomic != AtomicOp::Inc && i.atomic != AtomicOp::Dec) || t == Type::U32;
}

void Decoder::atomic(const Form&) {
  const bool reduction = name() == "red";
  const Type t = type();
  Instruction i = typed(Op::Mov, t);
  i.kind = Kind::Atomic;
  i.space = space();
  if (!name_operation(i, t)) return unknown();
  const std::size_t at = reduction ? 0 : 1;
  const std::size_t count = at + (i.atomic == AtomicOp::Cas ? 3 : 2);
  if (!operands(count, count)) return;
  address(i, s_.operands[at]);
  if (t == Type::B128) return atomic_wide(i);
  if (has("v2") || has("v4") || has("v8")) return atomic_vector(i, at);
  i.b = source(at + 1, t);
  if (i.atomic == AtomicOp::Cas) i.c = source(at + 2, t);
  i.to = reduction ? names_.temporary() : target();
  add(i);
}

/// atom.cas.b128 d, [a], b, c, each of two registers of 64 bits. data: the high halves of d, b and c.
void Decoder::atomic_wide(Instruction i) {
  i.mask = ~0ull, i.shift = 0;
  std::vector<std::uint32_t> low, high;
  for (std::size_t k = 0; k < s_.operands.size(); ++k) {
    if (k == 1) continue;
    const std::vector<Operand> halves = elements(s_.operands[k]);
    if (halves.size() != 2) return odd_operand();
    low.push_back(k == 0 ? target_of(halves[0]) : source_of(halves[0], Type::B64)), high.push_back(k == 0 ? target_of(halves[1]) : source_of(halves[1], Type::B64));
  }
  i.to = low[0], i.b = low[1], i.c = low.size() > 2 ? low[2] : kTrue;
  std::copy(high.begin(), high.end(), i.data.begin());
  add(i);
}

/// red.global.add.v4.f32 [a], {b…}: an operation on each element, in order; PTX does not promise that all happen at once.
void Decoder::atomic_vector(const Instruction& i, std::size_t at) {
  const std::size_t count = has("v8") ? 8 : has("v4") ? 4 : 2;
  const std::vector<Operand> from = elements(s_.operands[at + 1]), to = at == 0 ? from : elements(s_.operands[0]);
  if (from.size() != count || to.size() != count || i.bytes * count > 16) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text));
  for (std::size_t k = 0; k < count; ++k) {
    Instruction one = i;
    one.offset += static_cast<std::int64_t>(k * i.bytes);
    one.b = source_of(from[k], type());
    one.to = at == 0 ? names_.temporary() : target_of(to[k]);
    add(one);
  }
}

/// mbarrier.init [b], count; arrive state, [b][, count]; test_wait p, [b], state: of one phase of it (runtime/sim/phases.h).
void Decoder::phases(const Form&) {
  const bool bytes = has("expect_tx") || has("complete_tx"), arrives = has("arrive") || has("arrive_drop"), tests = has("test_wait") || has("try_wait");
  const std::size_t at = arrives || tests ? 1 : 0, most = has("inval") ? 1 : at + 2 + has("try_wait");
  if (!operands(arrives && !has("noComplete") && !bytes ? at + 1 : has("inval") ? 1 : at + 2, most)) return;
  Instruction i = typed(Op::Mov, Type::B64);
  i.kind = Kind::Atomic;
  i.space = space();
  i.bytes = 8;
  i.atomic = bytes              ? (arrives ? AtomicOp::PhaseArriveExpect : has("expect_tx") ? AtomicOp::PhaseExpect : AtomicOp::PhaseBytes)
             : arrives          ? (has("arrive_drop") ? AtomicOp::PhaseDrop : AtomicOp::PhaseArrive)
             : has("parity")    ? AtomicOp::PhaseParity
             : tests            ? AtomicOp::PhaseTest
             : has("inval")     ? AtomicOp::PhaseEnd
                                : AtomicOp::PhaseInit;
  address(i, s_.operands[at]);
  i.b = s_.operands.size() > at + 1 ? source(at + 1, tests && !has("parity") ? Type::B64 : Type::U32) : names_.constant(1);
  i.to = at == 1 ? target() : names_.temporary();
  add(i);
}

/// st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [a], {b…}, [barrier]; red.async….add.u32 [a], b, [barrier]: the data come at
/// once, and then the barrier, of the block whose memory `a` is in, is told of their bytes.
void Decoder::tell_barrier(const Form&) {
  if (!operands(3, 3)) return;
  const Type t = type();
  const bool reduces = name() == "red";
  Instruction i = typed(Op::Mov, t);
  i.kind = reduces ? Kind::Atomic : Kind::Store;
  i.space = space();
  i.bytes = static_cast<std::uint8_t>(bits(t) / 8);
  if (reduces && !name_operation(i, t)) return unknown();
  address(i, s_.operands[0]);
  const std::size_t count = has("v4") ? 4 : has("v2") ? 2 : 1;
  const std::vector<Operand> items = elements(s_.operands[1]);
  if (items.size() != count || i.bytes * count > 16) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text));
  i.count = static_cast<std::uint8_t>(count);
  for (std::size_t k = 0; k < count && !reduces; ++k) i.data[k] = source_of(items[k], t);
  if (reduces) i.b = source_of(items[0], t), i.to = names_.temporary();
  add(i);
  Instruction told = typed(Op::Mov, Type::B64);
  told.kind = Kind::Atomic;
  told.space = i.space;
  told.bytes = 8;
  told.atomic = AtomicOp::PhaseBytes;
  address(told, s_.operands[2]);
  told.b = names_.constant(i.bytes * count), told.to = names_.temporary();
  add(told);
}

/// mbarrier.pending_count count, state: arrivals that were pending before the one that gave the state.
void Decoder::pending(const Form&) {
  if (operands(2, 2)) emit(Op::And, Type::B64, source(1, Type::B64), names_.constant(kPhaseCount), target());
}

/// cp.async.mbarrier.arrive [b]: an arrival once the thread's copies are done, which it waits for here. Without .noinc one arrival more is
/// awaited, so none is left of both.
void Decoder::arrive_after_copies(const Form&) {
  if (!operands(1, 1)) return;
  wait_for_copies();
  Instruction i = typed(Op::Mov, Type::B64);
  i.kind = Kind::Atomic;
  i.space = space();
  i.bytes = 8;
  i.atomic = has("noinc") ? AtomicOp::PhaseArrive : AtomicOp::PhaseExpect;  // of no bytes
  address(i, s_.operands[0]);
  i.b = names_.constant(has("noinc") ? 1 : 0), i.to = names_.temporary();
  add(i);
}

/// Shared, local and parameter memory have windows in the generic address space; global and constant memory are where they are.
void Decoder::window(const Form&) {
  const Space of = space();
  if (of == Space::Generic || !operands(2, 2)) return unknown();
  const std::uint64_t window = of == Space::Shared ? kSharedWindow : of == Space::Local ? kLocalWindow : of == Space::Param ? kParamWindow : 0;
  Instruction i = typed(has("to") ? Op::Sub : Op::Add, type());
  i.a = source(1, type()), i.b = names_.constant(window), i.to = target();
  add(i);
}

/// mapa d, a, rank: the place of `a` in the block of that rank.
void Decoder::map_shared(const Form&) {
  if (!operands(3, 3)) return;
  const std::uint64_t ranks = ((std::uint64_t{1} << (32 - kRankShift)) - 1) << kRankShift;
  const std::uint32_t place = emit(Op::And, type(), source(1, type()), names_.constant(~ranks), names_.temporary());
  const std::uint32_t from_one = emit(Op::Add, Type::U32, source(2, Type::U32), names_.constant(1), names_.temporary());
  const std::uint32_t rank = emit(Op::Shl, Type::U32, from_one, names_.constant(kRankShift), names_.temporary());
  emit(Op::Or, type(), place, rank, target());
}

/// getctarank rank, a: of the block whose shared memory `a` is in.
void Decoder::rank_of(const Form&) {
  if (!operands(2, 2)) return;
  const std::uint32_t place = emit(Op::And, Type::U64, source(1, type()), names_.constant(0xffffffffu), names_.temporary());
  const std::uint32_t from_one = emit(Op::ShrU, Type::U32, place, names_.constant(kRankShift), names_.temporary());
  Instruction pick = typed(Op::Selp, Type::U32);
  pick.a = emit(Op::Sub, Type::U32, from_one, names_.constant(1), names_.temporary());
  pick.b = *names_.find_fixed("%cluster_ctarank"), pick.c = from_one, pick.to = target();
  add(pick);
}

/// offset: 1 where other blocks' shared memory is meant as well.
void Decoder::is_space(const Form&) {
  if (!operands(2, 2)) return;
  Instruction& i = wide(WideOp::Window, Type::Pred, {source(1, Type::U64), *names_.find_fixed("%cluster_ctarank")}, {target()});
  i.space = space(), i.offset = has("shared::cluster");
}

/// ldmatrix and stmatrix: rows of 16 bytes; each lane holds 4 bytes of each matrix.
void Decoder::matrix(const Form&) {
  const bool load = name() == "ldmatrix";
  if (!operands(2, 2)) return;
  Instruction i = typed(Op::Mov, Type::B32);
  i.kind = Kind::Matrix;
  i.space = space();
  i.bytes = 16;
  i.count = has("x4") ? 4 : has("x2") ? 2 : 1;
  i.offset = 0;
  address(i, s_.operands[load ? 1 : 0]);
  i.extend = has("trans"), i.waits = load;
  const std::vector<Operand> items = elements(s_.operands[load ? 0 : 1]);
  if (items.size() != i.count) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text));
  for (std::size_t k = 0; k < items.size(); ++k) i.data[k] = load ? target_of(items[k]) : source_of(items[k], Type::B32);
  add(i);
}

}  // namespace gexp::sim
