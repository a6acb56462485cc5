// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/contention_groups.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "runtime/infer/contention_weights.h"
#include "runtime/infer/in_parallel.h"

// The logarithm of a multiprocessor's time, over the rounds in which it is active: a level of its own, what slows all in that round, a
// weight for each of the others that is active, and noise. The others' weights are of one normal population. Those of its own group are one
// weight, of a wider population. So a group must stand out from what all others do. How wide both populations are, beside the noise, is
// integrated over; so is the scale of all. The weights themselves are integrated in closed form. What a known larger part does in common is
// left out like the round's own part. Groups are those of the best partition that single moves reach; what the moves that were not made are
// worth beside it is the doubt.
namespace gexp::infer {
namespace {

using namespace contended;

using Group = std::vector<std::size_t>;

Group without(const Group& group, std::size_t sm) {
  Group made;
  for (const auto each : group) {
    if (each != sm) made.push_back(each);
  }
  return made;
}

Group with(Group group, std::size_t sm) {
  group.insert(std::lower_bound(group.begin(), group.end(), sm), sm);
  return group;
}

Group united(Group a, const Group& b) {
  a.insert(a.end(), b.begin(), b.end());
  std::sort(a.begin(), a.end());
  return a;
}

/// Groups of multiprocessors by what the times say. One of one is no group, and weighs 0.
class Partition {
 public:
  Partition(const std::vector<SmView>& views, std::size_t multiprocessors) : count_(multiprocessors) {
    std::vector<std::unique_ptr<GroupWeights>> made(count_);
    in_parallel(count_, [&](std::size_t sm) { made[sm] = std::make_unique<GroupWeights>(views[sm], count_); });
    weights_ = std::move(made);
    for (std::size_t sm = 0; sm < count_; ++sm) groups_.push_back({sm}), score_.push_back(0);
  }

  /// From groups of one, the best of all moves and unions of groups, for as long as one makes the whole likelier.
  void improve() {
    join();
    for (bool better = true; better;) {
      better = false;
      for (std::size_t sm = 0; sm < count_; ++sm) {
        if (!weights_[sm]->ran()) continue;
        const auto from = group_of(sm);
        const double leave = leaving(sm, from);
        std::size_t best = groups_.size();
        double most = 1e-9;
        for (std::size_t to = 0; to < groups_.size(); ++to) {
          if (to == from || (groups_[to].empty() && groups_[from].size() < 2)) continue;
          const double gain = leave + joining(sm, to);
          if (gain > most) most = gain, best = to;
        }
        if (best == groups_.size()) continue;
        set(from, without(groups_[from], sm)), set(best, with(groups_[best], sm));
        better = true;
      }
    }
  }

  struct Told {
    Group group;
    double wrong = 0;  ///< chance that it is another one
  };
  /// Groups of two and more, the surest first.
  std::vector<Told> told() {
    std::vector<Told> made;
    std::vector<double> odds(groups_.size(), 0);  // of all else that may be true of a group, to it
    for (std::size_t sm = 0; sm < count_; ++sm) {
      if (!weights_[sm]->ran()) continue;  // it may be of any group, and changes none
      const auto from = group_of(sm);
      const double leave = leaving(sm, from);
      bool alone = groups_[from].size() < 2;
      for (std::size_t to = 0; to < groups_.size(); ++to) {
        if (to == from || (groups_[to].empty() && alone)) continue;
        if (groups_[to].empty()) alone = true;  // one empty group stands for all
        const double move = std::exp(std::min(0.0, leave + joining(sm, to)));
        odds[from] += move, odds[to] += move;
      }
    }
    for (std::size_t a = 0; a < groups_.size(); ++a) {
      if (groups_[a].size() < 2) continue;
      for (std::size_t b = 0; b < a; ++b) {
        if (groups_[b].size() < 2) continue;
        const double one = std::exp(std::min(0.0, uniting(a, b)));
        odds[a] += one, odds[b] += one;
      }
      odds[a] += halves(a);
    }
    for (std::size_t a = 0; a < groups_.size(); ++a) {
      if (groups_[a].size() > 1) made.push_back({groups_[a], odds[a] / (1 + odds[a])});
    }
    std::stable_sort(made.begin(), made.end(), [](const Told& x, const Told& y) { return x.wrong < y.wrong; });
    return made;
  }

 private:
  [[nodiscard]] std::size_t group_of(std::size_t sm) const {
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      if (std::binary_search(groups_[i].begin(), groups_[i].end(), sm)) return i;
    }
    return groups_.size();
  }

  /// What the group's times gain, less what it takes to say which ones they are.
  [[nodiscard]] double score(const Group& group) const {
    if (group.size() < 2) return 0;
    double sum = 0, draws = 0;
    for (const auto sm : group) sum += weights_[sm]->gain_of(without(group, sm));
    for (std::size_t i = 1; i < group.size(); ++i) draws += std::log(static_cast<double>(count_ - i) / static_cast<double>(i));
    return sum - draws;
  }
  [[nodiscard]] double leaving(std::size_t sm, std::size_t from) const { return score(without(groups_[from], sm)) - score_[from]; }
  [[nodiscard]] double joining(std::size_t sm, std::size_t to) const { return score(with(groups_[to], sm)) - score_[to]; }
  [[nodiscard]] double uniting(std::size_t a, std::size_t b) const { return score(united(groups_[a], groups_[b])) - score_[a] - score_[b]; }
  void set(std::size_t at, Group group) { score_[at] = score(group), groups_[at] = std::move(group); }

  /// The two groups whose union gains most become one, again and again.
  void join() {
    std::vector<Numbers> gain(count_, Numbers(count_, -INFINITY));
    const auto look = [&](std::size_t a, std::size_t b) { gain[a][b] = gain[b][a] = uniting(a, b); };
    in_parallel(count_, [&](std::size_t a) {
      for (std::size_t b = 0; b < a; ++b) look(a, b);
    });
    while (true) {
      double most = 0;
      std::size_t a = 0, b = 0;
      work(1 + count_ * count_ / 100);
      for (std::size_t i = 0; i < count_; ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (gain[i][j] > most) most = gain[i][j], a = i, b = j;
        }
      }
      if (!(most > 0)) return;
      set(a, united(groups_[a], groups_[b])), set(b, {});
      for (std::size_t i = 0; i < count_; ++i) {
        gain[b][i] = gain[i][b] = -INFINITY;
        if (i != a && !groups_[i].empty()) look(a, i);
      }
    }
  }

  /// Odds of two groups in place of one, of which one is a pair.
  [[nodiscard]] double halves(std::size_t at) const {
    const auto& group = groups_[at];
    double odds = 0;
    for (std::size_t i = 0; i < group.size() && group.size() > 3; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const Group pair{group[j], group[i]};
        odds += std::exp(std::min(0.0, score(pair) + score(without(without(group, group[i]), group[j])) - score_[at]));
      }
    }
    return odds;
  }

  std::size_t count_;
  std::vector<std::unique_ptr<GroupWeights>> weights_{};
  std::vector<Group> groups_{};
  Numbers score_{};
};

/// How far a multiprocessor's time rises for each active one of its group, in logarithms; and the group's column.
double rise_beside(const SmView& view, const Group& group, Numbers& column) {
  column.assign(view.n, 0);
  for (const auto other : group) {
    for (std::size_t i = 0; i < view.n; ++i) column[i] += view.columns[other * view.n + i];
  }
  const double length = dot_of(column.data(), column.data(), view.n);
  return length > 1e-9 ? dot_of(column.data(), view.y.data(), view.n) / length : 0;
}

std::vector<SmView> views_of(const ContendedRounds& rounds, std::size_t multiprocessors, const Numbers& parts, std::size_t half) {
  std::vector<bool> kept(rounds.size());
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = half > 1 || i % 2 == half;
  const SeenRounds seen(rounds, multiprocessors, kept);
  std::vector<SmView> views(multiprocessors);
  in_parallel(multiprocessors, [&](std::size_t sm) { views[sm] = view_of(seen, sm, multiprocessors, parts); });
  return views;
}

std::vector<Partition::Told> likely_groups(const std::vector<SmView>& views) {
  Partition partition(views, views.size());
  partition.improve();
  return partition.told();
}

}  // namespace

ContentionGroups find_contention(const ContendedRounds& rounds, std::size_t multiprocessors, const std::vector<double>& parts, double need) {
  ContentionGroups answer;
  const auto all = views_of(rounds, multiprocessors, parts, 2);
  double wrong = 0;
  bool sure = true;
  for (auto& each : likely_groups(all)) {
    sure = sure && 1 - wrong - each.wrong >= need;
    if (sure) wrong += each.wrong, answer.groups.push_back(std::move(each.group));
    else answer.open += each.group.size();
  }
  if (answer.groups.empty()) return answer;
  answer.confidence = 1 - wrong;
  std::sort(answer.groups.begin(), answer.groups.end());
  Numbers column;
  double sum = 0, members = 0, left = 0, there = 0;
  for (const auto& group : answer.groups) {
    for (const auto sm : group) sum += rise_beside(all[sm], without(group, sm), column), members += 1;
  }
  answer.slower = std::expm1(sum / members);
  const std::array<std::vector<SmView>, 2> halves{views_of(rounds, multiprocessors, parts, 0), views_of(rounds, multiprocessors, parts, 1)};
  for (std::size_t half = 0; half < 2; ++half) {
    for (const auto& [group, doubt] : likely_groups(halves[half])) {
      for (const auto sm : group) {
        const auto &from = halves[half][sm], &to = halves[1 - half][sm];
        if (doubt > 0.5 || from.y.empty() || to.y.empty()) continue;
        const double slower = rise_beside(from, without(group, sm), column);
        rise_beside(to, without(group, sm), column);
        const double scale = static_cast<double>(to.free) * to.rounding + dot_of(from.y.data(), from.y.data(), from.n);
        for (std::size_t i = 0; i < to.n && scale > 0; ++i) {
          left += std::pow(to.y[i] - slower * column[i], 2) / scale, there += to.y[i] * to.y[i] / scale;
        }
      }
    }
  }
  answer.predicted = there > 0 ? 1 - left / there : 0;
  return answer;
}

}  // namespace gexp::infer
