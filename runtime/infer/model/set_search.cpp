// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/set_hypothesis.h"

// A set alone has a value: the log-likelihood of what its lines did in all footprints, at its likeliest size. So a move changes the values of
// two sets, and hill climbing from sets that were guessed is cheap. Only lines that some set may do without are tried elsewhere: a line that
// misses wherever its set overflows, and nowhere before, has no better place.
namespace gexp::infer::model {
namespace {

constexpr int kRounds = 20;  // a bound of the work: a round without a move ends it long before

/// What one line did in one footprint.
struct Visit {
  std::size_t footprint = 0;
  double fits = 0, own = 0, followers = 0, misses = 0, visits = 0;
  std::vector<std::uint64_t> missed_in;
};
using Lines = std::vector<std::vector<Visit>>;

Lines visits_of(const std::vector<LabelledLine>& lines, std::int64_t line_bytes, std::int64_t fill_bytes, const Walks& walks) {
  std::unordered_map<std::int64_t, std::size_t> at;
  for (std::size_t i = 0; i < lines.size(); ++i) at.emplace(lines[i].line, i);
  Lines all(lines.size());
  for (std::size_t f = 0; f < walks.footprints.size(); ++f) {
    const auto& footprint = walks.footprints[f];
    for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
      const auto line = at.find(walks.offsets[footprint.addresses[i]] / line_bytes);
      if (line == at.end()) continue;
      auto& own = all[line->second];
      if (own.empty() || own.back().footprint != f) {
        own.emplace_back().footprint = f;
        own.back().missed_in.resize(footprint.words());
      }
      auto& visit = own.back();
      for (std::size_t word = 0; word < footprint.words(); ++word) visit.missed_in[word] |= footprint.missed_in[i * footprint.words() + word];
      if (follows(line_bytes, fill_bytes, walks, footprint, i)) {
        visit.followers += footprint.fits[i];
        continue;
      }
      visit.fits += footprint.fits[i], visit.own += footprint.overflows[i];
      visit.misses += footprint.misses[i], visit.visits += footprint.visits[i];
    }
  }
  return all;
}

/// Laps over a set that overflows, and those of them in which nothing of it missed.
struct Silence {
  double silent = 0, laps = 0;
  Silence& operator+=(const Silence& other) { return silent += other.silent, laps += other.laps, *this; }
  Silence& operator-=(const Silence& other) { return silent -= other.silent, laps -= other.laps, *this; }
  /// What one rate of silence in all laps adds to `kHiddenLap` for each.
  [[nodiscard]] double log_likelihood() const { return log_of_own_rate(silent, laps) - silent * std::log(kHiddenLap); }
};

struct Worth {
  double log_likelihood = 0;
  std::size_t size = 0;
  Silence silence;
};

class Search {
 public:
  Search(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes, std::int64_t fill_bytes, const Walks& walks, Rates rates)
      : walks_(walks), rates_(rates), lines_(visits_of(lines, line_bytes, fill_bytes, walks)), members_(sets), worth_(sets), set_of_(lines.size()) {
    for (std::size_t line = 0; line < lines.size(); ++line) set_of_[line] = lines[line].set, members_[lines[line].set].push_back(line);
    for (std::size_t set = 0; set < sets; ++set) worth_[set] = worth(members_[set]), silence_ += worth_[set].silence;
  }

  /// Lines first: sets are only as they should be where their lines are.
  void climb() {
    for (int round = 0; round < kRounds; ++round) {
      bool moved = false;
      for (std::size_t line = 0; line < lines_.size(); ++line) {
        if (!is_doubtful(line)) continue;
        const auto best = best_move(line);
        if (best.gain <= 0) continue;
        move(line, best.to);
        moved = true;
      }
      if (!moved && !merge()) return;
    }
  }

  /// Sum over all single moves of how much likelier they make the walks, tempered.
  [[nodiscard]] double odds_of_moves() const {
    double odds = 0;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      if (!is_doubtful(line)) continue;
      each_move(line, [&](std::size_t, double gain) { odds += std::exp(gain / kTemper); });
    }
    return odds;
  }

  [[nodiscard]] FoundSets result(const std::vector<LabelledLine>& lines) const {
    FoundSets found;
    std::vector<std::size_t> number(members_.size());
    for (std::size_t set = 0; set < members_.size(); ++set) number[set] = members_[set].empty() ? 0 : found.sets++;
    for (std::size_t line = 0; line < lines.size(); ++line) found.lines.push_back({lines[line].line, number[set_of_[line]]});
    found.odds_of_others = odds_of_moves();
    return found;
  }

 private:
  using Members = std::vector<std::size_t>;

  [[nodiscard]] Worth worth(const Members& members) const {
    if (members.empty()) return {};
    struct Together {
      std::size_t lines = 0;
      double fits = 0, own = 0, followers = 0, misses = 0, visits = 0;
      std::vector<std::uint64_t> missed_in;
    };
    std::unordered_map<std::size_t, Together> loads;
    for (const auto line : members) {
      for (const auto& visit : lines_[line]) {
        auto& load = loads[visit.footprint];
        load.missed_in.resize(visit.missed_in.size());
        for (std::size_t word = 0; word < visit.missed_in.size(); ++word) load.missed_in[word] |= visit.missed_in[word];
        ++load.lines;
        load.fits += visit.fits, load.own += visit.own, load.followers += visit.followers, load.misses += visit.misses, load.visits += visit.visits;
      }
    }
    std::vector<double> at_size(members.size() + 1, 0.0);
    std::vector<Silence> below(members.size() + 1);  // by lines: of footprints in which as many are present
    for (const auto& [footprint, load] : loads) {
      std::size_t with_miss = 0;
      for (const auto word : load.missed_in) with_miss += static_cast<std::size_t>(std::popcount(word));
      const auto laps = walks_.footprints[footprint].whole_laps;
      const Silence silence{static_cast<double>(laps - with_miss), static_cast<double>(laps)};
      const double overflows = load.followers + (rates_ == Rates::Shared ? log_of_likeliest_rate(load.misses, load.visits) : load.own) + silence.silent * std::log(kHiddenLap);
      at_size[0] += overflows, at_size[load.lines] += load.fits + load.followers - overflows;
      below[load.lines] += silence;
    }
    std::partial_sum(at_size.begin(), at_size.end(), at_size.begin());
    const auto best = std::max_element(at_size.begin() + 1, at_size.end());
    Worth worth{*best, static_cast<std::size_t>(best - at_size.begin()), {}};
    for (auto lines = worth.size + 1; lines < below.size(); ++lines) worth.silence += below[lines];
    return worth;
  }

  [[nodiscard]] Members without(std::size_t line) const {
    auto left = members_[set_of_[line]];
    std::erase(left, line);
    return left;
  }
  [[nodiscard]] Members with(std::size_t set, std::size_t line) const {
    auto more = members_[set];
    more.push_back(line);
    return more;
  }

  /// Whether it never missed in some footprint in which its set overflows.
  [[nodiscard]] bool is_doubtful(std::size_t line) const {
    const auto set = set_of_[line];
    std::unordered_map<std::size_t, std::size_t> present;
    for (const auto& visit : lines_[line]) {
      if (visit.misses == 0 && visit.visits > 0) present.emplace(visit.footprint, 0);
    }
    if (present.empty()) return false;
    for (const auto member : members_[set]) {
      for (const auto& visit : lines_[member]) {
        if (const auto at = present.find(visit.footprint); at != present.end() && ++at->second > worth_[set].size) return true;
      }
    }
    return members_[set].size() <= worth_[set].size;
  }

  /// By how much likelier the walks are if two sets become what they are worth then.
  [[nodiscard]] double gain(std::size_t one, const Worth& one_then, std::size_t other, const Worth& other_then) const {
    auto silence = silence_;
    silence -= worth_[one].silence, silence -= worth_[other].silence;
    silence += one_then.silence, silence += other_then.silence;
    return one_then.log_likelihood + other_then.log_likelihood - worth_[one].log_likelihood - worth_[other].log_likelihood +
           silence.log_likelihood() - silence_.log_likelihood();
  }

  /// Calls `each(set, gain)` for all sets that a line may move to.
  template <class Each> void each_move(std::size_t line, Each each) const {
    const auto from = set_of_[line];
    const auto left = worth(without(line));
    for (std::size_t to = 0; to < members_.size(); ++to) {
      if (to != from && !members_[to].empty()) each(to, gain(from, left, to, worth(with(to, line))));
    }
  }

  struct Move {
    std::size_t to = 0;
    double gain = 0;
  };
  [[nodiscard]] Move best_move(std::size_t line) const {
    Move best;
    each_move(line, [&](std::size_t to, double gain) {
      if (gain > best.gain) best = {to, gain};
    });
    return best;
  }

  void move(std::size_t line, std::size_t to) {
    const auto from = set_of_[line];
    members_[from] = without(line), members_[to].push_back(line), set_of_[line] = to;
    update(from, worth(members_[from])), update(to, worth(members_[to]));
  }

  void update(std::size_t set, const Worth& then) {
    silence_ -= worth_[set].silence, silence_ += then.silence;
    worth_[set] = then;
  }

  /// All lines of a set that has some doubtful line go to another, where that is better.
  bool merge() {
    bool any = false;
    for (std::size_t from = 0; from < members_.size(); ++from) {
      if (std::none_of(members_[from].begin(), members_[from].end(), [&](auto line) { return is_doubtful(line); })) continue;
      for (std::size_t to = 0; to < members_.size(); ++to) {
        if (to == from || members_[to].empty()) continue;
        auto together = members_[to];
        together.insert(together.end(), members_[from].begin(), members_[from].end());
        const auto both = worth(together);
        if (gain(from, {}, to, both) <= 0) continue;
        for (const auto line : members_[from]) set_of_[line] = to;
        members_[to] = std::move(together), members_[from].clear();
        update(to, both), update(from, {});
        any = true;
        break;
      }
    }
    return any;
  }

  const Walks& walks_;
  Rates rates_;
  Lines lines_;
  std::vector<Members> members_;
  std::vector<Worth> worth_;
  std::vector<std::size_t> set_of_;
  Silence silence_;  ///< of all sets
};

}  // namespace

FoundSets improved(const std::vector<LabelledLine>& lines, std::size_t sets, std::int64_t line_bytes, std::int64_t fill_bytes, const Walks& walks,
                   Rates rates) {
  Search search(lines, sets, line_bytes, fill_bytes, walks, rates);
  search.climb();
  return search.result(lines);
}

}  // namespace gexp::infer::model
