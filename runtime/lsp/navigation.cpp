// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lang/format.h"
#include "lang/words.h"
#include "runtime/lsp/features.h"

// Where names are declared and used, the outline, and the house form.
namespace gexp::lsp {
namespace {

/// The declaration in this text that a piece names; null for what is declared elsewhere or nowhere.
const lang::Declared* declared_by(const View& view, std::size_t piece) {
  const auto meaning = meaning_of(view, piece);
  return meaning ? meaning->declared : nullptr;
}

std::optional<Location> used_file_at(const View& view, const Placed& piece) {
  if (piece.piece.kind != lang::Piece::Kind::Text || !piece.statement || piece.statement->word != "use")
    return std::nullopt;
  for (const auto& used : view.uses) {
    if (used.span == piece.piece.span && used.source) return Location{used.source, {}};
  }
  return std::nullopt;
}

class Outliner {
 public:
  std::vector<Outline> of(const std::vector<lang::Statement>& statements) {
    std::vector<Outline> made;
    for (const auto& statement : statements) {
      whole_ = statement.span;
      into_ = &made;
      std::visit([&](const auto& node) { add(node); }, statement.node);
    }
    return made;
  }

 private:
  void put(const lang::Word& name, Outline::Kind kind, std::string detail = {}) {
    if (!name.text.empty())
      into_->push_back({name.text, std::move(detail), kind, cover(whole_, name.span), name.span, {}});
  }
  void add(const lang::Param& param) { put(param.name, Outline::Kind::Parameter, param.type.text); }
  void add(const lang::Let& let) { put(let.name, Outline::Kind::Value); }
  void add(const lang::Memory& memory) { put(memory.name, Outline::Kind::Memory, memory.space.text); }
  void add(const lang::PatternDef& pattern) { put(pattern.name, Outline::Kind::Pattern); }
  void add(const lang::Use& use) { put(use.as, Outline::Kind::Module, use.path.text); }
  void add(const lang::AnalysisDef& analysis) {
    whole_.end = std::max(whole_.end, analysis.end);
    put(analysis.name, Outline::Kind::Analysis, analysis.doc);
  }
  void add(const lang::Timed& timed) { put(timed.name, Outline::Kind::Record, timed.how.text); }
  void add(const lang::Derive& derive) { put(derive.name, Outline::Kind::Derived, derive.type.text); }
  void add(const lang::Find& find) { put(find.name, Outline::Kind::Finding, find.type.text); }
  void add(const lang::Sweep& sweep) {
    for (const auto& name : sweep.names) put(name, Outline::Kind::Sweep);
  }
  void add(const lang::Stage& stage) {
    whole_.end = std::max(whole_.end, stage.end);
    if (stage.name.text.empty()) return;
    put(stage.name, Outline::Kind::Stage, stage.doc);
    into_->back().children = Outliner().of(stage.items);
  }
  template <class T>
  void add(const T&) {}

  Span whole_;
  std::vector<Outline>* into_ = nullptr;
};

}  // namespace

std::optional<Location> definition_at(const View& view, std::uint32_t offset) {
  const auto at = piece_at(view, offset);
  if (!at) return std::nullopt;
  if (auto file = used_file_at(view, view.pieces[*at])) return file;
  const auto meaning = meaning_of(view, *at);
  if (!meaning) return std::nullopt;
  if (meaning->used && meaning->used->source && view.pieces[*at].slot != Slot::Declared) {
    return Location{meaning->used->source, meaning->there};
  }
  if (meaning->declared) return Location{nullptr, meaning->declared->symbol.span};
  return std::nullopt;
}

std::vector<Span> references_at(const View& view, std::uint32_t offset) {
  const auto at = piece_at(view, offset);
  const auto* wanted = at ? declared_by(view, *at) : nullptr;
  std::vector<Span> found;
  if (!wanted) return found;
  for (std::size_t i = 0; i < view.pieces.size(); ++i) {
    if (view.pieces[i].text != wanted->symbol.name) continue;
    const auto* declared = declared_by(view, i);
    if (declared && declared->symbol.span == wanted->symbol.span) found.push_back(view.pieces[i].piece.span);
  }
  return found;
}

std::string refused_name(const View& view, std::uint32_t offset, std::string_view name) {
  const bool word =
      !name.empty() && lang::is_word_start(name[0]) && std::all_of(name.begin(), name.end(), lang::is_word);
  if (!word) return "a name has the letters a to z, digits and `_`, and begins with no digit";
  if (lang::is_reserved(name)) return fmt::format("`{}` is a word of the language", name);
  const auto at = piece_at(view, offset);
  const auto* renamed = at ? declared_by(view, *at) : nullptr;
  if (!renamed) return "what stands here has no name of this file";
  // Neither may a name that is taken be given, nor one that an inner scope would hide.
  for (const auto& each : view.declarations) {
    const bool meet = each.scope.begin < renamed->scope.end && renamed->scope.begin < each.scope.end;
    if (!meet || each.symbol.name != name || each.symbol.span == renamed->symbol.span) continue;
    return fmt::format("`{}` is already {} here", name, describe(each.symbol.kind));
  }
  const bool of_facts =
      std::any_of(facts().begin(), facts().end(), [&](const Facts& each) { return each.name == name; });
  if (of_facts || lang::builtin_names().find(name)) return fmt::format("`{}` has a meaning of its own", name);
  return "";
}

std::vector<Outline> outline_of(const View& view) { return Outliner().of(view.file.statements); }

std::optional<Edit> format_edit(const Source& source) {
  Diagnostics diagnostics;
  const auto formatted = lang::format(source, diagnostics);
  if (!formatted || *formatted == source.text()) return std::nullopt;
  // Only the lines between the first and the last that differ: cursors and folds elsewhere stay.
  const std::string_view before = source.text(), after = *formatted;
  const auto shorter = std::min(before.size(), after.size());
  auto head = static_cast<std::size_t>(
      std::mismatch(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(shorter), after.begin()).first -
      before.begin());
  while (head > 0 && before[head - 1] != '\n') --head;
  std::size_t tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  while (tail > 0 && tail < before.size() && before[before.size() - tail - 1] != '\n') --tail;
  const auto end = static_cast<std::uint32_t>(before.size() - tail);
  return Edit{{static_cast<std::uint32_t>(head), end}, std::string(after.substr(head, after.size() - tail - head))};
}

}  // namespace gexp::lsp
