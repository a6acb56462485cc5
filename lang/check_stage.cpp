// SPDX-License-Identifier: Apache-2.0
#include "lang/check_stage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "lang/foreign_words.h"
#include "lang/limits.h"

namespace gexp::lang {
namespace {
/// `timed each lat` for `timed lat each`: what was meant is beyond doubt, so that the record is known by its name elsewhere.
bool is_swapped(const Timed& timed) { return timing_words().has(timed.name.text) && !timing_words().has(timed.how.text); }

/// The record's unit: `wall` is timed by events, `values` are what threads keep, the others are timed by the SM's clock.
Type record_type(const Timed& timed) {
  return record_of(timed.how.text == "wall" ? kSeconds : timed.how.text == "values" ? Dimension{} : kCycles);
}

bool keeps(const std::vector<Op>& body) {
  return std::any_of(body.begin(), body.end(), [](const Op& op) { return op.kind == Op::Kind::Keep || keeps(op.body) || keeps(op.otherwise); });
}

}  // namespace

Span first_word(const Source& source, Span span) {
  const auto text = source.slice(span);
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return c < 'a' || c > 'z'; });
  return {span.begin, span.begin + static_cast<std::uint32_t>(end - text.begin())};
}

std::string meant_type(const std::string& word, const std::vector<std::string_view>& types) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kOthers{{
      {"bytes", "B"}, {"byte", "B"}, {"seconds", "s"}, {"int", "count"}, {"number", "count"}, {"float", "count"},
      {"string", "name"}, {"text", "name"}, {"struct", "structure"}}};
  for (const auto& [other, ours] : kOthers) {
    if (word == other) return fmt::format("write `{}`", ours);
  }
  const auto near = did_you_mean(word, types);
  return near.empty() ? fmt::format("{} and {} are types", fmt::join(types.begin(), types.end() - 1, ", "), types.back()) : near;
}

Type settled(Type type) {
  type.zero = false;
  return type;
}

bool answers(const Type& type, const Type& declared) {
  const bool line_differs = type.kind == Type::Kind::Structure && declared.kind == Type::Kind::Structure && type.line != declared.line;
  return fits(type, declared) && !line_differs;
}

std::string written_type(const Type& type) {
  if (type.number()) return gexp::name(type.dimension);
  return type.kind == Type::Kind::List ? "list" : type.kind == Type::Kind::Text ? "name" : type.line ? "line" : "structure";
}

Type declared_findings(const Stage& stage) {
  std::vector<Type::Field> fields;
  for (const auto& item : stage.items) {
    if (const auto* find = std::get_if<Find>(&item.node)) {
      fields.emplace_back(find->name.text, declared_type(find->type.text).value_or(any_type()));
    }
  }
  return structure_of(std::move(fields));
}

void check_word(Diagnostics& diagnostics, const Word& word, const Words& words) {
  if (words.has(word.text)) return;
  auto near = foreign_word(word.text, words.what);
  if (near.empty()) near = did_you_mean(word.text, words.words);
  diagnostics.error("E0204", word.span, fmt::format("`{}` is not {}", word.text, words.what), near.empty() ? fmt::format("one of {}", fmt::join(words.words, ", ")) : near);
}

void check_expect(ExpressionChecker& expressions, const Expect& expect, const Place& place) {
  expressions.want(expect.condition, bool_type(), place, "what is expected");
  expressions.want(expect.where, bool_type(), place, "what follows `where`");
}

Place StageChecker::at(const char* what, Time limit, bool threads) const {
  Place place;
  place.names = &names_;
  place.what = what;
  place.limit = limit;
  place.threads = threads;
  place.stage = index_;
  place.launch = launch_;
  return place;
}

Place StageChecker::rows(const char* what, bool find) const {
  auto place = at(what, Time::Row);
  place.names = &row_names_, place.record = &record_, place.find = find;
  return place;
}

void StageChecker::add(Symbol::Kind kind, const Word& name, std::uint32_t usable_from, Time time, Type type) {
  Symbol symbol;
  symbol.kind = kind;
  symbol.name = name.text;
  symbol.span = name.span;
  symbol.type = std::move(type);
  symbol.time = time;
  symbol.usable_from = usable_from;
  names_.declare(std::move(symbol), diagnostics_);
}

/// A chase finds its pattern by name among all things of the file, and the stage is one of them.
void StageChecker::refuse_name_of(const Stage& stage, const Word& pattern) {
  if (pattern.text != stage.name.text) return;
  auto& problem = diagnostics_.error("E0201", pattern.span, fmt::format("the pattern `{}` has the name of its stage", pattern.text), "choose another name");
  problem.notes.push_back({stage.name.span, fmt::format("the stage `{}`", stage.name.text)});
}

void StageChecker::settle(const Word& name, Type type, Time time) {
  auto* symbol = names_.find_here(name.text);
  if (!symbol || symbol->span != name.span) return;
  symbol->type = std::move(type);
  symbol->time = time;
}

/// Names first: a sweep may refine on a record that is timed below it.
void StageChecker::declare_all(const Stage& stage) {
  for (const auto& item : stage.items) {
    const auto end = item.span.end;
    if (const auto* sweep = std::get_if<Sweep>(&item.node)) {
      const auto& domain = sweep->domain;
      const auto usable = domain.refine_to ? domain.refine_to->span.begin : domain.until ? domain.until->span.begin : end;
      for (const auto& name : sweep->names) add(Symbol::Kind::Sweep, name, usable, Time::Point);
    }
    if (const auto* let = std::get_if<Let>(&item.node)) add(Symbol::Kind::Let, let->name, end, Time::Point);
    if (const auto* pattern = std::get_if<PatternDef>(&item.node)) {
      add(Symbol::Kind::Pattern, pattern->name, end, Time::Point);
      refuse_name_of(stage, pattern->name);
    }
    if (const auto* timed = std::get_if<Timed>(&item.node)) {
      add(Symbol::Kind::Record, is_swapped(*timed) ? timed->how : timed->name, 0, Time::Row, record_type(*timed));
    }
    if (const auto* derive = std::get_if<Derive>(&item.node)) {
      add(Symbol::Kind::Derive, derive->name, end, Time::Row, declared_type(derive->type.text).value_or(any_type()));
    }
    // These belong to the file, which is said below; uses of their names are no second mistake.
    if (const auto* memory = std::get_if<Memory>(&item.node)) add(Symbol::Kind::Memory, memory->name, 0, Time::File);
    if (const auto* param = std::get_if<Param>(&item.node)) add(Symbol::Kind::Param, param->name, end, Time::File);
    if (const auto* use = std::get_if<Use>(&item.node)) add(Symbol::Kind::Module, use->as, end, Time::File);
    if (const auto* find = std::get_if<Find>(&item.node)) {
      add(Symbol::Kind::Find, find->name, end, Time::Finding, declared_type(find->type.text).value_or(any_type()));
    }
  }
}

void StageChecker::limit_sweeps(const Stage& stage) {
  std::size_t sweeps = 0;
  for (const auto& item : stage.items) {
    if (!std::holds_alternative<Sweep>(item.node) || ++sweeps <= kMaxSweeps) continue;
    diagnostics_.error("E0440", item.span, fmt::format("stage `{}` has more than {} sweeps", stage.name.text, kMaxSweeps), "one sweep over a list of pairs takes the place of several");
    return;
  }
}

namespace {

/// How the stage keeps its record, whatever statement says so first.
KeptRecord kept_record(const Stage& stage) {
  KeptRecord record{"", "", "raw", false};
  for (const auto& item : stage.items) {
    if (const auto* timed = std::get_if<Timed>(&item.node)) {
      record.name = is_swapped(*timed) ? timed->how.text : timed->name.text;
      record.how = is_swapped(*timed) ? timed->name.text : timed->how.text;
      record.kernel = std::any_of(timed->body.begin(), timed->body.end(), [](const Op& op) { return op.kind == Op::Kind::Kernel; });
    }
    if (const auto* keep = std::get_if<Record>(&item.node)) record.keep = keep->keep.text;
  }
  return record;
}

}  // namespace

Type StageChecker::run(const Stage& stage, Span inside, const StageChecker* leader) {
  record_ = kept_record(stage);
  if (leader) declare_of(*leader);
  declare_all(stage);
  declare_outcomes(row_names_, Time::Row);
  refuse_of_leader(stage);
  limit_sweeps(stage);
  only_once<Launch>(stage.items, expressions_.source(), diagnostics_);
  only_once<Transform>(stage.items, expressions_.source(), diagnostics_);
  only_once<Timed>(stage.items, expressions_.source(), diagnostics_);
  only_once<RepeatUntil>(stage.items, expressions_.source(), diagnostics_);
  for (const auto& item : stage.items) {
    std::visit([&](const auto& node) { check(node, item.span); }, item.node);
  }
  kernel_launch(stage);
  SymbolScope outcomes(&names_);
  declare_outcomes(outcomes, Time::Finding);
  for (const auto& item : stage.items) {
    if (const auto* expect = std::get_if<Expect>(&item.node)) {
      auto place = at("an expect", Time::Finding);
      place.names = &outcomes;
      place.once = true;
      check_expect(expressions_, *expect, place);
    }
  }
  expressions_.note(names_, inside);
  std::vector<Type::Field> findings;
  for (const auto& item : stage.items) {
    const auto* find = std::get_if<Find>(&item.node);
    const auto* symbol = find ? names_.find_here(find->name.text) : nullptr;
    if (symbol && symbol->span == find->name.span) findings.emplace_back(symbol->name, symbol->type);
  }
  return structure_of(std::move(findings));
}

Type StageChecker::declared(const Word& word) {
  if (auto type = declared_type(word.text)) return *type;
  diagnostics_.error("E0213", word.span, fmt::format("`{}` is no type", word.text), meant_type(word.text, type_words()));
  return any_type();
}

void StageChecker::misplaced(Span span) {
  diagnostics_.error("E0203", first_word(expressions_.source(), span), "this statement belongs to the file, not into a stage", "move it above the stage");
}

void StageChecker::check(const Stage& stage, Span span) {
  diagnostics_.error("E0203", first_word(expressions_.source(), span), fmt::format("stage `{}` stands inside another stage", stage.name.text),
                     "close the outer stage with `}` before it");
}

void StageChecker::check(const Give&, Span span) {
  diagnostics_.error("E0203", first_word(expressions_.source(), span), "this statement belongs inside an analysis", "a stage asks with `find`");
}

void StageChecker::check(const Let& let, Span) {
  const auto typed = expressions_.check(let.value, at("a value of the stage", Time::Point, true));
  settle(let.name, settled(typed.type), std::max(typed.time, Time::Point));
}

void StageChecker::check(const PatternDef& pattern, Span) {
  expressions_.want(pattern.value, pattern_type(), at("a pattern", Time::Point, true), fmt::format("`{}`", pattern.name.text));
  settle(pattern.name, pattern_type(), Time::Point);
}

void StageChecker::check(const Require& require, Span) {
  expressions_.want(require.condition, bool_type(), at("a precondition", Time::Point), "what is required");
}

void StageChecker::check(const Skip& skip, Span) {
  expressions_.want(skip.condition, bool_type(), at("a skip", Time::Point), "the condition of `skip`");
}

void StageChecker::check(const Launch& launch, Span) {
  const auto place = at("a launch", Time::Point);
  expressions_.want(launch.grid, plain(), place, "the grid");
  expressions_.want(launch.block, plain(), place, "the block");
  expressions_.want(launch.cluster, plain(), place, "the cluster");
  expressions_.want(launch.persm, plain(), place, "the blocks a multiprocessor");
  expressions_.want(launch.sm, plain(), place, "the multiprocessor");
  expressions_.want(launch.sms, plain(), place, "the number of multiprocessors");
  expressions_.want(launch.smem, bytes(), place, "the shared memory");
  expressions_.want(launch.carveout, bytes(), place, "the carveout");
  expressions_.want(launch.bank, bytes(), place, "the bank width");
  expressions_.want(launch.limit, number_of(kSeconds), place, "the time limit");
  expressions_.want(launch.registers, plain(), place, "the registers of a thread");
  if (launch.place) check_word(diagnostics_, *launch.place, place_words());
}

void StageChecker::check(const Transform& transform, Span) { transformation(transform); }
void StageChecker::check(const Flush& flush, Span) { check_word(diagnostics_, flush.level, flush_words()); }
void StageChecker::check(const Warm& warm, Span) {
  const auto place = at("a launch", Time::Point);
  expressions_.want(warm.grid, plain(), place, "the grid");
  expressions_.want(warm.block, plain(), place, "the block");
  if (keeps(warm.body)) diagnostics_.error("E0236", first_word(expressions_.source(), warm.body.front().span), "nothing of a warm-up is recorded", "`keep` stands in the timed region");
  ops(warm.body, names_);
  kernels(warm.body, nullptr);
  if (warm.grid || warm.block) refuse_chases(warm.body), refuse_flags(warm.body);
}

void StageChecker::refuse_chases(const std::vector<Op>& body) {
  for (const auto& op : body) {
    refuse_chases(op.body);
    refuse_chases(op.otherwise);
    if (op.kind != Op::Kind::Chase) continue;
    diagnostics_.error("E0223", first_word(expressions_.source(), op.span), "a warm-up that is a launch of its own follows no links",
                       "load what the chase visits: `load A at gtid * 32B via cg`; or chase in a `warm` without `grid` and `block`");
  }
}
void StageChecker::check(const Timed& timed, Span) {
  if (is_swapped(timed)) {
    diagnostics_.error("E0204", cover(timed.name.span, timed.how.span), fmt::format("the record's name stands before `{}`", timed.name.text),
                       fmt::format("write `timed {} {}`", timed.how.text, timed.name.text));
  } else {
    check_word(diagnostics_, timed.how, timing_words());
  }
  if ((timed.how.text == "values") != keeps(timed.body)) {
    const bool values = timed.how.text == "values";
    diagnostics_.error("E0236", cover(timed.name.span, timed.how.span), values ? "nothing is kept here, and the record is of what is kept" : fmt::format("`keep` has no record: this one is of `{}`", timed.how.text),
                       values ? "write `keep x` between the braces" : fmt::format("write `timed {} values {{ … }}`, in a stage of its own beside the one that is timed", timed.name.text));
  }
  ops(timed.body, names_);
  kernels(timed.body, &timed);
}

void StageChecker::check(const RepeatUntil& repeat, Span) {
  expressions_.want(repeat.at_least, plain(), at("a number of repetitions", Time::File), "the number of repetitions");
  expressions_.want(repeat.at_most, plain(), at("a number of repetitions", Time::File), "the number of repetitions");
  expressions_.want(repeat.until, bool_type(), rows("a stopping rule"), "what follows `until`");
  const auto& most = repeat.at_most ? repeat.at_most : repeat.at_least;
  const auto* written = most ? std::get_if<Quantity>(&most->node) : nullptr;
  if (written && written->unit.empty() && written->number > kMaxRepetitions) {
    diagnostics_.error("E0441", most->span, fmt::format("a point is repeated at most {:.0f} times", kMaxRepetitions), "fewer tell as much: `repeat 3..50 until ci(median(lat)) < 2%`");
  }
}

void StageChecker::check(const Record& record, Span) {
  const auto* symbol = names_.find_here(record.name.text);
  if (!symbol || symbol->kind != Symbol::Kind::Record) {
    std::vector<std::string_view> records;
    for (const auto name : names_.names()) {
      if (const auto* each = names_.find_here(name); each && each->kind == Symbol::Kind::Record) records.push_back(name);
    }
    diagnostics_.error(symbol ? "E0207" : "E0202", record.name.span, fmt::format("no timed region of this stage is named `{}`", record.name.text),
                       records.empty() ? "" : fmt::format("its timed region is `{}`", records.front()));
  }
  check_word(diagnostics_, record.keep, keep_words());
}

void StageChecker::check(const Derive& derive, Span) {
  const auto wanted = declared(derive.type);
  auto place = rows("a derived value");
  place.ordered_derives = true;
  const auto typed = expressions_.check(derive.value, place);
  if (!derive.value) return;
  if (typed.type.number() && wanted.number() && !fits(typed.type, wanted)) {
    diagnostics_.error("E0214", derive.type.span,
                       fmt::format("`{}` is declared as {}, and its value is {}", derive.name.text, describe(wanted), describe(typed.type)),
                       fmt::format("write `: {}`", gexp::name(typed.type.dimension)));
    return;
  }
  expressions_.expect_type(*derive.value, typed.type, wanted, fmt::format("`{}`", derive.name.text));
}

void StageChecker::check(const Find& find, Span) {
  const auto wanted = declared(find.type);
  const auto typed = expressions_.check_analysis(find.analysis, rows("an analysis", true));
  expressions_.want(find.need, plain(), at("the confidence of a finding", Time::File), "the confidence after `need`");
  const auto* need = find.need ? std::get_if<Quantity>(&find.need->node) : nullptr;
  if (need && need->unit.empty() && need->number > 1) {
    diagnostics_.error("E0208", find.need->span, "a confidence is at most 100%", fmt::format("write {}%", expressions_.source().slice(find.need->span)));
  }
  // `name` of a structure that has one: replacement(…) declared as its policy's name alone.
  if (const auto* named = wanted.kind == Type::Kind::Text ? typed.type.field("name") : nullptr; named && named->kind == Type::Kind::Text) {
    return settle(find.name, *named, Time::Finding);
  }
  if (!answers(typed.type, wanted)) {
    diagnostics_.error("E0214", find.type.span, fmt::format("`{}` is declared as {}, and the analysis gives {}", find.name.text, describe(wanted), describe(typed.type)),
                       fmt::format("write `: {}`", written_type(typed.type)));
    return;
  }
  if (!typed.type.any()) settle(find.name, settled(typed.type), Time::Finding);
}

void StageChecker::check(const Expect&, Span) {}  // after the findings

void StageChecker::check(const Plot& plot, Span) {
  const auto place = rows("a plot");
  for (const auto* axis : {&plot.y, &plot.x}) {
    auto own = place;
    own.accesses = axis == &plot.x;
    const auto type = expressions_.check(*axis, own).type;
    if (type.any() || type.number() || type.kind == Type::Kind::Record) continue;
    diagnostics_.error("E0215", (*axis)->span, fmt::format("what is plotted is a number or a record, and this is {}", describe(type)), "write it like `plot median(lat) vs n`");
  }
  if (plot.by) plot_by(plot, place);
  if (plot.drawn) check_word(diagnostics_, *plot.drawn, drawing_words());
  if (plot.drawn && plot.drawn->text == "heatmap" && !plot.by) {
    diagnostics_.error("E0222", plot.drawn->span, "a heat map has a row for each value after `by`", "write it like `plot median(lat) vs stride by n as heatmap`");
  }
  for (const auto& name : plot.log) {
    auto own = place;
    own.accesses = true;
    expressions_.refer(name, own, "a name");
  }
}

/// The accesses of a walk may be told apart; whatever else is plotted has one value a point.
void StageChecker::plot_by(const Plot& plot, const Place& place) {
  const auto named = [](const ExprPtr& expression) {
    const auto* name = expression ? std::get_if<Name>(&expression->node) : nullptr;
    return name ? std::string_view(name->text) : std::string_view();
  };
  auto own = place;
  own.accesses = named(plot.y) == record_.name && named(plot.x) == "step" && record_.how == "each" && plot.by->text == "seg";
  expressions_.refer(*plot.by, own, "a name");
}

}  // namespace gexp::lang
