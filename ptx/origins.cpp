// SPDX-License-Identifier: Apache-2.0
#include "ptx/origins.h"

#include <algorithm>

#include "ptx/opcode.h"

// All definitions of a register are joined, wherever they stand: a loop's step is a definition as its start is, so a pointer that moves
// along is still the parameter's. An origin only ever grows, in two steps at most, so this comes to an end soon.
namespace gexp::ptx {
namespace {

using OriginKind = Origin::Kind;

constexpr Origin kNumber{OriginKind::Number, 0}, kUnknown{OriginKind::Unknown, 0};

/// An address with a number added is an address of the same structure.
Origin sum(const Origin& a, const Origin& b) {
  if (a.kind == OriginKind::Nothing || b.kind == OriginKind::Nothing) return {};
  if (a.kind == OriginKind::Number) return b;
  return b.kind == OriginKind::Number ? a : kUnknown;
}

Origin difference(const Origin& a, const Origin& b) {
  if (a.kind == OriginKind::Structure && a == b) return kNumber;
  return b.kind == OriginKind::Structure ? kUnknown : sum(a, b);
}

/// What is made of numbers is a number.
Origin any(const Origin& a, const Origin& b) {
  if (a.kind == OriginKind::Nothing || b.kind == OriginKind::Nothing) return {};
  return a == kNumber && b == kNumber ? kNumber : kUnknown;
}

}  // namespace

Origin join(const Origin& a, const Origin& b) {
  if (a == b || b.kind == OriginKind::Nothing) return a;
  return a.kind == OriginKind::Nothing ? b : kUnknown;
}

Origins::Origins(const Function& kernel, std::vector<std::optional<std::size_t>> structures) {
  for (std::size_t k = 0; k < kernel.parameters.size(); ++k)
    parameters_.emplace_back(kernel.parameters[k].name, k < structures.size() ? structures[k] : std::nullopt);
  // A statement is looked at again when a register that it reads has grown.
  std::map<std::string_view, std::vector<const Statement*>> readers;
  std::vector<const Statement*> waiting;
  const auto reads = [&](const auto& self, const Operand& o, const Statement& s) -> void {
    if (o.token.kind == Token::Kind::Word) readers[register_of(o.token.text)].push_back(&s);
    for (const Operand& item : o.items) self(self, item, s);
  };
  for (auto item = kernel.body.rbegin(); item != kernel.body.rend(); ++item) {
    const auto* s = item->statement();
    if (!s || s->operands.empty()) continue;
    waiting.push_back(s);
    gives(s->operands.front(), {});  // it is a register of the kernel
    for (std::size_t k = 1; k < s->operands.size(); ++k) reads(reads, s->operands[k], *s);
  }
  while (!waiting.empty()) {
    const Statement& s = *waiting.back();
    waiting.pop_back();
    grown_.clear();
    // What an instruction only reads may stand first too; then it is a number or an address in brackets, and stays one.
    gives(s.operands.front(), result(s));
    for (const auto name : grown_) waiting.insert(waiting.end(), readers[name].begin(), readers[name].end());
  }
}

/// The elements of a vector register, `v.x`, are held as one.
std::string_view Origins::register_of(std::string_view name) {
  return name.substr(0, name.find('.', 1));
}

Origin Origins::of(std::string_view name) const {
  const auto found = registers_.find(register_of(name));
  if (found != registers_.end()) return found->second;
  return name.starts_with('%') ? kNumber : kUnknown;  // special registers hold numbers
}

std::optional<std::size_t> Origins::structure(const Operand& address) const {
  if (address.token.kind != Token::Kind::Word || !address.items.empty()) return std::nullopt;
  const Origin origin = of(address.token.text);
  return origin.kind == OriginKind::Structure ? std::optional(origin.structure) : std::nullopt;
}

void Origins::gives(const Operand& to, const Origin& origin) {
  for (const Operand& item : to.items) gives(item, origin);
  if (to.kind != Operand::Kind::Name) return;
  Origin& held = registers_[register_of(to.token.text)];
  const Origin now = join(held, origin);
  if (!(now == held)) grown_.push_back(register_of(to.token.text));
  held = now;
}

Origin Origins::value(const Operand& o) const {
  if (o.kind == Operand::Kind::Number) return kNumber;
  if (o.kind == Operand::Kind::Name) return of(o.token.text);
  Origin all = kNumber;
  for (const Operand& item : o.items) all = any(all, value(item));
  return all;
}

Origin Origins::loaded(const Statement& s) const {
  const Opcode opcode(s.opcode.text);
  if (!opcode.has("param")) return kNumber;
  const Operand& from = s.operands[1];
  for (const auto& [name, structure] : parameters_) {
    if (name != from.token.text) continue;
    if (!structure) return kNumber;
    const bool whole = from.offset == 0 && bits(opcode.type()) == 64 && s.operands[0].kind == Operand::Kind::Name;
    return whole ? Origin{OriginKind::Structure, *structure} : kUnknown;
  }
  return kUnknown;
}

Origin Origins::result(const Statement& s) const {
  const Opcode opcode(s.opcode.text);
  const std::string_view word = opcode.name();
  const auto operand = [&](std::size_t k) { return value(s.operands[k]); };
  if (word == "call") return kUnknown;
  if (word == "ld" || word == "ldu") return s.operands.size() < 2 ? kUnknown : loaded(s);
  if (word == "atom" || word == "tex" || word == "tld4") return kNumber;
  const bool plain = bits(opcode.type()) == 64 && s.operands.front().kind == Operand::Kind::Name;
  if (plain && (word == "mov" || word == "cvta") && s.operands.size() == 2) {
    return s.operands[1].kind == Operand::Kind::Name ? operand(1) : value(s.operands[1]);
  }
  if (plain && word == "add" && s.operands.size() == 3) return sum(operand(1), operand(2));
  if (plain && word == "sub" && s.operands.size() == 3) return difference(operand(1), operand(2));
  if (plain && word == "selp" && s.operands.size() == 4) return join(operand(1), operand(2));
  if (word == "mad" && s.operands.size() == 4 && (plain || opcode.has("wide"))) return sum(any(operand(1), operand(2)), operand(3));
  Origin all = kNumber;
  for (std::size_t k = 1; k < s.operands.size(); ++k) all = any(all, operand(k));
  return all;
}

}  // namespace gexp::ptx
