// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decoder.h"

// Comparisons, moves and conversions.
namespace gexp::sim {
namespace {

struct Comparison {
  std::string_view word;
  Op with_sign, without, of_floats;
};
constexpr Comparison kComparisons[] = {
    {"eq", Op::Eq, Op::Eq, Op::FEq}, {"ne", Op::Ne, Op::Ne, Op::FNe}, {"lt", Op::LtS, Op::LtU, Op::FLt}, {"le", Op::LeS, Op::LeU, Op::FLe},
    {"gt", Op::GtS, Op::GtU, Op::FGt}, {"ge", Op::GeS, Op::GeU, Op::FGe}, {"lo", Op::LtU, Op::LtU, Op::LtU}, {"ls", Op::LeU, Op::LeU, Op::LeU},
    {"hi", Op::GtU, Op::GtU, Op::GtU}, {"hs", Op::GeU, Op::GeU, Op::GeU}, {"equ", Op::Eq, Op::Eq, Op::FEqu}, {"neu", Op::Ne, Op::Ne, Op::FNeu},
    {"ltu", Op::LtU, Op::LtU, Op::FLtu}, {"leu", Op::LeU, Op::LeU, Op::FLeu}, {"gtu", Op::GtU, Op::GtU, Op::FGtu},
    {"geu", Op::GeU, Op::GeU, Op::FGeu}, {"num", Op::Eq, Op::Eq, Op::FNum}, {"nan", Op::Eq, Op::Eq, Op::FNan}};

/// What "true" is in the result of a `set`, of one element.
std::uint64_t truth(Type t) {
  switch (element(t)) {
    case Type::F32: return 0x3f800000;
    case Type::F16: return 0x3c00;
    case Type::Bf16: return 0x3f80;
    default: return ones(bits(t));
  }
}

}  // namespace

Op Decoder::comparison() const {
  const Type t = type();
  for (const Comparison& c : kComparisons) {
    if (has(c.word)) return is_float(t) || is_small_float(t) ? c.of_floats : is_signed(t) ? c.with_sign : c.without;
  }
  return Op::Eq;
}

void Decoder::compare(const Form&) {
  const Type t = type();
  if (!operands(3, 4)) return;
  if (element(t) != t) return compare_pairs(comparison());
  Instruction i = typed(comparison(), t);
  i.a = source(1, t), i.b = source(2, t);
  const bool combined = s_.operands.size() == 4, both = !s_.operands[0].items.empty();
  if (combined != (has("and") || has("or") || has("xor"))) return odd_operand();
  if (!combined && !both) {
    i.to = target();
    return void(add(i));
  }
  // setp.lt.and.s32 p|q, a, b, c: p is the comparison, q its opposite, each combined with c. Either may be c itself.
  const Op join = !combined ? Op::Mov : has("and") ? Op::And : has("or") ? Op::Or : Op::Xor;
  const std::uint32_t with = combined ? source(3, Type::Pred) : kTrue;
  i.to = names_.temporary();
  add(i);
  const std::uint32_t opposite =
      both ? emit(join, Type::Pred, emit(Op::Not, Type::Pred, i.to, with, names_.temporary()), with, names_.temporary()) : kTrue;
  emit(join, Type::Pred, i.to, with, target());
  if (both) emit(Op::Mov, Type::Pred, opposite, with, target_of(s_.operands[0].items[0]));
}

/// setp.lt.f16x2 p|q, a, b: p of the low halves, q of the high ones. offset: what a half is where the comparison holds.
void Decoder::compare_pairs(Op op) {
  if (s_.operands.size() != 3 || s_.operands[0].items.size() != 1) return odd_operand();
  Instruction i = typed(op, type());
  i.a = source(1, type()), i.b = source(2, type()), i.to = names_.temporary(), i.offset = 1;
  add(i);
  emit(Op::Mov, Type::Pred, i.to, kTrue, target());
  emit(Op::ShrU, Type::B32, i.to, names_.constant(16), target_of(s_.operands[0].items[0]));
}

void Decoder::set(const Form&) {
  const Type to = types_[0], t = types_[1];
  if (!operands(3, 4)) return;
  const bool combined = s_.operands.size() == 4;
  if (combined != (has("and") || has("or") || has("xor"))) return odd_operand();
  Instruction i = typed(comparison(), t);
  i.a = source(1, t), i.b = source(2, t);
  if (element(t) != t) {  // a pair of each
    if (combined) return unknown();
    i.offset = static_cast<std::int64_t>(element(to) == to ? 0xffff : truth(to));
    i.to = target();
    return void(add(i));
  }
  i.to = names_.temporary();
  add(i);
  std::uint32_t holds = i.to;
  if (combined) holds = emit(has("and") ? Op::And : has("or") ? Op::Or : Op::Xor, Type::Pred, holds, source(3, Type::Pred), names_.temporary());
  Instruction pick = typed(Op::Selp, to);
  pick.a = names_.constant(truth(to)), pick.b = names_.constant(0), pick.c = holds, pick.to = target();
  add(pick);
}

bool Decoder::special(const Operand& o, Type t) {
  constexpr std::pair<std::string_view, Special> kSpecials[] = {
      {"%clock", Special::Clock}, {"%clock_hi", Special::ClockHi}, {"%clock64", Special::Clock64}, {"%globaltimer", Special::GlobalTimer},
      {"%globaltimer_lo", Special::GlobalTimerLo}, {"%globaltimer_hi", Special::GlobalTimerHi}};
  for (const auto& [name, which] : kSpecials) {
    if (name != o.token.text) continue;
    Instruction i = typed(Op::Mov, t, Cost::Clock);
    i.kind = Kind::Special, i.special = which;
    i.to = target();
    add(i);
    return true;
  }
  return false;
}

/// The parts of a value, the lowest first.
void Decoder::unpack(const std::vector<Operand>& to, std::uint32_t from, Type whole) {
  const int part = bits(whole) / static_cast<int>(to.size());
  const Type part_type = part == 32 ? Type::B32 : part == 16 ? Type::B16 : Type::B8;
  for (std::size_t k = 0; k < to.size(); ++k) {
    Instruction shift = typed(Op::ShrU, whole);
    shift.a = from, shift.b = names_.constant(k * static_cast<std::size_t>(part)), shift.to = names_.temporary();
    Instruction cut = typed(Op::Mov, part_type);
    cut.a = shift.to, cut.to = target_of(to[k]);
    add(shift), add(cut);
  }
}

void Decoder::move(const Form& f) {
  if (!operands(2, 2)) return;
  const bool halves = type() == Type::B128;  // two registers of 64 bits
  const Type t = halves ? Type::B64 : type();
  const Operand& from = s_.operands[1];
  if (from.kind == Operand::Kind::Name && from.token.text.front() == '%' && special(from, t)) return;
  const std::vector<Operand> to_items = elements(s_.operands[0]), from_items = elements(from);
  if (to_items.empty() || from_items.empty()) return odd_operand();  // {}
  const bool to_vector = s_.operands[0].kind == Operand::Kind::Vector || to_items.size() > 1;
  const bool from_vector = from.kind == Operand::Kind::Vector || from_items.size() > 1;
  if (halves && (to_items.size() != 2 || from_items.size() != 2)) return odd_operand();
  if (!to_vector && !from_vector) return plain(f);
  const bool element_wise = has("v2") || has("v4") || has("v8") || halves;
  if (element_wise || (to_vector && from_vector)) {  // read before any is written
    if (to_items.size() != from_items.size() || !element_wise) return odd_operand();
    std::vector<std::uint32_t> read;
    for (const Operand& item : from_items) read.push_back(emit(Op::Mov, t, source_of(item, t), kTrue, names_.temporary()));
    for (std::size_t k = 0; k < read.size(); ++k) emit(Op::Mov, t, read[k], kTrue, target_of(to_items[k]));
    return;
  }
  // mov.b64 %rd, {%r1, %r2} and back: the first element is the low part.
  const std::vector<Operand>& items = from_vector ? from_items : to_items;
  const int part = bits(t) / static_cast<int>(items.size());
  if (part < 8 || part * static_cast<int>(items.size()) != bits(t) || (part & (part - 1)) != 0) return odd_operand();
  if (!from_vector) return unpack(items, source_of(from, t), t);
  const Type part_type = part == 32 ? Type::B32 : part == 16 ? Type::B16 : part == 8 ? Type::B8 : t;
  std::uint32_t sum = names_.constant(0);
  for (std::size_t k = 0; k < items.size(); ++k) {
    Instruction shift = typed(Op::Shl, t);
    shift.a = source_of(items[k], part_type), shift.b = names_.constant(k * static_cast<std::size_t>(part)), shift.to = names_.temporary();
    Instruction join = typed(Op::Or, t);
    join.a = sum, join.b = shift.to, join.to = k + 1 == items.size() ? target() : names_.temporary();
    sum = join.to;
    add(shift), add(join);
  }
}

void Decoder::convert(const Form& f) {
  const Type to = types_[0], from = types_[1];
  if (f.op == Op::CvtPair) {  // the first operand is the high half
    const bool one = element(from) != from || from == Type::E4m3x2 || from == Type::E5m2x2;
    if (!operands(one ? 2 : 3, one ? 2 : 3)) return;
    Instruction i = typed(f.op, to);
    i.from = from;
    i.a = source(1, from), i.b = one ? i.a : source(2, from), i.to = target();
    return void(add(i));
  }
  if (!operands(2, 2)) return;
  if (s_.operands[1].kind == Operand::Kind::Name && s_.operands[1].token.text.starts_with("%") && special(s_.operands[1], to)) return;
  const bool to_float = is_float(to) || is_small_float(to), from_float = is_float(from) || is_small_float(from);
  Instruction i = typed(to_float || from_float ? Op::CvtFloat : Op::CvtInt, to);
  i.from = from;
  i.shift = static_cast<std::uint8_t>(64 - bits(from));
  i.a = source(1, from);
  const Names::Register result = register_of(s_.operands[0].token);
  i.to = result.slot;
  if (is_signed(to)) i.extend = ones(bits(result.type)) & ~i.mask;
  i.round = has("rzi") ? 'z' : has("rni") ? 'n' : has("rmi") ? 'm' : has("rpi") ? 'p' : 0;
  // A float becomes an integer by a rounding that is named; what is no float has none.
  if (from_float && !to_float && !i.round) return unknown();
  if (!from_float && (i.round || i.flush)) return unknown();
  add(i);
}

/// cvt.pack.sat.u8.s32.b32 d, a, b, c: b is the lowest part, then a, then the low half of c. offset: bits of a part.
void Decoder::pack(const Form& f) {
  constexpr std::pair<std::string_view, int> kParts[] = {{"u2", 2}, {"s2", 2}, {"u4", 4}, {"s4", 4}, {"u8", 8}, {"s8", 8}, {"u16", 16}, {"s16", 16}};
  const auto* const part = std::find_if(std::begin(kParts), std::end(kParts), [this](const auto& p) { return p.first == words_[3]; });
  const bool with = words_.size() == 6;
  if (words_.size() < 5 || part == std::end(kParts) || words_[4] != "s32" || (with && words_[5] != "b32") || with == (part->second == 16)) return unknown();
  if (!operands(with ? 4 : 3, with ? 4 : 3)) return;
  Instruction i = typed(f.op, Type::B32);
  i.a = source(1, Type::S32), i.b = source(2, Type::S32), i.c = with ? source(3, Type::B32) : names_.constant(0), i.to = target();
  i.offset = part->second;
  i.from = part->first.front() == 's' ? Type::S32 : Type::U32;
  add(i);
}

}  // namespace gexp::sim
