// SPDX-License-Identifier: Apache-2.0
#include "ptx/parser.h"

// A module is a flat list of directives, variables and functions; a body is statements, labels and nested scopes (inline assembly brings
// those). A body that cannot be read is kept as such: most modules have more functions than anybody asks for.
namespace gexp::ptx {

Result<Module> Parser::run() {
  while (!failed_ && !at_end()) module_item();
  if (failed_) return *failed_;
  return std::move(module_);
}

Directive Parser::until(std::string_view close) {
  Directive d;
  while (!at_end()) {
    d.tokens.push_back(take());
    if (d.tokens.back().is(close)) break;
  }
  return d;
}

Directive Parser::block(Directive begun) {
  int depth = 0;
  do {
    const Token& token = take();
    depth += token.is("{") - token.is("}");
    begun.tokens.push_back(token);
  } while (depth > 0 && !at_end());
  return begun;
}

Directive Parser::line() {
  Directive d;
  const std::uint32_t line = peek().line;
  while (!at_end() && peek().line == line) d.tokens.push_back(take());
  return d;
}

namespace {

bool is_linkage(const Token& t) { return t.is(".visible") || t.is(".weak") || t.is(".extern") || t.is(".common"); }
bool begins_variable(const Token& t) { return t.is(".shared") || t.is(".global") || t.is(".const") || t.is(".local") || t.is(".tex"); }
bool begins_item(const Token& t) { return is_linkage(t) || begins_variable(t) || t.is(".func") || t.is(".entry") || t.is(".file"); }

}  // namespace

void Parser::module_item() {
  std::vector<Token> linkage;
  while (is_linkage(peek())) linkage.push_back(take());
  const Token& token = peek();
  if (token.is(".version") || token.is(".target") || token.is(".address_size") || token.is(".file") || token.is(".loc")) {
    module_.items.emplace_back(line());
  } else if (token.is(";")) {
    take();
  } else if (token.is(".pragma") || token.is(".alias")) {
    module_.items.emplace_back(until(";"));
  } else if (token.is(".section")) {
    Directive d;
    while (!at_end() && !peek().is("{")) d.tokens.push_back(take());
    module_.items.emplace_back(block(std::move(d)));
  } else if (token.is(".func") || token.is(".entry")) {
    function(take().is(".entry"), std::move(linkage));
  } else if (begins_variable(token)) {
    if (auto d = declaration(std::move(linkage), false)) module_.items.emplace_back(std::move(*d));
  } else if (token.is(".reg")) {
    module_.items.emplace_back(registers());
  } else {
    fail(fmt::format("unknown directive '{}'", token.text));
  }
}

void Parser::function(bool entry, std::vector<Token> linkage) {
  Function f;
  f.entry = entry, f.linkage = std::move(linkage), f.line = peek().line;
  if (!entry && peek().is("(")) f.results = formals(), f.lists_results = true;
  f.name = take().text;
  if (peek().is("(")) f.parameters = formals(), f.lists_parameters = true;
  // Before CUDA 4 a function that is only declared may end without ";".
  while (!failed_ && !at_end() && !peek().is("{") && !peek().is(";") && !begins_item(peek())) f.bounds.push_back(take());
  if (accept(";") || (!entry && !peek().is("{"))) {
    f.declared_only = true;
  } else if (entry && entry_ && f.name != *entry_) {
    block({});
    return;
  } else if (!failed_) {
    const std::size_t begin = at_;
    body(f);
    if (failed_) {
      f.wrong = std::exchange(failed_, std::nullopt);
      at_ = begin;
      block({});
    }
  }
  module_.items.emplace_back(std::move(f));
}

std::vector<Declaration> Parser::formals() {
  std::vector<Declaration> list;
  expect("(");
  while (!failed_ && !accept(")")) {
    if (!peek().is(".reg") && !peek().is(".param")) {
      expect(".param");
      break;
    }
    auto d = declaration({}, true);
    if (!d) break;
    list.push_back(std::move(*d));
    if (!peek().is(")")) expect(",");
  }
  return list;
}

void Parser::body(Function& f) {
  if (!expect("{")) return;
  int depth = 1;
  while (!failed_ && depth > 0) {
    if (at_end()) return fail("the text ends inside a kernel");
    body_item(f, depth);
  }
}

void Parser::body_item(Function& f, int& depth) {
  const Token& token = peek();
  const auto add = [&](auto what) { f.body.push_back({token.line, std::move(what)}); };
  if (token.is("{")) {
    take();
    if (++depth > 64) return fail("scopes are nested more than 64 deep");
    return add(Brace{true});
  }
  if (token.is("}")) {
    take();
    f.end_line = token.line;
    if (--depth > 0) add(Brace{false});
    return;
  }
  if (accept(";")) return;
  if (token.kind == Token::Kind::Word && peek(1).is(":")) return named_item(f);
  if (token.is(".loc") || token.is(".file")) return add(line());
  if (token.is(".pragma")) return add(until(";"));
  if (token.is(".reg")) return add(registers());
  if (token.is(".shared") || token.is(".local") || token.is(".const") || token.is(".global") || token.is(".param")) {
    if (auto d = declaration({}, false)) add(std::move(*d));
    return;
  }
  if (token.kind == Token::Kind::Word && token.text.front() == '.') return fail(fmt::format("unknown directive '{}'", token.text));
  instruction(f);
}

void Parser::named_item(Function& f) {
  const Token& name = take();
  take();
  if (accept(".branchtargets")) {
    BranchTargets table{name.text, {}};
    do table.labels.push_back(take());
    while (accept(","));
    expect(";");
    f.body.push_back({name.line, std::move(table)});
  } else if (peek().is(".callprototype") || peek().is(".calltargets")) {
    at_ -= 2;
    f.body.push_back({name.line, until(";")});
  } else {
    f.body.push_back({name.line, Label{name.text}});
  }
}

Result<Module> parse(std::string_view text, std::optional<std::string_view> entry) { return Parser(text, entry).run(); }

}  // namespace gexp::ptx
