// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/lap_counts.h"
#include "runtime/infer/model/set_hypothesis.h"

// A set alone has a value: the log-likelihood of what its lines did in all footprints, at its likeliest size. So a move changes the values of
// two sets, and hill climbing from sets that were guessed is cheap. Only lines that some set may do without are tried elsewhere: a line that
// misses wherever its set overflows, and nowhere before, has no better place.
namespace gexp::infer::model {
namespace {

constexpr double kLeastGain = 1e-6;  // limit: of a move, in natural logarithms: sums that lines were taken from are no more exact
constexpr std::size_t kMostSplits = 4;  // limit: of one set, tried in a round
constexpr std::size_t kMostMoves = 32;  // limit: alternatives that are held against all walks again
constexpr int kRounds = 10;  // limit: a round without a move ends it long before

/// One line in one footprint: indices into LineWalks::footprints, and into the lines of that one.
struct Visit {
  std::size_t footprint = 0, at = 0;
};
using Lines = std::vector<std::vector<Visit>>;

Lines visits_of(const std::vector<LabelledLine>& lines, const LineWalks& walks) {
  std::unordered_map<std::int64_t, std::size_t> at;
  for (std::size_t i = 0; i < lines.size(); ++i) at.emplace(lines[i].line, i);
  Lines all(lines.size());
  for (std::size_t f = 0; f < walks.footprints.size(); ++f) {
    const auto& visited = walks.footprints[f].lines;
    work(visited.size() / 4);
    for (std::size_t i = 0; i < visited.size(); ++i) {
      if (const auto line = at.find(walks.numbers[visited[i].line]); line != at.end()) all[line->second].push_back({f, i});
    }
  }
  return all;
}

using Among = std::unordered_map<std::int64_t, std::uint32_t>;

/// By footprint and by set: lines that were given to no set and may be of this one. Those that `among` does not name may be of any.
std::vector<std::vector<std::size_t>> unplaced(const std::vector<LabelledLine>& lines, std::size_t sets, const LineWalks& walks, const Among& among) {
  std::unordered_set<std::int64_t> placed;
  for (const auto& line : lines) placed.insert(line.line);
  std::vector<std::vector<std::size_t>> all;
  for (const auto& footprint : walks.footprints) {
    auto& by_set = all.emplace_back(sets + 1, 0);
    work(footprint.lines.size() / 4 + sets / 16);
    for (const auto& visit : footprint.lines) {
      const auto number = walks.numbers[visit.line];
      if (placed.contains(number)) continue;
      const auto found = among.find(number);
      const auto first = found == among.end() ? sets : std::min<std::size_t>(sets, found->second);
      if (first > 0) ++by_set[first - 1];
    }
    std::partial_sum(by_set.rbegin(), by_set.rend(), by_set.rbegin());
  }
  return all;
}

/// What the lines of one set did together in one footprint, line by line.
class SetLoad {
 public:
  void put(const LineFootprint& footprint, std::size_t at) { ++lines, sums += footprint.lines[at].did, count(footprint, at, 1); }
  void take(const LineFootprint& footprint, std::size_t at) { --lines, sums -= footprint.lines[at].did, count(footprint, at, -1); }

  int lines = 0;
  Conduct sums;
  double loud = 0, unsure = 0;  ///< whole laps with a miss, and those that may have one

 private:
  void count(const LineFootprint& footprint, std::size_t at, int step) {
    if (!footprint.lines[at].doubted) return;
    const auto missed_in = footprint.missed_in(at), unsure_in = footprint.unsure_in(at);
    for (std::size_t word = 0; word < missed_in.size(); ++word) {
      if ((missed_in[word] | unsure_in[word]) == 0) continue;
      tell(word, -1);
      missed_.add(word, missed_in[word], step), unsure_.add(word, unsure_in[word], step);
      tell(word, 1);
    }
  }
  void tell(std::size_t word, int step) {
    const auto missed = missed_.any(word);
    loud += step * std::popcount(missed), unsure += step * std::popcount(unsure_.any(word) & ~missed);
  }

  LapCounts missed_, unsure_;  ///< lines
};

struct Worth {
  double log_likelihood = 0;  ///< without what laps lack
  std::size_t size = 0;
  Laps laps;                  ///< of footprints in which it overflows
};

class Search {
 public:
  Search(const std::vector<LabelledLine>& lines, std::size_t sets, const LineWalks& walks, Rates rates, const Among& among)
      : walks_(walks), rates_(rates), lines_(visits_of(lines, walks)), unplaced_(unplaced(lines, sets, walks, among)), members_(sets), worth_(sets), set_of_(lines.size()),
        loads_(sets, std::vector<SetLoad>(walks.footprints.size())) {
    for (std::size_t line = 0; line < lines.size(); ++line) {
      set_of_[line] = lines[line].set, members_[lines[line].set].push_back(line);
      put(lines[line].set, line);
    }
    for (std::size_t set = 0; set < sets; ++set) worth_[set] = worth(set);
  }

  /// Lines first: sets are only as they should be where their lines are.
  void climb() {
    for (; rounds_left(); ++round_) {
      bool moved = false;
      Laps laps;
      for (const auto& each : worth_) laps += each.laps;
      log_rate_of_silence_ = laps.log_rate(walks_.silence), laps_ = {};
      for (std::size_t set = 0; set < members_.size(); ++set) worth_[set] = worth(set), laps_ += worth_[set].laps;
      for (std::size_t line = 0; line < lines_.size(); ++line) {
        if (!is_doubtful(line)) continue;
        const auto best = best_move(line);
        if (best.gain <= kLeastGain) continue;
        move(line, best.to);
        moved = true;
      }
      if (!moved && !merge()) return;
    }
  }
  [[nodiscard]] bool rounds_left() const { return round_ < kRounds; }

  /// Lines of a set that never missed in one footprint in which others of it did become a set of their own, where that is better.
  bool split() {
    ++round_;
    bool any = false;
    for (std::size_t from = 0, sets = members_.size(); from < sets; ++from) {
      std::optional<Part> best;
      double most = kLeastGain;
      for (auto& part : silent_parts(from)) {
        const double gained = split_off(from, part, false);
        if (gained > most) most = gained, best = std::move(part);
      }
      if (best) split_off(from, *best, true), any = true;
    }
    return any;
  }

  /// Of all single moves, the likeliest first.
  [[nodiscard]] std::vector<FoundSets::Move> likeliest_moves() {
    std::vector<FoundSets::Move> moves;
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      each_move(line, [&](std::size_t to, double gain) { moves.push_back({line, to, gain}); });
    }
    const auto kept = std::min(kMostMoves, moves.size());
    std::partial_sort(moves.begin(), moves.begin() + static_cast<std::ptrdiff_t>(kept), moves.end(), [](const auto& a, const auto& b) { return a.gain > b.gain; });
    moves.resize(kept);
    return moves;
  }

  [[nodiscard]] FoundSets result(const std::vector<LabelledLine>& lines) {
    FoundSets found;
    std::vector<std::size_t> number(members_.size());
    for (std::size_t set = 0; set < members_.size(); ++set) number[set] = members_[set].empty() ? 0 : found.sets++;
    for (std::size_t line = 0; line < lines.size(); ++line) found.lines.push_back({lines[line].line, number[set_of_[line]]});
    found.moves = likeliest_moves();
    for (auto& move : found.moves) move.to = number[move.to];
    return found;
  }

 private:
  using Members = std::vector<std::size_t>;

  void put(std::size_t set, std::size_t line) {
    for (const auto& visit : lines_[line]) loads_[set][visit.footprint].put(walks_.footprints[visit.footprint], visit.at);
  }
  void take(std::size_t set, std::size_t line) {
    for (const auto& visit : lines_[line]) loads_[set][visit.footprint].take(walks_.footprints[visit.footprint], visit.at);
  }
  [[nodiscard]] const Conduct& did(const Visit& visit) const { return walks_.footprints[visit.footprint].lines[visit.at].did; }

  /// Of a set that was split off: as many as may be of any.
  [[nodiscard]] std::size_t others(std::size_t set, std::size_t footprint) const {
    const auto& by_set = unplaced_[footprint];
    return by_set[set + 1 < by_set.size() ? set : 0];
  }

  [[nodiscard]] Worth worth(std::size_t set) const {
    std::size_t most = 0;
    work(loads_[set].size());
    for (const auto& load : loads_[set]) most = std::max(most, static_cast<std::size_t>(load.lines));
    if (most == 0) return {};
    std::vector<double> at_size(most + 2, 0.0), without_laps(most + 2, 0.0);  // the last: of sizes that no walk reaches
    std::vector<Laps> below(most + 1);  // by lines: of footprints in which as many are present
    for (std::size_t footprint = 0; footprint < loads_[set].size(); ++footprint) {
      const auto& load = loads_[set][footprint];
      if (load.lines == 0) continue;
      const auto& did = load.sums;
      const auto& walked = *walks_.footprints[footprint].walked;
      const auto lines = static_cast<std::size_t>(load.lines);
      const bool shared = rates_ == Rates::Shared;
      Laps laps;
      laps.loud = load.loud, laps.silent = static_cast<double>(walked.whole_laps) - load.loud - load.unsure;
      laps.by_rates = laps.silent * (shared ? did.log_silence(walked, did.misses, did.visits) : did.log_own_silence);
      const double at_rates = did.followers + (shared ? std::max(log_of_likeliest_rate(did.misses, did.visits), did.some_stay(walked)) : did.own);
      const double overflows = at_rates + laps.lack(log_rate_of_silence_);
      // With lines that may be of this set it overflows or not, as is likelier.
      const auto with_others = std::min(lines + others(set, footprint), most + 1);
      const double either = std::max(did.fits, at_rates);
      at_size[0] += overflows, at_size[lines] += either - overflows;
      without_laps[0] += at_rates, without_laps[lines] += either - at_rates;
      at_size[with_others] += did.fits - either, without_laps[with_others] += did.fits - either;
      below[lines] += laps;
    }
    std::partial_sum(at_size.begin(), at_size.end(), at_size.begin());
    std::partial_sum(without_laps.begin(), without_laps.end(), without_laps.begin());
    const auto size = static_cast<std::size_t>(std::max_element(at_size.begin() + 1, at_size.end() - 1) - at_size.begin());
    Worth worth{without_laps[size], size, {}};
    for (auto more = size + 1; more < below.size(); ++more) worth.laps += below[more];
    return worth;
  }

  /// Whether it never missed in some footprint in which its set overflows.
  [[nodiscard]] bool is_doubtful(std::size_t line) const {
    const auto set = set_of_[line];
    bool silent = false;
    for (const auto& visit : lines_[line]) {
      if (did(visit).misses > 0 || did(visit).visits == 0) continue;
      silent = true;
      if (static_cast<std::size_t>(loads_[set][visit.footprint].lines) > worth_[set].size) return true;
    }
    return silent && members_[set].size() <= worth_[set].size;
  }

  /// By how much likelier the walks are if two sets become what they are worth then.
  [[nodiscard]] double gain(std::size_t one, const Worth& one_then, std::size_t other, const Worth& other_then) const {
    auto laps = laps_;
    laps -= worth_[one].laps, laps -= worth_[other].laps;
    laps += one_then.laps, laps += other_then.laps;
    return one_then.log_likelihood + other_then.log_likelihood - worth_[one].log_likelihood - worth_[other].log_likelihood +
           laps.lack_at_own_rate(walks_.silence) - laps_.lack_at_own_rate(walks_.silence);
  }

  /// Calls `each(set, gain)` for all sets that a line may move to.
  template <class Each> void each_move(std::size_t line, Each each) {
    const auto from = set_of_[line];
    take(from, line);
    const auto left = worth(from);
    for (std::size_t to = 0; to < members_.size(); ++to) {
      if (to == from || members_[to].empty()) continue;
      put(to, line);
      const auto with_it = worth(to);
      take(to, line);
      each(to, gain(from, left, to, with_it));
    }
    put(from, line);
  }

  [[nodiscard]] FoundSets::Move best_move(std::size_t line) {
    FoundSets::Move best;
    each_move(line, [&](std::size_t to, double gain) {
      if (gain > best.gain) best = {line, to, gain};
    });
    return best;
  }

  void move(std::size_t line, std::size_t to) {
    const auto from = set_of_[line];
    std::erase(members_[from], line), members_[to].push_back(line), set_of_[line] = to;
    take(from, line), put(to, line);
    update(from, worth(from)), update(to, worth(to));
  }

  void update(std::size_t set, const Worth& then) {
    laps_ -= worth_[set].laps, laps_ += then.laps;
    worth_[set] = then;
  }

  /// All lines of a set that has some doubtful line go to another, where that is better.
  bool merge() {
    bool any = false;
    for (std::size_t from = 0; from < members_.size(); ++from) {
      if (std::none_of(members_[from].begin(), members_[from].end(), [&](auto line) { return is_doubtful(line); })) continue;
      for (std::size_t to = 0; to < members_.size(); ++to) {
        if (to == from || members_[to].empty()) continue;
        for (const auto line : members_[from]) put(to, line);
        const auto both = worth(to);
        if (gain(from, {}, to, both) <= kLeastGain) {
          for (const auto line : members_[from]) take(to, line);
          continue;
        }
        for (const auto line : members_[from]) take(from, line), set_of_[line] = to;
        members_[to].insert(members_[to].end(), members_[from].begin(), members_[from].end()), members_[from].clear();
        update(to, both), update(from, {});
        any = true;
        break;
      }
    }
    return any;
  }

  /// Of a set, by what its lines did in one footprint in which it overflows.
  struct Part {
    Members lines;     ///< those that never missed
    Members open;      ///< those that were not there
    double lacks = 0;  ///< how much less likely it is that the first did not miss than if they fit
  };

  /// Of the footprints in which that is least likely.
  [[nodiscard]] std::vector<Part> silent_parts(std::size_t set) const {
    std::map<std::size_t, Part> by_footprint;
    for (const auto line : members_[set]) {
      for (const auto& visit : lines_[line]) {
        const auto& load = loads_[set][visit.footprint];
        if (static_cast<std::size_t>(load.lines) <= worth_[set].size || load.sums.misses == 0 || did(visit).misses > 0 || did(visit).visits == 0) continue;
        auto& silent = by_footprint[visit.footprint];
        silent.lines.push_back(line), silent.lacks += did(visit).fits - did(visit).own;
      }
    }
    std::vector<std::pair<std::size_t, Part>> all;
    for (auto& [footprint, part] : by_footprint) {
      if (part.lines.size() > 1) all.emplace_back(footprint, std::move(part));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.lacks > b.second.lacks; });
    std::vector<Part> likeliest;
    for (auto& [footprint, part] : all) {
      if (likeliest.size() == kMostSplits) break;
      if (std::any_of(likeliest.begin(), likeliest.end(), [&, &same = part](const Part& other) { return other.lines == same.lines; })) continue;
      for (const auto line : members_[set]) {
        if (std::none_of(lines_[line].begin(), lines_[line].end(), [&, at = footprint](const Visit& visit) { return visit.footprint == at; })) part.open.push_back(line);
      }
      likeliest.push_back(std::move(part));
    }
    return likeliest;
  }

  /// By how much likelier the walks are if the lines of a part are a set of their own, and open ones of the one or the other, as is likelier.
  /// `keep`: from now on they are.
  double split_off(std::size_t from, const Part& part, bool keep) {
    const auto to = members_.size();
    auto lines = part.lines;
    members_.emplace_back(), worth_.emplace_back(), loads_.emplace_back(walks_.footprints.size());
    for (const auto line : lines) take(from, line), put(to, line);
    auto left = worth(from), apart = worth(to);
    double gained = gain(from, left, to, apart);
    for (const auto line : part.open) {
      take(from, line), put(to, line);
      const auto left_then = worth(from), apart_then = worth(to);
      const double then = gain(from, left_then, to, apart_then);
      if (then > gained) gained = then, left = left_then, apart = apart_then, lines.push_back(line);
      else put(from, line), take(to, line);
    }
    if (keep) {
      for (const auto line : lines) std::erase(members_[from], line), set_of_[line] = to;
      members_[to] = lines;
      update(from, left), update(to, apart);
    } else {
      for (const auto line : lines) put(from, line);
      members_.pop_back(), worth_.pop_back(), loads_.pop_back();
    }
    return gained;
  }

  const LineWalks& walks_;
  Rates rates_;
  Lines lines_;
  std::vector<std::vector<std::size_t>> unplaced_;  ///< by footprint and set
  std::vector<Members> members_;
  std::vector<Worth> worth_;
  std::vector<std::size_t> set_of_;
  std::vector<std::vector<SetLoad>> loads_;  ///< by set and footprint
  int round_ = 0;
  Laps laps_;  ///< of all sets that overflow
  double log_rate_of_silence_ = Laps().log_rate(walks_.silence);  ///< of them, with which sizes are chosen
};

}  // namespace

BetterSets improved(const std::vector<LabelledLine>& lines, std::size_t sets, const LineWalks& walks, Rates rates,
                    const std::unordered_map<std::int64_t, std::uint32_t>& among) {
  Search search(lines, sets, walks, rates, among);
  search.climb();
  BetterSets better{search.result(lines), {}};
  bool was_split = false;
  for (; search.rounds_left() && search.split(); was_split = true) search.climb();
  if (was_split) better.split = search.result(lines);
  return better;
}

}  // namespace gexp::infer::model
