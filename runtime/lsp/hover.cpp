// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "lang/base/units.h"
#include "lang/own_analysis.h"
#include "runtime/lsp/features.h"

// What is shown comes of the tables that hints are made of: statement_forms(), vocabulary(), the types of the checker.
namespace gexp::lsp {
namespace {

constexpr std::size_t kLongestValue = 400, kLongestCode = 1200;  // bytes

std::string shortened(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80) --most;
  return text.substr(0, most) + " …";
}

Hover of_statement(Span span, const lang::StatementForm& statement) {
  Hover hover{span, std::string(statement.form), {std::string(statement.purpose) + "."}};
  std::string clauses;
  for (const auto clause : statement.clause_words())
    clauses += fmt::format("{}`{}`", clauses.empty() ? "" : ", ", clause);
  if (!clauses.empty()) hover.paragraphs.push_back("Clauses: " + clauses + ".");
  return hover;
}

const char* kind_of(lang::Callable::Kind kind) {
  switch (kind) {
    case lang::Callable::Kind::Analysis:
      return "an analysis";
    case lang::Callable::Kind::Column:
      return "a function of a record";
    case lang::Callable::Kind::Function:
      return "a function of values";
    case lang::Callable::Kind::Pattern:
      return "a pattern";
  }
  return "";
}

Hover of_callable(Span span, const lang::Callable& callable) {
  const bool analysis = callable.kind == lang::Callable::Kind::Analysis;
  Hover hover{span, std::string(callable.usage), {}};
  hover.paragraphs.push_back(
      fmt::format("`{}`: {}. {}{}", callable.name, kind_of(callable.kind), callable.purpose, analysis ? "" : "."));
  std::string labels;
  for (const auto& label : callable.labels) {
    if (label.name.empty()) continue;
    labels +=
        fmt::format("{}`{}`{}", labels.empty() ? "" : ", ", label.name, label.optional ? " (may be left out)" : "");
  }
  if (!labels.empty()) hover.paragraphs.push_back("Labels: " + labels + ".");
  return hover;
}

/// "bytes, known at each point"
std::string kind_and_type(const lang::Symbol& symbol, const lang::Type& type) {
  const bool typed = !type.any() && type.kind != lang::Type::Kind::Record && type.kind != lang::Type::Kind::Pattern &&
                     symbol.kind != lang::Symbol::Kind::Stage;
  auto text = std::string(describe(symbol.kind));
  if (symbol.kind == lang::Symbol::Kind::Record)
    text += type.dimension == kSeconds ? ", in seconds" : ", in cycles";
  else if (typed)
    text += fmt::format(": {}", describe(type));
  if (type.kind == lang::Type::Kind::Structure && symbol.kind == lang::Symbol::Kind::Find) {
    std::string fields;
    for (const auto field : type.field_names()) fields += fmt::format("{}`{}`", fields.empty() ? "" : ", ", field);
    if (!fields.empty()) text += " of " + fields;
  }
  const bool timed = symbol.kind != lang::Symbol::Kind::Memory && symbol.kind != lang::Symbol::Kind::Stage &&
                     symbol.kind != lang::Symbol::Kind::Module && symbol.kind != lang::Symbol::Kind::Loop &&
                     symbol.kind != lang::Symbol::Kind::Argument;
  if (timed) text += fmt::format(", known {}", known(symbol.time));
  return text;
}

/// The text after `doc` of a parameter or a stage.
std::string doc_of(const View& view, const lang::Symbol& symbol) {
  for (const auto& statement : view.file.statements) {
    const auto* param = std::get_if<lang::Param>(&statement.node);
    const auto* stage = std::get_if<lang::Stage>(&statement.node);
    if (param && param->name.span == symbol.span) return param->doc;
    if (stage && stage->name.span == symbol.span) return stage->doc;
  }
  return "";
}

/// The value of a name of the file, or of a used one, before anything runs.
const Value* value_of(const View& view, const Meaning& meaning) {
  const bool of_file = meaning.declared && meaning.declared->symbol.time == lang::Time::File &&
                       meaning.declared->scope.begin == 0 && meaning.declared->scope.end >= view.source->text().size();
  if (!of_file && !meaning.used) return nullptr;
  const auto dot = meaning.path.find('.');
  const auto found = view.values.find(meaning.path.substr(0, dot));
  if (found == view.values.end() || !found->second.known()) return nullptr;
  const Value* value = &found->second;
  if (dot == std::string::npos) return meaning.used ? nullptr : value;
  const auto* fields = value->get<Fields>();
  const auto field = fields ? fields->find(meaning.path.substr(dot + 1)) : Fields::const_iterator();
  return fields && field != fields->end() && field->second.known() ? &field->second : nullptr;
}

Hover of_own_analysis(const Meaning& meaning, const lang::AnalysisDef& analysis) {
  Hover hover{meaning.word, "analysis " + lang::signature(analysis), {}};
  const auto file = meaning.used ? fmt::format(", of {}", meaning.used->path) : "";
  hover.paragraphs.push_back(fmt::format("`{}`: an analysis{}.", meaning.path, file));
  if (!analysis.doc.empty()) hover.paragraphs.push_back(analysis.doc);
  return hover;
}

Hover of_name(const View& view, const Meaning& meaning) {
  if (const auto* analysis = own_analysis(meaning)) return of_own_analysis(meaning, *analysis);
  Hover hover{meaning.word, "", {}};
  const auto& type = meaning.type.value_or(lang::any_type());
  if (meaning.declared || meaning.builtin) {
    const auto& symbol = meaning.declared ? meaning.declared->symbol : *meaning.builtin;
    hover.code = meaning.declared ? shortened(declaring_text(view, symbol), kLongestCode) : symbol.name;
    hover.paragraphs.push_back(fmt::format("`{}`: {}.", meaning.path, kind_and_type(symbol, type)));
    if (meaning.declared) {
      if (auto doc = doc_of(view, symbol); !doc.empty()) hover.paragraphs.push_back(std::move(doc));
    }
  } else if (meaning.used) {
    const auto& file = meaning.used->source;
    const auto position = file->position(meaning.there.begin);
    hover.code = std::string(file->line(position.line));
    hover.paragraphs.push_back(fmt::format("`{}`: {}, of {}.", meaning.path, describe(type), meaning.used->path));
  } else {
    hover.code = meaning.path;
    const auto about = meaning.facts ? meaning.facts->about : "a field";
    hover.paragraphs.push_back(fmt::format("`{}`: {}, {}.", meaning.path, about, describe(type)));
  }
  if (const auto* value = value_of(view, meaning)) {
    hover.paragraphs.push_back(fmt::format("Its value is {}.", shortened(show(*value), kLongestValue)));
  }
  return hover;
}

/// `64KiB` in bytes, `2%` as a plain number.
std::optional<Hover> of_quantity(const Placed& piece) {
  double number = 0;
  const auto* end = piece.text.data() + piece.text.size();
  const auto parsed = std::from_chars(piece.text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr == end) return std::nullopt;
  const auto unit = find_unit(std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr)));
  if (!unit) return std::nullopt;
  Hover hover{piece.piece.span, std::string(piece.text), {}};
  if (unit->scale == 0) {
    hover.paragraphs.emplace_back("Elements of the memories, which all have one size.");
    return hover;
  }
  const auto value = number * unit->scale;
  const auto whole = value == std::floor(value) && std::fabs(value) < 9e15;
  const auto text = whole ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
  hover.paragraphs.push_back(unit->dimension.none() ? fmt::format("{}, a plain number.", text)
                                                    : fmt::format("{} {}.", text, name(unit->dimension)));
  return hover;
}

}  // namespace

std::optional<Hover> hover_at(const View& view, std::uint32_t offset) {
  const auto at = piece_at(view, offset);
  if (!at) return std::nullopt;
  const auto& piece = view.pieces[*at];
  switch (piece.role) {
    case Role::Statement:
    case Role::Clause:
      return piece.statement ? std::optional(of_statement(piece.piece.span, *piece.statement)) : std::nullopt;
    case Role::Callee: {
      if (const auto* callable = lang::find_callable(piece.text)) return of_callable(piece.piece.span, *callable);
      break;
    }
    case Role::Word: {
      const auto type = piece.slot == Slot::Type ? lang::argument_type(piece.text) : std::nullopt;
      if (!type) return std::nullopt;
      return Hover{piece.piece.span, std::string(piece.text), {fmt::format("A type: {}.", describe(*type))}};
    }
    case Role::Literal:
      return piece.piece.kind == lang::Piece::Kind::Number ? of_quantity(piece) : std::nullopt;
    default:
      break;
  }
  const auto meaning = meaning_of(view, *at);
  if (!meaning && piece.role == Role::Label && piece.call) return of_callable(piece.piece.span, *piece.call);
  return meaning ? std::optional(of_name(view, *meaning)) : std::nullopt;
}

}  // namespace gexp::lsp
