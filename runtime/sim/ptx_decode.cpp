// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include "runtime/sim/ptx_decoder.h"

namespace gexp::sim {

int bits(Type type) {
  switch (type) {
    case Type::None: return 0;
    case Type::Pred: return 1;
    case Type::B8: case Type::U8: case Type::S8: return 8;
    case Type::B16: case Type::U16: case Type::S16: return 16;
    case Type::B32: case Type::U32: case Type::S32: case Type::F32: return 32;
    default: return 64;
  }
}

std::string place_of(const Kernel& kernel, const Instruction& i) {
  const std::string& statement = kernel.statements[i.statement];
  return statement.empty() ? fmt::format("PTX line {}", i.line) : fmt::format("at `{}`, PTX line {}", statement, i.line);
}

Type type_named(std::string_view name) {
  constexpr std::pair<std::string_view, Type> kTypes[] = {
      {"pred", Type::Pred}, {"b8", Type::B8}, {"b16", Type::B16}, {"b32", Type::B32}, {"b64", Type::B64}, {"u8", Type::U8},
      {"u16", Type::U16}, {"u32", Type::U32}, {"u64", Type::U64}, {"s8", Type::S8}, {"s16", Type::S16}, {"s32", Type::S32},
      {"s64", Type::S64}, {"f32", Type::F32}, {"f64", Type::F64}};
  for (const auto& [word, type] : kTypes) {
    if (word == name) return type;
  }
  return Type::None;
}

Diagnostic ptx_error(std::uint32_t line, std::string message) {
  return failure("E0801", fmt::format("{} (PTX line {})", message, line));
}

std::optional<std::uint64_t> literal(std::string_view text, bool minus, Type type) {
  std::uint64_t value = 0;
  const bool single = text.starts_with("0f") || text.starts_with("0F");
  if (single || text.starts_with("0d") || text.starts_with("0D")) {
    const auto parsed = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
    if (minus) value ^= single ? 1ull << 31 : 1ull << 63;
    return value;
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    base = text[1] == 'x' || text[1] == 'X' ? 16 : text[1] == 'b' || text[1] == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  if (!text.empty() && text.back() == 'U') text.remove_suffix(1);
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  if (minus) value = 0 - value;
  const int width = bits(type);
  return width == 0 || width == 64 ? value : value & ((1ull << width) - 1);
}

void Decoder::multiply() {
  const bool mad = words_[0] == "mad";
  const Type t = type();
  if (is_float(t)) return void(plain(mad ? Op::FFma : Op::FMul, mad ? 3 : 2, Cost::Multiply));
  if (has("lo")) return void(plain(mad ? Op::Mad : Op::Mul, mad ? 3 : 2, Cost::Multiply));
  if (has("hi")) return void(plain(mad ? by_sign(Op::MadHiS, Op::MadHiU) : by_sign(Op::MulHiS, Op::MulHiU), mad ? 3 : 2, Cost::Multiply));
  if (!has("wide") || bits(t) > 32 || !operands(mad ? 4 : 3, mad ? 4 : 3)) return unknown();
  Instruction i = typed(mad ? by_sign(Op::MadWideS, Op::MadWideU) : by_sign(Op::MulWideS, Op::MulWideU), t, Cost::Multiply);
  i.mask = ones(2 * bits(t));
  i.a = source(1, t), i.b = source(2, t);
  if (mad) i.c = source(3, bits(t) == 32 ? Type::U64 : Type::U32);
  i.to = target();
  out_.push_back(i);
}

void Decoder::compare() {
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
  const Type t = type();
  const auto* found = words_.size() < 3 ? std::end(kComparisons)
                                        : std::find_if(std::begin(kComparisons), std::end(kComparisons), [&](const Comparison& c) { return c.word == words_[1]; });
  if (found == std::end(kComparisons) || t == Type::None || !operands(3, 4)) return unknown();
  Instruction i = typed(is_float(t) ? found->of_floats : is_signed(t) ? found->with_sign : found->without, t);
  i.a = source(1, t), i.b = source(2, t);
  const bool combined = s_.operands.size() == 4, both = !s_.operands[0].items.empty();
  if (!combined && !both) {
    i.to = target();
    return out_.push_back(i);
  }
  // setp.lt.and.s32 p|q, a, b, c: p is the comparison, q its opposite, each combined with c. Either may be c itself.
  const Op join = !combined ? Op::Mov : has("and") ? Op::And : has("or") ? Op::Or : Op::Xor;
  const std::uint32_t with = combined ? source(3, Type::Pred) : kTrue;
  i.to = names_.temporary();
  out_.push_back(i);
  const auto give = [&](Op op, std::uint32_t a, std::uint32_t to) {
    Instruction result = typed(op, Type::Pred);
    result.a = a, result.b = with, result.to = to;
    out_.push_back(result);
    return to;
  };
  const std::uint32_t opposite = both ? give(join, give(Op::Not, i.to, names_.temporary()), names_.temporary()) : kTrue;
  give(join, i.to, target());
  if (both) give(Op::Mov, opposite, target_of(s_.operands[0].items[0]));
}

void Decoder::special(const Operand& o, Type t) {
  constexpr std::pair<std::string_view, Special> kSpecials[] = {
      {"%clock", Special::Clock}, {"%clock_hi", Special::ClockHi}, {"%clock64", Special::Clock64}, {"%globaltimer", Special::GlobalTimer},
      {"%globaltimer_lo", Special::GlobalTimerLo}, {"%globaltimer_hi", Special::GlobalTimerHi}};
  for (const auto& [name, which] : kSpecials) {
    if (name != o.token.text) continue;
    Instruction i = typed(Op::Mov, t, Cost::Clock);
    i.kind = Kind::Special, i.special = which;
    i.to = target();
    out_.push_back(i);
  }
}

void Decoder::move() {
  if (!operands(2, 2)) return;
  const Type t = type();
  const Operand& to = s_.operands[0];
  const Operand& from = s_.operands[1];
  if (from.kind == Operand::Kind::Name && from.token.text.front() == '%') {
    special(from, t);
    if (!out_.empty()) return;
  }
  const bool pack = from.kind == Operand::Kind::Vector;
  if (!pack && to.kind != Operand::Kind::Vector) return void(plain(Op::Mov, 1));
  // mov.b64 %rd, {%r1, %r2} and back: the first element is the low part.
  const std::vector<Operand>& items = pack ? from.items : to.items;
  const int part = bits(t) / std::max<int>(1, static_cast<int>(items.size()));
  if (part < 8) return unknown();
  const Type part_type = part == 32 ? Type::B32 : part == 16 ? Type::B16 : Type::B8;
  std::uint32_t sum = names_.constant(0);
  for (std::size_t k = 0; k < items.size(); ++k) {
    const std::uint32_t by = names_.constant(k * static_cast<std::size_t>(part));
    if (pack) {
      Instruction shift = typed(Op::Shl, t);
      shift.a = source_of(items[k], part_type), shift.b = by, shift.to = names_.temporary();
      Instruction join = typed(Op::Or, t);
      join.a = sum, join.b = shift.to, join.to = k + 1 == items.size() ? target() : names_.temporary();
      sum = join.to;
      out_.push_back(shift), out_.push_back(join);
    } else {
      Instruction shift = typed(Op::ShrU, t);
      shift.a = source_of(from, t), shift.b = by, shift.to = names_.temporary();
      Instruction cut = typed(Op::Mov, part_type);
      cut.a = shift.to, cut.to = target_of(items[k]);
      out_.push_back(shift), out_.push_back(cut);
    }
  }
}

void Decoder::convert() {
  if (types_.size() != 2 || !operands(2, 2)) return unknown();
  const Type to = types_[0], from = types_[1];
  if (s_.operands[1].kind == Operand::Kind::Name && s_.operands[1].token.text.starts_with("%")) {
    special(s_.operands[1], to);
    if (!out_.empty()) return;
  }
  Instruction i = typed(is_float(to) || is_float(from) ? Op::CvtFloat : Op::CvtInt, to);
  i.from = from;
  i.shift = static_cast<std::uint8_t>(64 - bits(from));
  i.a = source(1, from);
  const Names::Register result = register_of(s_.operands[0].token);
  i.to = result.slot;
  if (i.op == Op::CvtInt) {
    if (has("sat")) return unknown();
    if (is_signed(to)) i.extend = ones(bits(result.type)) & ~i.mask;
  } else {
    i.round = has("rzi") ? 'z' : has("rni") ? 'n' : has("rmi") ? 'm' : has("rpi") ? 'p' : 0;
    if (!is_float(to) && !i.round) return unknown();
  }
  out_.push_back(i);
}

/// Whether each word of the opcode is one that changes nothing here, or one that the instruction looks at itself. A saturating or
/// carrying form must not pass for the plain one. An approximation is served by the exact value.
bool Decoder::modifiers_known() const {
  constexpr std::string_view kApproximate[] = {"div", "rcp", "sqrt", "rsqrt", "sin", "cos", "ex2", "lg2"};
  const bool approximate = std::find(std::begin(kApproximate), std::end(kApproximate), words_[0]) != std::end(kApproximate);
  constexpr std::string_view kKnown[] = {
      "lo", "hi", "wide", "rn", "rz", "rm", "rp", "ftz", "rni", "rzi", "rmi", "rpi", "uni", "to", "l", "r", "wrap", "clamp",
      "eq", "ne", "lt", "le", "gt", "ge", "ls", "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan", "and", "or", "xor",
      "global", "shared", "shared::cta", "local", "const", "param", "add", "exch", "cas", "min", "max", "inc", "dec", "relaxed", "acquire", "release",
      "acq_rel", "sc", "cta", "gpu", "sys", "gl", "sync", "arrive", "warp", "aligned", "shiftamt"};
  return std::all_of(words_.begin() + 1, words_.end(), [&](std::string_view word) {
    if (approximate && (word == "approx" || word == "full")) return true;
    return type_named(word) != Type::None || std::find(std::begin(kKnown), std::end(kKnown), word) != std::end(kKnown);
  });
}

void Decoder::dispatch() {
  const std::string_view name = words_[0];
  const Type t = type();
  const bool floats = is_float(t);
  const auto binary = [&](Op integers, Op of_floats, Cost cost = Cost::Alu) { plain(floats ? of_floats : integers, 2, cost); };
  if (name == "ld" || name == "ldu" || name == "st") return memory();
  if (name == "tex") return texture();
  if (!modifiers_known()) return unknown();
  if (name == "mov") return move();
  if (name == "add") return binary(Op::Add, Op::FAdd);
  if (name == "sub") return binary(Op::Sub, Op::FSub);
  if (name == "mul" || name == "mad") return multiply();
  if (name == "fma") return void(plain(Op::FFma, 3, Cost::Multiply));
  if (name == "div") return binary(by_sign(Op::DivS, Op::DivU), Op::FDiv, Cost::Divide);
  if (name == "rem") return void(plain(by_sign(Op::RemS, Op::RemU), 2, Cost::Divide));
  if (floats) {
    constexpr std::pair<std::string_view, Op> kFunctions[] = {{"sqrt", Op::FSqrt}, {"rsqrt", Op::FRsqrt}, {"sin", Op::FSin},
                                                              {"cos", Op::FCos}, {"ex2", Op::FEx2}, {"lg2", Op::FLg2}};
    for (const auto& [word, op] : kFunctions) {
      if (word == name) return void(plain(op, 1, Cost::Divide));
    }
    if (name == "rcp") {
      if (Instruction* i = plain(Op::FDiv, 1, Cost::Divide)) i->b = i->a, i->a = names_.constant(t == Type::F64 ? 0x3ff0000000000000ull : 0x3f800000u);
      return;
    }
  }
  if (name == "min") return binary(by_sign(Op::MinS, Op::MinU), Op::FMin);
  if (name == "max") return binary(by_sign(Op::MaxS, Op::MaxU), Op::FMax);
  if (name == "copysign" && floats) return void(plain(Op::FCopySign, 2));
  if (name == "abs") return void(plain(floats ? Op::FAbs : Op::AbsS, 1));
  if (name == "neg") return void(plain(floats ? Op::FNeg : Op::Neg, 1));
  if (name == "and") return void(plain(Op::And, 2));
  if (name == "or") return void(plain(Op::Or, 2));
  if (name == "xor") return void(plain(Op::Xor, 2));
  if (name == "not") return void(plain(Op::Not, 1));
  if (name == "cnot") return void(plain(Op::Cnot, 1));
  if (name == "popc") return void(plain(Op::Popc, 1));
  if (name == "clz") return void(plain(Op::Clz, 1));
  if (name == "bfind") {
    if (Instruction* i = plain(by_sign(Op::FindS, Op::FindU), 1)) i->offset = has("shiftamt");
    return;
  }
  if ((name == "dp2a" || name == "dp4a") && types_.size() == 2 && bits(types_[0]) == 32 && bits(types_[1]) == 32) {
    if (Instruction* i = plain(name == "dp2a" ? Op::Dot2 : Op::Dot4, 3, Cost::Multiply))
      i->offset = (is_signed(types_[0]) ? kDotSignedA : 0) | (is_signed(types_[1]) ? kDotSignedB : 0) | (has("hi") ? kDotHigh : 0);
    return;
  }
  bits_and_choices();
}

/// The rest of what computes.
void Decoder::bits_and_choices() {
  const std::string_view name = words_[0];
  const Type t = type();
  if (name == "brev") return void(plain(Op::Brev, 1));
  if (name == "setp") return compare();
  if (name == "cvt") return convert();
  if (name == "atom" || name == "red") return atomic();
  if (name == "shl" || name == "shr") {
    Instruction* i = plain(name == "shl" ? Op::Shl : by_sign(Op::ShrS, Op::ShrU), 2);
    if (i && s_.operands[2].kind == Operand::Kind::Number) i->b = source(2, Type::U32);
    return;
  }
  if (name == "shf") {
    const bool wrap = has("wrap");
    return void(plain(has("l") ? (wrap ? Op::FunnelLWrap : Op::FunnelL) : (wrap ? Op::FunnelRWrap : Op::FunnelR), 3));
  }
  if (name == "prmt" && words_.size() == 2) return void(plain(Op::Prmt, 3));
  if (name == "bfe") return void(plain(by_sign(Op::BfeS, Op::BfeU), 3));
  if (name == "selp") {
    if (Instruction* i = plain(Op::Selp, 3)) i->c = source(3, Type::Pred);
    return;
  }
  if (name == "lop3" || name == "bfi") {
    if (!operands(5, 5)) return;
    const std::size_t constant = 4;
    const auto value = literal(s_.operands[constant].token.text, false, Type::U32);
    if (s_.operands[constant].kind != Operand::Kind::Number || !value) return fail(fmt::format("'{}' needs a constant last operand here", s_.opcode.text));
    Instruction i = typed(name == "bfi" ? Op::Bfi : Op::Lop3, t);
    i.a = source(1, t), i.b = source(2, t), i.c = source(3, t), i.to = target();
    i.offset = static_cast<std::int64_t>(*value);
    return out_.push_back(i);
  }
  if (name == "cvta") {
    // Shared and local memory have windows in the generic address space; global memory is where it is.
    const std::uint64_t window = space() == Space::Shared ? kSharedWindow : space() == Space::Local ? kLocalWindow : 0;
    if (space() == Space::Generic || !operands(2, 2)) return unknown();
    Instruction i = typed(has("to") ? Op::Sub : Op::Add, t);
    i.a = source(1, t), i.b = names_.constant(window), i.to = target();
    return out_.push_back(i);
  }
  control();
}

/// Where a warp goes on, and what it waits for.
void Decoder::control() {
  const std::string_view name = words_[0];
  if (name == "bra") {
    if (!operands(1, 1)) return;
    Instruction i = base_;
    i.kind = Kind::Branch;
    return out_.push_back(i);
  }
  if (name == "ret" || name == "exit" || name == "trap") {
    Instruction i = base_;
    i.kind = name == "trap" ? Kind::Trap : Kind::Exit;
    return out_.push_back(i);
  }
  const bool of_block = (name == "bar" || name == "barrier") && !has("warp") && !has("cluster");
  if (of_block && (has("sync") || has("arrive"))) {
    if (!operands(1, 2)) return;
    Instruction i = base_;
    i.kind = Kind::Barrier;
    i.waits = has("sync");
    i.a = source(0, Type::U32);
    if (s_.operands.size() == 2) i.b = source(1, Type::U32);
    return out_.push_back(i);
  }
  // Lanes of a warp meet where their ways do, and every store is seen in order.
  if (name == "membar" || name == "fence" || name == "nanosleep" || (name == "bar" && has("warp") && has("sync"))) {
    Instruction i = base_;
    i.kind = Kind::Nothing;
    return out_.push_back(i);
  }
  unknown();
}

Result<std::vector<Instruction>> decode(const Statement& statement, Names& names) { return Decoder(statement, names).run(); }

}  // namespace gexp::sim
