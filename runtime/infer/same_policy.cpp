// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/same_policy.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/infer/cut_short.h"

// Two policies are one where, in every state that they reach together, both evict the same line: the product of two automata (Hopcroft
// and Karp 1971). An access hits a way of the one, and the way of the other that holds the same line, or misses in both.
//
// The product of two policies of marks (NRU, QLRU) has as many states as ways can be marked. It is folded: which way has which marks
// is forgotten, and any of the ways that may be the victim is taken for it. This reaches all states and more. So if the two always
// allow the same victims, they are one. If not, the way to that state is walked with real sets, and these tell. Folded further, it is
// even forgotten how many ways have the same marks, if it is more than one: that is all that a policy of marks asks of their number.
namespace gexp::infer {
namespace {

constexpr std::size_t kMostStates = 20000;  // limit: that are looked at, folded or not
constexpr std::size_t kMostTried = 64;      // limit: folded states in which victims differ and that are looked for with real sets

/// One set under two policies.
struct Product {
  PolicyMachine one, other;
  std::vector<std::uint16_t> twin;  ///< the way of `other` with the line that is in this way of `one`

  Product(const Candidate& a, const Candidate& b, std::size_t ways) : one(a, ways), other(b, ways), twin(ways, static_cast<std::uint16_t>(ways)) {}
  [[nodiscard]] std::size_t ways() const { return twin.size(); }
  [[nodiscard]] bool has(std::size_t way) const { return twin[way] < ways(); }
  void hit(std::size_t way) {
    one.hit(way);
    other.hit(twin[way]);
  }
  /// False: the two evict different lines, or one of them none.
  bool miss() {
    const auto way = one.miss(), counterpart = other.miss();
    const bool same = has(way) ? twin[way] == counterpart : std::find(twin.begin(), twin.end(), counterpart) == twin.end();
    twin[way] = static_cast<std::uint16_t>(counterpart);
    return same;
  }
  [[nodiscard]] std::vector<std::uint16_t> state() const {
    auto state = one.state();
    const auto more = other.state();
    state.insert(state.end(), more.begin(), more.end());
    state.insert(state.end(), twin.begin(), twin.end());
    return state;
  }
};

using Marks = std::pair<std::uint8_t, std::uint8_t>;  ///< of one way, in both

Marks marks(const Product& set, std::size_t way) { return {set.one.mark(way), set.other.mark(set.twin[way])}; }

/// A line is hit in a way with these marks; nullopt: a line comes in that is not in the set.
using Access = std::optional<Marks>;

/// All states from a beginning on, nearest first. Sameness::Same: they are all.
Sameness visit_all(const Product& begin) {
  std::vector<Product> states{begin};
  std::set<std::vector<std::uint16_t>> known{begin.state()};
  for (std::size_t at = 0; at < states.size(); ++at) {
    for (std::size_t way = 0; way <= begin.ways(); ++way) {
      work(2 + begin.ways() / 8);
      if (way < begin.ways() && !states[at].has(way)) continue;
      auto next = states[at];
      if (way == begin.ways()) {
        if (!next.miss()) return Sameness::Different;
      } else {
        next.hit(way);
      }
      if (!known.insert(next.state()).second) continue;
      if (states.size() == kMostStates) return Sameness::NotDecided;
      states.push_back(std::move(next));
    }
  }
  return Sameness::Same;
}

/// Whether some of the sequences in which most policies differ tells two apart: laps over all ways, in either order, each line so often in
/// a row, with so many of them left out, and then misses.
bool differ_in_laps(const Product& begin) {
  const auto ways = begin.ways();
  for (std::size_t each = 0; each < 4; ++each) {
    for (const bool backwards : {false, true}) {
      for (std::size_t left_out = 0; left_out < std::min<std::size_t>(ways, 8); ++left_out) {
        for (const std::size_t misses : {std::size_t{1}, ways}) {
          work(ways * ways / 4);
          auto set = begin;
          for (std::size_t lap = 0; lap < 6; ++lap) {
            for (std::size_t i = 0; i < misses; ++i) {
              if (!set.miss()) return true;
            }
            for (std::size_t i = left_out; i < ways; ++i) {
              const auto way = backwards ? ways - 1 - i : i;
              for (std::size_t visit = 0; visit < each && set.has(way); ++visit) set.hit(way);
            }
          }
        }
      }
    }
  }
  return false;
}

/// The product of two policies of marks, folded.
class Folded {
 public:
  explicit Folded(const Product& begin) : begin_(begin), nodes_{{begin, 0, {}}} { known_.insert(key(begin)); }

  Sameness visit() {
    for (std::size_t at = 0; at < nodes_.size(); ++at) {
      if (!expand(at)) return Sameness::NotDecided;
      if (differ_) return Sameness::Different;
    }
    return tried_ > 0 ? Sameness::NotDecided : Sameness::Same;
  }

 private:
  struct Node {
    Product set;
    std::size_t before = 0;  ///< index of the node from which this one was reached
    Access access;
  };

  /// Ways that hold a line, sorted by their marks.
  static std::vector<Marks> key(const Product& set) {
    std::vector<Marks> all;
    for (std::size_t way = 0; way < set.ways(); ++way) {
      if (set.has(way)) all.push_back(marks(set, way));
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  /// One way of each kind of marks, among those that `wanted` accepts.
  template <class Wanted> static std::vector<std::size_t> kinds(const Product& set, Wanted wanted) {
    std::map<Marks, std::size_t> first;
    for (std::size_t way = 0; way < set.ways(); ++way) {
      if (set.has(way) && wanted(way)) first.try_emplace(marks(set, way), way);
    }
    std::vector<std::size_t> ways;
    for (const auto& [each, way] : first) ways.push_back(way);
    return ways;
  }

  bool add(Product set, std::size_t before, Access access) {
    if (!known_.insert(key(set)).second) return true;
    if (nodes_.size() == kMostStates) return false;
    nodes_.push_back({std::move(set), before, access});
    return true;
  }

  /// False: there are too many states.
  bool expand(std::size_t at) {
    work(8 * begin_.ways());
    for (const auto way : kinds(nodes_[at].set, [](std::size_t) { return true; })) {
      auto next = nodes_[at].set;
      const auto hit = marks(next, way);
      next.hit(way);
      if (!add(std::move(next), at, hit)) return false;
    }
    auto set = nodes_[at].set;
    if (set.one.filled() < set.ways()) {
      if (!set.miss()) differ_ = true;
      return add(std::move(set), at, std::nullopt);
    }
    set.one.before_victim(), set.other.before_victim();
    std::size_t one = 0, other = 0, both = 0;
    for (std::size_t way = 0; way < set.ways(); ++way) {
      const bool may = set.one.may_be_victim(way), may_there = set.other.may_be_victim(set.twin[way]);
      one += may, other += may_there, both += may && may_there;
    }
    if (one != both || other != both) {
      if (tried_ == kMostTried) return false;
      ++tried_;
      differ_ = differ_ || differs_for_real(at);
      return true;
    }
    // Where no way may be the victim, it is the first one, whatever its marks are.
    for (const auto way : kinds(set, [&](std::size_t each) { return both == 0 || set.one.may_be_victim(each); })) {
      auto next = set;
      next.one.replace(way), next.other.replace(next.twin[way]);
      if (!add(std::move(next), at, std::nullopt)) return false;
    }
    return true;
  }

  bool differs_for_real(std::size_t at) const {
    std::vector<Access> way_there;
    for (; at != 0; at = nodes_[at].before) way_there.push_back(nodes_[at].access);
    std::reverse(way_there.begin(), way_there.end());
    return differs_for_real(way_there, false) || differs_for_real(way_there, true);
  }

  /// `last`: of the ways with the marks of a hit, the last one is hit, not the first.
  bool differs_for_real(const std::vector<Access>& way_there, bool last) const {
    auto set = begin_;
    for (const auto& access : way_there) {
      work(set.ways());
      if (!access) {
        if (!set.miss()) return true;
        continue;
      }
      const auto ways = set.ways();
      std::size_t hit = ways;
      for (std::size_t way = 0; way < ways && (last || hit == ways); ++way) {
        if (set.has(way) && marks(set, way) == *access) hit = way;
      }
      if (hit == ways) return false;
      set.hit(hit);
    }
    // What both would evict is hit, and is no victim any more.
    for (std::size_t i = 0; i < set.ways(); ++i) {
      auto next = set;
      if (!next.miss()) return true;
      auto missing = set;
      for (std::size_t more = 0; more < set.ways(); ++more) {
        if (!missing.miss()) return true;
      }
      for (std::size_t way = 0; way < set.ways(); ++way) {
        if (!set.one.may_be_victim(way)) continue;
        set.hit(way);
        break;
      }
    }
    return false;
  }

  Product begin_;
  std::vector<Node> nodes_;
  std::set<std::vector<Marks>> known_;
  std::size_t tried_ = 0;
  bool differ_ = false;
};

/// The product of two policies of marks, of which only this is known: which marks no way has, one way, and more than one.
class Present {
 public:
  Present(const Candidate& one, const Candidate& other) : one_(one), other_(other) {
    const PolicyMachine a(one, 2), b(other, 2);
    add({{{a.mark(0), b.mark(0), false}, true}});
  }

  /// Whether both always allow the same victims.
  bool same() {
    for (std::size_t at = 0; at < states_.size(); ++at) {
      if (!expand(states_[at]) || states_.size() > kMostStates) return false;
    }
    return true;
  }

 private:
  struct Kind {
    std::uint8_t one, other;
    bool filled;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  using State = std::map<Kind, bool>;  ///< kinds of ways that there are; whether more than one

  void add(const State& state) {
    if (known_.insert(state).second) states_.push_back(state);
  }

  /// Does something to one way of a kind, in sets that have two ways of what is more than one; of that kind also three.
  template <class Access> void reach(const State& state, const Kind& of, Access access) {
    for (const std::size_t most : {2, 3}) {
      std::vector<Kind> ways{of};
      for (const auto& [kind, many] : state) {
        for (std::size_t i = kind == of ? 1 : 0; i < (!many ? 1 : kind == of ? most : 2); ++i) ways.push_back(kind);
      }
      std::vector<std::uint8_t> marks, more;
      for (const auto& way : ways) marks.push_back(way.one), more.push_back(way.other);
      PolicyMachine one(one_, ways.size()), other(other_, ways.size());
      one.set_marks(marks), other.set_marks(more);
      if (!access(one, other, ways)) continue;
      State next;
      for (std::size_t way = 0; way < ways.size(); ++way) {
        const auto [found, first] = next.try_emplace({one.mark(way), other.mark(way), way == 0 || ways[way].filled}, false);
        if (!first) found->second = true;
      }
      add(next);
    }
  }

  /// False: the two may allow different victims.
  bool expand(const State state) {
    work(64);
    bool same = true;
    const bool room = std::any_of(state.begin(), state.end(), [](const auto& each) { return !each.first.filled; });
    for (const auto& [kind, many] : state) {
      if (kind.filled) {
        reach(state, kind, [](auto& one, auto& other, const auto&) {
          one.hit(0), other.hit(0);
          return true;
        });
      }
      reach(state, kind, [&, filled = kind.filled](auto& one, auto& other, const auto& ways) {
        one.before_victim(), other.before_victim();
        bool any = false;
        for (std::size_t way = 0; way < ways.size() && !room; ++way) {
          same = same && one.may_be_victim(way) == other.may_be_victim(way);
          any = any || one.may_be_victim(way);
        }
        if (room ? filled : any && !one.may_be_victim(0)) return false;
        one.replace(0), other.replace(0);
        return true;
      });
    }
    return same;
  }

  Candidate one_, other_;
  std::vector<State> states_;
  std::set<State> known_;
};

Candidate without_order(Candidate candidate) {
  if (candidate.variant.fills_last()) candidate.variant.replace = Qlru::Replace::First;
  return candidate;
}

}  // namespace

Sameness compare(const Candidate& one, const Candidate& other, std::size_t ways, bool full) {
  if (ways < 2 || one.name() == other.name()) return Sameness::Same;
  Product begin(full ? without_order(one) : one, full ? without_order(other) : other, ways);
  for (std::size_t way = 0; full && way < ways; ++way) begin.miss();
  if (differ_in_laps(begin)) return Sameness::Different;
  const bool in_one_order = one.variant.fills_last() == other.variant.fills_last() || full;
  const bool folds = begin.one.has_marks() && begin.other.has_marks() && in_one_order;
  if (folds && Present(full ? without_order(one) : one, full ? without_order(other) : other).same()) return Sameness::Same;
  const auto folded = folds ? Folded(begin).visit() : Sameness::NotDecided;
  return folded == Sameness::NotDecided ? visit_all(begin) : folded;
}

std::optional<Sameness> compare(const std::string& one, const std::string& other, std::size_t ways, bool full) {
  const auto a = Candidate::named(one), b = Candidate::named(other);
  if (!a || !b) return std::nullopt;
  try {
    return compare(*a, *b, ways, full);
  } catch (const CutShort&) {
    return Sameness::NotDecided;
  }
}

}  // namespace gexp::infer
