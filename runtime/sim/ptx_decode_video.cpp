// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decoder.h"
#include "runtime/sim/video.h"

// vadd and its like (PTX ISA 9.7.18).
namespace gexp::sim {
namespace {

struct Part {
  std::string_view word;
  std::uint32_t bits, at;
};
constexpr Part kParts[] = {{"b0", 8, 0}, {"b1", 8, 8}, {"b2", 8, 16}, {"b3", 8, 24}, {"h0", 16, 0}, {"h1", 16, 16}};

/// "%r1.b0": the name before the last dot, and which part is meant; null: it names a whole register.
const Part* cut_part(std::string_view& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return nullptr;
  for (const Part& part : kParts) {
    if (part.word != name.substr(dot + 1)) continue;
    name = name.substr(0, dot);
    return &part;
  }
  return nullptr;
}

}  // namespace

/// A part of a register, as 32 bits of its type.
std::uint32_t Decoder::part_of(const Operand& given, Type t) {
  Operand o = given;
  o.minus = o.minus && o.kind == Operand::Kind::Number;  // else the caller's to see
  const Part* const part = o.kind == Operand::Kind::Name ? cut_part(o.token.text) : nullptr;
  const std::uint32_t slot = source_of(o, t);
  if (!part) return slot;
  const std::uint32_t up = emit(Op::Shl, Type::B32, slot, names_.constant(32 - part->at - part->bits), names_.temporary());
  return emit(is_signed(t) ? Op::ShrS : Op::ShrU, t, up, names_.constant(32 - part->bits), names_.temporary());
}

/// vadd.u32.u32.u32.add d, a.b0, b, c; vadd d.h1, a, b, c; vset.u32.u32.lt d, a, b; vmad.s32.s32.s32.shr7 d, -a, b, c; vadd4.u32.u32.u32 d, a, b, c.
void Decoder::video(const Form& f) {
  using V = Video::Operation;
  constexpr std::pair<std::string_view, V> kOperations[] = {{"vadd", V::Add}, {"vsub", V::Subtract}, {"vabsdiff", V::Distance}, {"vmin", V::Least}, {"vmax", V::Greatest}, {"vshl", V::Left},
                                                            {"vshr", V::Right}, {"vavrg", V::Average}, {"vmad", V::MultiplyAdd}};
  constexpr std::pair<std::string_view, V> kComparisons[] = {{"eq", V::Equal}, {"ne", V::Unequal}, {"lt", V::Less}, {"le", V::LessEqual}, {"gt", V::Greater}, {"ge", V::GreaterEqual}};
  const bool compares = f.name.starts_with("vset");
  Video v;
  v.parts = f.name.ends_with('2') ? 2 : f.name.ends_with('4') ? 4 : 1;
  const std::string_view operation = f.name.substr(0, f.name.size() - (v.parts > 1));
  for (const auto& [word, op] : kOperations) v.operation = word == operation ? op : v.operation;
  for (const auto& [word, op] : kComparisons) v.operation = compares && has(word) ? op : v.operation;
  const bool multiplies = v.operation == V::MultiplyAdd;
  if (types_.size() != (compares ? 2u : 3u) || s_.operands.empty()) return unknown();
  const Type result = compares ? Type::U32 : types_[0], of_a = types_[types_.size() - 2], of_b = types_.back();
  v.second = has("add") ? Video::Second::Add : has("min") ? Video::Second::Least : has("max") ? Video::Second::Greatest : Video::Second::None;
  v.saturates = has("sat"), v.a_signed = is_signed(of_a), v.b_signed = is_signed(of_b), v.wraps = has("wrap");
  v.plus_one = has("po"), v.scale = has("shr7") ? 7 : has("shr15") ? 15 : 0;
  Operand to = s_.operands[0];
  if (const Part* const part = v.parts == 1 && !multiplies ? cut_part(to.token.text) : nullptr) v.merged = part->bits, v.at = part->at;
  if (v.merged != 0 && v.second != Video::Second::None) return odd_operand();
  const bool third = multiplies || v.parts > 1 || v.merged != 0 || v.second != Video::Second::None;
  if (third != (s_.operands.size() == 4)) return odd_operand();
  if (!operands(3, 4)) return;
  const auto negated = [&](std::size_t k) { return s_.operands[k].minus && s_.operands[k].kind == Operand::Kind::Name; };
  v.product_negated = negated(1) != negated(2), v.addend_negated = third && negated(3);
  const bool negates = negated(1) || negated(2) || v.addend_negated;
  if (negates && (!multiplies || v.plus_one || (v.product_negated && v.addend_negated))) return odd_operand();
  Operand c = third ? s_.operands[3] : Operand{};
  c.minus = c.minus && c.kind == Operand::Kind::Number;
  const std::uint32_t a = part_of(s_.operands[1], of_a), b = part_of(s_.operands[2], of_b), with = third ? source_of(c, result) : names_.constant(0);
  Instruction& i = wide(WideOp::Video, result, {a, b, with}, {target_of(to)});
  i.offset = v.packed();
}

}  // namespace gexp::sim
