// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>
#include <vector>

#include "lang/statements.h"
#include "lang/tokens.h"
#include "lang/vocabulary.h"

/// What each piece of a text is, told from the pieces before it: also in a text that does not parse, where a tree has
/// holes.
namespace gexp::lsp {

/// What may stand at a place.
enum class Slot : std::uint8_t {
  Nothing,    ///< nothing that can be proposed: a version, a text
  Statement,  ///< a statement of the level
  Declared,   ///< a new name
  Type,
  Element,
  Space,
  Path,
  CacheLevel,
  Timing,
  Keep,
  Placement,
  Neighbour,  ///< a word of that kind
  MetaKey,
  Instruction,
  Selector,
  Memory,
  Pattern,
  Record,   ///< the name of one
  Clauses,  ///< a clause of the statement: `launch`, `budget`
  Analysis,
  Expression,    ///< an operand
  Argument,      ///< an operand or a label of the call
  Given,         ///< what a kernel of a file is given: an operand, a memory or the record
  Field,         ///< of what stands before the `.`
  AfterOperand,  ///< an operator, a clause, or the next statement
};

enum class Role : std::uint8_t {
  Statement,
  Clause,
  Operator,
  Callee,
  Label,
  Name,
  Field,
  Word,
  Literal,
  Comment,
  Mark,
};

struct Placed {
  lang::Piece piece;
  std::string_view text;
  Role role = Role::Mark;
  Slot slot = Slot::Nothing;                       ///< what may stand where it stands
  const lang::StatementForm* statement = nullptr;  ///< under way, or begun by it
  std::size_t begin = 0;                           ///< index of that statement's first piece
  std::size_t root = 0;                            ///< of a field: index of the name that its path begins with
  const lang::Callable* call = nullptr;            ///< the innermost call around it
  lang::Level level = lang::Level::Head;           ///< where its statement stands
};

std::vector<Placed> place_pieces(std::string_view text);

/// What stands around an offset where somebody writes.
struct Cursor {
  std::size_t before = 0;  ///< pieces before the word under the cursor
  Span word;               ///< the part of a word or number before the cursor; empty when it begins here
  bool in_word = false, in_number = false, in_text = false, in_comment = false;
  bool begins_line = false;
  Placed here;                           ///< what a piece at this place would be
  std::vector<std::string_view> labels;  ///< given already in the innermost call
};
Cursor cursor_at(std::string_view text, const std::vector<Placed>& pieces, std::uint32_t offset);

}  // namespace gexp::lsp
