// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/mutate/mutate.h"
#include "compiler/mutate/parts.h"

// What a person does to a file who wants less time, a finer curve, another device, or who has not read what a clause is
// for. Each is one small edit, so that the mutated file reads as somebody would have written it.
namespace gexp::compiler {
namespace {

using namespace lang;
using mutate_parts::stage_name;

class Mutations {
 public:
  Mutations(const Source& source, const File& file) : source_(source), file_(file) {}

  std::vector<Mutation> all() {
    for (const auto& statement : file_.statements) {
      if (const auto* param = std::get_if<Param>(&statement.node)) of_param(*param);
      if (const auto* pattern = std::get_if<PatternDef>(&statement.node)) of_pattern(*pattern, "");
      if (const auto* stage = std::get_if<Stage>(&statement.node)) of_stage(*stage);
    }
    for (auto& mutation : mutate_parts::other_paths(file_)) all_.push_back(std::move(mutation));
    return std::move(all_);
  }

 private:
  std::string text(Span span) const { return std::string(source_.slice(span)); }
  std::string text(const ExprPtr& of) const { return text(of->span); }

  void add(std::string kind, const std::string& stage, const std::string& words, std::vector<Mutation::Edit> edits,
           std::string nothing = {}) {
    all_.push_back({std::move(kind), stage_name(stage) + words, std::move(edits), std::move(nothing)});
  }
  /// One part takes another's place.
  void put(const char* kind, const std::string& stage, const std::string& what, const ExprPtr& part,
           const std::string& instead) {
    add(kind, stage, fmt::format("{} `{}` instead of `{}`", what, instead, text(part)), {{part->span, instead}});
  }

  void of_param(const Param& param) {
    const auto* quantity = std::get_if<Quantity>(&param.value->node);
    if (!quantity || quantity->number == 0) return;
    for (const double factor : {0.25, 0.5, 2.0, 4.0}) {
      const double number = quantity->number * factor;
      if (number != std::floor(number)) continue;
      put("param", "", fmt::format("`param {}` is", param.name.text), param.value,
          fmt::format("{:.15g}{}", number, quantity->unit));
    }
  }

  void of_stage(const Stage& stage) {
    std::vector<const Sweep*> sweeps;
    for (const auto& item : stage.items) {
      if (const auto* sweep = std::get_if<Sweep>(&item.node)) sweeps.push_back(sweep);
    }
    for (const auto* sweep : sweeps) of_sweep(stage.name.text, *sweep);
    for (const auto& item : stage.items) {
      if (const auto* pattern = std::get_if<PatternDef>(&item.node)) of_pattern(*pattern, stage.name.text);
      if (const auto* repeat = std::get_if<RepeatUntil>(&item.node)) of_repeat(stage.name.text, *repeat);
      if (const auto* find = std::get_if<Find>(&item.node)) of_find(stage.name.text, *find, sweeps);
      if (const auto* timed = std::get_if<Timed>(&item.node)) of_body(stage.name.text, "timed", timed->body);
      if (const auto* warm = std::get_if<Warm>(&item.node)) {
        add("warm", stage.name.text, "no `warm`", {{item.span, ""}});
        of_body(stage.name.text, "warm", warm->body);
      }
      if (const auto* flush = std::get_if<Flush>(&item.node))
        add("warm", stage.name.text, fmt::format("no `flush {}`", flush->level.text), {{item.span, ""}});
    }
    for (const auto* sweep : sweeps) of_growth(stage, *sweep);
  }

  void of_sweep(const std::string& stage, const Sweep& sweep) {
    const auto& domain = sweep.domain;
    const auto name = fmt::format("`sweep {}`", sweep.names[0].text);
    if (domain.list) {
      const auto* list = std::get_if<ListOf>(&domain.list->node);
      for (std::size_t i = 0; list && list->items.size() > 1 && i < list->items.size(); ++i) {
        std::string rest;
        for (std::size_t j = 0; j < list->items.size(); ++j) {
          if (j != i) rest += (rest.empty() ? "" : ", ") + text(list->items[j]);
        }
        put("values", stage, name + " in", domain.list, "[" + rest + "]");
      }
      return;
    }
    const auto from = text(domain.from), to = text(domain.to);
    using By = Domain::By;
    if (domain.by == By::One) {
      for (const int step : {2, 3, 4, 8, 16, 64})
        add("step", stage, fmt::format("{} in steps of {} instead of 1", name, step),
            {{{domain.to->span.end, domain.to->span.end}, fmt::format(" step {}", step)}});
      for (const int more : {1, 2, 5})
        put("begin", stage, name + " from", domain.from, fmt::format("{} + {}", from, more));
    }
    if (domain.by == By::Step) {
      for (const int times : {2, 3, 4, 8})
        put("step", stage, name + " in steps of", domain.amount, fmt::format("{} * ({})", times, text(domain.amount)));
      for (const int more : {1, 2, 5})
        put("begin", stage, name + " from", domain.from,
            fmt::format("{} + {} * ({})", from, more, text(domain.amount)));
    }
    if (domain.by == By::Times) {
      for (const int times : {3, 4, 8}) put("step", stage, name + " times", domain.amount, std::to_string(times));
      for (const int times : {2, 3, 8})
        put("begin", stage, name + " from", domain.from, fmt::format("{} * ({})", times, from));
    }
    for (const int part : {2, 4, 16}) put("end", stage, name + " to", domain.to, fmt::format("({}) div {}", to, part));
    if (domain.refine_to) {
      for (const int times : {2, 3, 5, 16})
        put("refine", stage, name + " refined to", domain.refine_to,
            fmt::format("{} * ({})", times, text(domain.refine_to)));
    }
    if (domain.until) {
      const auto word = source_.text().rfind("until", domain.until->span.begin);
      add("until", stage, fmt::format("{} without `until`", name),
          {{{static_cast<std::uint32_t>(word), domain.until->span.end}, ""}});
    }
  }

  void of_pattern(const PatternDef& pattern, const std::string& stage) {
    const auto name = fmt::format("`pattern {}`", pattern.name.text);
    const auto span = pattern.value->span;
    for (const char* by : {"32B", "128B", "36B", "4KiB", "64KiB"}) {
      add("base", stage, fmt::format("{} begins {} further on", name, by),
          {{{span.begin, span.begin}, "[moved + " + std::string(by) + " for moved in "}, {{span.end, span.end}, "]"}});
    }
    for (const auto& [each, by] : {std::pair{"1KiB", "32B"}, std::pair{"4KiB", "128B"}, std::pair{"64KiB", "128B"}}) {
      add("skew", stage, fmt::format("each {} of {} lies {} further on", each, name, by),
          {{{span.begin, span.begin}, fmt::format("[moved + moved div {} * {} for moved in ", each, by)},
           {{span.end, span.end}, "]"}});
    }
    for (const auto* stride : mutate_parts::strides(*pattern.value)) {
      for (const int times : {2, 3, 4, 8}) {
        add("stride", stage, fmt::format("{} with {} times the distance `{}`", name, times, text(stride->span)),
            {{stride->span, fmt::format("({} * ({}))", times, text(stride->span))}});
      }
      add("stride", stage, fmt::format("{} with half the distance `{}`", name, text(stride->span)),
          {{stride->span, fmt::format("(({}) div 2)", text(stride->span))}});
    }
  }

  /// So many lines or pages more at each step.
  void of_growth(const Stage& stage, const Sweep& sweep) {
    if (sweep.domain.list || sweep.domain.by != Domain::By::One || sweep.names.size() != 1) return;
    if (const auto* most = std::get_if<Quantity>(&sweep.domain.to->node); most && most->number <= 1)
      return;  // a switch, no size
    std::vector<Span> uses;
    for (const auto& item : stage.items) {
      const auto* pattern = std::get_if<PatternDef>(&item.node);
      if (pattern) mutate_parts::sizes(*pattern->value, sweep.names[0].text, uses);
    }
    if (uses.empty()) return;
    for (const int times : {2, 3}) {
      std::vector<Mutation::Edit> edits;
      for (const auto use : uses) edits.push_back({use, fmt::format("({} * {})", times, sweep.names[0].text)});
      add("growth", stage.name.text, fmt::format("its patterns grow by {} `{}` a step", times, sweep.names[0].text),
          std::move(edits));
    }
  }

  void of_repeat(const std::string& stage, const RepeatUntil& repeat) {
    const auto least = text(repeat.at_least);
    const auto* number = std::get_if<Quantity>(&repeat.at_least->node);
    if (!number) return;
    const bool range = repeat.at_most && repeat.at_most->span.begin > repeat.at_least->span.begin;
    const Span both = range ? cover(repeat.at_least->span, repeat.at_most->span) : repeat.at_least->span;
    for (const int count : {1, 2, 3, 6}) {
      if (count == number->number) continue;
      const auto instead = range ? fmt::format("{}..{}", count, 2 * count) : std::to_string(count);
      add("repeat", stage, fmt::format("`repeat {}` instead of `repeat {}`", instead, text(both)), {{both, instead}});
    }
  }

  void of_body(const std::string& stage, const char* where, const std::vector<Op>& body) {
    for (const auto& op : body) {
      of_body(stage, where, op.body);
      of_body(stage, where, op.otherwise);
      if (op.kind != Operation::Chase || !op.count) continue;
      const auto count = text(op.count);
      const auto* number = std::get_if<Quantity>(&op.count->node);
      const auto what = fmt::format("`{}`: {} of {}", where, op.laps ? "laps" : "steps", op.pattern.text);
      if (number && op.laps) {
        for (const int laps : {1, 2, 3, 8}) {
          if (laps != number->number) put("laps", stage, what, op.count, std::to_string(laps));
        }
      } else {
        for (const int part : {2, 3, 8}) put("laps", stage, what, op.count, fmt::format("({}) div {}", count, part));
      }
    }
  }

  void of_find(const std::string& stage, const Find& find, const std::vector<const Sweep*>& sweeps) {
    const auto* call = std::get_if<Call>(&find.analysis->node);
    if (!call || call->arguments.empty()) return;
    const auto what = fmt::format("`find {}`", find.name.text);
    for (const auto& argument : call->arguments) {
      if (!argument.label || argument.label->text != "line") continue;
      put("line", stage, what + " with line:", argument.value, fmt::format("2 * ({})", text(argument.value)));
      put("line", stage, what + " with line:", argument.value, fmt::format("({}) div 2", text(argument.value)));
    }
    const auto& first = call->arguments[0];
    if (first.where || first.label) return;
    auto end = first.value->span.end;
    if (first.over) end = std::max(end, first.over->span.end);
    if (first.by) end = std::max(end, first.by->span.end);
    for (const auto* sweep : sweeps) {
      for (const auto& [condition, nothing] : mutate_parts::selections(source_, *sweep)) {
        add("where", stage, fmt::format("{} where {}", what, condition), {{{end, end}, " where " + condition}},
            nothing ? stage + "." + find.name.text : "");
      }
    }
  }

  const Source& source_;
  const File& file_;
  std::vector<Mutation> all_;
};

}  // namespace

std::vector<Mutation> mutations(const Source& source, const lang::File& file) { return Mutations(source, file).all(); }

}  // namespace gexp::compiler
