// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/sim/ptx_decode.h"
#include "runtime/sim/ptx_lex.h"
#include "runtime/sim/ptx_names.h"

/// How ptx_parse.cpp and ptx_parse_items.cpp read one module between them.
namespace gexp::sim {

struct Declaration {
  std::string name;
  Type type = Type::None;
  std::uint64_t align = 0;
  std::uint64_t elements = 1;
  std::size_t vector = 1;  ///< of ".v4"
  bool sized = true;  ///< false for "x[]"
  std::uint32_t family = 0;
  [[nodiscard]] std::uint64_t bytes() const { return static_cast<std::uint64_t>(bits(type)) / 8 * elements * vector; }
};

/// One module on its way through. The first thing that does not fit is kept.
class Parser {
 public:
  Parser(std::string_view text, std::string_view entry) : tokens_(lex(text)), entry_(entry) {}

  Result<Kernel> run();

 private:
  struct Branch {
    std::size_t instruction;
    Token label;
  };
  struct Labels {
    std::map<std::string, std::uint32_t, std::less<>> places;
    std::map<std::string, std::vector<Token>, std::less<>> tables;  ///< .branchtargets
    std::vector<Branch> branches;
    std::vector<Branch> targets;  ///< of a table: the place in Kernel::lists
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
  void skip_block();  ///< from '{' to its '}'
  void skip_line();
  void module_item();

  /// Where a function's text begins; a declaration only says that there is one.
  void note_function();
  void function_body(const std::string& name);
  std::vector<Passed> formals();
  void function();
  void finish_body(Kind kind);
  void body();
  void close_labels();
  void body_item();
  void registers();

  /// `.align N .b8 name[N]`, after the space.
  std::optional<Declaration> declaration(bool parameter);

  /// Numbers, and addresses of variables and functions: `x`, `generic(x)+4`.
  bool initial_values(const Declaration& d);

  /// "+4", "-4+8" or nothing.
  std::int64_t offset_after();
  void variable();
  void instruction();
  std::uint32_t opcode_index(std::string_view text);
  void branch_table(Instruction& i, const Token& name);
  std::optional<Operand> operand();
  std::optional<Operand> items_until(Operand& o, Operand::Kind kind, std::string_view close);
  std::optional<Operand> operand_inside(Operand& o);
  std::vector<Token> tokens_;
  std::string_view entry_;
  std::size_t at_ = 0;
  bool extern_ = false, found_ = false;
  std::optional<Diagnostic> failed_;
  Names names_;
  Kernel kernel_;
  std::map<std::string, std::uint32_t, std::less<>> opcodes_;
  std::vector<Labels> labels_;
  std::map<std::string, std::size_t, std::less<>> function_texts_;
  int nested_ = 0;
  std::vector<std::uint8_t> initial_;
  std::vector<Relocation> relocations_;
};

}  // namespace gexp::sim
