// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/reconvergence.h"

#include <algorithm>
#include <array>
#include <vector>

// Lanes meet at the immediate post-dominator of a branch: the first instruction that every way from it to the end of its function passes.
// Post-dominators are dominators of the reversed graph, from the end; found as T. Lengauer and R. Tarjan do (TOPLAS 1(1), 1979), since a
// text of any shape must be read in time that its length bounds.
namespace gexp::sim {
namespace {

/// The nodes that follow each, or come before it.
class Edges {
 public:
  explicit Edges(std::size_t nodes) : lists_(nodes) {}
  void add(std::uint32_t from, std::uint32_t to) { lists_[from].push_back(to); }
  [[nodiscard]] const std::vector<std::uint32_t>& of(std::uint32_t node) const { return lists_[node]; }

 private:
  std::vector<std::vector<std::uint32_t>> lists_;
};

class PostDominators {
 public:
  PostDominators(const Edges& after, const Edges& before, std::uint32_t end) : after_(after), nodes_(end + 1), end_(end) {
    walk(before);
    for (std::size_t k = order_.size(); k-- > 1;) {
      const std::uint32_t node = order_[k], above = parent_[node];
      for (const std::uint32_t next : after_.of(node)) {
        if (number_[next] != kNowhere) semi_[node] = std::min(semi_[node], semi_[best(next)]);
      }
      const std::uint32_t semi = order_[semi_[node]];
      next_in_bucket_[node] = bucket_[semi], bucket_[semi] = node;
      ancestor_[node] = above;
      for (std::uint32_t v = bucket_[above]; v != kNowhere; v = next_in_bucket_[v]) {
        const std::uint32_t u = best(v);
        dominator_[v] = semi_[u] < semi_[v] ? u : above;
      }
      bucket_[above] = kNowhere;
    }
    for (std::size_t k = 1; k < order_.size(); ++k) {
      const std::uint32_t node = order_[k];
      if (dominator_[node] != order_[semi_[node]]) dominator_[node] = dominator_[dominator_[node]];
    }
  }

  /// kNowhere: only the end, or no way leads there.
  [[nodiscard]] std::uint32_t of(std::uint32_t node) const { return dominator_[node] == end_ ? kNowhere : dominator_[node]; }

 private:
  using Numbers = std::vector<std::uint32_t>;

  /// Numbers the nodes from which the end is reached, depth first.
  void walk(const Edges& before) {
    Numbers left{end_};
    while (!left.empty()) {
      const std::uint32_t node = left.back();
      left.pop_back();
      if (number_[node] != kNowhere) continue;
      number_[node] = semi_[node] = static_cast<std::uint32_t>(order_.size());
      order_.push_back(node);
      for (const std::uint32_t other : before.of(node)) {
        if (number_[other] == kNowhere) parent_[other] = node, left.push_back(other);
      }
    }
  }

  /// Of the nodes on the way up from `node` that are linked, the one with the least semidominator; shortens the way.
  std::uint32_t best(std::uint32_t node) {
    Numbers way;
    for (std::uint32_t v = node; ancestor_[v] != kNowhere && ancestor_[ancestor_[v]] != kNowhere; v = ancestor_[v]) way.push_back(v);
    for (; !way.empty(); way.pop_back()) {
      const std::uint32_t v = way.back(), above = ancestor_[v];
      if (semi_[best_[above]] < semi_[best_[v]]) best_[v] = best_[above];
      ancestor_[v] = ancestor_[above];
    }
    return best_[node];
  }

  static Numbers counting(std::uint32_t count) {
    Numbers numbers(count);
    for (std::uint32_t k = 0; k < count; ++k) numbers[k] = k;
    return numbers;
  }

  const Edges& after_;
  std::uint32_t nodes_, end_;
  Numbers order_;
  Numbers number_ = Numbers(nodes_, kNowhere), semi_ = number_, parent_ = number_, ancestor_ = number_, bucket_ = number_, next_in_bucket_ = number_,
          dominator_ = number_, best_ = counting(nodes_);
};

/// Lanes that a guarded `exit` ends are waited for nowhere, so that it is no way to the end of its own.
bool ends(const Instruction& i) { return i.kind == Kind::Return || ((i.kind == Kind::Exit || i.kind == Kind::Trap) && i.guard == kTrue); }
bool goes_on(const Instruction& i) {
  return i.guard != kTrue || (i.kind != Kind::Exit && i.kind != Kind::Trap && i.kind != Kind::Return && i.kind != Kind::Branch && i.kind != Kind::BranchTable);
}

}  // namespace

void note_meetings(Kernel& kernel) {
  const auto end = static_cast<std::uint32_t>(kernel.code.size());
  Edges after(end + 1), before(end + 1);
  const auto edge = [&](std::uint32_t from, std::uint32_t to) { after.add(from, to), before.add(to, from); };
  for (std::uint32_t at = 0; at < end; ++at) {
    const Instruction& i = kernel.code[at];
    if (ends(i)) edge(at, end);
    if (goes_on(i)) edge(at, at + 1);
    if (i.kind == Kind::Branch) edge(at, i.target);
    for (std::size_t k = 0; i.kind == Kind::BranchTable && k < i.writes; ++k) edge(at, kernel.lists[i.list + k]);
  }
  const PostDominators found(after, before, end);
  for (std::uint32_t at = 0; at < end; ++at) {
    if (Instruction& i = kernel.code[at]; i.kind == Kind::Branch || i.kind == Kind::BranchTable) i.meeting = found.of(at);
  }
}

}  // namespace gexp::sim
