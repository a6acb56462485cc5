// SPDX-License-Identifier: Apache-2.0
#include "lang/own_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lang/check_stage.h"
#include "lang/parse.h"
#include "lang/use.h"

// An analysis is checked twice. Where it is declared, for arguments of which the types alone are known. And at each use with what it is
// given there: whether a value is one for all points or another at each, and how the record was kept, is not known before.
namespace gexp::lang {
namespace {

constexpr std::size_t kMostWrittenOut = 64;  // of one find: analyses that call each other twice grow by powers

/// What is known where it is declared: a record may be in cycles or in seconds.
Type known_of(const Type& declared) { return declared.kind == Type::Kind::Record ? any_type() : declared; }

Span callee_end(const Word& callee) {
  const auto dot = callee.text.find('.');
  return dot == std::string::npos ? callee.span : Span{callee.span.begin + static_cast<std::uint32_t>(dot) + 1, callee.span.end};
}

std::vector<std::string_view> analyses_among(const SymbolScope& names) {
  std::vector<std::string_view> found;
  for (const auto& symbol : names.symbols()) {
    if (symbol.kind == Symbol::Kind::Analysis) found.push_back(symbol.name);
  }
  return found;
}

void read_names(const Expr& expression, NameSet& read) {
  if (const auto* name = std::get_if<Name>(&expression.node)) read.insert(name->text);
  if (const auto* call = std::get_if<Call>(&expression.node)) {
    for (const auto& argument : call->arguments) {
      if (argument.by) read.insert(argument.by->text);
      if (argument.label && call->callee.text == "value") read.insert(argument.label->text);
    }
  }
  each_part(expression, [&](const Expr& part) { read_names(part, read); });
}

}  // namespace

ExpressionChecker::OwnAnalysis ExpressionChecker::own_analysis(const Word& callee, const Place& place, bool& said) {
  if (!file_names_) return {};
  const auto dot = callee.text.find('.');
  const auto* symbol = file_names_->find_here(callee.text.substr(0, dot));
  if (dot == std::string::npos) {
    if (!symbol || symbol->kind != Symbol::Kind::Analysis) return {};
    if (symbol->usable_from > callee.span.begin) {
      const bool itself = callee.span.begin >= symbol->span.begin;
      auto& problem = error("E0206", callee.span, fmt::format("the analysis `{}` {}", symbol->name, itself ? "asks itself" : "is declared further down"),
                            itself ? "an analysis is composed of others, declared above it" : "move its declaration above this line");
      problem.notes.push_back({symbol->span, fmt::format("`{}` is declared here", symbol->name)});
      symbol->used = said = true;
      return {};
    }
    return {symbol, nullptr};
  }
  if (!symbol || symbol->kind != Symbol::Kind::Module) return {};
  said = true;
  if (!known_in_time(*symbol, callee.span, place) || !symbol->module) return {};
  const auto& used = *symbol->module;
  const auto field = callee.text.substr(dot + 1);
  const auto* there = used.names ? used.names->find_here(field) : nullptr;
  if (there && there->kind == Symbol::Kind::Analysis) return said = false, OwnAnalysis{there, &used};
  error("E0202", callee_end(callee), fmt::format("`{}` ({}) has no analysis `{}`", symbol->name, used.source ? used.source->path() : "", field),
        used.names ? did_you_mean_one_of(field, analyses_among(*used.names)) : "");
  return {};
}

std::vector<std::string_view> ExpressionChecker::own_names() const { return file_names_ ? analyses_among(*file_names_) : std::vector<std::string_view>(); }

bool ExpressionChecker::match_arguments(const AnalysisDef& definition, const Call& call, Span span, std::vector<const CallArgument*>& given) {
  const auto& name = call.callee.text;
  const auto hint = fmt::format("it is declared as `{}`", signature(definition));
  const auto wrong = [&](Span at, std::string message, const std::string& advice) { error("E0222", at, std::move(message), advice); return false; };
  given.assign(definition.arguments.size(), nullptr);
  std::size_t position = 0;
  for (const auto& argument : call.arguments) {
    if (!argument.value) return false;
    auto index = position;
    if (argument.label) {
      const auto labelled = std::find_if(definition.arguments.begin(), definition.arguments.end(), [&](const auto& each) { return each.name.text == argument.label->text; });
      if (labelled == definition.arguments.end()) {
        std::vector<std::string_view> names;
        for (const auto& each : definition.arguments) names.push_back(each.name.text);
        const auto near = did_you_mean(argument.label->text, names);
        return wrong(argument.label->span, fmt::format("`{}` has no argument `{}`", name, argument.label->text), near.empty() ? hint : near);
      }
      index = static_cast<std::size_t>(labelled - definition.arguments.begin());
    } else {
      ++position;
    }
    if (index >= given.size()) return wrong(argument.value->span, fmt::format("`{}` takes {} argument{}", name, given.size(), given.size() == 1 ? "" : "s"), hint);
    if (given[index]) return wrong(argument.label ? argument.label->span : argument.value->span, fmt::format("`{}` is given twice", definition.arguments[index].name.text), "keep one of them");
    given[index] = &argument;
    if (argument.over) return wrong(argument.over->span, fmt::format("`{}` takes no `over`", name), hint);
    const bool first = &argument == &call.arguments.front();
    if (!first && argument.by) return wrong(argument.by->span, fmt::format("`{}` takes no `by` after this argument", name), "it stands after the first one");
    if (!first && argument.where) return wrong(argument.where->span, fmt::format("`{}` takes no `where` after this argument", name), "it stands after the first one");
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!given[i]) return wrong(span, fmt::format("`{}` needs `{}`", name, definition.arguments[i].name.text), hint);
  }
  return true;
}

/// The name that the argument has in the analysis, for what it is where it is given.
Symbol ExpressionChecker::argument_symbol(const AnalysisArgument& declared, const CallArgument& given, const std::string& of, const Place& place, bool& wrong) {
  const auto typed = check(given.value, place);
  const auto wanted = argument_type(declared.type.text).value_or(any_type());
  const auto role = fmt::format("`{}` of `{}`", declared.name.text, of);
  if (wanted.kind == Type::Kind::Record && !typed.type.any() && typed.type.kind != Type::Kind::Record) {
    error("E0215", given.value->span, fmt::format("{} is a record, and `{}` is {}", role, text(given.value->span), describe(typed.type)), "give the name of the timed region");
    wrong = true;
  } else if (wanted.kind != Type::Kind::Record && !expect_type(*given.value, typed.type, wanted, role)) {
    wrong = true;
  }
  Symbol symbol;
  const auto* name = std::get_if<Name>(&given.value->node);
  const auto* named = name ? place.names->find(name->text) : nullptr;
  if (named) symbol = *named;
  else symbol.kind = Symbol::Kind::Derive;  // worked out of others
  symbol.name = declared.name.text;
  symbol.span = declared.name.span;
  symbol.type = typed.type.any() ? known_of(wanted) : typed.type;
  symbol.type.zero = false;
  symbol.time = typed.time;
  symbol.usable_from = 0;
  return symbol;
}

Chosen ExpressionChecker::chosen_by(const CallArgument& first, const std::string& callee, const Place& place, bool& wrong) {
  auto chosen = place.chosen ? *place.chosen : Chosen{};
  if (first.where) {
    const auto parts = parts_of_where(first.where, place);
    chosen.where.insert(chosen.where.end(), parts.begin(), parts.end());
  }
  if (!first.by) return chosen;
  if (place.composed) {
    error("E0222", first.by->span, fmt::format("`{}` takes no `by` inside another analysis", callee), "a `by` where that one is asked gives each value an answer of its own");
    wrong = true;
    return chosen;
  }
  chosen.grouped = true;
  const auto* symbol = place.names->find(first.by->text);
  if (!symbol) {
    unknown(first.by->text, first.by->span, place);
    wrong = true;
  } else if (const auto* part = symbol->span.empty() ? find_part(first.by->text) : nullptr; part && place.record) {
    chosen.by = PartRead{part, first.by->span};
  } else if (symbol->kind != Symbol::Kind::Sweep && symbol->kind != Symbol::Kind::Argument && (symbol->kind != Symbol::Kind::Let || symbol->per_thread)) {
    error("E0215", first.by->span, fmt::format("each value after `by` has an answer of its own, and `{}` is {}", first.by->text, describe(symbol->kind)),
          "name a sweep, or what tells parts of the record apart");
    wrong = true;
  }
  return chosen;
}

/// The `where` and the `by` of the use go to each analysis that it is composed of.
void ExpressionChecker::check_chosen(const Callable& callable, const Call& call, const Place& place) {
  const auto& chosen = *place.chosen;
  if (call.arguments.empty() || !call.arguments.front().value) return;
  const auto& first = call.arguments.front();
  const auto at = call.callee.span;
  if (chosen.grouped && (callable.by != Callable::Clause::Never || callable.over_finding || first.by || first.where)) {
    error("E0222", at, first.where ? fmt::format("`{}` has a `where` of its own here, which may leave a value after `by` without an answer", callable.name)
                       : first.by  ? fmt::format("`{}` has a `by` of its own here, and is used with another", callable.name)
                                   : fmt::format("`{}` takes no `by` that gives each value an answer of its own", callable.name),
          "choose points with `where`, once for each answer");
    return;
  }
  auto parts = chosen.where;
  for (auto& part : parts) part.span = at;
  if (!check_parts(callable, *first.value, parts, "where", place) || !chosen.by) return;
  check_parts(callable, *first.value, {{chosen.by->part, at}}, "by", place);
}

Typed ExpressionChecker::of_own(const OwnAnalysis& own, const Call& call, const Expr& expression, const Place& place) {
  const auto& definition = *own.symbol->analysis;
  const auto& name = call.callee.text;
  own.symbol->used = true;
  if (place.calls == Calls::Functions) {
    error("E0221", call.callee.span, fmt::format("`{}` is an analysis, which only `find` applies", name),
          place.composed ? "give its answer a name, with a `let` of its own above" : fmt::format("write `find NAME: {} = {}(…)` and use the finding", definition.type.text, name));
    return {};
  }
  auto inner = place;
  inner.parts = inner.accesses = inner.once = false;
  inner.calls = Calls::Functions;
  std::vector<const CallArgument*> given;
  if (!match_arguments(definition, call, expression.span, given)) return {};
  bool wrong = false;
  UsedAt used;
  std::optional<KeptRecord> record = place.record ? std::optional(*place.record) : std::nullopt;
  for (std::size_t i = 0; i < given.size(); ++i) {
    used.arguments.push_back(argument_symbol(definition.arguments[i], *given[i], name, inner, wrong));
    if (record && definition.arguments[i].type.text == "record") record->name = definition.arguments[i].name.text;
  }
  const auto chosen = call.arguments.empty() ? Chosen{} : chosen_by(call.arguments.front(), name, inner, wrong);
  if (wrong || own.symbol->flawed) return {};
  if (++expansions_->of_find > kMostWrittenOut) {
    if (expansions_->of_find == kMostWrittenOut + 1) {
      error("E0238", expression.span, fmt::format("analyses that ask each other stand for more than {} here", kMostWrittenOut), "ask for its parts in finds of their own");
    }
    return {};
  }
  expansions_->bytes += definition.end - definition.name.span.begin;
  if (expansions_->bytes > kMaxBytes) {
    error("E0238", expression.span, fmt::format("the analyses that are asked have more than {} MiB together, each as often as it is asked", kMaxBytes >> 20), "ask less often, or shorter ones");
    return {};
  }
  used.record = record ? &*record : nullptr;
  const bool selects = chosen.grouped || !chosen.where.empty();
  used.chosen = selects ? &chosen : nullptr;
  used.names = place.composed ? place.used_from : place.names;
  Diagnostics problems;
  ExpressionChecker there(own.from ? *own.from->file : file_, own.from ? *own.from->source : source_, problems, 0, false);
  there.file_names_ = own.from ? own.from->names.get() : file_names_;
  there.expansions_ = expansions_;
  auto type = there.answer_of(definition, used);
  hand_on(problems, own.from ? own.from->source : nullptr, expression.span, diagnostics_);
  const bool of_its_own = chosen.grouped && !place.composed;
  return {of_its_own ? list_of(std::move(type)) : std::move(type), place.composed ? Time::File : Time::Finding};
}

Type ExpressionChecker::answer_of(const AnalysisDef& definition, const UsedAt& used) {
  SymbolScope scope(&builtin_names());
  for (const auto& argument : used.arguments) scope.declare(argument, diagnostics_);
  const auto add = [&](const Word& name, std::uint32_t usable_from) {
    Symbol symbol;
    symbol.kind = Symbol::Kind::Let;
    symbol.name = name.text;
    symbol.span = name.span;
    symbol.usable_from = usable_from;
    scope.declare(std::move(symbol), diagnostics_);
  };
  for (const auto& item : definition.items) {
    if (const auto* let = std::get_if<Let>(&item.node)) add(let->name, item.span.end);
  }
  Place place;
  place.names = &scope;
  place.limit = Time::Row;
  place.composed = true;
  place.record = used.record;
  place.chosen = used.chosen;
  place.used_from = used.names;
  NameSet asking;
  std::vector<std::pair<const Give*, Type>> given;
  for (const auto& item : definition.items) {
    const auto* let = std::get_if<Let>(&item.node);
    const auto* give = std::get_if<Give>(&item.node);
    if (!let && !give) {
      error("E0203", first_word(source_, item.span), "an analysis has `let` and `give` alone", "what is measured stands in a stage");
      continue;
    }
    const auto& value = let ? let->value : give->value;
    const bool asks = value && asks_records(*value, asking);
    place.what = let ? "a value of an analysis" : "what an analysis gives";
    place.once = asks || give;
    place.calls = asks ? Calls::Both : Calls::Functions;
    auto typed = check(value, place);
    typed.type = settled(std::move(typed.type));
    if (give) {
      given.emplace_back(give, typed.type);
      if (asks) asking.insert("give");  // a reserved word, which names no let
      continue;
    }
    if (asks) asking.insert(let->name.text);
    if (auto* symbol = scope.find_here(let->name.text); symbol && symbol->span == let->name.span) {
      symbol->type = std::move(typed.type);
      symbol->time = asks ? Time::File : typed.time;  // a finding is one value, as what is known from the beginning
    }
  }
  note(scope, {definition.type.span.end, definition.end});
  if (!asking.contains("give") && !given.empty()) {
    error("E0237", definition.name.span, fmt::format("`{}` asks nothing of the records", definition.name.text), "it is composed of analyses, such as `fastest(t)`");
  }
  auto type = given_by(definition, std::move(given));
  const auto wanted = declared_type(definition.type.text).value_or(any_type());
  if (!answers(type, wanted)) {
    error("E0214", definition.type.span, fmt::format("`{}` is declared as {}, and gives {}", definition.name.text, describe(wanted), describe(type)),
          fmt::format("write `-> {}`", written_type(type)));
    return any_type();
  }
  return type.any() ? wanted : type;
}

Type ExpressionChecker::given_by(const AnalysisDef& definition, std::vector<std::pair<const Give*, Type>> given) {
  const auto& name = definition.name.text;
  if (given.empty()) {
    error("E0237", definition.name.span, fmt::format("`{}` gives nothing", name), "end it with `give slowest(t) - fastest(t)`, say");
    return any_type();
  }
  if (given.size() == 1 && !given.front().first->name) return given.front().second;
  std::vector<Type::Field> fields;
  for (auto& [give, type] : given) {
    if (!give->name) {
      error("E0237", give->value->span, fmt::format("`{}` gives several values, and this one has no name", name), "write `give NAME = …`: each is a field of a structure");
      return any_type();
    }
    const auto& field = *give->name;
    if (std::any_of(fields.begin(), fields.end(), [&](const Type::Field& each) { return each.first == field.text; })) {
      error("E0201", field.span, fmt::format("`{}` is given twice", field.text), "choose another name");
      return any_type();
    }
    fields.emplace_back(field.text, std::move(type));
  }
  return structure_of(std::move(fields));
}

bool ExpressionChecker::check_definition(const AnalysisDef& definition) {
  Diagnostics problems;
  ExpressionChecker here(file_, source_, problems, 0, false, declared_);
  here.file_names_ = file_names_;
  here.expansions_ = expansions_;
  expansions_->of_find = 0;
  if (find_callable(definition.name.text)) {
    here.error("E0201", definition.name.span, fmt::format("`{}` is already a function or an analysis of the language", definition.name.text), "choose another name");
  }
  UsedAt used;
  KeptRecord record{"", "each", "raw", true};
  for (const auto& argument : definition.arguments) {
    const auto type = argument_type(argument.type.text);
    if (!type) here.error("E0213", argument.type.span, fmt::format("`{}` is no type of an argument", argument.type.text), meant_type(argument.type.text, argument_type_words()));
    Symbol symbol;
    symbol.kind = Symbol::Kind::Argument;
    symbol.name = argument.name.text;
    symbol.span = argument.name.span;
    symbol.type = type ? known_of(*type) : any_type();
    symbol.time = type && type->kind == Type::Kind::Record ? Time::Row : Time::File;
    if (type && type->kind == Type::Kind::Record && record.name.empty()) record.name = argument.name.text;
    used.arguments.push_back(std::move(symbol));
  }
  if (!declared_type(definition.type.text)) {
    here.error("E0213", definition.type.span, fmt::format("`{}` is no type", definition.type.text), meant_type(definition.type.text, type_words()));
  }
  used.record = &record;
  here.answer_of(definition, used);
  const bool sound = !problems.has_errors();
  if (sound) here.warn_of_unread(definition);
  for (auto& problem : problems.sorted()) diagnostics_.add(std::move(problem));
  return sound;
}

void ExpressionChecker::warn_of_unread(const AnalysisDef& definition) {
  NameSet read;
  for (const auto& item : definition.items) {
    if (const auto* let = std::get_if<Let>(&item.node)) read_names(*let->value, read);
    if (const auto* give = std::get_if<Give>(&item.node)) read_names(*give->value, read);
  }
  const auto look = [&](const Word& name) {
    if (!read.contains(name.text)) diagnostics_.warning("E0239", name.span, fmt::format("nothing in `{}` reads `{}`", definition.name.text, name.text), "leave it out");
  };
  for (const auto& argument : definition.arguments) look(argument.name);
  for (const auto& item : definition.items) {
    if (const auto* let = std::get_if<Let>(&item.node)) look(let->name);
  }
}

}  // namespace gexp::lang
