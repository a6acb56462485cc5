// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compiler/program.h"
#include "lang/ast.h"
#include "lang/names.h"
#include "lang/use.h"
#include "runtime/lsp/pieces.h"
#include "runtime/lsp/text.h"

/// What the front end knows of one text.
namespace gexp::lsp {

/// What `gexp check` says of it.
struct Checked {
  std::vector<Diagnostic> diagnostics;  ///< sorted; a null `in` is the text itself
  std::optional<compiler::Program> program;
};
Checked check_text(const Source& source, const std::vector<std::string>& models, const lang::Loader& load);

/// What is asked about a text: where its names are declared and what they are worth. A text with mistakes has what
/// could be read.
struct View {
  std::shared_ptr<const Source> source;
  lang::File file;
  lang::Uses uses;
  lang::Declarations declarations;
  /// The same by name, in the order of their scopes' begins; and by where they are declared.
  std::unordered_map<std::string_view, std::vector<const lang::Declared*>> by_name;
  std::unordered_map<std::uint32_t, const lang::Declared*> by_place;
  std::vector<Placed> pieces;
  std::map<std::string, Value> values;  ///< of the file's own names, where the text has no mistakes
};
View view_text(std::shared_ptr<const Source> source, const compiler::Program* program, const lang::Loader& load);

/// A structure that every text knows: `device`, and for expectations `model`.
struct Facts {
  std::string_view name, about;
  const lang::Type& (*type)();
  bool for_expectations = false;
};
std::span<const Facts> facts();

/// What a word of a text refers to.
struct Meaning {
  Span word;
  std::string path;                          ///< as written up to the word: "capacity.C"
  const lang::Declared* declared = nullptr;  ///< in this text
  const lang::Symbol* builtin = nullptr;     ///< `lane`, `step`, …
  const Facts* facts = nullptr;              ///< it, or a part of it
  const lang::Used* used = nullptr;          ///< a used file that has it, or is it
  Span there;                                ///< its declaration's name in that file; empty: the file itself
  std::optional<lang::Type> type;
};
/// The index of the piece that an offset is in or just behind; none: between pieces.
std::optional<std::size_t> piece_at(const View& view, std::uint32_t offset);
/// Nothing for what is no name, and for an unknown one.
std::optional<Meaning> meaning_of(const View& view, std::size_t piece);
/// The type of what ends before the `.` of a field that begins there, for the fields that it has; `stage` and modules
/// included.
std::optional<Meaning> meaning_before_dot(const View& view, std::size_t dot);
/// The innermost declaration of a name in sight.
const lang::Declared* find_declared(const View& view, std::string_view name, std::uint32_t offset);
/// The analysis of one's own that is meant; null where another thing is.
const lang::AnalysisDef* own_analysis(const Meaning& meaning);
/// The statement, or operation, that declares a name or holds a place: its text, bodies left out.
std::string declaring_text(const View& view, const lang::Symbol& symbol);

}  // namespace gexp::lsp
