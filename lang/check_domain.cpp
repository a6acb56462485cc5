// SPDX-License-Identifier: Apache-2.0
#include "lang/check_stage.h"

#include <fmt/format.h>

/// Domains: of sweeps and of params.
namespace gexp::lang {

Type check_domain(ExpressionChecker& expressions, Diagnostics& diagnostics, const Domain& domain, const Type& type, const Place& place,
                  const Place& records) {
  Type item = type;
  if (domain.list) {
    const auto list = expressions.check(domain.list, place).type;
    if (list.kind == Type::Kind::List) {
      if (expressions.expect_type(*domain.list, list, list_of(type), "the list of values")) item = *list.item;
    } else if (list.kind == Type::Kind::Pattern) {
      item = number_of(kBytes);
    } else {
      item = any_type();
      if (!list.any()) {
        diagnostics.error("E0215", domain.list->span, fmt::format("an interval or a list is wanted here, and this is {}", describe(list)), "write `A..B` or `[a, b]`");
      }
    }
  } else {
    const auto from = expressions.check(domain.from, place).type;
    const auto to = expressions.check(domain.to, place).type;
    const auto end = [&](const ExprPtr& e, const Type& t, const Type& wanted, const char* role) {
      if (t.any() || wanted.any()) return t.any() ? wanted : t;
      if (!t.number()) {
        expressions.expect_type(*e, t, number_of({}), role);
        return any_type();
      }
      return expressions.expect_type(*e, t, wanted, role) ? wanted : any_type();
    };
    // A written 0 takes the other end's dimension, so the end that has one decides.
    if (!type.any()) {
      if (domain.from) end(domain.from, from, type, "the start of the interval");
      if (domain.to) end(domain.to, to, type, "the end of the interval");
    } else {
      const bool start_decides = !from.zero;
      item = start_decides ? from : to;
      if (!item.any() && !item.number()) item = end(start_decides ? domain.from : domain.to, item, number_of({}), "an end of the interval");
      const auto& other = start_decides ? domain.to : domain.from;
      if (other && !end(other, start_decides ? to : from, item, start_decides ? "the end of the interval" : "the start of the interval").number()) item = any_type();
    }
    item = settled(item);
    switch (domain.by) {
      case Domain::By::One:
        if (item.number() && !item.plain() && place.stage != kNoStage) {  // a param only says its limits
          diagnostics.error("E0217", domain.span, fmt::format("an interval in {} needs a step", describe(item)), "write `step 4KiB`, `times 2` or `points 9`");
        }
        break;
      case Domain::By::Step: expressions.want(domain.amount, item, place, "the step"); break;
      case Domain::By::Times: expressions.want(domain.amount, number_of({}), place, "the factor after `times`"); break;
      case Domain::By::Points:
      case Domain::By::LogPoints: expressions.want(domain.amount, number_of({}), place, "the number of points"); break;
    }
  }
  expressions.want(domain.refine_to, item, place, "the width to refine to");
  if (const auto* around = refined_around(domain)) {
    const auto y = expressions.check(*around, records).type;
    if (!y.any() && !y.number() && y.kind != Type::Kind::Record) expressions.expect_type(**around, y, number_of({}), "what is highest");
  } else if (domain.refine_on) {
    const auto on = expressions.check(domain.refine_on, records).type;
    if (!on.any() && !on.number() && on.kind != Type::Kind::Record) {
      expressions.expect_type(*domain.refine_on, on, bool_type(), "what is refined on");
    }
  }
  expressions.want(domain.until, bool_type(), records, "what follows `until`");
  return item;
}

void StageChecker::check(const Sweep& sweep, Span) {
  auto place = at("a sweep", Time::Point);
  place.makes_points = true;
  if (sweep.names.size() > 1) return tuples(sweep, place);
  const auto item = check_domain(expressions_, diagnostics_, sweep.domain, any_type(), place, rows("a sweep's condition"));
  if (!sweep.names.empty()) settle(sweep.names[0], item, Time::Point);
}

/// `sweep (a, b) in [(1, 4B), (2, 8B)]`: a column a name, each of one dimension.
void StageChecker::tuples(const Sweep& sweep, const Place& place) {
  const auto* list = sweep.domain.list ? std::get_if<ListOf>(&sweep.domain.list->node) : nullptr;
  if (!list) {
    diagnostics_.error("E0218", sweep.domain.span, "several names of one sweep need a list of tuples", "write `sweep (a, b) in [(1, 4B), (2, 8B)]`");
    return;
  }
  std::vector<Type> columns(sweep.names.size());
  for (const auto& item : list->items) {
    const auto* tuple = std::get_if<ListOf>(&item->node);
    if (!tuple || tuple->items.size() != sweep.names.size()) {
      diagnostics_.error("E0218", item->span, fmt::format("a tuple of {} values is wanted here, one for each name of the sweep", sweep.names.size()),
                        "write `sweep (a, b) in [(1, 4B), (2, 8B)]`");
      break;  // the others are likely of the same form
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto typed = expressions_.want(tuple->items[i], columns[i], place, fmt::format("`{}`", sweep.names[i].text));
      if (columns[i].any() || columns[i].zero) columns[i] = typed.type;
    }
  }
  for (std::size_t i = 0; i < columns.size(); ++i) settle(sweep.names[i], settled(columns[i]), Time::Point);
  expressions_.want(sweep.domain.until, bool_type(), rows("a sweep's condition"), "what follows `until`");
}

}  // namespace gexp::lang
