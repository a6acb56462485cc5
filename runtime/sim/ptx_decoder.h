// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sim/ptx_decode.h"

/// How ptx_decode.cpp and ptx_decode_memory.cpp decode one instruction between them.
namespace gexp::sim {

inline std::uint64_t ones(int width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

inline std::vector<std::string_view> split_at_dots(std::string_view text) {
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
  Decoder(const Statement& statement, Names& names) : s_(statement), names_(names), words_(split_at_dots(statement.opcode.text)) {
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
  void bits_and_choices();
  void control();
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

}  // namespace gexp::sim
