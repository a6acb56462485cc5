// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/tree.h"

/// How parse.cpp and parse_items.cpp read one module between them.
namespace gexp::ptx {

/// One module on its way through. The first thing that does not fit is kept.
class Parser {
 public:
  Parser(std::string_view text, std::optional<std::string_view> entry) : tokens_(lex(text)), entry_(entry) {}
  Result<Module> run();

 private:
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
  Directive until(std::string_view close);  ///< that token included
  Directive block(Directive begun);         ///< from '{' to its '}'
  Directive line();                         ///< what stands on the line of the next token

  void module_item();
  void function(bool entry, std::vector<Token> linkage);
  std::vector<Declaration> formals();
  void body(Function& f);
  void body_item(Function& f, int& depth);
  void named_item(Function& f);
  void instruction(Function& f);

  Registers registers();
  /// `.shared .align 4 .b8 name[4]`, and what follows of a variable: its initial values and the ";".
  std::optional<Declaration> declaration(std::vector<Token> words, bool formal);
  bool words_of(Declaration& d);
  bool initial_values(Declaration& d);
  /// "+4", "-4+8" or nothing.
  std::int64_t offset_after();
  std::optional<Operand> operand();
  std::optional<Operand> items_until(Operand& o, Operand::Kind kind, std::string_view close);
  std::optional<Operand> operand_inside(Operand& o);

  std::vector<Token> tokens_;
  std::optional<std::string_view> entry_;
  std::size_t at_ = 0;
  int nested_ = 0;
  std::optional<Diagnostic> failed_;
  Module module_;
};

}  // namespace gexp::ptx
