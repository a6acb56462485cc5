// SPDX-License-Identifier: Apache-2.0
#include "compiler/formula/each_thread.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gexp::compiler {
namespace {

constexpr double kMostListed = 1 << 22;

/// Visits threads with their names and lets bound until `visit` says false.
template <class Visit> bool for_each_thread(const Threads& threads, ThreadNames& names, Visit visit) {
  for (std::uint32_t cta = 0; cta < threads.grid; ++cta) {
    for (std::uint32_t tid = 0; tid < threads.block; ++tid) {
      if (!names.bind(cta, tid, threads.block)) return false;
      if (!visit(names.names())) return false;
    }
  }
  return true;
}

/// Binds the variables of loops to each of their rounds, those of inner loops within those of outer ones, until `visit` says false.
template <class Visit> bool for_each_round(const std::vector<LoopRounds>& loops, Names& names, const Visit& visit, std::size_t depth = 0) {
  if (depth == loops.size()) return visit();
  const auto& [variable, rounds] = loops[depth];
  for (double round = rounds.low; round <= rounds.high; ++round) {
    names.set(variable, Value(round));
    if (!for_each_round(loops, names, visit, depth + 1)) return false;
  }
  return true;
}

}  // namespace

std::optional<Range> listed_range(const Formula& formula, const Threads& threads, const std::vector<LoopRounds>& loops) {
  double all = static_cast<double>(threads.grid) * threads.block;
  for (const auto& [variable, rounds] : loops) all *= rounds.high - rounds.low + 1;
  if (all > kMostListed) return std::nullopt;
  std::optional<Range> found;
  Names names(&threads.scope);
  ThreadNames thread_names(names, threads.lets, {&formula});
  const bool all_seen = for_each_round(loops, names, [&] {
    return for_each_thread(threads, thread_names, [&](const Names& thread) {
      const auto value = evaluate(formula, thread);
      const auto* n = value ? value->get<Number>() : nullptr;
      if (!n || !(std::fabs(n->number) <= 9007199254740992.0)) return false;  // 2^53, as thread_range.h has it
      if (!found) found = Range{n->number, n->number, 0};
      found->grid = std::gcd(found->grid, static_cast<std::uint64_t>(std::fabs(n->number - found->low)));
      found->low = std::min(found->low, n->number);
      found->high = std::max(found->high, n->number);
      return true;
    });
  });
  return all_seen ? found : std::nullopt;
}

std::optional<bool> blocks_agree(const std::vector<const Formula*>& conditions, const Threads& threads, const std::vector<LoopRounds>& loops) {
  Names names(&threads.scope);
  ThreadNames thread_names(names, threads.lets, conditions);
  for (const auto* condition : conditions) {  // a variable: what it holds is known to nobody before the launch
    for (const auto& name : free_names(*condition)) {
      const auto is_loop = [&](const LoopRounds& loop) { return loop.first == name; };
      const bool known = is_thread_name(name) || threads.scope.lookup(name) || threads.lets.find(name) || std::any_of(loops.begin(), loops.end(), is_loop);
      if (!known) return std::nullopt;
    }
  }
  if (!thread_names.tells_threads()) return true;
  auto looked_at = threads;
  if (!thread_names.tells_blocks()) looked_at.grid = 1;
  double all = static_cast<double>(looked_at.grid) * looked_at.block;
  for (const auto& [variable, rounds] : loops) all *= rounds.high - rounds.low + 1;
  if (all > kMostListed) return std::nullopt;
  bool agree = true;
  const bool all_seen = for_each_round(loops, names, [&] {
    std::uint32_t thread = 0;
    bool first = false;
    return for_each_thread(looked_at, thread_names, [&](const Names& own) {
      bool holds = true;
      for (const auto* condition : conditions) {
        const auto value = evaluate(*condition, own);
        const auto* flag = value ? value->get<bool>() : nullptr;
        if (!flag) return false;
        if (!(holds = *flag)) break;
      }
      if (thread++ % looked_at.block == 0) first = holds;
      agree = agree && holds == first;
      return agree;
    });
  });
  if (!agree) return false;
  return all_seen ? std::optional(true) : std::nullopt;
}

double threads_where(const std::vector<const Formula*>& conditions, const Threads& threads, const std::vector<LoopRounds>& loops) {
  const double all = static_cast<double>(threads.grid) * threads.block;
  if (conditions.empty()) return all;
  if (all > kMostListed) return 0;
  double holding = 0;
  Names names(&threads.scope);
  for (const auto& [variable, rounds] : loops) names.set(variable, Value(rounds.low));
  ThreadNames thread_names(names, threads.lets, conditions);
  for_each_thread(threads, thread_names, [&](const Names& thread) {
    holding += std::all_of(conditions.begin(), conditions.end(), [&](const Formula* condition) {
      const auto value = evaluate(*condition, thread);
      const auto* flag = value ? value->get<bool>() : nullptr;
      return flag && *flag;
    });
    return true;
  });
  return holding;
}

}  // namespace gexp::compiler
