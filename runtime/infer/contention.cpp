// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "runtime/infer/analysis.h"
#include "runtime/infer/contention_groups.h"
#include "runtime/infer/model/evidence.h"

// Which multiprocessors slow each other, of launches in which each is active by chance: contention_groups.h. A record has the time of each
// multiprocessor at its place, and 0 where it was idle. So it says itself which were active.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostSeen = std::size_t{1} << 25;  // limit: of rounds by pairs of multiprocessors; some 20 bytes each are held

Fields fields_of_groups(const ContentionGroups& found, std::size_t multiprocessors) {
  Fields fields;
  List of(multiprocessors, Value(-1.0)), sizes;
  for (std::size_t i = 0; i < found.groups.size(); ++i) {
    for (const auto sm : found.groups[i]) of[sm] = Value(static_cast<double>(i));
    sizes.emplace_back(static_cast<double>(found.groups[i].size()));
  }
  fields["count"] = Value(static_cast<double>(found.groups.size()));
  fields["of"] = Value(std::move(of));
  fields["sizes"] = Value(std::move(sizes));
  fields["slower"] = Value(found.slower);
  fields["predicted"] = Value(found.predicted);
  return fields;
}

}  // namespace

Finding contention(const Context& context) {
  const auto none = [&](const std::string& why) { return undetermined(context, why); };
  if (context.table.timing != records::Table::Timing::Each) return none("the record does not tell multiprocessors apart; `each` would");
  ContendedRounds rounds;
  bool even = true;
  for (const auto& point : context.table.points) {
    for (const auto& run : point.runs) {
      work(run.ticks.size());
      rounds.emplace_back(run.ticks.begin(), run.ticks.end());
      even = even && rounds.back().size() == rounds.front().size();
    }
  }
  if (rounds.size() < 2 * model::kFewestAlike) return none(fmt::format("{} rounds are too few", rounds.size()));
  const auto multiprocessors = rounds.front().size();
  if (multiprocessors <= model::kFewest || !even) return none("the record has no time for each of four multiprocessors or more");
  if (multiprocessors * multiprocessors > kMostSeen / rounds.size())
    return none(fmt::format("{} multiprocessors in {} rounds are too many to compare; fewer rounds would decide", multiprocessors, rounds.size()));
  std::vector<double> parts;
  if (argument(context, "parts")) {
    const auto given = argument_value(context, "parts");
    if (!given.known()) return none("the larger parts, which stand after `parts:`, were not found");
    const auto* list = given.get<List>();
    for (std::size_t i = 0; list && i < list->size(); ++i) {
      if (const auto* number = (*list)[i].get<Number>()) parts.push_back(number->number);
    }
    if (parts.size() != multiprocessors)
      return none(fmt::format("what stands after `parts:` is not {} numbers, one of each multiprocessor", multiprocessors));
  }
  const auto groups = find_contention(rounds, multiprocessors, parts, context.question.need);
  const auto seen = fmt::format("{} multiprocessors in {} rounds, active by chance", multiprocessors, rounds.size());
  if (groups.groups.empty() && groups.open > 0)
    return none(fmt::format("{}: {} of them may be in groups, none of which is sure enough; more rounds would decide", seen, groups.open));
  if (groups.groups.empty())
    return none(seen + ": none of them slow each other more than the others do; where they share a port, this traffic does not fill it");
  if (groups.predicted <= 0)
    return none(seen + ": groups that half of the rounds show do not predict the times of the other half; more rounds would decide");
  std::size_t members = 0;
  for (const auto& group : groups.groups) members += group.size();
  auto why = fmt::format("{}; {} of them are in groups that stand out from what all others do to each other", seen, members);
  if (groups.open > 0) why += fmt::format("; {} more may be in groups that are not sure enough to be told", groups.open);
  return found(context, Value(fields_of_groups(groups, multiprocessors)), std::min(model::kSurest, groups.confidence), why,
               fmt::format("for each active one of its group, a multiprocessor takes {:.1f} % longer; groups of half of the rounds predict "
                           "{:.1f} % of the square of what differs in the other half",
                           100 * groups.slower, 100 * groups.predicted),
               "more rounds");
}

}  // namespace gexp::infer
