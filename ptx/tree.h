// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lang/base/result.h"
#include "ptx/lex.h"
#include "ptx/type.h"

/// A PTX module as written. Names and numbers point into its text, or into texts that the module keeps for what was added to it.
namespace gexp::ptx {

/// An operand as written: `%r1`, `-7`, `0f3F800000`, `x+4`, `[%rd1+4]`, `{%f1, %f2}`, `$L1`, `%p1|%p2`, `(a, b)`.
struct Operand {
  enum class Kind : std::uint8_t { Name, Number, Address, Vector, List };
  Kind kind = Kind::Name;
  Token token;                 ///< name, number, or an address's base
  bool minus = false;          ///< before a number or a register
  bool inverted = false;       ///< "!%p1"
  std::int64_t offset = 0;     ///< Address, Name: what is added
  std::vector<Operand> items;  ///< Vector, List; or the second name of "%p1|%p2"; or an address's second part
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// One instruction as written.
struct Statement {
  Token opcode;
  std::optional<Token> guard;
  bool guard_not = false;
  std::vector<Operand> operands;
  friend bool operator==(const Statement& a, const Statement& b) {
    return a.opcode == b.opcode && a.opcode.note == b.opcode.note && a.guard == b.guard && a.guard_not == b.guard_not && a.operands == b.operands;
  }
};

/// `.reg .u32 %r<9>, x;`
struct Registers {
  struct Name {
    std::string_view name;
    bool family = false;  ///< `%r<9>`: %r0 … %r8
    std::uint32_t count = 1;
    friend bool operator==(const Name&, const Name&) = default;
  };
  Type type = Type::None;
  std::size_t vector = 1;  ///< of ".v4"
  std::vector<Name> names;
  friend bool operator==(const Registers&, const Registers&) = default;
};

/// A variable, parameter or result: `.param .u64 .ptr .global .align 4 a`, `.shared .align 16 .b8 x[64]`.
struct Declaration {
  /// Of an initial value: a number, or an address: `x`, `generic(x)+4`.
  struct Initial {
    Token token;
    bool minus = false, generic = false;
    std::int64_t offset = 0;
    friend bool operator==(const Initial&, const Initial&) = default;
  };
  std::uint32_t line = 0;
  std::vector<Token> words;  ///< as written before the name, linkage included
  std::string_view space;    ///< ".reg", ".param", ".shared", …
  std::string_view name;
  Type type = Type::None;
  std::uint64_t align = 0;   ///< that of the type where none is written
  std::vector<std::optional<std::uint64_t>> extents;  ///< "x[2][3]"; "x[]" has none in it
  std::size_t vector = 1;    ///< of ".v4"
  bool list = false;         ///< the initial values stand in braces
  std::vector<Initial> initial;
  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] bool sized() const;
  [[nodiscard]] std::uint64_t bytes() const;
  friend bool operator==(const Declaration& a, const Declaration& b) {
    return a.words == b.words && a.name == b.name && a.extents == b.extents && a.list == b.list && a.initial == b.initial;
  }
};

struct Label {
  std::string_view name;
  friend bool operator==(const Label&, const Label&) = default;
};

/// `t: .branchtargets $L1, $L2;`
struct BranchTargets {
  std::string_view name;
  std::vector<Token> labels;
  friend bool operator==(const BranchTargets&, const BranchTargets&) = default;
};

/// A directive that nothing here reads: `.version 7.8`, `.loc 1 2 3`, `.pragma "nounroll";`, `p: .callprototype …;`.
struct Directive {
  std::vector<Token> tokens;
  friend bool operator==(const Directive&, const Directive&) = default;
};

/// The begin or the end of a scope within a body.
struct Brace {
  bool open = true;
  friend bool operator==(const Brace&, const Brace&) = default;
};

/// A part of a body, in the order of the text.
struct Item {
  std::uint32_t line = 0;
  std::variant<Statement, Label, Registers, Declaration, BranchTargets, Directive, Brace> what;
  [[nodiscard]] const Statement* statement() const { return std::get_if<Statement>(&what); }
  [[nodiscard]] Statement* statement() { return std::get_if<Statement>(&what); }
  friend bool operator==(const Item& a, const Item& b) { return a.what == b.what; }
};

struct Function {
  std::uint32_t line = 0;
  bool entry = false;          ///< a kernel
  std::vector<Token> linkage;  ///< ".visible", ".weak", ".extern"
  std::string_view name;
  bool lists_results = false;
  bool lists_parameters = false;
  std::vector<Declaration> results, parameters;
  std::vector<Token> bounds;   ///< behind the parameters: ".maxntid 128", ".noreturn"
  bool declared_only = false;  ///< it has no body here
  std::vector<Item> body;
  std::uint32_t end_line = 0;  ///< of the body's last brace
  std::optional<Diagnostic> wrong = {};  ///< what in the body is no PTX that can be read; the body ends there
  friend bool operator==(const Function& a, const Function& b) {
    return a.entry == b.entry && a.linkage == b.linkage && a.name == b.name && a.results == b.results && a.parameters == b.parameters &&
           a.bounds == b.bounds && a.declared_only == b.declared_only && a.body == b.body;
  }
};

struct Module {
  std::vector<std::variant<Directive, Registers, Declaration, Function>> items;
  std::shared_ptr<std::deque<std::string>> added = std::make_shared<std::deque<std::string>>();  ///< texts that are not the source's
  [[nodiscard]] const Function* kernel(std::string_view name) const;
  [[nodiscard]] Function* kernel(std::string_view name);
  /// The same, to be changed. E0801: there is none, or its body cannot be read.
  Result<Function*> readable(std::string_view name);
  /// Writes a bound behind a kernel's parameters: ".maxntid 128".
  void bound(Function& kernel, std::string_view word, std::uint32_t number);
  /// A text that lives as long as the module.
  std::string_view keep(std::string text) { return added->emplace_back(std::move(text)); }
  friend bool operator==(const Module& a, const Module& b) { return a.items == b.items; }
};

/// Why a PTX text cannot be read or run: E0801, the message ends in the PTX line.
Diagnostic ptx_error(std::uint32_t line, std::string message);

/// The tree of a module as NVRTC 11.8 to 13 writes them; it points into `text`. With `entry`, bodies of other kernels are left out.
Result<Module> parse(std::string_view text, std::optional<std::string_view> entry = {});

/// One item of a body to a line. What parse() reads of it is the same tree.
std::string print(const Module& module);
std::string print(const Item& item);
std::string print(const Statement& statement);

/// Names of the kernels of a module, in its order.
std::vector<std::string> kernel_names(std::string_view text);

}  // namespace gexp::ptx
