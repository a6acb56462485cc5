// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

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

namespace {

std::uint64_t ones(int width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t dot = text.find('.');
    parts.push_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

/// One PTX instruction on its way through. The first thing that does not fit is kept; what follows then does no harm.
class Decoder {
 public:
  Decoder(const Statement& statement, Names& names) : s_(statement), names_(names), words_(split(statement.opcode.text)) {
    base_.line = s_.opcode.line;
    if (s_.guard) {
      base_.guard = register_of(*s_.guard).slot;
      base_.guard_not = s_.guard_not;
    }
    for (const std::string_view word : words_) {
      if (const Type t = type_named(word); t != Type::None) types_.push_back(t);
    }
  }

  Result<std::vector<Instruction>> run() {
    dispatch();
    if (failed_) return *failed_;
    return std::move(out_);
  }

 private:
  bool has(std::string_view word) const { return std::find(words_.begin() + 1, words_.end(), word) != words_.end(); }
  Type type() const { return types_.empty() ? Type::None : types_.back(); }
  void fail(std::string message) {
    if (!failed_) failed_ = ptx_error(s_.opcode.line, std::move(message));
  }
  void unknown() { fail(fmt::format("unknown instruction '{}'", s_.opcode.text)); }
  bool operands(std::size_t least, std::size_t most) {
    if (s_.operands.size() >= least && s_.operands.size() <= most) return true;
    fail(fmt::format("'{}' with {} operands", s_.opcode.text, s_.operands.size()));
    return false;
  }

  Names::Register register_of(const Token& token) {
    if (const auto found = names_.find_register(token.text)) return *found;
    fail(fmt::format("'{}' is no register", token.text));
    return {};
  }

  /// The slot of an operand that is read as `t`.
  std::uint32_t source(std::size_t index, Type t) { return source_of(s_.operands[index], t); }
  std::uint32_t source_of(const Operand& o, Type t) {
    if (o.kind == Operand::Kind::Number) {
      if (const auto value = literal(o.token.text, o.minus, t)) return names_.constant(*value);
      fail(fmt::format("'{}' is no number that the simulator reads", o.token.text));
      return kTrue;
    }
    if (o.kind != Operand::Kind::Name) return fail(fmt::format("'{}' with an operand of a form that is not supported", s_.opcode.text)), kTrue;
    if (const auto found = names_.find_register(o.token.text)) {
      if (!o.inverted) return found->slot;
      Instruction i = base_;
      i.kind = Kind::Compute, i.op = Op::Not, i.mask = 1, i.a = found->slot, i.to = names_.temporary();
      out_.push_back(i);
      return i.to;
    }
    if (const auto* variable = names_.find_variable(o.token.text); variable && variable->space != Space::Param) return variable->slot;
    if (const auto fixed = names_.find_fixed(o.token.text)) return *fixed;
    if (o.token.text.front() == '%') fail(fmt::format("unknown register '{}'", o.token.text));
    else fail(fmt::format("unknown name '{}'", o.token.text));
    return kTrue;
  }
  /// "_" is the sink of a result that nobody reads.
  std::uint32_t target_of(const Operand& o) {
    if (o.kind == Operand::Kind::Name && o.token.is("_")) return names_.temporary();
    if (o.kind != Operand::Kind::Name) return fail(fmt::format("'{}' with a result of a form that is not supported", s_.opcode.text)), kTrue;
    return register_of(o.token).slot;
  }
  std::uint32_t target() { return target_of(s_.operands.front()); }

  Instruction typed(Op op, Type t, Cost cost = Cost::Alu) const {
    Instruction i = base_;
    i.kind = Kind::Compute, i.op = op, i.type = t, i.cost = cost;
    i.mask = ones(bits(t));
    i.shift = static_cast<std::uint8_t>(64 - bits(t));
    i.inexact = has("rz") ? 'z' : has("rm") ? 'm' : has("rp") ? 'p' : 0;
    i.flush = has("ftz");
    return i;
  }
  /// to = op(a[, b[, c]]), all operands of the type of the name.
  Instruction* plain(Op op, std::size_t count, Cost cost = Cost::Alu) {
    if (!operands(count + 1, count + 1)) return nullptr;
    const Type t = type();
    if (t == Type::None) return unknown(), nullptr;
    Instruction i = typed(op, t, cost);
    std::uint32_t* const slots[] = {&i.a, &i.b, &i.c};
    for (std::size_t k = 0; k < count; ++k) *slots[k] = source(k + 1, t);
    i.to = target();
    out_.push_back(i);
    return &out_.back();
  }
  Op by_sign(Op with_sign, Op without) const { return is_signed(type()) ? with_sign : without; }

  void dispatch();
  bool modifiers_known() const;
  void multiply();
  void compare();
  void convert();
  void move();
  void memory();
  void atomic();
  void texture();
  void address(Instruction& i, const Operand& o);
  void special(const Operand& o, Type t);
  Space space() const;
  LoadPath path() const;

  const Statement& s_;
  Names& names_;
  std::vector<std::string_view> words_;
  std::vector<Type> types_;
  Instruction base_;
  std::vector<Instruction> out_;
  std::optional<Diagnostic> failed_;
};

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

}  // namespace

Result<std::vector<Instruction>> decode(const Statement& statement, Names& names) { return Decoder(statement, names).run(); }

}  // namespace gexp::sim
