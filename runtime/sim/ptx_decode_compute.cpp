// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decoder.h"

// Instructions that compute a value of a lane from others of it.
namespace gexp::sim {

void Decoder::plain(const Form& f) {
  Instruction* const i = plain(by_sign(f), f.operands, f.cost);
  if (i && f.name == "bfind") i->offset = has("shiftamt");
  if (i && (f.name == "szext" || f.name == "bmsk")) i->offset = has("clamp");
  if (i && f.name == "fns") i->c = source(3, Type::S32);
}

void Decoder::shift(const Form& f) {
  Instruction* const i = plain(by_sign(f), 2);
  if (i && s_.operands[2].kind == Operand::Kind::Number) i->b = source(2, Type::U32);
}

void Decoder::wide_multiply(const Form& f) {
  const Type t = type();
  if (!operands(f.operands + 1u, f.operands + 1u)) return;
  Instruction i = typed(by_sign(f), t, Cost::Multiply);
  i.mask = ones(2 * bits(t));
  i.a = source(1, t), i.b = source(2, t);
  if (f.operands == 3) i.c = source(3, bits(t) == 32 ? Type::U64 : Type::U32);
  i.to = target();
  add(i);
}

/// The product of 24 bits each; offset: how far it is moved down (.hi).
void Decoder::multiply24(const Form& f) {
  Instruction* const i = plain(by_sign(f), f.operands, Cost::Multiply);
  if (!i) return;
  if (f.operands == 2) i->c = names_.constant(0);
  i->offset = has("hi") ? 16 : 0;
}

/// The condition code is a register of the thread. offset, bit 0: it is read; of a product, bit 1: the high half is wanted.
void Decoder::carry(const Form& f) {
  const Type t = type();
  if (!operands(f.operands + 1u, f.operands + 1u)) return;
  const bool reads = f.name.ends_with('c'), writes = has("cc");
  const std::uint32_t code = names_.carry();
  std::vector<std::uint32_t> from{code};
  for (std::size_t k = 1; k <= f.operands; ++k) from.push_back(source(k, t));
  const WideOp op = f.operands == 3 ? WideOp::MadCarry : f.name.starts_with("sub") ? WideOp::SubCarry : WideOp::AddCarry;
  Instruction& i = wide(op, t, from, {target(), writes ? code : names_.temporary()});
  i.cost = f.cost;
  i.offset = (reads ? 1 : 0) | (has("hi") ? 2 : 0);
}

void Decoder::dot(const Form& f) {
  if (Instruction* i = plain(f.op, 3, Cost::Multiply))
    i->offset = (is_signed(types_[0]) ? kDotSignedA : 0) | (is_signed(types_[1]) ? kDotSignedB : 0) | (has("hi") ? kDotHigh : 0);
}

void Decoder::table(const Form& f) {
  const bool tests = has("and") || has("or");  // lop3.or.b32 d|p, a, b, c, table, q: p = (d != 0) or q
  if (!operands(tests ? 6 : 5, tests ? 6 : 5)) return;
  const auto value = literal(s_.operands[4].token.text, false, Type::U32);
  if (s_.operands[4].kind != Operand::Kind::Number || !value) return fail(fmt::format("'{}' needs a constant last operand", s_.opcode.text));
  Instruction i = typed(f.op, type());
  i.a = source(1, type()), i.b = source(2, type()), i.c = source(3, type()), i.to = target();
  i.offset = static_cast<std::int64_t>(*value);
  if (tests && s_.operands[0].items.size() != 1) return odd_operand();
  const std::uint32_t with = tests ? source(5, Type::Pred) : kTrue;
  add(i);
  if (!tests) return;
  const std::uint32_t some = emit(Op::Ne, type(), i.to, names_.constant(0), names_.temporary());
  emit(has("and") ? Op::And : Op::Or, Type::Pred, some, with, target_of(s_.operands[0].items[0]));
}

/// add, sub: a is narrow, c is not; fma: a and b are.
void Decoder::mixed(const Form& f) {
  if (!operands(f.operands + 1u, f.operands + 1u)) return;
  const auto widened = [&](std::size_t index) {
    Instruction i = typed(Op::CvtFloat, Type::F32);
    i.from = types_[1], i.inexact = 0, i.saturate = false;
    i.a = source(index, types_[1]), i.to = names_.temporary();
    add(i);
    return i.to;
  };
  Instruction i = typed(f.op, Type::F32, f.cost);
  i.a = widened(1);
  i.b = f.operands == 3 ? widened(2) : source(2, Type::F32);
  if (f.operands == 3) i.c = source(3, Type::F32);
  i.to = target();
  add(i);
}

/// add.rn.f32x2 and its like: two singles in a register of 64 bits.
void Decoder::two_singles(const Form& f) {
  if (!operands(f.operands + 1u, f.operands + 1u)) return;
  std::vector<std::uint32_t> whole;
  for (std::size_t k = 1; k <= f.operands; ++k) whole.push_back(source(k, Type::B64));
  std::uint32_t parts[2];
  for (const bool high : {false, true}) {
    Instruction i = typed(f.op, Type::F32, f.cost);
    std::uint32_t* const slots[] = {&i.a, &i.b, &i.c};
    for (std::size_t k = 0; k < whole.size(); ++k) {
      *slots[k] = high ? emit(Op::ShrU, Type::B64, whole[k], names_.constant(32), names_.temporary()) : emit(Op::Mov, Type::B32, whole[k], kTrue, names_.temporary());
    }
    i.to = parts[high] = names_.temporary();
    add(i);
  }
  emit(Op::Or, Type::B64, parts[0], emit(Op::Shl, Type::B64, parts[1], names_.constant(32), names_.temporary()), target());
}

/// min and max of floats, of three too; .abs alone is of three.
void Decoder::extreme(const Form& f) {
  const bool three = s_.operands.size() == 4, sizes = has("abs") && !has("xorsign");
  if (has("xorsign") != (has("abs") && !sizes) || (three ? type() != Type::F32 || has("xorsign") : sizes)) return unknown();
  if (!three) return plain(f);
  Instruction i = typed(f.op, Type::F32);
  const auto read = [&](std::size_t k) { return sizes ? emit(Op::FAbs, Type::F32, source(k, Type::F32), kTrue, names_.temporary()) : source(k, Type::F32); };
  i.a = read(1), i.b = read(2), i.to = names_.temporary();
  add(i);
  i.a = i.to, i.b = read(3), i.to = target();
  add(i);
}

void Decoder::insert(const Form& f) {
  if (!operands(5, 5)) return;
  if (s_.operands[4].kind == Operand::Kind::Number) return table(f);
  wide(WideOp::Insert, type(), {source(1, type()), source(2, type()), source(3, Type::U32), source(4, Type::U32)}, {target()});
}

void Decoder::reciprocal(const Form& f) {
  if (Instruction* i = plain(f.op, 1, Cost::Divide)) i->b = i->a, i->a = names_.constant(type() == Type::F64 ? 0x3ff0000000000000ull : 0x3f800000u);
}

/// offset: which class is asked for.
void Decoder::test(const Form& f) {
  constexpr std::string_view kClasses[] = {"finite", "infinite", "number", "notanumber", "normal", "subnormal"};
  Instruction* const i = plain(f.op, 1);
  for (std::size_t k = 0; i && k < std::size(kClasses); ++k) {
    if (has(kClasses[k])) i->offset = static_cast<std::int64_t>(k);
  }
}

void Decoder::choose(const Form& f) {
  if (!operands(4, 4)) return;
  const Type t = types_[0];
  Instruction i = typed(f.op, t);
  i.a = source(1, t), i.b = source(2, t), i.c = source(3, f.name == "selp" ? Type::Pred : types_[1]);
  if (f.op == Op::Slct && types_[1] == Type::F32) i.op = Op::SlctF;
  i.to = target();
  add(i);
}

/// offset: the mode.
void Decoder::permute(const Form& f) {
  constexpr std::string_view kModes[] = {"", "f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  Instruction* const i = plain(f.op, 3);
  for (std::size_t k = 1; i && k < std::size(kModes); ++k) {
    if (has(kModes[k])) i->offset = static_cast<std::int64_t>(k);
  }
}

/// offset: the operation on each half.
void Decoder::pairs(const Form& f) {
  if (Instruction* i = plain(Op::Pairs, f.operands)) i->offset = static_cast<std::int64_t>(by_sign(f));
}

/// What a minimum or maximum gives, or zero where that is less.
void Decoder::not_negative(const Form& f) {
  const Type t = type();
  if (!operands(3, 3)) return;
  const auto step = [&](Op op, std::uint32_t a, std::uint32_t b, std::uint32_t to) {
    if (element(t) == t) return emit(op, t, a, b, to);
    emit(Op::Pairs, t, a, b, to);
    out_.back().offset = static_cast<std::int64_t>(op);
    return to;
  };
  step(Op::MaxS, step(f.op, source(1, t), source(2, t), names_.temporary()), names_.constant(0), target());
}

}  // namespace gexp::sim
