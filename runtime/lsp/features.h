// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/lsp/view.h"

/// What an editor asks about a place in a text. Answers are in bytes of the text; the server turns them into the
/// protocol's terms.
namespace gexp::lsp {

struct Hover {
  Span span;
  std::string code;                     ///< shown as gexp text
  std::vector<std::string> paragraphs;  ///< plain sentences; words of the language in backquotes
};
std::optional<Hover> hover_at(const View& view, std::uint32_t offset);

struct Completion {
  enum class Kind {
    Statement,
    Word,
    Function,
    Analysis,
    Name,
    Memory,
    Pattern,
    Stage,
    Module,
    Field,
    Unit,
    Type,
    Label
  };
  std::string label;
  Kind kind = Kind::Word;
  std::string detail;         ///< one line
  std::string documentation;  ///< the form, or the purpose
  std::string insert;         ///< empty: the label
};
struct Completions {
  Span replace;  ///< the part of the word that is written already
  std::vector<Completion> items;
  bool complete = true;  ///< false: there are more, which begin as what is written
};
Completions complete_at(const View& view, std::uint32_t offset, const std::vector<std::string>& models);

/// A place in this text, or in a used file.
struct Location {
  std::shared_ptr<const Source> in;  ///< null: this text
  Span span;
};
std::optional<Location> definition_at(const View& view, std::uint32_t offset);

/// Every place in this text that names what the word there names, its declaration among them; none where that is not
/// declared here.
std::vector<Span> references_at(const View& view, std::uint32_t offset);
/// Why a thing cannot have this name; empty when it can.
std::string refused_name(const View& view, std::uint32_t offset, std::string_view name);

struct Outline {
  enum class Kind { Parameter, Value, Memory, Pattern, Stage, Module, Sweep, Record, Derived, Finding, Analysis };
  std::string name, detail;
  Kind kind = Kind::Value;
  Span whole, name_span;
  std::vector<Outline> children;
};
std::vector<Outline> outline_of(const View& view);

/// One edit that brings the text into house form.
struct Edit {
  Span span;
  std::string text;
};
/// Nothing where it does not parse or is in that form already.
std::optional<Edit> format_edit(const Source& source);

}  // namespace gexp::lsp
