// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "lang/base/split.h"
#include "runtime/sim/ptx_decoder.h"

namespace gexp::sim {

std::string place_of(const Kernel& kernel, const Instruction& i) {
  const std::string& statement = kernel.statements[i.statement];
  return statement.empty() ? fmt::format("PTX line {}", i.line) : fmt::format("at `{}`, PTX line {}", statement, i.line);
}

bool lists(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::string_view item = list.substr(0, list.find(' '));
    if (item == word || (item.ends_with('*') && word.starts_with(item.substr(0, item.size() - 1)))) return true;
    list.remove_prefix(std::min(item.size() + 1, list.size()));
  }
  return false;
}

/// Whether a register is, or one of an operand's parts; video instructions alone know what that means.
static bool negated(const Operand& o) { return (o.minus && o.kind != Operand::Kind::Number) || std::any_of(o.items.begin(), o.items.end(), negated); }

Decoder::Decoder(const Statement& statement, Names& names, Kernel& kernel)
    : s_(statement), names_(names), kernel_(kernel), words_(split(statement.opcode.text, '.')) {
  base_.line = s_.opcode.line;
  if (s_.guard) {
    base_.guard = register_of(*s_.guard).slot;
    base_.guard_not = s_.guard_not;
  }
  for (const std::string_view word : words_) {
    if (const Type t = type_named(word); t != Type::None) types_.push_back(t);
  }
}

Result<std::vector<Instruction>> Decoder::run() {
  const auto forms = ptx_forms();
  const auto* const form = std::find_if(forms.data(), forms.data() + forms.size(), [this](const Form& f) { return matches(f); });
  const bool negates = std::any_of(s_.operands.begin(), s_.operands.end(), [](const Operand& o) { return negated(o); });
  if (form == forms.data() + forms.size()) unknown();
  else if (negates && form->decode != &Decoder::video) odd_operand();
  else (this->*form->decode)(*form);
  if (failed_) return *failed_;
  return std::move(out_);
}

/// A form that saturates or carries must not pass for the plain one: every word must be the form's.
bool Decoder::matches(const Form& f) const {
  if (f.name != words_[0]) return false;
  bool first = true;
  for (std::size_t k = 1; k < words_.size(); ++k) {
    const std::string_view word = words_[k];
    if (type_named(word) != Type::None) {
      if (!lists(first ? f.types : f.sources, word)) return false;
      first = false;
      continue;
    }
    if (lists(f.may, word)) continue;
    bool asked = false;
    for (const std::string_view choice : split(f.must, ' ')) {
      for (const std::string_view each : split(choice, '|')) asked |= each == word;
    }
    if (!asked) return false;
  }
  if (types_.size() < std::size_t{!f.types.empty()} + std::size_t{!f.sources.empty()} || (f.sources.empty() && types_.size() > 1)) return false;
  if (f.must.empty()) return true;
  const auto choices = split(f.must, ' ');
  return std::all_of(choices.begin(), choices.end(), [&](std::string_view choice) {
    const auto words = split(choice, '|');
    const auto chosen = std::count_if(words.begin(), words.end(), [&](std::string_view word) { return has(word); });
    // Two of a choice are none, unless both may stand.
    return chosen > 0 && (chosen == 1 || std::all_of(words.begin(), words.end(), [&](std::string_view word) { return !has(word) || lists(f.may, word); }));
  });
}

Names::Register Decoder::register_of(const Token& token) {
  if (const auto found = names_.find_register(token.text)) return *found;
  fail(fmt::format("'{}' is no register", token.text));
  return {};
}

std::uint32_t Decoder::source_of(const Operand& o, Type t) {
  if (o.kind == Operand::Kind::Number) {
    if (const auto value = literal(o.token.text, o.minus, t)) return names_.constant(*value);
    fail(ptx::why_no_literal(o.token.text));
    return kTrue;
  }
  if (o.kind != Operand::Kind::Name) return odd_operand(), kTrue;
  const std::uint32_t slot = named_source(o, t);
  if (o.offset == 0) return slot;
  return emit(Op::Add, t == Type::None ? Type::U64 : t, slot, names_.constant(static_cast<std::uint64_t>(o.offset)), names_.temporary());
}

std::uint32_t Decoder::named_source(const Operand& o, Type t) {
  if (const auto found = names_.find_register(o.token.text)) {
    return o.inverted ? emit(Op::Not, Type::Pred, found->slot, kTrue, names_.temporary()) : found->slot;
  }
  if (const auto* variable = names_.find_variable(o.token.text)) return variable->slot;
  if (const auto fixed = names_.find_fixed(o.token.text)) return *fixed;
  if (bits(t) == 64) {
    if (const auto function = names_.find_function(o.token.text)) return names_.constant(kFunctionWindow + *function);
  }
  if (o.token.text.front() == '%') fail(fmt::format("unknown register '{}'", o.token.text));
  else fail(fmt::format("unknown name '{}'", o.token.text));
  return kTrue;
}

std::uint32_t Decoder::target_of(const Operand& o) {
  if (o.kind == Operand::Kind::Name && o.token.is("_")) return names_.temporary();
  if (o.kind != Operand::Kind::Name) return fail(fmt::format("'{}' with a result of a form that is not supported", s_.opcode.text)), kTrue;
  return register_of(o.token).slot;
}

std::vector<Operand> Decoder::elements(const Operand& o) const {
  if (o.kind == Operand::Kind::Vector) return o.items;
  std::vector<Operand> items;
  for (const std::string_view name : names_.find_vector(o.token.text)) {
    items.emplace_back();
    items.back().token = {Token::Kind::Word, name, o.token.line};
  }
  if (items.empty()) items.push_back(o);
  return items;
}

Instruction Decoder::typed(Op op, Type t, Cost cost) const {
  Instruction i = base_;
  i.kind = Kind::Compute, i.op = op, i.type = t, i.cost = cost;
  i.mask = ones(bits(t));
  i.shift = static_cast<std::uint8_t>(64 - bits(t));
  i.inexact = has("rz") ? 'z' : has("rm") ? 'm' : has("rp") ? 'p' : has("rna") ? 'a' : 0;
  i.flush = has("ftz");
  i.saturate = has("sat"), i.relu = has("relu"), i.finite = has("satfinite");
  i.nan = has("NaN"), i.magnitude = has("xorsign");
  return i;
}

Instruction* Decoder::plain(Op op, std::size_t count, Cost cost) {
  if (!operands(count + 1, count + 1)) return nullptr;
  const Type t = type();
  Instruction i = typed(op, t, cost);
  std::uint32_t* const slots[] = {&i.a, &i.b, &i.c};
  for (std::size_t k = 0; k < count; ++k) *slots[k] = source(k + 1, t);
  i.to = target();
  return &add(i);
}

std::uint32_t Decoder::emit(Op op, Type t, std::uint32_t a, std::uint32_t b, std::uint32_t to) {
  Instruction i = base_;
  i.kind = Kind::Compute, i.op = op, i.type = t;
  i.mask = ones(bits(t)), i.shift = static_cast<std::uint8_t>(64 - bits(t));
  i.a = a, i.b = b, i.to = to;
  add(i);
  return to;
}

Instruction& Decoder::wide(WideOp op, Type t, const std::vector<std::uint32_t>& reads, const std::vector<std::uint32_t>& writes) {
  Instruction i = typed(Op::Mov, t);
  i.kind = Kind::Wide, i.wide = op;
  i.list = static_cast<std::uint32_t>(kernel_.lists.size());
  i.reads = static_cast<std::uint16_t>(reads.size()), i.writes = static_cast<std::uint16_t>(writes.size());
  kernel_.lists.insert(kernel_.lists.end(), reads.begin(), reads.end());
  kernel_.lists.insert(kernel_.lists.end(), writes.begin(), writes.end());
  return add(i);
}

Result<std::vector<Instruction>> decode(const Statement& statement, Names& names, Kernel& kernel) { return Decoder(statement, names, kernel).run(); }

}  // namespace gexp::sim
