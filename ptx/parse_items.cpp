// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "ptx/parser.h"

// Declarations, statements and operands of a module.
namespace gexp::ptx {

Registers Parser::registers() {
  take();
  Registers r;
  r.vector = peek().is(".v2") ? 2 : peek().is(".v4") ? 4 : 1;
  if (r.vector > 1) take();
  r.type = type_named(peek().text.empty() ? "" : peek().text.substr(1));
  if (r.type == Type::None) return fail(fmt::format("unknown register type '{}'", peek().text)), r;
  take();
  do {
    Registers::Name name{take().text};
    if (accept("<")) {
      name.family = true;
      name.count = static_cast<std::uint32_t>(literal(take().text, false, Type::U32).value_or(0));
      if (r.vector > 1 && name.count > 256) return fail("more than 256 vector registers of one name"), r;
      if (!expect(">")) return r;
    }
    r.names.push_back(name);
  } while (accept(","));
  expect(";");
  return r;
}

bool Parser::words_of(Declaration& d) {
  bool pointee = false;  // what ".align" says of the memory behind a pointer
  while (peek().kind == Token::Kind::Word && peek().text.front() == '.') {
    const Token& token = take();
    const std::string_view word = token.text;
    d.words.push_back(token);
    if (word == ".align") {
      d.words.push_back(peek());
      const std::uint64_t align = literal(take().text, false, Type::U64).value_or(0);
      if (!std::has_single_bit(align) || align > 4096) return fail("an alignment is a power of two up to 4096"), false;
      if (!pointee) d.align = align;
    } else if (word == ".ptr") {
      pointee = true;
    } else if (word == ".v2" || word == ".v4") {
      d.vector = word == ".v2" ? 2 : 4;
    } else if (const Type type = type_named(word.substr(1)); type != Type::None) {
      d.type = type;
    } else if (word == ".attribute") {
      // .managed or .unified: of where the host sees it.
      do d.words.push_back(peek());
      while (peek().kind != Token::Kind::End && !take().is(")"));
    } else if (word == ".texref" || word == ".surfref" || word == ".samplerref") {
      d.type = Type::B64;  // opaque: what it refers to is the host's to say
    } else if (word != ".global" && word != ".shared" && word != ".const" && word != ".local" && word != ".managed") {
      return fail(fmt::format("unknown directive '{}'", word)), false;
    }
  }
  return true;
}

std::optional<Declaration> Parser::declaration(std::vector<Token> words, bool formal) {
  Declaration d;
  d.line = peek().line, d.words = std::move(words), d.space = peek().text;
  d.words.push_back(take());
  if (!words_of(d)) return std::nullopt;
  if (peek().kind != Token::Kind::Word) return fail(fmt::format("expected a name, found '{}'", peek().text)), std::nullopt;
  d.name = take().text;
  while (accept("[")) {
    if (peek().is("]")) d.extents.emplace_back();
    else d.extents.emplace_back(literal(take().text, false, Type::U32).value_or(0));
    if (!expect("]")) return std::nullopt;
  }
  if (d.type == Type::None) return fail(fmt::format("'{}' has no type", d.name)), std::nullopt;
  const std::uint64_t element = static_cast<std::uint64_t>(bits(d.type)) / 8 * d.vector;
  if (d.sized() && element != 0 && (d.bytes() == 0 || d.bytes() / element > (1u << 27)))
    return fail(fmt::format("'{}' has a senseless size", d.name)), std::nullopt;
  if (!d.align) d.align = static_cast<std::uint64_t>(bits(d.type)) / 8;
  if (formal || accept(";")) return d;
  if (accept("=") && !initial_values(d)) return std::nullopt;
  if (!expect(";")) return std::nullopt;
  return d;
}

bool Parser::initial_values(Declaration& d) {
  d.list = accept("{");
  do {
    if (d.list && peek().is("}")) break;
    Declaration::Initial value;
    if (peek().kind == Token::Kind::Word) {
      value.generic = accept("generic");
      if (value.generic && !expect("(")) return false;
      value.token = take();
      if (value.generic && !expect(")")) return false;
      value.offset = offset_after();
    } else {
      value.minus = accept("-");
      value.token = take();
    }
    d.initial.push_back(value);
  } while (accept(","));
  return !d.list || expect("}");
}

std::int64_t Parser::offset_after() {
  std::int64_t offset = 0;
  while (peek().is("+") || peek().is("-")) {
    bool minus = false;
    while (peek().is("+") || peek().is("-")) minus ^= take().is("-");
    if (peek().kind != Token::Kind::Number) break;
    const std::uint64_t more = literal(take().text, minus, Type::S64).value_or(0);
    offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(offset) + more);
  }
  return offset;
}

void Parser::instruction(Function& f) {
  Statement statement;
  const std::uint32_t line = peek().line;
  if (accept("@")) {
    statement.guard_not = accept("!");
    statement.guard = take();
  }
  statement.opcode = take();
  const auto wrong = [&](std::string message) {
    if (!failed_) failed_ = ptx_error(statement.opcode.line, std::move(message));
  };
  if (statement.opcode.kind != Token::Kind::Word) return wrong(fmt::format("expected an instruction, found '{}'", statement.opcode.text));
  while (!failed_ && !accept(";")) {
    if (at_end()) return fail("the text ends inside an instruction");
    auto o = operand();
    // "call" and "tex" bring forms of operands that nothing else has.
    if (!o) return failed_.reset(), wrong(fmt::format("'{}' with an operand of a form that is not supported", statement.opcode.text));
    statement.operands.push_back(std::move(*o));
    if (!peek().is(";")) expect(",");
  }
  f.body.push_back({line, std::move(statement)});
}

std::optional<Operand> Parser::operand() {
  Operand o;
  if (++nested_ > 8) return --nested_, std::nullopt;
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
    while (accept(",")) {  // a texture's handle, perhaps a sampler's, and where in it
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
  } else if (o.token.kind != Token::Kind::Word) {
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

}  // namespace gexp::ptx
