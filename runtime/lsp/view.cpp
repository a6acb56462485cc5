// SPDX-License-Identifier: Apache-2.0
#include "runtime/lsp/view.h"

#include <algorithm>
#include <array>

#include "lang/base/budget.h"
#include "compiler/pipeline.h"
#include "compiler/plan/expand.h"
#include "lang/parse.h"

namespace gexp::lsp {
namespace {

constexpr auto kFacts = std::to_array<Facts>({
    {"device", "facts of the device", lang::device_type},
    {"model", "what a simulated device is made of", lang::model_type, true},
});

/// The name that a used file declares.
Span declared_in(const lang::File& file, const std::string& name) {
  for (const auto& statement : file.statements) {
    const auto* param = std::get_if<lang::Param>(&statement.node);
    const auto* let = std::get_if<lang::Let>(&statement.node);
    const auto* pattern = std::get_if<lang::PatternDef>(&statement.node);
    const auto* analysis = std::get_if<lang::AnalysisDef>(&statement.node);
    const auto* word = param ? &param->name : let ? &let->name : pattern ? &pattern->name : analysis ? &analysis->name : nullptr;
    if (word && word->text == name) return word->span;
  }
  return {};
}

const lang::Used* used_as(const View& view, const lang::Symbol& module) {
  std::size_t index = 0;
  for (const auto& statement : view.file.statements) {
    const auto* use = std::get_if<lang::Use>(&statement.node);
    if (!use) continue;
    if (use->as.span == module.span) return index < view.uses.size() ? &view.uses[index] : nullptr;
    ++index;
  }
  return nullptr;
}

/// The finding of a stage, whose scope is that stage.
const lang::Declared* finding_of(const View& view, const lang::Symbol& stage, std::string_view name) {
  const auto named = view.by_name.find(name);
  if (named == view.by_name.end()) return nullptr;
  const auto begins = [](const lang::Declared* each, std::uint32_t at) { return each->scope.begin < at; };
  const auto& all = named->second;
  for (auto each = std::lower_bound(all.begin(), all.end(), stage.span.end, begins); each != all.end(); ++each) {
    if ((*each)->scope.begin != stage.span.end) break;
    if ((*each)->symbol.kind == lang::Symbol::Kind::Find) return *each;
  }
  return nullptr;
}

void index_names(View& view) {
  for (const auto& each : view.declarations) {
    view.by_name[each.symbol.name].push_back(&each);
    view.by_place.emplace(each.symbol.span.begin, &each);
  }
  for (auto& [name, all] : view.by_name) {
    std::stable_sort(all.begin(), all.end(),
                     [](const auto* a, const auto* b) { return a->scope.begin < b->scope.begin; });
  }
}

std::optional<Meaning> root_of(const View& view, const Placed& piece) {
  Meaning meaning;
  meaning.word = piece.piece.span;
  meaning.path = std::string(piece.text);
  meaning.declared = find_declared(view, piece.text, piece.piece.span.begin);
  if (meaning.declared) {
    const auto& symbol = meaning.declared->symbol;
    meaning.type = symbol.type;
    if (symbol.kind == lang::Symbol::Kind::Module) meaning.used = used_as(view, symbol);
    return meaning;
  }
  meaning.builtin = lang::builtin_names().find(piece.text);
  if (meaning.builtin) {
    meaning.type = meaning.builtin->type;
    return meaning;
  }
  const bool expects = piece.statement && piece.statement->word == "expect";
  for (const auto& each : kFacts) {
    if (each.name != piece.text || (each.for_expectations && !expects)) continue;
    meaning.facts = &each;
    meaning.type = each.type();
    return meaning;
  }
  return std::nullopt;
}

std::optional<Meaning> field_of(const View& view, const Meaning& of, const Placed& piece) {
  Meaning meaning;
  meaning.word = piece.piece.span;
  meaning.path = of.path + "." + std::string(piece.text);
  meaning.facts = of.facts;
  const auto* symbol = of.declared ? &of.declared->symbol : nullptr;
  if (symbol && symbol->kind == lang::Symbol::Kind::Stage) {
    meaning.declared = finding_of(view, *symbol, piece.text);
    if (!meaning.declared) return std::nullopt;
    meaning.type = meaning.declared->symbol.type;
    return meaning;
  }
  if (symbol && symbol->kind == lang::Symbol::Kind::Module) {
    if (!of.used || !of.used->exports || !of.used->file) return std::nullopt;
    const auto* type = of.used->exports->type.field(piece.text);
    meaning.used = of.used;
    meaning.there = declared_in(*of.used->file, std::string(piece.text));
    if (meaning.there.empty()) return std::nullopt;
    meaning.type = type ? *type : lang::any_type();  // of values that differ from thread to thread nothing is kept
    return meaning;
  }
  if (!of.type) return std::nullopt;
  if (of.type->kind == lang::Type::Kind::List && piece.text == "count")
    meaning.type = lang::number_of({});
  else if (const auto* type = of.type->field(piece.text))
    meaning.type = *type;
  else
    return std::nullopt;
  return meaning;
}

/// A label that is a sweep's name: `value(per, s: 2)`.
bool names_sweep(const Placed& piece) {
  return piece.role == Role::Label && piece.call && piece.call->free_labels &&
         piece.call->kind == lang::Callable::Kind::Analysis;
}

}  // namespace

std::span<const Facts> facts() { return kFacts; }

Checked check_text(const Source& source, const std::vector<std::string>& models, const lang::Loader& load) {
  Checked checked;
  Diagnostics diagnostics;
  compiler::Options options;
  options.models = models;
  options.load = load;
  checked.program = compiler::compile(source, options, diagnostics);
  checked.diagnostics = diagnostics.sorted();
  return checked;
}

View view_text(std::shared_ptr<const Source> source, const compiler::Program* program, const lang::Loader& load) {
  View view;
  Diagnostics of_syntax, of_names;  // said by check_text; names are looked up in what could be read all the same
  view.file = lang::parse(*source, of_syntax);
  view.uses = lang::check_with_uses(view.file, *source, load, of_names, &view.declarations);
  index_names(view);
  view.pieces = place_pieces(source->text());
  view.source = std::move(source);
  if (program) {
    const Budget::Work budget(kCompileUnits);
    if (const auto scope = compiler::file_scope(*program)) view.values = scope->values();
  }
  return view;
}

std::optional<std::size_t> piece_at(const View& view, std::uint32_t offset) {
  const auto& pieces = view.pieces;
  const auto behind = std::partition_point(pieces.begin(), pieces.end(),
                                           [&](const Placed& each) { return each.piece.span.begin <= offset; });
  if (behind == pieces.begin()) return std::nullopt;
  const auto index = static_cast<std::size_t>(behind - pieces.begin()) - 1;
  if (offset < pieces[index].piece.span.end && pieces[index].role != Role::Mark) return index;
  // Just behind a word: editors ask there when the cursor stands at its end.
  const auto touches = [&](std::size_t i) {
    return pieces[i].piece.span.end == offset && pieces[i].role != Role::Mark;
  };
  if (touches(index)) return index;
  if (index > 0 && touches(index - 1)) return index - 1;
  return std::nullopt;
}

const lang::Declared* find_declared(const View& view, std::string_view name, std::uint32_t offset) {
  const auto here = view.by_place.find(offset);
  if (here != view.by_place.end() && here->second->symbol.name == name) return here->second;  // its declaration
  const auto named = view.by_name.find(name);
  if (named == view.by_name.end()) return nullptr;
  // Scopes of one name are nested or apart: the last to begin that is not over is the innermost.
  const auto& all = named->second;
  const auto begins = [](std::uint32_t at, const lang::Declared* each) { return at < each->scope.begin; };
  for (auto each = std::upper_bound(all.begin(), all.end(), offset, begins); each != all.begin();) {
    if (offset <= (*--each)->scope.end) return *each;
  }
  return nullptr;
}

std::optional<Meaning> meaning_of(const View& view, std::size_t piece) {
  const auto& here = view.pieces[piece];
  const bool own = here.role == Role::Callee && !lang::find_callable(here.text);  // an analysis of the file
  if (here.role == Role::Name || own || names_sweep(here)) return root_of(view, here);
  if (here.role != Role::Field || piece < 2) return std::nullopt;
  const auto of = meaning_before_dot(view, piece - 1);
  return of ? field_of(view, *of, here) : std::nullopt;
}

std::optional<Meaning> meaning_before_dot(const View& view, std::size_t dot) {
  if (dot == 0 || view.pieces[dot].text != ".") return std::nullopt;
  const auto root = view.pieces[dot - 1].root;
  if (view.pieces[root].role != Role::Name) return std::nullopt;
  // No path of known fields is long, whatever a text says.
  auto meaning = root_of(view, view.pieces[root]);
  for (auto i = root + 2; i < dot && meaning; i += 2) meaning = field_of(view, *meaning, view.pieces[i]);
  return meaning;
}

const lang::AnalysisDef* own_analysis(const Meaning& meaning) {
  if (meaning.declared) return meaning.declared->symbol.analysis;
  if (!meaning.used || !meaning.used->file || meaning.there.empty()) return nullptr;
  for (const auto& statement : meaning.used->file->statements) {
    const auto* analysis = std::get_if<lang::AnalysisDef>(&statement.node);
    if (analysis && analysis->name.span == meaning.there) return analysis;
  }
  return nullptr;
}

std::string declaring_text(const View& view, const lang::Symbol& symbol) {
  const auto at = piece_at(view, symbol.span.begin);
  if (!at || !view.pieces[*at].statement) return std::string(view.source->slice(symbol.span));
  const auto first = view.pieces[*at].begin;
  auto last = first;
  bool body = false;
  for (auto i = first; i < view.pieces.size() && view.pieces[i].begin == first && view.pieces[i].statement; ++i) {
    if (view.pieces[i].role == Role::Comment) continue;
    body = view.pieces[i].text == "{";
    if (body || view.pieces[i].text == "}") break;
    last = i;
  }
  const Span span{view.pieces[first].piece.span.begin, view.pieces[last].piece.span.end};
  return std::string(view.source->slice(span)) + (body ? " { … }" : "");
}

}  // namespace gexp::lsp
