// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lang/expressions.h"

/// What a name or a stage's finding refers to, and whether its value exists by then.
namespace gexp::lang {

bool ExpressionChecker::known_in_time(const Symbol& symbol, Span span, const Place& place) {
  const bool derive_below = place.ordered_derives && symbol.kind == Symbol::Kind::Derive;
  if (symbol.usable_from > span.begin && (symbol.kind != Symbol::Kind::Derive || derive_below)) {
    const bool itself = span.begin >= symbol.span.begin;
    auto& problem = error("E0206", span, itself ? fmt::format("`{}` is read by its own declaration", symbol.name)
                                                : fmt::format("`{}` is declared further down", symbol.name),
                          itself ? "" : "move its declaration above this line");
    problem.notes.push_back({symbol.span, fmt::format("`{}` is declared here", symbol.name)});
    return false;
  }
  if (place.once && symbol.time != Time::File && symbol.time != Time::Finding) {
    auto& problem = error("E0301", span, fmt::format("`{}` is known {}, and {} is judged once, after all of them", symbol.name, known(symbol.time), place.what),
                          "`find` makes one value of all points");
    if (!symbol.span.empty()) problem.notes.push_back({symbol.span, fmt::format("`{}` is {}, declared here", symbol.name, describe(symbol.kind))});
    return false;
  }
  const bool early = symbol.time == Time::Thread ? !place.threads : symbol.time > place.limit;
  if (!early) return true;
  auto& problem = error("E0301", span,
                        fmt::format("`{}` is known {}, and {} is settled {}", symbol.name, known(symbol.time), place.what, settled(place.limit)),
                        symbol.kind == Symbol::Kind::Find     ? "a finding is a value in later stages, as STAGE.NAME, and in expects"
                        : symbol.time == Time::Thread ? "lane, tid, warp and gtid have values inside patterns only"
                                                              : "");
  if (!symbol.span.empty()) {
    problem.notes.push_back({symbol.span, fmt::format("`{}` is {}, declared here", symbol.name, describe(symbol.kind))});
  }
  return false;
}

Typed ExpressionChecker::of(const Name& name, const Expr& expression, const Place& place) {
  const auto* symbol = place.names->find(name.text);
  if (!symbol) {
    if (name.text == "device") return {};
    error("E0202", expression.span, fmt::format("nothing is named `{}` here", name.text), did_you_mean(name.text, place.names->names()));
    return {};
  }
  if (symbol->kind == Symbol::Kind::Memory) {
    error("E0207", expression.span, fmt::format("`{}` is a memory, not a value", name.text), "memories are named by chase, load and store");
    return {};
  }
  if (symbol->kind == Symbol::Kind::Stage) {
    error("E0207", expression.span, fmt::format("`{}` is a stage, not a value", name.text),
          fmt::format("name one of its findings: `{}.FINDING`", name.text));
    return {};
  }
  if (!known_in_time(*symbol, expression.span, place)) return {any_type(), place.limit};
  return {symbol->type, symbol->time};
}

Typed ExpressionChecker::stage_finding(const Symbol& stage, const Member& member, const Expr& expression, const Place& place) {
  const auto* type = stage.type.field(member.field.text);
  if (!type) {
    error("E0202", member.field.span, fmt::format("stage `{}` has no finding `{}`", stage.name, member.field.text),
          did_you_mean(member.field.text, stage.type.field_names()));
    return {};
  }
  if (place.after_all) return {*type, Time::Finding};
  const auto note = [&](Diagnostic& problem) {
    problem.notes.push_back({stage.span, fmt::format("stage `{}` is declared here", stage.name)});
  };
  const auto whole = text(expression.span);
  if (place.stage == kNoStage) {
    note(error("E0301", expression.span, fmt::format("`{}` is a finding, and {} is settled {}", whole, place.what, settled(place.limit)),
               "use it in a later stage or in an expect"));
    return {};
  }
  if (stage.stage > place.stage) {
    note(error("E0302", expression.span, fmt::format("stage `{}` comes later in the file", stage.name),
               fmt::format("move stage `{}` above this one", stage.name)));
    return {};
  }
  if (stage.stage == place.stage && place.limit < Time::Finding) {
    note(error("E0301", expression.span,
               fmt::format("`{}` is known {}, and {} is settled {}", whole, known(Time::Finding), place.what, settled(place.limit)),
               "use it in a later stage or in an expect"));
    return {};
  }
  return {*type, stage.stage == place.stage ? Time::Finding : Time::File};
}

Typed ExpressionChecker::of(const Member& member, const Expr& expression, const Place& place) {
  if (const auto* root = std::get_if<Name>(&member.of->node)) {
    const auto* symbol = place.names->find(root->text);
    if (symbol && symbol->kind == Symbol::Kind::Stage) return stage_finding(*symbol, member, expression, place);
    if (symbol && symbol->kind == Symbol::Kind::Module) return {};
  }
  const auto of = check(*member.of, place);
  if (of.type.any()) return {any_type(), of.time};
  const auto& field = member.field.text;
  if (of.type.kind == Type::Kind::List && field == "count") return {number_of({}), of.time};
  if (of.type.kind == Type::Kind::Structure) {
    if (const auto* type = of.type.field(field)) return {*type, of.time};
    if (of.type.fields->empty()) return {any_type(), of.time};
    error("E0202", member.field.span, fmt::format("`{}` has no field `{}`", text(member.of->span), field),
          did_you_mean(field, of.type.field_names()));
    return {};
  }
  error("E0215", expression.span, fmt::format("`{}` is {}, which has no field `{}`", text(member.of->span), describe(of.type), field));
  return {};
}

const Symbol* ExpressionChecker::refer(const Word& word, const Place& place, const char* wanted) {
  const auto* symbol = place.names->find(word.text);
  if (!symbol) {
    error("E0202", word.span, fmt::format("nothing is named `{}` here", word.text), did_you_mean(word.text, place.names->names()));
    return nullptr;
  }
  const bool memory = symbol->kind == Symbol::Kind::Memory;
  if (memory != (std::string_view(wanted) == "a memory") && symbol->kind != Symbol::Kind::Module) {
    auto& problem = error("E0207", word.span, fmt::format("`{}` is {}, and {} is wanted here", word.text, describe(symbol->kind), wanted));
    if (!symbol->span.empty()) problem.notes.push_back({symbol->span, fmt::format("`{}` is declared here", word.text)});
    return nullptr;
  }
  return known_in_time(*symbol, word.span, place) ? symbol : nullptr;
}

}  // namespace gexp::lang
