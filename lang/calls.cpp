// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lang/expressions.h"

/// Calls: functions, pattern constructors and analyses against the vocabulary's table.
namespace gexp::lang {
namespace {

using Subject = Callable::Subject;
using Clause = Callable::Clause;

Type item_of(const Type& type) {
  if (type.kind == Type::Kind::List) return type.item ? *type.item : any_type();
  if (type.kind == Type::Kind::Pattern) return number_of(kBytes);
  if (type.kind == Type::Kind::Record) return number_of(type.dimension);
  auto item = type;
  item.zero = false;
  return item;
}

Type cache_sets_type() {  // ways is a list where the sets differ
  const auto plain = number_of({});
  return structure_of({{"sets", plain}, {"ways", any_type()}, {"lines", plain}, {"sizes", list_of(plain)}, {"bits", list_of(plain)},
                       {"members", list_of(number_of(kBytes))}, {"mapping", text_type()}});
}

Type wanted_by(Takes takes) {
  switch (takes) {
    case Takes::Bytes: return number_of(kBytes);
    case Takes::Plain:
    case Takes::PerPoint: return number_of({});
    case Takes::Cycles: return number_of(kCycles);
    case Takes::Text: return text_type();
    case Takes::TextList: return list_of(text_type());
    case Takes::BytesList: return list_of(number_of(kBytes));
    case Takes::PlainList: return list_of(number_of({}));
    case Takes::Neighbours: return text_type();
    case Takes::CacheSets: return cache_sets_type();
    case Takes::Nothing: break;
  }
  return any_type();
}

bool is_analysis(const Callable& callable) { return callable.kind == Callable::Kind::Analysis; }

/// An analysis answers each value after `by`; a function of a record each part of it.
bool takes_by(const Callable& callable) {
  if (callable.kind == Callable::Kind::Analysis) return !callable.over_finding;
  return callable.parts != Callable::Parts::None;
}

/// For what one would look for by another name than its own.
std::string by_another_name(std::string_view name) {
  for (const std::string_view structure : {"cache_structure", "set_index", "tlb_structure"}) {
    if (name == structure) return "`cache_sets` gives sets, ways, sizes and the index function, of caches and of TLBs";
  }
  for (const std::string_view list : {"hits_and_misses", "hit_or_miss", "hit_miss", "misses_of"}) {
    if (name == list) return "`hits` tells of each access whether it hits";
  }
  return "";
}

std::string example(const Callable& callable) {
  return callable.usage.empty() ? "" : fmt::format("write it like `{}`", callable.usage);
}

/// Where a function told parts apart, `median(t by warp)`, and one value a point is wanted: how the analysis is asked about parts.
std::string parted_instead(const Callable& callable, const Expr& value) {
  const auto* call = std::get_if<Call>(&value.node);
  if (!call || call->arguments.size() != 1 || !call->arguments[0].by || callable.kind != Callable::Kind::Analysis) return "";
  const auto* record = call->arguments[0].value ? std::get_if<Name>(&call->arguments[0].value->node) : nullptr;
  const auto& part = call->arguments[0].by->text;
  if (!record || !find_part(part)) return "";
  return fmt::format("one value a point: `max({0}({1} by {2}))`, or `{0}({1} where {2} == 0)`", call->callee.text, record->text, part);
}

}  // namespace

Typed ExpressionChecker::check_analysis(const ExprPtr& expression, const Place& place) {
  auto asked = place;
  asked.calls = Calls::Analysis;
  expansions_->of_find = 0;
  return check(expression, asked);
}

std::string sweeps_of(const SymbolScope& names) {
  std::string all;
  for (const auto name : names.names()) {
    if (const auto* symbol = names.find(name); symbol && symbol->kind == Symbol::Kind::Sweep) all += (all.empty() ? "it sweeps " : ", ") + std::string(name);
  }
  return all;
}

Typed ExpressionChecker::of(const Call& call, const Expr& expression, const Place& place) {
  const bool analyses = place.calls == Calls::Analysis;
  const auto* callable = find_callable(call.callee.text);
  const auto& name = call.callee.text;
  if (!callable) {
    bool said = false;
    if (const auto own = own_analysis(call.callee, place, said); own.symbol) return of_own(own, call, expression, place);
    if (said) return {};
    auto hint = by_another_name(name);
    if (hint.empty() && place.calls != Calls::Functions) hint = did_you_mean(name, own_names());
    if (hint.empty()) hint = did_you_mean(name, callable_names(analyses));
    if (hint.empty()) hint = did_you_mean(name, callable_names(!analyses));
    error("E0221", call.callee.span, fmt::format("there is no {} `{}`", place.calls == Calls::Functions ? "function" : "analysis", name),
          !hint.empty() ? hint : analyses ? "docs/language.md lists the analyses" : "functions are min max abs floor ceil round log2 gcd lcm popcount count needs");
    return {};
  }
  const bool asks = is_analysis(*callable);
  if (asks != analyses && place.calls != Calls::Both) {
    error("E0221", call.callee.span,
          analyses ? fmt::format("`{}` is a function, and `find` needs an analysis", name) : fmt::format("`{}` is an analysis, which only `find` applies", name),
          place.composed ? "give its answer a name, with a `let` of its own above" : analyses ? "`derive` keeps a function of the records" : fmt::format("write `find NAME: TYPE = {}(…)` and use the finding", name));
    return {};
  }
  Seen seen;
  Place inner = place;
  inner.parts = inner.accesses = false;  // of an argument's own `where`, they are its own
  if (asks) inner.calls = Calls::Functions, inner.once = false;
  if (name == "unique") inner.threads = true;
  std::size_t position = 0;
  for (const auto& argument : call.arguments) check_argument(*callable, argument, argument.label ? 0 : position++, inner, seen);
  check_presence(*callable, call, expression.span, seen);
  if (name == "unique") seen.time = seen.time == Time::Thread ? Time::Point : seen.time;
  if (name == "merger") seen.time = std::max(seen.time, Time::Thread);
  if (name == "merger" && !place.threads) {
    error("E0301", call.callee.span, fmt::format("`merger` is known {}, and {} is settled {}", known(Time::Thread), place.what, settled(place.limit)),
          "count its slots with `unique(merger(…))`");
    return {};
  }
  if (asks && place.chosen) check_chosen(*callable, call, place);
  auto typed = seen.wrong ? Typed{any_type(), seen.time} : answer(*callable, seen);
  if (asks && place.composed) typed.time = Time::File;  // one value, as what is known from the beginning
  return typed;
}

void ExpressionChecker::check_argument(const Callable& callable, const CallArgument& argument, std::size_t position, const Place& place, Seen& seen) {
  if (argument.label) {
    check_label(callable, argument, place, seen);
  } else if (static_cast<int>(position) < callable.most) {
    check_subject(callable, argument, position, place, seen);
  } else if (argument.value) {
    const auto hint = example(callable);
    if (static_cast<int>(position) == callable.most) {
      error("E0222", argument.value->span, callable.most == 0 ? fmt::format("the arguments of `{}` have labels", callable.name)
                                                              : fmt::format("`{}` takes {} argument{} without a label", callable.name, callable.most, callable.most == 1 ? "" : "s"), hint);
    }
    seen.wrong = true;
  }
  check_clauses(callable, argument, !argument.label && position == 0, place, seen);
}

void ExpressionChecker::check_subject(const Callable& callable, const CallArgument& argument, std::size_t position, const Place& place, Seen& seen) {
  const auto typed = check(argument.value, place);
  seen.time = std::max(seen.time, typed.time);
  const auto& value = *argument.value;
  const auto role = fmt::format("the argument of `{}`", callable.name);
  auto type = typed.type;
  const auto wrong = [&](const char* wanted) {
    const auto parted = type.kind == Type::Kind::List ? parted_instead(callable, value) : "";
    error("E0215", value.span, fmt::format("{} is {}, and `{}` is {}", role, wanted, text(value.span), describe(type)),
          parted.empty() ? example(callable) : parted);
    type = any_type();
  };
  const bool whole_list = callable.name == "value" && type.kind == Type::Kind::List;  // one point's list is a finding as it stands
  // No finding is a condition.
  const bool answers_it = callable.kind == Callable::Kind::Analysis && (callable.answer == Callable::Answer::Subject || callable.answer == Callable::Answer::SubjectList);
  if (!type.any()) {
    switch (callable.subject) {
      case Subject::Record:
        if (type.kind != Type::Kind::Record) wrong("a record");
        break;
      case Subject::Value:
        if (!whole_list && !type.number() && type.kind != Type::Kind::Record && (type.kind != Type::Kind::Bool || answers_it)) wrong("a number or a record");
        break;
      case Subject::Number: type = number(value, type, role); break;
      case Subject::Pattern:
        if (position == 0 && !expect_type(value, type, pattern_type(), role)) type = any_type();
        if (position == 1 && !expect_type(value, type, number_of({}), callable.name == "shuffle" ? "a seed" : callable.name == "item" ? "a place" : "a count")) type = any_type();
        break;
      case Subject::List:
        if (type.kind != Type::Kind::List && type.kind != Type::Kind::Pattern) wrong("a list or a pattern");
        break;
      case Subject::Text:
        if (!expect_type(value, type, text_type(), role)) type = any_type();
        break;
      case Subject::Anything:
        if (!type.number() && type.kind != Type::Kind::Record && type.kind != Type::Kind::List) wrong("a number, a list or a record");
        break;
      case Subject::None: break;
    }
  }
  if (type.any()) {
    seen.subject = any_type();
  } else if (position == 0) {
    seen.subject = whole_list ? type : item_of(type);
  } else if (callable.answer == Callable::Answer::Subject && !seen.subject.any()) {
    const auto item = item_of(type);
    if (seen.subject.number() && item.number() && (item.dimension != seen.subject.dimension) && !type.zero) {
      expect_type(value, type, seen.subject, fmt::format("every argument of `{}`", callable.name));
      seen.subject = any_type();
    }
  }
}

void ExpressionChecker::check_label(const Callable& callable, const CallArgument& argument, const Place& stands, Seen& seen) {
  const auto& label = *argument.label;
  auto place = stands;
  const auto parameter = std::find_if(callable.labels.begin(), callable.labels.end(), [&](const Label& l) { return !l.name.empty() && l.name == label.text; });
  const bool per_point = parameter != callable.labels.end() && parameter->takes == Takes::PerPoint;
  if (callable.kind == Callable::Kind::Analysis && !per_point) {  // one value for the whole table
    place.limit = Time::File;
    place.what = "a labelled argument of an analysis";
  }
  if (callable.free_labels) {
    if (callable.kind == Callable::Kind::Pattern) {
      seen.time = std::max(seen.time, want(argument.value, pattern_type(), place, fmt::format("part `{}`", label.text)).time);
      return;
    }
    const auto* symbol = place.names->find(label.text);
    if (!symbol || (symbol->kind != Symbol::Kind::Sweep && symbol->kind != Symbol::Kind::Argument)) {
      error("E0222", label.span, fmt::format("`{}` is no sweep variable of this stage", label.text), sweeps_of(*place.names));
      seen.wrong = true;
      return;
    }
    want(argument.value, symbol->type, place, fmt::format("`{}`", label.text));
    return;
  }
  if (parameter == callable.labels.end()) {
    std::vector<std::string_view> names;
    for (const auto& l : callable.labels) {
      if (!l.name.empty()) names.push_back(l.name);
    }
    const auto near = did_you_mean(label.text, names);
    error("E0222", label.span, fmt::format("`{}` has no parameter `{}`", callable.name, label.text), near.empty() ? example(callable) : near);
    seen.wrong = true;
    return;
  }
  if (parameter->takes == Takes::Neighbours) {
    const auto* word = std::get_if<Name>(&argument.value->node);
    if (word && neighbour_words().has(word->text)) return;
    if (const auto* written = std::get_if<lang::Text>(&argument.value->node); written && !neighbour_words().has(written->value)) {
      error("E0204", argument.value->span, fmt::format("`{}` is not {}", written->value, neighbour_words().what), "write threads or warps");
      return;
    }
    if (word && !place.names->find(word->text)) {
      error("E0204", argument.value->span, fmt::format("`{}` is not {}", word->text, neighbour_words().what), "write threads or warps");
      return;
    }
  }
  seen.time = std::max(seen.time, want(argument.value, wanted_by(parameter->takes), place, fmt::format("`{}` of `{}`", parameter->name, callable.name)).time);
}

void ExpressionChecker::check_clauses(const Callable& callable, const CallArgument& argument, bool first, const Place& place, Seen& seen) {
  const auto clause = [&](Clause allowed, bool present, Span span, const char* word) {
    if (!present) {
      if (first && allowed == Clause::Must) {
        error("E0222", argument.value->span, fmt::format("`{}` needs `{} X` after its first argument", callable.name, word), example(callable));
        seen.wrong = true;
      }
      return;
    }
    if (!first || allowed == Clause::Never) {
      error("E0222", span, fmt::format("`{}` takes no `{}`{}", callable.name, word, first || allowed == Clause::Never ? "" : " after this argument"), example(callable));
      seen.wrong = true;
    }
  };
  clause(callable.over, argument.over != nullptr, argument.over ? argument.over->span : Span{}, "over");
  clause(takes_by(callable) ? Clause::May : Clause::Never, argument.by.has_value(), argument.by ? argument.by->span : Span{}, "by");
  clause(callable.where, argument.where != nullptr, argument.where ? argument.where->span : Span{}, "where");
  if (argument.over && callable.over_finding) {
    auto after = place;
    after.limit = Time::Finding;
    const auto typed = check(argument.over, after);
    if (!typed.type.any() && typed.type.kind != Type::Kind::List) {
      error("E0215", argument.over->span, fmt::format("what follows `over` is the finding of a `spikes`, and this is {}", describe(typed.type)), example(callable));
      seen.wrong = true;
    }
  } else if (argument.over) {
    check_over(callable, argument, place, seen);
  }
  if (argument.by && takes_by(callable)) check_by(callable, argument, place, seen);
  if (argument.where && callable.where != Clause::Never) check_where(callable, argument, place, seen);
}

void ExpressionChecker::check_presence(const Callable& callable, const Call& call, Span span, Seen& seen) {
  int unlabelled = 0;
  std::map<std::string_view, const Word*> labels;
  for (const auto& argument : call.arguments) {
    if (!argument.label) {
      ++unlabelled;
      continue;
    }
    const auto [first, added] = labels.emplace(argument.label->text, &*argument.label);
    if (added) continue;
    auto& problem = error("E0222", argument.label->span, fmt::format("`{}` is given twice", argument.label->text), "keep one of them");
    problem.notes.push_back({first->second->span, "the first one"});
    seen.wrong = true;
  }
  if (unlabelled < callable.least) {
    error("E0222", span, fmt::format("`{}` needs {} argument{}", callable.name, callable.least, callable.least == 1 ? "" : "s"), example(callable));
    seen.wrong = true;
    return;
  }
  if (unlabelled > callable.most) return;  // reported: a label that is missing then is no second mistake
  for (const auto& label : callable.labels) {
    const bool given = std::any_of(call.arguments.begin(), call.arguments.end(), [&](const CallArgument& a) { return a.label && a.label->text == label.name; });
    if (label.name.empty() || label.optional || given || seen.wrong) continue;
    error("E0222", span, fmt::format("`{}` needs `{}: …`", callable.name, label.name), example(callable));
    seen.wrong = true;
  }
  // Plateau times latency: bytes, or what else a throughput counts.
  if (callable.answer == Callable::Answer::Saturation && labels.contains("latency") && seen.subject.number() && seen.subject.dimension.cycles != -1) {
    error("E0215", span, fmt::format("`latency` is in cycles and needs a throughput a cycle, and this one is {}", describe(seen.subject)), "divide a throughput a second by `device.clock`");
    seen.wrong = true;
  }
  if (callable.free_labels && callable.kind == Callable::Kind::Pattern && call.arguments.empty()) {
    error("E0222", span, fmt::format("`{}` needs a part", callable.name), example(callable));
    seen.wrong = true;
  }
}

Typed ExpressionChecker::answer(const Callable& callable, const Seen& seen) {
  const auto plain = number_of({});
  const auto type = [&]() -> Type {
    switch (callable.answer) {
      case Callable::Answer::Over: return seen.over;
      case Callable::Answer::Subject: return seen.subject;
      case Callable::Answer::Plain: return plain;
      case Callable::Answer::Bytes: return number_of(kBytes);
      case Callable::Answer::Cycles: return number_of(kCycles);
      case Callable::Answer::PlainList: return list_of(number_of({}));
      case Callable::Answer::CyclesList: return list_of(number_of(kCycles));
      case Callable::Answer::SubjectList: return list_of(seen.subject);
      case Callable::Answer::Condition: return bool_type();
      case Callable::Answer::Pattern: return pattern_type();
      case Callable::Answer::Slope:
      case Callable::Answer::Slopes: {
        const bool known = seen.subject.number() && seen.over.number();
        std::vector<Type::Field> line{{"slope", known ? number_of(seen.subject.dimension / seen.over.dimension) : any_type()}, {"intercept", seen.subject}, {"r2", plain}};
        if (callable.answer == Callable::Answer::Slope) return structure_of(std::move(line), true);
        line.emplace_back("at", any_type());
        return list_of(structure_of(std::move(line)));
      }
      case Callable::Answer::CacheSets:
        return cache_sets_type();
      case Callable::Answer::Replacement:
        return structure_of({{"evicts", text_type()}, {"groups", list_of(list_of(plain))}, {"name", text_type()}, {"probabilities", list_of(plain)}, {"ways", plain}});
      case Callable::Answer::Hits:
        return list_of(structure_of({{"name", text_type()}, {"hit", plain}, {"share", plain}, {"confidence", plain}}));
      case Callable::Answer::Places:
        return structure_of({{"count", plain}, {"bits", list_of(list_of(plain))}, {"predicted", plain}, {"flips", list_of(list_of(plain))}, {"groups", plain}});
      case Callable::Answer::Alike:
        return structure_of({{"count", plain}, {"of", list_of(plain)}, {"predicted", plain}, {"sizes", list_of(plain)}});
      case Callable::Answer::Contention:
        return structure_of({{"count", plain}, {"of", list_of(plain)}, {"predicted", plain}, {"sizes", list_of(plain)}, {"slower", plain}});
      case Callable::Answer::PairConflicts:
        return structure_of({{"again", plain}, {"cost", number_of(kCycles)}, {"members", list_of(plain)}, {"one_in", plain}});
      case Callable::Answer::Recurrence:
        return structure_of({{"interval", number_of(kCycles)}, {"predicted", plain}, {"share", plain}, {"wait", number_of(kCycles)}});
      case Callable::Answer::Spikes: return list_of(structure_of({{"before", seen.over}, {"at", seen.over}}));
      case Callable::Answer::Outstanding:
        return structure_of({{"kind", text_type()}, {"entries", plain}, {"most", plain}, {"requests", plain}, {"merges", plain}, {"instructions", plain}});
      case Callable::Answer::Saturation: {
        const bool known = seen.subject.number() && seen.over.number();
        const auto slope = known ? number_of(seen.subject.dimension / seen.over.dimension) : any_type();
        const auto in_flight = seen.subject.number() ? number_of(seen.subject.dimension * kCycles) : any_type();
        const std::vector<Type::Field> curve{{"plateau", seen.subject}, {"knee", seen.over}, {"low", seen.over}, {"high", seen.over}, {"slope", slope}, {"falls", seen.over}};
        auto fields = curve, group = curve;
        group.emplace_back("at", any_type());
        fields.insert(fields.end(), {{"in_flight", in_flight}, {"ratio", plain}, {"agrees", bool_type()}, {"groups", list_of(structure_of(group))}});
        return structure_of(std::move(fields));
      }
      case Callable::Answer::BankConflicts:
        return structure_of({{"banks", plain}, {"width", number_of(kBytes)}, {"law", text_type()}, {"ways", list_of(plain)},
                             {"cost", list_of(number_of(kCycles))}});
    }
    return any_type();
  }();
  const bool pattern = callable.answer == Callable::Answer::Pattern;
  if (seen.grouped) return {list_of(type), seen.time};
  return {type, pattern ? (seen.time == Time::Thread ? Time::Point : seen.time) : seen.time};
}

}  // namespace gexp::lang
