// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "runtime/sim/ptx_parser.h"

// Declarations, statements and operands of a module.
namespace gexp::sim {

void Parser::registers() {
  take();
  const std::size_t vector = peek().is(".v2") ? 2 : peek().is(".v4") ? 4 : 1;
  if (vector > 1) take();
  Type type = type_named(peek().text.empty() ? "" : peek().text.substr(1));
  if (type == Type::None) return fail(fmt::format("unknown register type '{}'", peek().text));
  take();
  do {
    const std::string name(take().text);
    if (accept("<")) {
      std::uint32_t count = static_cast<std::uint32_t>(literal(take().text, false, Type::U32).value_or(0));
      if (vector > 1 && count > 256) return fail("more than 256 vector registers of one name");
      for (std::uint32_t k = 0; vector > 1 && k < count; ++k) names_.declare_vector(fmt::format("{}{}", name, k), vector, type);
      if (vector == 1) names_.declare_registers(name, count, type);
      if (!expect(">")) return;
    } else if (vector > 1) {
      names_.declare_vector(name, vector, type);
    } else {
      names_.declare_register(name, type);
    }
  } while (accept(","));
  expect(";");
}

std::optional<Declaration> Parser::declaration(bool parameter) {
  Declaration d;
  while (peek().kind == Token::Kind::Word && peek().text.front() == '.') {
    const std::string_view word = take().text;
    if (word == ".align") {
      d.align = literal(take().text, false, Type::U64).value_or(0);
      if (!std::has_single_bit(d.align) || d.align > 4096) return fail("an alignment is a power of two up to 4096"), std::nullopt;
    }
    else if (word == ".ptr" || word == ".global" || word == ".shared" || word == ".const" || word == ".local" || word == ".managed") continue;
    else if (word == ".v2" || word == ".v4") d.vector = word == ".v2" ? 2 : 4;
    else if (const Type type = type_named(word.substr(1)); type != Type::None) d.type = type;
    else return fail(fmt::format("unknown directive '{}'", word)), std::nullopt;
  }
  if (peek().kind != Token::Kind::Word) return fail(fmt::format("expected a name, found '{}'", peek().text)), std::nullopt;
  d.name = take().text;
  while (accept("[")) {
    if (peek().is("]")) d.sized = false;
    else d.elements *= std::min<std::uint64_t>(literal(take().text, false, Type::U32).value_or(0), 1u << 28);
    d.elements = std::min<std::uint64_t>(d.elements, 1u << 28);
    if (!expect("]")) return std::nullopt;
  }
  if (d.type == Type::None) return fail(fmt::format("'{}' has no type", d.name)), std::nullopt;
  if (d.sized && (d.elements == 0 || d.elements > (1u << 27))) return fail(fmt::format("'{}' has a senseless size", d.name)), std::nullopt;
  if (!d.align) d.align = static_cast<std::uint64_t>(bits(d.type)) / 8;
  if (parameter || accept(";")) return d;
  if (accept("=") && !initial_values(d)) return std::nullopt;
  if (!expect(";")) return std::nullopt;
  return d;
}

bool Parser::initial_values(const Declaration& d) {
  const bool list = accept("{");
  const std::size_t width = static_cast<std::size_t>(bits(d.type)) / 8;
  do {
    if (list && peek().is("}")) break;
    std::uint64_t number = 0;
    if (peek().kind == Token::Kind::Word) {
      const bool generic = accept("generic");
      if (generic && !expect("(")) return false;
      const std::string name(take().text);
      if (generic && !expect(")")) return false;
      const std::int64_t offset = offset_after();
      const auto* variable = names_.find_variable(name);
      const auto function = variable ? std::nullopt : names_.find_function(name);
      if (width < 4 || (!function && (!variable || !variable->global))) return fail(fmt::format("'{}' is no address that the simulator can give an initial value", name)), false;
      if (function) number = kFunctionWindow + *function;
      else relocations_.push_back({initial_.size(), *variable->global, offset, static_cast<std::uint32_t>(width)});
    } else {
      const bool minus = accept("-");
      const auto value = literal(take().text, minus, d.type);
      if (!value) return fail(fmt::format("'{}' has an initial value of a kind that is not supported", d.name)), false;
      number = *value;
    }
    for (std::size_t i = 0; i < width; ++i) initial_.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
  } while (accept(","));
  return !list || expect("}");
}

std::int64_t Parser::offset_after() {
  std::int64_t offset = 0;
  while (peek().is("+") || peek().is("-")) {
    bool minus = false;
    while (peek().is("+") || peek().is("-")) minus ^= take().is("-");
    if (peek().kind != Token::Kind::Number) break;
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + literal(take().text, minus, Type::S64).value_or(0));
  }
  return offset;
}

void Parser::variable() {
  const std::string space(take().text);
  initial_.clear(), relocations_.clear();
  const auto d = declaration(false);
  if (!d) return;
  if (space == ".shared") {
    if (d->sized) names_.declare_shared(d->name, d->bytes(), d->align);
    else names_.declare_dynamic_shared(d->name);
  } else if (space == ".local" || space == ".param") {
    names_.declare_local(d->name, d->bytes(), d->align, space == ".local" ? Space::Local : Space::Frame);
  } else if (extern_) {
    fail(fmt::format("'{}' is defined in no text that the simulator has", d->name));
  } else {
    names_.declare_global(d->name, space == ".const" ? Space::Const : Space::Global, {d->name, d->bytes(), d->align, std::move(initial_), std::move(relocations_)});
  }
}

void Parser::instruction() {
  Statement statement;
  if (accept("@")) {
    statement.guard_not = accept("!");
    statement.guard = take();
  }
  statement.opcode = take();
  if (statement.opcode.kind != Token::Kind::Word) {
    if (!failed_) failed_ = ptx_error(statement.opcode.line, fmt::format("expected an instruction, found '{}'", statement.opcode.text));
    return;
  }
  while (!failed_ && !accept(";")) {
    if (at_end()) return fail("the text ends inside an instruction");
    auto o = operand();
    if (!o) {  // "call" and "tex" bring forms of operands that nothing else has
      failed_ = ptx_error(statement.opcode.line, fmt::format("'{}' with an operand of a form that is not supported", statement.opcode.text));
      return;
    }
    statement.operands.push_back(std::move(*o));
    if (!peek().is(";")) expect(",");
  }
  if (failed_) return;
  auto decoded = decode(statement, names_, kernel_);
  if (!decoded) { failed_ = decoded.error(); return; }
  if (!statement.opcode.note.empty()) {  // what follows without a note belongs to it: loops, and what uses the value
    kernel_.statements.emplace_back(statement.opcode.note);
  }
  if (!decoded->empty()) decoded->back().opcode = opcode_index(statement.opcode.text);
  for (Instruction& i : *decoded) {
    i.statement = static_cast<std::uint32_t>(kernel_.statements.size() - 1);
    if (i.kind == Kind::BranchTable) branch_table(i, statement.operands.back().token);
    if (i.kind == Kind::Branch) labels_.back().branches.push_back({kernel_.code.size(), statement.operands.front().token});
    kernel_.code.push_back(i);
  }
}

std::uint32_t Parser::opcode_index(std::string_view text) {
  const auto [known, fresh] = opcodes_.try_emplace(std::string(text), static_cast<std::uint32_t>(kernel_.opcodes.size()));
  if (fresh) kernel_.opcodes.emplace_back(text);
  return known->second;
}

void Parser::branch_table(Instruction& i, const Token& name) {
  for (auto scope = labels_.rbegin(); scope != labels_.rend(); ++scope) {
    const auto table = scope->tables.find(name.text);
    if (table == scope->tables.end()) continue;
    i.list = static_cast<std::uint32_t>(kernel_.lists.size());
    i.reads = 0;
    if (table->second.size() > 0xffff) return fail("a table of more than 65535 branch targets");
    i.writes = static_cast<std::uint16_t>(table->second.size());
    for (const Token& label : table->second) {
      labels_.back().targets.push_back({kernel_.lists.size(), label});
      kernel_.lists.push_back(0);
    }
    return;
  }
  fail(fmt::format("no table '{}' of branch targets", name.text));
}

std::optional<Operand> Parser::operand() {
  Operand o;
  if (++nested_ > 8) return std::nullopt;
  auto result = operand_inside(o);
  --nested_;
  return result;
}

std::optional<Operand> Parser::items_until(Operand& o, Operand::Kind kind, std::string_view close) {
  o.kind = kind;
  while (!accept(close)) {
    auto item = operand();
    if (!item) return std::nullopt;
    o.items.push_back(std::move(*item));
    if (!peek().is(close) && !accept(",")) return std::nullopt;
  }
  return o;
}

std::optional<Operand> Parser::operand_inside(Operand& o) {
  if (accept("[")) {
    o.kind = Operand::Kind::Address;
    o.token = take();
    o.offset = offset_after();
    if (accept(",")) {  // a texture's handle, and where in it
      auto item = operand();
      if (!item) return std::nullopt;
      o.items.push_back(std::move(*item));
    }
    return expect("]") ? std::optional(o) : std::nullopt;
  }
  if (accept("{")) return items_until(o, Operand::Kind::Vector, "}");
  if (accept("(")) return items_until(o, Operand::Kind::List, ")");
  o.inverted = accept("!");
  o.minus = accept("-");
  o.token = take();
  if (o.token.kind == Token::Kind::Number) {
    o.kind = Operand::Kind::Number;
  } else if (o.token.kind != Token::Kind::Word || o.minus) {
    if (!failed_) failed_ = ptx_error(o.token.line, fmt::format("expected an operand, found '{}'", o.token.text));
    return std::nullopt;
  }
  if (o.kind == Operand::Kind::Name) o.offset = offset_after();
  if (accept("|")) {
    auto second = operand();
    if (!second) return std::nullopt;
    o.items.push_back(std::move(*second));
  }
  return o;
}

}  // namespace gexp::sim
