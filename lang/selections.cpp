// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lang/expressions.h"
#include "lang/foreign_words.h"

/// `where`, `by` and `over` of a call: which points, and which parts of a record, they may take.
namespace gexp::lang {
namespace {

using Parts = Callable::Parts;

bool is_part(const Symbol& symbol) {
  return symbol.span.empty() && (symbol.kind == Symbol::Kind::Column || symbol.kind == Symbol::Kind::Thread);
}

std::string names_of_parts(bool whole_traces) {
  std::string all;
  for (const auto& part : part_names()) {
    if (!whole_traces || !part.within_trace) all += (all.empty() ? "" : ", ") + std::string(part.name);
  }
  return all;
}

/// Why a record that is kept so does not tell these parts apart; null where it does.
const char* not_told(const KeptRecord& record, const PartName& part) {
  if (record.how == "wall") return "`wall` keeps one value a launch";
  if (record.keep == "summary") return "a `summary` keeps one value a run";
  if (record.keep == "histogram") return "a `histogram` keeps the values sorted";
  if (record.how == "total" && part.within_trace && !record.kernel) return "`total` keeps one value a warp";
  if (record.how == "values" && (part.name == "lap" || part.name == "seg")) return "`values` keeps what threads computed, and follows no pattern";
  return nullptr;
}

}  // namespace

template <class Check> std::vector<PartRead> ExpressionChecker::parts_read(const Place& place, Check check) {
  auto inner = place;
  inner.parts = place.record != nullptr;
  inner.accesses = false;
  const bool per_thread = read_per_thread;
  auto outside = std::exchange(parts_read_, {});
  check(inner);
  read_per_thread = per_thread;
  return std::exchange(parts_read_, std::move(outside));
}

void ExpressionChecker::refuse_part(const KeptRecord* record, std::string_view part, Span span) {
  if (part == "lane") {
    const bool by_thread = record && (record->how == "values" || record->kernel);
    error("E0233", span,
          by_thread ? fmt::format("the values of `{}` are told apart by thread, and `lane` is no name for that", record->name)
                    : "a record has one value for a warp, which is its first lane's: `lane` is 0 in all of them",
          by_thread ? "write `tid mod 32`" : "`warp` and `tid` tell warps apart");
    return;
  }
  error("E0233", span, fmt::format("`{}` differs among the values of a record, and there is one value for each point here", part),
        record && !record->name.empty() ? fmt::format("choose values in a function or analysis: `median({} where {} == …)`", record->name, part) : "");
}

bool ExpressionChecker::check_parts(const Callable& callable, const Expr& subject, const std::vector<PartRead>& parts, const char* word, const Place& place) {
  for (const auto& read : parts) {
    const auto& part = *read.part;
    if (callable.parts == Parts::None) {
      error("E0234", read.span, fmt::format("`{}` is told of the whole region, and `{}` takes a part of it", callable.name, part.name),
            callable.kind == Callable::Kind::Analysis ? fmt::format("what it is asked about may be of a part: `median({} where {} == …)`", place.record->name, part.name)
                                                      : fmt::format("median mean min max stddev misses missed and slower are told of parts"));
      return false;
    }
    if (callable.parts == Parts::Traces && part.within_trace) {
      error("E0234", read.span, fmt::format("`{}` follows every access, and `{} {}` takes some away", callable.name, word, part.name),
            fmt::format("take whole traces, by {}; or measure these accesses alone, with a pattern of their own", names_of_parts(true)));
      return false;
    }
    if (const char* why = not_told(*place.record, part)) {
      error("E0233", read.span, fmt::format("`{}` is not known of `{}`: {}", part.name, place.record->name, why),
            part.within_trace ? "time `each`, and keep the record `raw`" : "time `each` or `total`, and keep the record `raw`");
      return false;
    }
    const auto* name = std::get_if<Name>(&subject.node);
    if (callable.kind != Callable::Kind::Analysis && !(name && name->text == place.record->name)) {
      error("E0234", subject.span, fmt::format("`{}` takes a part of a record, and `{}` is none", word, text(subject.span)),
            fmt::format("write it like `{}({} {} {}{})`", callable.name, place.record->name, word, part.name, std::string_view(word) == "where" ? " == …" : ""));
      return false;
    }
  }
  return true;
}

std::vector<PartRead> ExpressionChecker::parts_of_where(const ExprPtr& where, const Place& place) {
  return parts_read(place, [&](const Place& inner) { want(where, bool_type(), inner, "what follows `where`"); });
}

void ExpressionChecker::check_where(const Callable& callable, const CallArgument& argument, const Place& place, Seen& seen) {
  const auto parts = parts_of_where(argument.where, place);
  if (!check_parts(callable, *argument.value, parts, "where", place)) seen.wrong = true;
}

/// `over` is an expression of the point, or one part by its name: then each value of it is a point.
void ExpressionChecker::check_over(const Callable& callable, const CallArgument& argument, const Place& place, Seen& seen) {
  Time time = Time::File;
  const auto parts = parts_read(place, [&](const Place& inner) {
    const auto typed = check(argument.over, inner);
    if (typed.type.kind == Type::Kind::Text) {
      error("E0215", argument.over->span, fmt::format("what follows `over` is a number, and `{}` is a text", text(argument.over->span)),
            fmt::format("an answer for each text: `{}` stands after `by`, as in `value(median(t) by {})`", text(argument.over->span), text(argument.over->span)));
      seen.over = any_type();
    } else {
      seen.over = number(*argument.over, typed.type, "what follows `over`");
    }
    seen.over.zero = false;
    time = typed.time;
  });
  const bool any_argument = place.composed && !place.used_from;  // where an analysis is declared, not used
  if (!check_parts(callable, *argument.value, parts, "over", place)) {
    seen.wrong = true;
  } else if (time == Time::File && parts.empty() && !any_argument && !seen.over.any()) {
    error("E0222", argument.over->span, fmt::format("what follows `over` differs from point to point, and `{}` is one value for all of them", text(argument.over->span)),
          sweeps_of(*place.names));
    seen.wrong = true;
  } else if (!parts.empty() && !std::holds_alternative<Name>(argument.over->node)) {
    error("E0234", argument.over->span, fmt::format("`{}` stands alone after `over`", parts.front().part->name), "a value of the point may be computed; a part is named");
    seen.wrong = true;
  }
}

/// Each value of what follows `by` has a curve, or an answer, of its own. `clusters` groups the values of all of them.
void ExpressionChecker::check_by(const Callable& callable, const CallArgument& argument, const Place& place, Seen& seen) {
  const auto& by = *argument.by;
  const auto* symbol = place.names->find(by.text);
  if (!symbol) {
    auto hint = did_you_mean(by.text, place.names->names());
    if (hint.empty()) hint = foreign_name(by.text);
    if (hint.empty()) hint = fmt::format("name a sweep, or a part of the record: {}", names_of_parts(false));
    error("E0202", by.span, fmt::format("nothing is named `{}` here", by.text), hint);
    return;
  }
  const bool analysis = callable.kind == Callable::Kind::Analysis;
  seen.grouped = callable.by == Callable::Clause::Never;
  if (is_part(*symbol) && place.record) {
    const auto* part = find_part(by.text);
    if (!part) {
      seen.wrong = true;
      return refuse_part(place.record, by.text, by.span);
    }
    if (!check_parts(callable, *argument.value, {{part, by.span}}, "by", place)) seen.wrong = true;
    return;
  }
  if (callable.name == std::string_view("clusters") || !analysis) {
    seen.wrong = true;
    error("E0215", by.span, analysis ? fmt::format("`clusters` groups the values of all points, or those of parts of a record; `{}` is {}", by.text, describe(symbol->kind))
                                     : fmt::format("`{}` is told of one point, and `{}` is {}", callable.name, by.text, describe(symbol->kind)),
          analysis ? "choose points with `where`" : fmt::format("name a part of the record: {}", names_of_parts(false)));
  } else if (symbol->kind != Symbol::Kind::Sweep && symbol->kind != Symbol::Kind::Argument && (symbol->kind != Symbol::Kind::Let || symbol->per_thread)) {
    seen.wrong = true;
    error("E0215", by.span, fmt::format("each value after `by` has a curve or an answer of its own, and `{}` is {}", by.text, describe(symbol->kind)),
          "name a sweep, or what tells parts of the record apart");
  }
}

}  // namespace gexp::lang
