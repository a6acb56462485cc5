// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "lang/base/units.h"
#include "lang/own_analysis.h"
#include "runtime/lsp/features.h"

namespace gexp::lsp {
namespace {

using lang::Level;
using Kind = Completion::Kind;

constexpr std::size_t kMostItems = 1000, kManyNames = 500;

class Completer {
 public:
  Completer(const View& view, std::uint32_t offset, const std::vector<std::string>& models)
      : view_(view),
        models_(models),
        offset_(offset),
        text_(view.source->text()),
        cursor_(cursor_at(text_, view.pieces, offset)) {}

  Completions run() {
    if (cursor_.in_comment || cursor_.in_text) return {};
    made_.replace = cursor_.word;
    if (cursor_.in_number)
      units();
    else
      by_slot();
    return std::move(made_);
  }

 private:
  void add(std::string label, Kind kind, std::string detail = {}, std::string documentation = {},
           std::string insert = {}) {
    if (made_.items.size() >= kMostItems) {
      made_.complete = false;
      return;
    }
    if (!seen_.insert(label).second) return;
    made_.items.push_back({std::move(label), kind, std::move(detail), std::move(documentation), std::move(insert)});
  }

  void by_slot() {
    const auto& here = cursor_.here;
    switch (here.slot) {
      case Slot::Nothing:
      case Slot::Declared:
      case Slot::MetaKey:
      case Slot::Instruction:
        return;
      case Slot::Statement:
        return statements();
      case Slot::Type:
        return types();
      case Slot::Element:
        return words(lang::element_words());
      case Slot::Space:
        return words(lang::space_words());
      case Slot::Path:
        return words(lang::via_words());
      case Slot::CacheLevel:
        return words(lang::flush_words());
      case Slot::Timing:
        return words(lang::timing_words());
      case Slot::Keep:
        return words(lang::keep_words());
      case Slot::Placement:
        return words(lang::place_words());
      case Slot::Neighbour:
        return words(lang::neighbour_words());
      case Slot::Selector:
        for (const auto& model : models_) add(model, Kind::Word, "a simulated device");
        return;
      case Slot::Memory:
        return names([](const lang::Symbol& s) { return s.kind == lang::Symbol::Kind::Memory; });
      case Slot::Record:
        return names([](const lang::Symbol& s) { return s.kind == lang::Symbol::Kind::Record; });
      case Slot::Pattern:
        return names([](const lang::Symbol& s) {
          return s.kind == lang::Symbol::Kind::Pattern || s.kind == lang::Symbol::Kind::Module ||
                 s.kind == lang::Symbol::Kind::Let;
        });
      case Slot::Clauses:
        return clauses();
      case Slot::Analysis:
        return analyses();
      case Slot::Argument:
        labels();
        return expression();
      case Slot::Given:
        names([](const lang::Symbol& s) { return s.kind == lang::Symbol::Kind::Memory; });
        return expression();
      case Slot::Expression:
        return expression();
      case Slot::Field:
        return fields();
      case Slot::AfterOperand:
        return after_operand();
    }
  }

  /// The level that the next statement would stand at.
  [[nodiscard]] Level level() const {
    const auto& here = cursor_.here;
    const bool header_done = here.statement && here.statement->word == "experiment";
    return here.level == Level::Head && header_done ? Level::File : here.level;
  }

  void statements() {
    for (const auto& each : lang::statement_forms()) {
      if (each.at(level()))
        add(std::string(each.word), Kind::Statement, std::string(each.form), std::string(each.purpose) + ".");
    }
  }

  void types() {
    const bool param = cursor_.here.statement && cursor_.here.statement->word == "param";
    const bool argument = cursor_.here.statement && cursor_.here.statement->word == "analysis";
    for (const char* word : {"record", "pattern"}) {
      if (argument) add(word, Kind::Type, "of an argument");
    }
    for (const auto word : lang::type_words()) {
      const auto type = lang::declared_type(word);
      const bool found_only =
          type && (type->kind == lang::Type::Kind::List || type->kind == lang::Type::Kind::Structure);
      if (!param || !found_only) add(std::string(word), Kind::Type, type ? describe(*type) : "");
    }
  }

  void words(const lang::Words& some) {
    for (const auto word : some.words) add(std::string(word), Kind::Word, std::string(some.what));
  }

  void clauses() {
    if (!cursor_.here.statement) return;
    for (const auto clause : cursor_.here.statement->clause_words()) {
      add(std::string(clause), Kind::Word, fmt::format("clause of `{}`", cursor_.here.statement->word));
    }
  }

  void callables(bool analyses) {
    for (const auto& each : lang::vocabulary()) {
      if ((each.kind == lang::Callable::Kind::Analysis) != analyses) continue;
      add(std::string(each.name), analyses ? Kind::Analysis : Kind::Function, std::string(each.usage),
          std::string(each.purpose));
    }
  }

  void analyses() {
    callables(true);
    names([](const lang::Symbol& symbol) {
      const bool has = symbol.module && symbol.module->names && !own_of(*symbol.module->names).empty();
      return symbol.kind == lang::Symbol::Kind::Analysis || has;
    });
  }

  static std::vector<const lang::AnalysisDef*> own_of(const lang::SymbolScope& names) {
    std::vector<const lang::AnalysisDef*> found;
    for (const auto& symbol : names.symbols()) {
      if (symbol.analysis) found.push_back(symbol.analysis);
    }
    return found;
  }

  void labels() {
    const auto* call = cursor_.here.call;
    if (!call) return;
    for (const auto& label : call->labels) {
      const bool given = std::find(cursor_.labels.begin(), cursor_.labels.end(), label.name) != cursor_.labels.end();
      if (label.name.empty() || given) continue;
      add(std::string(label.name) + ":", Kind::Label, fmt::format("label of `{}`", call->name), {},
          std::string(label.name) + ": ");
    }
    if (!call->free_labels || call->kind != lang::Callable::Kind::Analysis) return;
    for (const auto& each : view_.declarations) {
      if (each.symbol.kind != lang::Symbol::Kind::Sweep || !in_sight(each)) continue;
      add(each.symbol.name + ":", Kind::Label, "a sweep variable", {}, each.symbol.name + ": ");
    }
  }

  [[nodiscard]] bool in_sight(const lang::Declared& each) const {
    if (offset_ < each.scope.begin || offset_ > each.scope.end) return false;
    const bool closed = cursor_.here.level == Level::Analysis && each.scope.begin == 0;  // an analysis reads its arguments alone
    if (closed && !each.symbol.analysis && !each.symbol.module) return false;
    const bool itself = each.symbol.span.begin <= cursor_.word.begin && cursor_.word.begin <= each.symbol.span.end;
    return !itself && each.symbol.usable_from <= cursor_.word.begin;
  }

  template <class Wanted>
  void names(Wanted wanted) {
    // An editor finds `ring` by `rg`; of very many names those alone that begin as what is written.
    const bool many = view_.declarations.size() > kManyNames;
    const auto written = view_.source->slice(made_.replace);
    if (many) made_.complete = false;
    for (const auto& each : view_.declarations) {
      if (many && !std::string_view(each.symbol.name).starts_with(written)) continue;
      if (in_sight(each) && wanted(each.symbol)) add_name(each.symbol);
    }
  }

  void add_name(const lang::Symbol& symbol) {
    if (symbol.analysis) return add(symbol.name, Kind::Analysis, lang::signature(*symbol.analysis), symbol.analysis->doc);
    const auto kind = symbol.kind == lang::Symbol::Kind::Memory    ? Kind::Memory
                      : symbol.kind == lang::Symbol::Kind::Pattern ? Kind::Pattern
                      : symbol.kind == lang::Symbol::Kind::Stage   ? Kind::Stage
                      : symbol.kind == lang::Symbol::Kind::Module  ? Kind::Module
                                                                   : Kind::Name;
    const bool typed = kind == Kind::Name && !symbol.type.any();
    add(symbol.name, kind,
        typed ? fmt::format("{}: {}", describe(symbol.kind), describe(symbol.type)) : describe(symbol.kind));
  }

  void expression() {
    const bool body = cursor_.here.level == Level::Analysis;
    names([&](const lang::Symbol& symbol) { return symbol.kind != lang::Symbol::Kind::Memory && (body || !symbol.analysis); });
    if (body) callables(true);
    for (const auto& symbol : lang::builtin_names().symbols()) add_name(symbol);
    const bool expects = cursor_.here.statement && cursor_.here.statement->word == "expect";
    for (const auto& each : facts()) {
      if (expects || !each.for_expectations) add(std::string(each.name), Kind::Name, std::string(each.about));
    }
    callables(false);
    add("not", Kind::Word);
  }

  void after_operand() {
    if (cursor_.begins_line) statements();
    clauses();
    if (cursor_.here.call) {
      using Clause = lang::Callable::Clause;
      if (cursor_.here.call->over != Clause::Never) add("over", Kind::Word, "of what the value is a curve");
      if (cursor_.here.call->by != Clause::Never) add("by", Kind::Word, "groups the points");
      if (cursor_.here.call->where != Clause::Never)
        add("where", Kind::Word, "keeps the points for which a condition holds");
    }
    for (const char* word : {"and", "or", "div", "mod"}) add(word, Kind::Word, "an operator");
  }

  /// Of a number: `64K|`. The digits stay.
  void units() {
    const auto written = view_.source->slice(cursor_.word);
    const auto digits = written.find_first_not_of("0123456789.");
    made_.replace.begin += static_cast<std::uint32_t>(std::min(digits, written.size()));
    for (const auto unit : unit_words()) {
      const auto found = find_unit(unit);
      add(std::string(unit), Kind::Unit, found ? lang::describe(found->dimension) : "");
    }
  }

  void fields() {
    // The last piece before the cursor is the dot; comments between do not count.
    auto dot = cursor_.before;
    while (dot > 0 && view_.pieces[dot - 1].role == Role::Comment) --dot;
    if (dot == 0) return;
    const auto of = meaning_before_dot(view_, dot - 1);
    if (!of) return;
    const auto* symbol = of->declared ? &of->declared->symbol : nullptr;
    if (symbol && symbol->kind == lang::Symbol::Kind::Module) {
      if (!of->used || !of->used->exports) return;
      add_fields(of->used->exports->type);
      if (!of->used->exports->names) return;
      for (const auto* own : own_of(*of->used->exports->names)) add(own->name.text, Kind::Analysis, lang::signature(*own), own->doc);
    } else if (of->type && of->type->kind == lang::Type::Kind::List) {
      add("count", Kind::Field, "its length");
    } else if (of->type) {
      add_fields(*of->type);
    }
  }

  void add_fields(const lang::Type& type) {
    for (const auto name : type.field_names()) add(std::string(name), Kind::Field, describe(*type.field(name)));
  }

  const View& view_;
  const std::vector<std::string>& models_;
  std::uint32_t offset_;
  std::string_view text_;
  Cursor cursor_;
  std::unordered_set<std::string> seen_;
  Completions made_;
};

}  // namespace

Completions complete_at(const View& view, std::uint32_t offset, const std::vector<std::string>& models) {
  return Completer(view, offset, models).run();
}

}  // namespace gexp::lsp
