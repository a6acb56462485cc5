// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_parse.h"

#include "runtime/sim/ptx_functions.h"
#include "runtime/sim/ptx_parser.h"
#include "runtime/sim/ptx_registers.h"
#include "runtime/sim/reconvergence.h"

// A module is a flat list of directives and functions; a body is statements, labels and nested scopes (inline assembly
// brings those). Labels are the only names used before they are declared, so branches are patched at scope ends. Functions are read
// when the module has been: those that the kernel can reach, and no others.
namespace gexp::sim {

Result<Kernel> Parser::run() {
  while (!failed_ && !at_end()) module_item();
  if (!failed_ && !found_) fail(fmt::format("the PTX text has no kernel '{}'", entry_));
  for (std::size_t k = 0; !failed_ && k < names_.functions_used().size(); ++k) function_body(std::string(names_.functions_used()[k]));
  if (!failed_) {
    if (const char* large = names_.finish(kernel_)) fail(fmt::format("the kernel has more {} than a device", large));
  }
  if (!failed_) failed_ = link_functions(kernel_);
  if (failed_) return *failed_;
  kernel_.registers = estimate_registers(kernel_);
  note_meetings(kernel_);
  return std::move(kernel_);
}

void Parser::skip_block() {
  int depth = 0;
  do {
    const Token& token = take();
    depth += token.is("{") - token.is("}");
  } while (depth > 0 && !at_end());
}

void Parser::skip_line() {
  const std::uint32_t line = peek().line;
  while (!at_end() && peek().line == line) take();
}

void Parser::module_item() {
  const Token& token = peek();
  if (token.is(".version") || token.is(".target") || token.is(".address_size") || token.is(".file") || token.is(".loc")) {
    skip_line();
  } else if (token.is(".visible") || token.is(".weak") || token.is(".extern") || token.is(".common") || token.is(";")) {
    extern_ = token.is(".extern");
    take();
    return;
  } else if (token.is(".pragma") || token.is(".alias")) {
    skip_past(";");
  } else if (token.is(".section")) {
    while (!at_end() && !peek().is("{")) take();
    skip_block();
  } else if (token.is(".func")) {
    take();
    note_function();
  } else if (token.is(".entry")) {
    take();
    function();
  } else if (token.is(".shared") || token.is(".global") || token.is(".const")) {
    variable();
  } else {
    fail(fmt::format("unknown directive '{}'", token.text));
  }
  extern_ = false;
}

void Parser::note_function() {
  const std::size_t begin = at_;
  if (peek().is("(")) skip_past(")");
  const std::string name(take().text);
  while (!at_end() && !peek().is("{") && !peek().is(";")) take();
  if (accept(";")) {
    if (!extern_) names_.declare_function(name);
    return;
  }
  names_.declare_function(name);
  function_texts_[name] = begin;
  skip_block();
}

void Parser::function_body(const std::string& name) {
  const auto text = function_texts_.find(name);
  if (text == function_texts_.end()) return fail(fmt::format("function '{}' has no body in this text", name));
  at_ = text->second;
  Function made;
  made.name = name;
  made.entry = static_cast<std::uint32_t>(kernel_.code.size());
  names_.begin_function(made);
  if (peek().is("(")) made.results = formals();
  take();  // the name
  if (peek().is("(")) made.parameters = formals();
  while (!at_end() && !peek().is("{")) take();  // .noreturn
  body();
  finish_body(Kind::Return);
  names_.end_function();
  kernel_.functions.push_back(std::move(made));
}

std::vector<Passed> Parser::formals() {
  std::vector<Passed> list;
  expect("(");
  while (!failed_ && !accept(")")) {
    const bool is_register = peek().is(".reg");
    if (!accept(".reg") && !expect(".param")) break;
    const auto d = declaration(true);
    if (!d) break;
    if (is_register && d->vector > 1) {
      names_.declare_vector(d->name, d->vector, d->type);
      for (const std::string_view name : names_.find_vector(d->name)) list.push_back({names_.find_register(name)->slot, 0});
    } else if (is_register) {
      names_.declare_register(d->name, d->type);
      list.push_back({names_.find_register(d->name)->slot, 0});
    } else {
      names_.declare_local(d->name, d->bytes(), d->align, Space::Frame);
      list.push_back({names_.find_variable(d->name)->slot, static_cast<std::uint32_t>(d->bytes())});
    }
    if (!peek().is(")")) expect(",");
  }
  return list;
}

void Parser::function() {
  const std::string name(take().text);
  if (name != entry_) {
    while (!at_end() && !peek().is("{") && !peek().is(";")) take();
    if (peek().is("{")) skip_block(); else accept(";");
    return;
  }
  kernel_.name = name;
  names_.open_scope();
  if (accept("(")) {
    while (!failed_ && !accept(")")) {
      if (!expect(".param")) return;
      const auto d = declaration(true);
      if (d) names_.declare_parameter(d->name, d->bytes(), d->align, d->type);
      if (!peek().is(")")) expect(",");
    }
  }
  while (!at_end() && !peek().is("{") && !peek().is(";")) take();  // .maxntid and other launch bounds
  if (accept(";")) { names_.close_scope(); return; }  // a declaration
  if (found_) return fail(fmt::format("a second kernel '{}'", name));
  found_ = true;
  body();
  finish_body(Kind::Exit);
  names_.close_scope();
}

void Parser::finish_body(Kind kind) {
  Instruction end;
  end.kind = kind;
  end.line = peek().line;
  kernel_.code.push_back(end);
}

void Parser::body() {
  if (!expect("{")) return;
  names_.open_scope();
  labels_.emplace_back();
  if (labels_.size() > 64) return fail("scopes are nested more than 64 deep");
  while (!failed_ && !peek().is("}")) {
    if (at_end()) return fail("the text ends inside a kernel");
    body_item();
  }
  accept("}");
  names_.close_scope();
  close_labels();
}

void Parser::close_labels() {
  Labels closed = std::move(labels_.back());
  labels_.pop_back();
  for (const Branch& branch : closed.branches) {
    const auto place = closed.places.find(branch.label.text);
    if (place != closed.places.end()) kernel_.code[branch.instruction].target = place->second;
    else if (!labels_.empty()) labels_.back().branches.push_back(branch);
    else if (!failed_) failed_ = ptx_error(branch.label.line, fmt::format("no label '{}' to branch to", branch.label.text));
  }
  for (const Branch& target : closed.targets) {
    const auto place = closed.places.find(target.label.text);
    if (place != closed.places.end()) kernel_.lists[target.instruction] = place->second;
    else if (!labels_.empty()) labels_.back().targets.push_back(target);
    else if (!failed_) failed_ = ptx_error(target.label.line, fmt::format("no label '{}' to branch to", target.label.text));
  }
}

void Parser::body_item() {
  const Token& token = peek();
  if (token.is("{")) return body();
  if (accept(";")) return;
  if (token.kind == Token::Kind::Word && peek(1).is(":")) {
    const std::string name(token.text);
    take(), take();
    if (accept(".branchtargets")) {
      auto& table = labels_.back().tables[name];
      do table.push_back(take());
      while (accept(","));
      expect(";");
    } else if (peek().is(".callprototype") || peek().is(".calltargets")) {
      skip_past(";");
    } else {
      labels_.back().places[name] = static_cast<std::uint32_t>(kernel_.code.size());
    }
    return;
  }
  if (token.is(".loc") || token.is(".file")) return skip_line();
  if (token.is(".pragma")) return skip_past(";");
  if (token.is(".reg")) return registers();
  if (token.is(".shared") || token.is(".local") || token.is(".const") || token.is(".global") || token.is(".param")) return variable();
  if (token.kind == Token::Kind::Word && token.text.front() == '.') return fail(fmt::format("unknown directive '{}'", token.text));
  instruction();
}

std::vector<std::string> kernel_names(std::string_view text) {
  std::vector<std::string> names;
  const std::vector<Token> tokens = lex(text);
  for (std::size_t k = 0; k + 1 < tokens.size(); ++k) {
    if (tokens[k].is(".entry")) names.emplace_back(tokens[k + 1].text);
  }
  return names;
}

Result<Kernel> parse_ptx(std::string_view text, std::string_view entry) { return Parser(text, entry).run(); }

}  // namespace gexp::sim
