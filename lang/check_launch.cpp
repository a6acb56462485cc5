// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "lang/check_stage.h"

// Stages of one launch: the first makes the points, those beside it run other blocks or warps at them, and flags are what they speak by.
namespace gexp::lang {
namespace {

constexpr std::size_t kMostBeside = 7;

void for_each_op(const std::vector<Op>& body, const std::function<void(const Op&)>& visit) {
  for (const auto& op : body) visit(op), for_each_op(op.body, visit), for_each_op(op.otherwise, visit);
}

void for_each_op(const Stage& stage, const std::function<void(const Op&)>& visit) {
  for (const auto& item : stage.items) {
    if (const auto* warm = std::get_if<Warm>(&item.node)) for_each_op(warm->body, visit);
    if (const auto* timed = std::get_if<Timed>(&item.node)) for_each_op(timed->body, visit);
  }
}

bool names(const Expr& condition, std::string_view wanted) {
  if (const auto* name = std::get_if<Name>(&condition.node)) return name->text == wanted;
  if (const auto* unary = std::get_if<Unary>(&condition.node)) return names(*unary->operand, wanted);
  const auto* binary = std::get_if<Binary>(&condition.node);
  return binary && (names(*binary->left, wanted) || names(*binary->right, wanted));
}

bool asks_for_hang(const Stage& stage) {
  return std::any_of(stage.items.begin(), stage.items.end(), [](const Statement& item) {
    const auto* expect = std::get_if<Expect>(&item.node);
    return expect && expect->condition && names(*expect->condition, "hang");
  });
}

/// The stages of one launch: a wait for what none of them signals would never end.
void check_flags(const std::vector<const Stage*>& launch, Diagnostics& diagnostics) {
  std::set<std::string> signalled;
  for (const auto* stage : launch) {
    for_each_op(*stage, [&](const Op& op) {
      if (op.kind == Op::Kind::Signal) signalled.insert(op.flag.text);
    });
  }
  if (std::any_of(launch.begin(), launch.end(), [](const auto* stage) { return asks_for_hang(*stage); })) return;
  std::set<std::string> told;
  for (const auto* stage : launch) {
    for_each_op(*stage, [&](const Op& op) {
      if (op.kind != Op::Kind::Wait || signalled.contains(op.flag.text) || !told.insert(op.flag.text).second) return;
      const std::vector<std::string_view> known(signalled.begin(), signalled.end());
      const auto near = did_you_mean(op.flag.text, known);
      diagnostics.error("E0231", op.flag.span, fmt::format("nothing in this launch signals `{}`, so this wait would never end", op.flag.text),
                        near.empty() ? fmt::format("write `signal {}` in a stage of the launch; or `expect hang`, if that is the question", op.flag.text) : near);
    });
  }
}

}  // namespace

void StageChecker::declare_of(const StageChecker& leader) {
  launch_ = leader.index_;
  for (const auto& symbol : leader.names_.symbols()) {
    if (symbol.kind != Symbol::Kind::Sweep && symbol.kind != Symbol::Kind::Let && symbol.kind != Symbol::Kind::Pattern) continue;
    auto own = symbol;
    own.usable_from = 0;
    names_.declare(std::move(own), diagnostics_);
  }
}

void StageChecker::refuse_of_leader(const Stage& stage) {
  if (!stage.beside) return;
  for (const auto& item : stage.items) {
    const auto of_leader = std::holds_alternative<Sweep>(item.node) || std::holds_alternative<Skip>(item.node) || std::holds_alternative<Require>(item.node) ||
                           std::holds_alternative<Flush>(item.node) || std::holds_alternative<RepeatUntil>(item.node);
    const auto word = first_word(expressions_.source(), item.span);
    if (of_leader) {
      diagnostics_.error("E0230", word, fmt::format("`{}` is said once for a launch, by the stage that this one runs beside", expressions_.source().slice(word)),
                         fmt::format("move it into stage `{}`", stage.beside->text));
    }
    const auto* warm = std::get_if<Warm>(&item.node);
    if (warm && (warm->grid || warm->block)) {
      diagnostics_.error("E0230", word, "a warm-up that is a launch of its own comes before the whole launch", fmt::format("move it into stage `{}`", stage.beside->text));
    }
  }
}

void StageChecker::refuse_flags(const std::vector<Op>& body) {
  for_each_op(body, [&](const Op& op) {
    if (op.kind != Op::Kind::Signal && op.kind != Op::Kind::Wait) return;
    diagnostics_.error("E0230", first_word(expressions_.source(), op.span), "a warm-up that is a launch of its own has no flags", "use them in a `warm` without `grid` and `block`, or in `timed`");
  });
}

void check_launches(const File& file, Diagnostics& diagnostics) {
  std::vector<std::vector<const Stage*>> launches;
  std::map<std::string, std::size_t> first;  ///< by stage that begins one
  std::map<std::string, const Stage*> all;
  for (const auto& statement : file.statements) {
    const auto* stage = std::get_if<Stage>(&statement.node);
    if (!stage) continue;
    all.emplace(stage->name.text, stage);
    if (!stage->beside) {
      first[stage->name.text] = launches.size();
      launches.push_back({stage});
      continue;
    }
    const auto& beside = *stage->beside;
    const auto leader = first.find(beside.text);
    const auto other = all.find(beside.text);
    if (leader == first.end()) {
      const bool follows = other != all.end() && other->second->beside;
      diagnostics.error("E0229", beside.span,
                        follows ? fmt::format("stage `{}` itself runs beside `{}`", beside.text, other->second->beside->text) : fmt::format("no stage above this one is named `{}`", beside.text),
                        follows ? fmt::format("write `beside {}`", other->second->beside->text) : "name the stage right above, whose points this one runs at");
      continue;
    }
    if (leader->second + 1 != launches.size()) {
      diagnostics.error("E0229", beside.span, fmt::format("another stage stands between this one and `{}`", beside.text), "the stages of one launch follow each other");
      continue;
    }
    auto& launch = launches[leader->second];
    launch.push_back(stage);
    if (launch.size() == kMostBeside + 2) {
      diagnostics.error("E0229", beside.span, fmt::format("a launch has at most {} stages", kMostBeside + 1), "blocks of one stage may do different things: `branch cta == 1 { … }`");
    }
  }
  for (const auto& launch : launches) check_flags(launch, diagnostics);
}

}  // namespace gexp::lang
