// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decoder.h"

// Instructions that access memory: loads, stores, atomics, texture fetches.
namespace gexp::sim {

Space Decoder::space() const {
  if (has("global")) return Space::Global;
  if (has("shared") || has("shared::cta")) return Space::Shared;
  if (has("local")) return Space::Local;
  if (has("param") || has("param::entry")) return Space::Param;
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
  i.offset = o.offset;
  if (o.token.kind == Token::Kind::Number) {
    i.a = names_.constant(literal(o.token.text, false, Type::U64).value_or(0));
  } else if (const auto found = names_.find_register(o.token.text)) {
    i.a = found->slot;
  } else if (const auto* variable = names_.find_variable(o.token.text)) {
    if (variable->space == Space::Param) i.a = names_.constant(0), i.offset += variable->offset;
    else i.a = variable->slot;
  } else {
    fail(fmt::format("unknown name '{}'", o.token.text));
  }
}

void Decoder::memory() {
  const bool load = words_[0] == "ld" || words_[0] == "ldu";
  for (std::size_t k = 1; k < words_.size(); ++k) {
    constexpr std::string_view kKnown[] = {"global", "shared", "shared::cta", "local", "param", "param::entry", "const", "ca", "cg", "cv", "cs", "lu", "nc",
                                           "wb", "wt", "volatile", "relaxed", "acquire", "release", "weak", "mmio", "cta", "gpu", "sys", "cluster", "v2", "v4"};
    if (std::find(std::begin(kKnown), std::end(kKnown), words_[k]) == std::end(kKnown) && type_named(words_[k]) == Type::None &&
        !words_[k].starts_with("L1::") && !words_[k].starts_with("L2::"))
      return unknown();
  }
  const Type t = type();
  if (!operands(2, 2) || bits(t) < 8) return unknown();
  Instruction i = typed(Op::Mov, t);
  i.kind = load ? Kind::Load : Kind::Store;
  i.space = space();
  i.path = path();
  i.bytes = static_cast<std::uint8_t>(bits(t) / 8);
  address(i, s_.operands[load ? 1 : 0]);
  const Operand& value = s_.operands[load ? 0 : 1];
  const std::size_t count = has("v4") ? 4 : has("v2") ? 2 : 1;
  i.count = static_cast<std::uint8_t>(count);
  if ((value.kind == Operand::Kind::Vector ? value.items.size() : 1) != count) return fail(fmt::format("'{}' with a wrong number of elements", s_.opcode.text));
  for (std::size_t k = 0; k < count; ++k) {
    const Operand& item = value.kind == Operand::Kind::Vector ? value.items[k] : value;
    if (load && item.token.is("_")) {
      i.data[k] = names_.temporary();
    } else if (load) {
      const Names::Register r = register_of(item.token);
      i.data[k] = r.slot;
      // A narrow signed load fills the whole register.
      if (is_signed(t)) i.extend = ones(bits(r.type)) & ~i.mask;
    } else {
      i.data[k] = source_of(item, t);
    }
  }
  out_.push_back(i);
}

void Decoder::atomic() {
  constexpr std::pair<std::string_view, AtomicOp> kOps[] = {{"add", AtomicOp::Add}, {"exch", AtomicOp::Exch}, {"cas", AtomicOp::Cas}, {"and", AtomicOp::And},
                                                            {"or", AtomicOp::Or}, {"xor", AtomicOp::Xor}, {"inc", AtomicOp::Inc}, {"dec", AtomicOp::Dec}};
  const bool reduction = words_[0] == "red";
  const Type t = type();
  Instruction i = typed(Op::Mov, t);
  i.kind = Kind::Atomic;
  i.space = space();
  i.bytes = static_cast<std::uint8_t>(bits(t) / 8);
  bool known = false;
  for (const auto& [word, op] : kOps) {
    if (has(word)) i.atomic = op, known = true;
  }
  if (has("min")) i.atomic = is_signed(t) ? AtomicOp::MinS : AtomicOp::MinU, known = true;
  if (has("max")) i.atomic = is_signed(t) ? AtomicOp::MaxS : AtomicOp::MaxU, known = true;
  const std::size_t at = reduction ? 0 : 1;
  const std::size_t count = at + (i.atomic == AtomicOp::Cas ? 3 : 2);
  if (!known || bits(t) < 32 || is_float(t) || !operands(count, count)) return unknown();
  address(i, s_.operands[at]);
  i.b = source(at + 1, t);
  if (i.atomic == AtomicOp::Cas) i.c = source(at + 2, t);
  i.to = reduction ? names_.temporary() : target();
  out_.push_back(i);
}

/// A fetch from a linear texture of 4-byte elements: "tex.1d.v4.u32.s32 {r, g, b, a}, [handle, {x}]".
void Decoder::texture() {
  if (!has("1d") || !has("v4") || types_.size() != 2 || types_[1] != Type::S32 || bits(types_[0]) != 32) return unknown();
  if (!operands(2, 2)) return;
  const Operand &results = s_.operands[0], &texel = s_.operands[1];
  if (results.kind != Operand::Kind::Vector || results.items.size() != 4 || texel.kind != Operand::Kind::Address || texel.items.size() != 1)
    return fail(fmt::format("'{}' with operands of a form that is not supported", s_.opcode.text));
  const Operand& x = texel.items[0];
  Instruction i = base_;
  i.kind = Kind::Texture;
  i.type = types_[0];
  i.bytes = 4;
  i.count = 4;
  i.path = LoadPath::Texture;
  i.a = register_of(texel.token).slot;
  i.b = source_of(x.kind == Operand::Kind::Vector && !x.items.empty() ? x.items[0] : x, Type::S32);
  for (std::size_t k = 0; k < 4; ++k) i.data[k] = target_of(results.items[k]);
  out_.push_back(i);
}

}  // namespace gexp::sim
