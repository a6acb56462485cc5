// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/ptx_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>

#include "runtime/sim/ptx_decode.h"
#include "runtime/sim/ptx_registers.h"

// A module is a flat list of directives and functions; a body is statements, labels and nested scopes (inline assembly
// brings those). One pass: labels are the only names used before they are declared, so branches are patched at scope ends.
namespace gexp::sim {
namespace {

struct Declaration {
  std::string name;
  Type type = Type::None;
  std::uint64_t align = 0;
  std::uint64_t elements = 1;
  bool sized = true;  ///< false for "x[]"
  std::uint32_t family = 0;
  [[nodiscard]] std::uint64_t bytes() const { return static_cast<std::uint64_t>(bits(type)) / 8 * elements; }
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view entry) : tokens_(lex(text)), entry_(entry) {}

  Result<Kernel> run() {
    while (!failed_ && !at_end()) module_item();
    if (failed_) return *failed_;
    if (!found_) return ptx_error(peek().line, fmt::format("the PTX text has no kernel '{}'", entry_));
    kernel_.registers = estimate_registers(kernel_);
    return std::move(kernel_);
  }

 private:
  struct Branch {
    std::size_t instruction;
    Token label;
  };
  struct Labels {
    std::map<std::string, std::uint32_t, std::less<>> places;
    std::vector<Branch> branches;
  };

  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool at_end() const { return peek().kind == Token::Kind::End; }
  const Token& take() {
    const Token& token = peek();
    if (!at_end()) ++at_;
    return token;
  }
  bool accept(std::string_view text) {
    if (!peek().is(text)) return false;
    take();
    return true;
  }
  bool expect(std::string_view text) {
    if (accept(text)) return true;
    fail(fmt::format("expected '{}', found '{}'", text, peek().text));
    return false;
  }
  void fail(std::string message) {
    if (!failed_) failed_ = ptx_error(peek().line, std::move(message));
  }
  void skip_past(std::string_view text) {
    while (!at_end() && !take().is(text)) {
    }
  }
  void skip_block() {  // from '{' to its '}'
    int depth = 0;
    do {
      const Token& token = take();
      depth += token.is("{") - token.is("}");
    } while (depth > 0 && !at_end());
  }
  void skip_line() {
    const std::uint32_t line = peek().line;
    while (!at_end() && peek().line == line) take();
  }

  void module_item() {
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
      while (!at_end() && !peek().is("{") && !peek().is(";")) take();
      if (peek().is("{")) skip_block(); else accept(";");
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

  void function() {
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
        if (d) names_.declare_parameter(d->name, d->bytes(), d->align ? d->align : static_cast<std::uint64_t>(bits(d->type)) / 8);
        if (!peek().is(")")) expect(",");
      }
    }
    while (!at_end() && !peek().is("{") && !peek().is(";")) take();  // .maxntid and other launch bounds
    if (accept(";")) { names_.close_scope(); return; }  // a declaration
    found_ = true;
    body();
    if (failed_) return;
    Instruction end;
    end.kind = Kind::Exit;
    end.line = peek().line;
    kernel_.code.push_back(end);
    if (const char* large = names_.finish(kernel_)) fail(fmt::format("the kernel has more {} than a device", large));
  }

  void body() {
    if (!expect("{")) return;
    names_.open_scope();
    labels_.emplace_back();
    while (!failed_ && !peek().is("}")) {
      if (at_end()) return fail("the text ends inside a kernel");
      body_item();
    }
    accept("}");
    names_.close_scope();
    close_labels();
  }

  void close_labels() {
    Labels closed = std::move(labels_.back());
    labels_.pop_back();
    for (const Branch& branch : closed.branches) {
      const auto place = closed.places.find(branch.label.text);
      if (place != closed.places.end()) kernel_.code[branch.instruction].target = place->second;
      else if (!labels_.empty()) labels_.back().branches.push_back(branch);
      else if (!failed_) failed_ = ptx_error(branch.label.line, fmt::format("no label '{}' to branch to", branch.label.text));
    }
  }

  void body_item() {
    const Token& token = peek();
    if (token.is("{")) return body();
    if (accept(";")) return;
    if (token.kind == Token::Kind::Word && peek(1).is(":")) {
      labels_.back().places[std::string(token.text)] = static_cast<std::uint32_t>(kernel_.code.size());
      take(), take();
      return;
    }
    if (token.is(".loc") || token.is(".file")) return skip_line();
    if (token.is(".pragma")) return skip_past(";");
    if (token.is(".reg")) return registers();
    if (token.is(".shared") || token.is(".local") || token.is(".const") || token.is(".global")) return variable();
    if (token.is(".param")) return fail("'.param' in a body: function calls are not supported");
    if (token.kind == Token::Kind::Word && token.text.front() == '.') return fail(fmt::format("unknown directive '{}'", token.text));
    instruction();
  }

  void registers() {
    take();
    Type type = type_named(peek().text.empty() ? "" : peek().text.substr(1));
    if (type == Type::None) return fail(fmt::format("unknown register type '{}'", peek().text));
    take();
    do {
      const std::string name(take().text);
      if (accept("<")) {
        std::uint32_t count = static_cast<std::uint32_t>(literal(take().text, false, Type::U32).value_or(0));
        names_.declare_registers(name, count, type);
        if (!expect(">")) return;
      } else {
        names_.declare_register(name, type);
      }
    } while (accept(","));
    expect(";");
  }

  /// `.align N .b8 name[N]`, after the space.
  std::optional<Declaration> declaration(bool parameter) {
    Declaration d;
    while (peek().kind == Token::Kind::Word && peek().text.front() == '.') {
      const std::string_view word = take().text;
      if (word == ".align") {
        d.align = literal(take().text, false, Type::U64).value_or(0);
        if (!std::has_single_bit(d.align) || d.align > 4096) return fail("an alignment is a power of two up to 4096"), std::nullopt;
      }
      else if (word == ".ptr" || word == ".global" || word == ".managed") continue;
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
    if (accept("=")) {
      initial_.clear();
      const bool list = accept("{");
      do {
        const bool minus = accept("-");
        const auto value = literal(take().text, minus, d.type);
        if (!value) return fail(fmt::format("'{}' has an initial value of a kind that is not supported", d.name)), std::nullopt;
        for (int i = 0; i < bits(d.type) / 8; ++i) initial_.push_back(static_cast<std::uint8_t>(*value >> (8 * i)));
      } while (accept(","));
      if (list && !expect("}")) return std::nullopt;
    }
    if (!expect(";")) return std::nullopt;
    return d;
  }

  void variable() {
    const std::string space(take().text);
    initial_.clear();
    const auto d = declaration(false);
    if (!d) return;
    if (space == ".shared") {
      if (d->sized) names_.declare_shared(d->name, d->bytes(), d->align);
      else names_.declare_dynamic_shared(d->name);
    } else if (space == ".local") {
      names_.declare_local(d->name, d->bytes(), d->align);
    } else if (extern_) {
      fail(fmt::format("'{}' is defined in no text that the simulator has", d->name));
    } else {
      names_.declare_global(d->name, space == ".const" ? Space::Const : Space::Global, {d->name, d->bytes(), d->align, std::move(initial_)});
    }
  }

  void instruction() {
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
    auto decoded = decode(statement, names_);
    if (!decoded) { failed_ = decoded.error(); return; }
    if (!statement.opcode.note.empty()) {  // what follows without a note belongs to it: loops, and what uses the value
      kernel_.statements.emplace_back(statement.opcode.note);
    }
    for (Instruction& i : *decoded) {
      i.statement = static_cast<std::uint32_t>(kernel_.statements.size() - 1);
      if (i.kind == Kind::Branch) labels_.back().branches.push_back({kernel_.code.size(), statement.operands.front().token});
      kernel_.code.push_back(i);
    }
  }

  std::optional<Operand> operand() {
    Operand o;
    if (accept("[")) {
      o.kind = Operand::Kind::Address;
      o.token = take();
      bool minus = false;
      while (peek().is("+") || peek().is("-")) minus ^= take().is("-");
      if (peek().kind == Token::Kind::Number) o.offset = static_cast<std::int64_t>(literal(take().text, minus, Type::S64).value_or(0));
      if (accept(",")) {  // a texture's handle, and where in it
        auto item = operand();
        if (!item) return std::nullopt;
        o.items.push_back(std::move(*item));
      }
      return expect("]") ? std::optional(o) : std::nullopt;
    }
    if (accept("{")) {
      o.kind = Operand::Kind::Vector;
      do {
        auto item = operand();
        if (!item) return std::nullopt;
        o.items.push_back(std::move(*item));
      } while (accept(","));
      return expect("}") ? std::optional(o) : std::nullopt;
    }
    o.inverted = accept("!");
    o.minus = accept("-");
    o.token = take();
    if (o.token.kind == Token::Kind::Number) {
      o.kind = Operand::Kind::Number;
    } else if (o.token.kind != Token::Kind::Word || o.minus) {
      if (!failed_) failed_ = ptx_error(o.token.line, fmt::format("expected an operand, found '{}'", o.token.text));
      return std::nullopt;
    }
    if (accept("|")) {
      auto second = operand();
      if (!second) return std::nullopt;
      o.items.push_back(std::move(*second));
    }
    return o;
  }

  std::vector<Token> tokens_;
  std::string_view entry_;
  std::size_t at_ = 0;
  bool extern_ = false, found_ = false;
  std::optional<Diagnostic> failed_;
  Names names_;
  Kernel kernel_;
  std::vector<Labels> labels_;
  std::vector<std::uint8_t> initial_;
};

}  // namespace

Result<Kernel> parse_ptx(std::string_view text, std::string_view entry) { return Parser(text, entry).run(); }

}  // namespace gexp::sim
