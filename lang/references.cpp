// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lang/expressions.h"
#include "lang/foreign_words.h"

/// What a name or a stage's finding refers to, and whether its value exists by then.
namespace gexp::lang {

namespace {

struct Declaration {
  const Stage* stage;
  Span span;
  Symbol::Kind kind;
  Time time;
};

/// Where a stage declares this name: what is unknown here may be known there.
std::optional<Declaration> find_in_stages(const File& file, const std::string& name) {
  for (const auto& statement : file.statements) {
    const auto* stage = std::get_if<Stage>(&statement.node);
    if (!stage) continue;
    std::optional<Declaration> found;
    const auto look = [&](const Word& word, Symbol::Kind kind, Time time) {
      if (word.text == name) found = Declaration{stage, word.span, kind, time};
    };
    for (const auto& item : stage->items) {
      if (const auto* sweep = std::get_if<Sweep>(&item.node)) {
        for (const auto& word : sweep->names) look(word, Symbol::Kind::Sweep, Time::Point);
      }
      if (const auto* let = std::get_if<Let>(&item.node)) look(let->name, Symbol::Kind::Let, Time::Point);
      if (const auto* pattern = std::get_if<PatternDef>(&item.node)) look(pattern->name, Symbol::Kind::Pattern, Time::Point);
      if (const auto* timed = std::get_if<Timed>(&item.node)) look(timed->name, Symbol::Kind::Record, Time::Row);
      if (const auto* derive = std::get_if<Derive>(&item.node)) look(derive->name, Symbol::Kind::Derive, Time::Row);
      if (const auto* find = std::get_if<Find>(&item.node)) look(find->name, Symbol::Kind::Find, Time::Finding);
      if (found) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

void ExpressionChecker::unknown(const std::string& name, Span span, const Place& place, std::string_view wanted) {
  if (place.composed) {
    const auto near = did_you_mean(name, place.names->names());
    error("E0202", span, fmt::format("nothing is named `{}` here: an analysis reads its arguments", name), near.empty() ? fmt::format("give it another argument, `{}: TYPE`", name) : near);
    return;
  }
  const auto there = find_in_stages(file_, name);
  if (!there) {
    auto near = did_you_mean(name, place.names->names());
    if (near.empty() && wanted == "a value") near = foreign_name(name);
    const bool memory = wanted == "a memory", pattern = wanted == "a pattern";
    error("E0202", span, fmt::format("nothing is named `{}` here", name),
          !near.empty() ? near : memory  ? fmt::format("declare it in the file: `memory {}: u32[1MiB] in global`", name)
                         : pattern ? fmt::format("declare it above: `pattern {} = uniform(stride: 32B, span: 4KiB)`", name)
                         : std::string_view(place.what) == "a plot" ? fmt::format("write `step`, the number of the access, or declare it above: `let {} = …`", name)
                                   : fmt::format("declare it above: `let {} = …`", name));
    return;
  }
  const auto& stage = there->stage->name.text;
  const bool finding = there->kind == Symbol::Kind::Find;
  const bool early = place.stage == kNoStage && !place.after_all;
  auto& problem = error(early ? "E0301" : "E0202", span,
                        early ? fmt::format("`{}` is {} of stage `{}`, and {} is settled {}", name, describe(there->kind), stage, place.what, settled(place.limit))
                              : fmt::format("`{}` is {} of stage `{}` and unknown here", name, describe(there->kind), stage),
                        finding && !early ? fmt::format("write `{}.{}`", stage, name)
                        : early           ? "what belongs to the file has one value for all points: use a `param`"
                        : there->kind == Symbol::Kind::Let || there->kind == Symbol::Kind::Pattern ? "declare it in this stage too, or once above the stages"
                                                                                                   : "declare it in this stage too");
  problem.notes.push_back({there->span, fmt::format("`{}` is declared here", name)});
}

/// An analysis means what it means where it is declared: a name of the language that the stage which uses it has given a thing of its own.
bool ExpressionChecker::hidden_where_used(const std::string& name, Span span, const Place& place) {
  const auto* there = place.used_from ? place.used_from->find(name) : nullptr;
  if (!there || there->span.empty()) return false;
  error("E0233", span, fmt::format("`{}` is a name of the language here, and {} where the analysis is used", name, describe(there->kind)), "give that another name");
  return true;
}

bool ExpressionChecker::known_in_time(const Symbol& symbol, Span span, const Place& place) {
  const bool found_above = place.find && place.parts && symbol.kind == Symbol::Kind::Find;  // if it stands above
  const bool ordered = symbol.kind == Symbol::Kind::Derive ? place.ordered_derives : symbol.kind != Symbol::Kind::Find || found_above;
  if (symbol.usable_from > span.begin && ordered) {
    const bool itself = span.begin >= symbol.span.begin;
    auto& problem = error("E0206", span, itself ? fmt::format("`{}` is read by its own declaration", symbol.name)
                                                : fmt::format("`{}` is declared further down", symbol.name),
                          itself ? "a value is made of others: give the new one a name of its own" : "move its declaration above this line");
    problem.notes.push_back({symbol.span, fmt::format("`{}` is declared here", symbol.name)});
    return false;
  }
  if (place.once && symbol.time != Time::File && symbol.time != Time::Finding) {
    auto& problem = error("E0301", span, fmt::format("`{}` is known {}, and {} is judged once, after all of them", symbol.name, known(symbol.time), place.what),
                          place.composed ? "an analysis such as `value(…)` makes one value of all points" : "`find` makes one value of all points");
    if (!symbol.span.empty()) problem.notes.push_back({symbol.span, fmt::format("`{}` is {}, declared here", symbol.name, describe(symbol.kind))});
    return false;
  }
  if (place.makes_points && symbol.time == Time::Point && (symbol.kind == Symbol::Kind::Let || symbol.kind == Symbol::Kind::Pattern)) {
    auto& problem = error("E0301", span, fmt::format("`{}` is computed at each point, and {} makes the points", symbol.name, place.what), "declare it above the stage, or write its value here");
    problem.notes.push_back({symbol.span, fmt::format("`{}` is {}, declared here", symbol.name, describe(symbol.kind))});
    return false;
  }
  if (symbol.span.empty() && hidden_where_used(symbol.name, span, place)) return false;
  const bool part = symbol.span.empty() && (symbol.kind == Symbol::Kind::Thread || symbol.kind == Symbol::Kind::Column);
  if (part && place.record && !place.accesses && !(place.threads && symbol.kind == Symbol::Kind::Thread)) {
    const auto* known_part = find_part(symbol.name);
    if (!place.parts || !known_part) return refuse_part(place.record, symbol.name, span), false;
    parts_read_.push_back({known_part, span});
    return true;
  }
  const bool early = symbol.time == Time::Thread ? !place.threads : symbol.time > place.limit;
  if (!early || found_above) return true;
  auto& problem = error("E0301", span,
                        fmt::format("`{}` is known {}, and {} is settled {}", symbol.name, known(symbol.time), place.what, settled(place.limit)),
                        symbol.kind == Symbol::Kind::Find     ? "a finding is a value in later stages, as STAGE.NAME, in expects, and in the `where` of a find below it"
                        : symbol.time == Time::Thread ? "lane, tid, warp, cta and gtid have values in patterns, offsets and the conditions of branches"
                        : symbol.time == Time::Row    ? "the record is read by `until`, `refine … on`, `derive`, `find` and `plot`"
                                                      : "what belongs to the file has one value for all points: use a `param`");
  if (!symbol.span.empty()) {
    problem.notes.push_back({symbol.span, fmt::format("`{}` is {}, declared here", symbol.name, describe(symbol.kind))});
  }
  return false;
}

Typed ExpressionChecker::of(const Name& name, const Expr& expression, const Place& place) {
  const auto* symbol = place.names->find(name.text);
  if (!symbol) {
    if (name.text == "device") {
      if (hidden_where_used(name.text, expression.span, place)) return {};
      return {device_type(), Time::File};
    }
    if (name.text == "model") {
      if (place.after_all) return {model_type(), Time::Finding};
      error("E0301", expression.span, fmt::format("`model` is what a simulated device is made of, and {} must not know it", place.what),
            "only an expect of the file compares findings with it: `expect capacity.C == model.nc.capacity`");
      return {};
    }
    unknown(name.text, expression.span, place);
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
  if (symbol->kind == Symbol::Kind::Analysis) {
    error("E0207", expression.span, fmt::format("`{}` is an analysis, not a value", name.text), fmt::format("ask it: `find NAME: {} = {}(…)`", symbol->analysis->type.text, name.text));
    return {};
  }
  if (symbol->kind == Symbol::Kind::Module) {
    error("E0207", expression.span, fmt::format("`{}` is a used file, not a value", name.text), fmt::format("name one of its values: `{}.NAME`", name.text));
    return {};
  }
  if (!known_in_time(*symbol, expression.span, place)) return {any_type(), place.limit};
  if (symbol->per_thread || symbol->time == Time::Thread) read_per_thread = true;
  return {symbol->type, symbol->time};
}

/// `m.NAME` of `use "FILE" as m`: the type of that file's NAME.
Typed ExpressionChecker::module_value(const Symbol& module, const Word& field, Span whole, const Place& place) {
  if (!known_in_time(module, whole, place) || !module.module) return {};
  const auto& exports = *module.module;
  if (const auto* type = exports.type.field(field.text)) return {*type};
  if (const auto found = exports.per_thread.find(field.text); found != exports.per_thread.end()) {
    auto& problem = error("E0301", whole, fmt::format("`{}` differs from thread to thread, and what is used of a file are values", text(whole)),
                          "copy its declaration into this file");
    problem.notes.push_back({found->second, fmt::format("`{}` depends on a thread's number", field.text), exports.source});
    return {};
  }
  const auto file = exports.source ? exports.source->path() : "";
  error("E0202", field.span, fmt::format("`{}` ({}) has no param, let or pattern `{}`", module.name, file, field.text),
        did_you_mean_one_of(field.text, exports.type.field_names()));
  return {};
}

bool ExpressionChecker::module_pattern(const Word& word, const Place& place) {
  const auto dot = word.text.find('.');
  if (dot == std::string::npos) return false;
  const auto middle = word.span.begin + static_cast<std::uint32_t>(dot);
  const Word root{word.text.substr(0, dot), {word.span.begin, middle}}, field{word.text.substr(dot + 1), {middle + 1, word.span.end}};
  const auto* symbol = place.names->find(root.text);
  if (!symbol) {
    unknown(root.text, root.span, place);
  } else if (symbol->kind != Symbol::Kind::Module) {
    auto& problem = error("E0207", root.span, fmt::format("`{}` is {}, not a used file", root.text, describe(symbol->kind)),
                          fmt::format("write `pattern NAME = {}` and name it here", word.text));
    if (!symbol->span.empty()) problem.notes.push_back({symbol->span, fmt::format("`{}` is declared here", root.text)});
  } else if (const auto type = module_value(*symbol, field, word.span, place).type; !type.any() && type.kind != Type::Kind::Pattern) {
    error("E0207", word.span, fmt::format("`{}` is {}, and a pattern is wanted here", word.text, describe(type)), "a chase follows a pattern of the used file");
  }
  return true;
}

Typed ExpressionChecker::stage_finding(const Symbol& stage, const Member& member, const Expr& expression, const Place& place) {
  const auto* type = stage.type.field(member.field.text);
  if (!type) {
    error("E0202", member.field.span, fmt::format("stage `{}` has no finding `{}`", stage.name, member.field.text),
          did_you_mean_one_of(member.field.text, stage.type.field_names()));
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
  const bool same_launch = place.launch != kNoStage && stage.stage >= place.launch && place.limit < Time::Row;
  if ((stage.stage == place.stage && place.limit < Time::Finding) || same_launch) {
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
    if (symbol && symbol->kind == Symbol::Kind::Module) return module_value(*symbol, member.field, expression.span, place);
  }
  const auto of = check(*member.of, place);
  if (of.type.any()) return {any_type(), of.time};
  const auto& field = member.field.text;
  if (of.type.kind == Type::Kind::List && field == "count") return {number_of({}), of.time};
  if (of.type.kind == Type::Kind::Structure) {
    if (const auto* type = of.type.field(field)) return {*type, of.time};
    if (of.type.fields->empty()) return {any_type(), of.time};
    error("E0202", member.field.span, fmt::format("`{}` has no field `{}`", text(member.of->span), field),
          did_you_mean_one_of(field, of.type.field_names()));
    return {};
  }
  error("E0215", expression.span, fmt::format("`{}` is {}, which has no field `{}`", text(member.of->span), describe(of.type), field),
        of.type.kind == Type::Kind::List ? "a list has `.count`" : of.type.kind == Type::Kind::Pattern ? "`count(PATTERN)` is its length" : "");
  return {};
}

const Symbol* ExpressionChecker::refer(const Word& word, const Place& place, const char* wanted) {
  if (diagnostics_.full()) return nullptr;
  const auto* symbol = place.names->find(word.text);
  if (!symbol) {
    unknown(word.text, word.span, place, wanted);
    return nullptr;
  }
  const bool memory = symbol->kind == Symbol::Kind::Memory;
  if (memory != (std::string_view(wanted) == "a memory") || symbol->kind == Symbol::Kind::Module || symbol->kind == Symbol::Kind::Analysis) {
    auto& problem = error("E0207", word.span, fmt::format("`{}` is {}, and {} is wanted here", word.text, describe(symbol->kind), wanted),
                          std::string_view(wanted) == "a memory"    ? "a memory is declared by `memory A: u32[1MiB] in global`"
                          : symbol->kind == Symbol::Kind::Module    ? fmt::format("name one of its patterns: `{}.NAME`", word.text)
                          : std::string_view(wanted) == "a pattern" ? "a pattern is declared by `pattern ring = uniform(stride: 32B, span: 4KiB)`"
                                                                    : "");
    if (!symbol->span.empty()) problem.notes.push_back({symbol->span, fmt::format("`{}` is declared here", word.text)});
    return nullptr;
  }
  return known_in_time(*symbol, word.span, place) ? symbol : nullptr;
}

}  // namespace gexp::lang
