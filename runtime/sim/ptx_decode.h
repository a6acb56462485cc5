// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/result.h"
#include "runtime/sim/ptx.h"
#include "runtime/sim/ptx_lex.h"
#include "runtime/sim/ptx_names.h"

namespace gexp::sim {

/// An operand as written: `%r1`, `-7`, `0f3F800000`, `x+4`, `[%rd1+4]`, `{%f1, %f2}`, `$L1`, `%p1|%p2`, `(a, b)`.
struct Operand {
  enum class Kind : std::uint8_t { Name, Number, Address, Vector, List };
  Kind kind = Kind::Name;
  Token token;                 ///< name, number, or an address's base
  bool minus = false;          ///< before a number
  bool inverted = false;       ///< "!%p1"
  std::int64_t offset = 0;     ///< Address, Name: what is added
  std::vector<Operand> items;  ///< Vector, List; or the second name of "%p1|%p2"; or an address's second part
};

/// One instruction as written.
struct Statement {
  Token opcode;
  std::optional<Token> guard;
  bool guard_not = false;
  std::vector<Operand> operands;
};

/// Why a PTX text cannot run here: E0801, the message ends in the PTX line.
Diagnostic ptx_error(std::uint32_t line, std::string message);

/// The value of an integer or float literal in the bits of `type`; nothing if it is no literal of that type.
std::optional<std::uint64_t> literal(std::string_view text, bool minus, Type type);
Type type_named(std::string_view name);

/// The one or few interpreter instructions that a PTX instruction becomes; what they list goes into `kernel`. A branch's label is left
/// to the caller.
Result<std::vector<Instruction>> decode(const Statement& statement, Names& names, Kernel& kernel);

}  // namespace gexp::sim
