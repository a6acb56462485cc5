// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_search.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>

#include "runtime/infer/in_parallel.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/set_hypothesis.h"
#include "runtime/infer/model/set_loads.h"
#include "runtime/infer/model/worth_by_size.h"

// A set alone has a value: the log-likelihood of what its lines did in all footprints, at its likeliest size. So a move changes the values of
// two sets, and hill climbing from sets that were guessed is cheap. Only lines that some set may do without are tried elsewhere: a line that
// misses wherever its set overflows, and nowhere before, has no better place.
//
// Where an index sends neighbours to one set, sets differ by blocks of lines, and each single line that moves may be worse off though all of a
// block would be better. So the search goes on with blocks in the place of lines, of two, four and more.
namespace gexp::infer::model {
namespace {

constexpr double kLeastGain = 1e-6;  // limit: of a move, in natural logarithms: sums that lines were taken from are no more exact
constexpr std::size_t kMostSplits = 4;  // limit: of one set, tried in a round
constexpr std::size_t kMostMoves = 32;  // limit: alternatives of one length that are held against all walks again
constexpr int kRounds = 10;  // limit: a round without a move ends it long before

/// Lines that go to a set together: one, or neighbours.
struct Blocks {
  Blocks(const std::vector<LabelledLine>& lines, int own_bits) : bits(own_bits) {
    std::unordered_map<std::int64_t, std::size_t> known;
    for (const auto& line : lines) {
      const auto [at, fresh] = known.try_emplace(line.line >> bits, numbers.size());
      if (fresh) numbers.push_back(line.line >> bits), sizes.push_back(0);
      ++sizes[at->second], of_line.push_back(at->second);
    }
  }
  int bits;                          ///< the last ones of a line's number, in which lines of a block differ
  std::vector<std::size_t> of_line;  ///< index of its block
  std::vector<std::int64_t> numbers; ///< by block: that of its lines without those bits
  std::vector<std::size_t> sizes;    ///< by block, in lines
};

class Search {
 public:
  /// With each block in the set that most of its lines were given to.
  Search(const std::vector<LabelledLine>& lines, std::size_t sets, Blocks blocks, const LineWalks& walks, Rates rates, const Among& among)
      : walks_(walks), rates_(rates), blocks_(std::move(blocks)), visits_(visits_of(lines, blocks_.of_line, blocks_.sizes.size(), walks)),
        unplaced_(unplaced(lines, sets, walks, among)), members_(sets), worth_(sets), loads_(sets, std::vector<SetLoad>(walks.footprints.size())) {
    std::vector<std::vector<std::size_t>> votes(blocks_.sizes.size());
    for (std::size_t line = 0; line < lines.size(); ++line) votes[blocks_.of_line[line]].push_back(lines[line].set);
    for (std::size_t block = 0; block < votes.size(); ++block) {
      const auto votes_for = [&](std::size_t set) { return std::count(votes[block].begin(), votes[block].end(), set); };
      const auto set = *std::max_element(votes[block].begin(), votes[block].end(), [&](auto a, auto b) { return votes_for(a) < votes_for(b); });
      set_of_.push_back(set), members_[set].push_back(block);
      put(set, block);
    }
    for (std::size_t set = 0; set < sets; ++set) worth_[set] = worth(set);
  }

  /// Lines first: sets are only as they should be where their lines are.
  void climb() {
    for (; rounds_left(); ++round_) {
      bool moved = false;
      weigh();
      for (std::size_t block = 0; block < visits_.size(); ++block) {
        if (!is_doubtful(block)) continue;
        const auto better = better_set(block);
        if (!better) continue;
        move(block, *better);
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

  /// No line has a better place.
  [[nodiscard]] bool settled() const {
    for (std::size_t block = 0; block < visits_.size(); ++block) {
      if (is_doubtful(block)) return false;
    }
    return true;
  }

  /// All single moves.
  [[nodiscard]] std::vector<Move> moves() {
    std::vector<Move> all;
    for (int round = 0; round < 2; ++round) weigh();
    for (std::size_t block = 0; block < visits_.size(); ++block) {
      each_move(block, [&](std::size_t to, double gain) { all.push_back({blocks_.numbers[block], blocks_.bits, to, gain}); });
    }
    return all;
  }

  /// The sets that the lines are in now.
  [[nodiscard]] std::vector<LabelledLine> labels(std::vector<LabelledLine> lines) const {
    for (std::size_t line = 0; line < lines.size(); ++line) lines[line].set = set_of_[blocks_.of_line[line]];
    return lines;
  }

  [[nodiscard]] FoundSets result(const std::vector<LabelledLine>& lines) const {
    FoundSets found{labels(lines), 0, rates_};
    std::vector<std::size_t> number(members_.size());
    for (std::size_t set = 0; set < members_.size(); ++set) number[set] = members_[set].empty() ? 0 : found.sets++;
    for (auto& line : found.lines) line.set = number[line.set];
    return found;
  }

 private:
  using Members = std::vector<std::size_t>;

  void put(std::size_t set, std::size_t block) {
    for (const auto& visit : visits_[block]) loads_[set][visit.footprint].put(walks_.footprints[visit.footprint], visit.at);
  }
  void take(std::size_t set, std::size_t block) {
    for (const auto& visit : visits_[block]) loads_[set][visit.footprint].take(walks_.footprints[visit.footprint], visit.at);
  }
  /// What all sets are worth, at the rate of silence of the sizes that they had.
  void weigh() {
    Laps laps;
    for (const auto& each : worth_) laps += each.laps;
    log_rate_of_silence_ = laps.log_rate(walks_.silence), laps_ = {};
    for (std::size_t set = 0; set < members_.size(); ++set) worth_[set] = worth(set), laps_ += worth_[set].laps;
  }
  [[nodiscard]] std::size_t lines_of(const Members& blocks) const {
    return std::accumulate(blocks.begin(), blocks.end(), std::size_t{0}, [&](std::size_t sum, auto block) { return sum + blocks_.sizes[block]; });
  }
  [[nodiscard]] const Conduct& did(const Visit& visit) const { return walks_.footprints[visit.footprint].lines[visit.at].did; }

  /// Of a set that was split off: as many as may be of any.
  [[nodiscard]] std::size_t others(std::size_t set, std::size_t footprint) const {
    const auto& by_set = unplaced_[footprint];
    return by_set[set + 1 < by_set.size() ? set : 0];
  }

  /// What a set is worth, or would be with these visits of lines that are no part of it.
  [[nodiscard]] Worth worth(std::size_t set, std::span<const Visit> also = {}) const {
    by_size_.clear();
    work(loads_[set].size());
    for (std::size_t footprint = 0; footprint < loads_[set].size(); ++footprint) {
      const auto& load = loads_[set][footprint];
      const auto here = std::find_if(also.begin(), also.end(), [&](const Visit& visit) { return visit.footprint != footprint; }) - also.begin();
      const auto more = also.first(static_cast<std::size_t>(here));
      also = also.subspan(more.size());
      const auto lines = static_cast<std::size_t>(load.lines) + more.size();
      if (lines == 0) continue;
      auto all = load.sums;
      for (const auto& visit : more) all += did(visit);
      add_load(footprint, set, lines, all, load.laps_with(walks_.footprints[footprint], more));
    }
    return by_size_.best();
  }

  /// Adds what some lines of a set did in a footprint to what the sizes of the set are worth.
  void add_load(std::size_t footprint, std::size_t set, std::size_t lines, const Conduct& did, SetLoad::LapsWith with) const {
    const auto& walked = *walks_.footprints[footprint].walked;
    const bool shared = rates_ == Rates::Shared;
    Laps laps;
    laps.loud = with.loud, laps.silent = static_cast<double>(walked.whole_laps) - with.loud - with.unsure;
    laps.by_rates = laps.silent * (shared ? did.log_silence(walked, did.misses, did.visits) : did.log_own_silence);
    const double of_one = shared && did.misses > 0 ? std::max(log_of_likeliest_rate(did.misses, did.visits), did.some_stay(walked)) : 0;
    const double at_rates = did.followers + (shared ? of_one : did.own);
    const double overflows = at_rates + laps.lack(log_rate_of_silence_);
    // With lines that may be of this set it overflows or not, as is likelier.
    const double either = std::max(did.fits, at_rates);
    by_size_.add(0, overflows, at_rates);
    by_size_.add(lines, either - overflows, either - at_rates);
    by_size_.add(lines + others(set, footprint), did.fits - either, did.fits - either);
    by_size_.add(lines, laps);
  }

  /// Whether it never missed in some footprint in which its set overflows.
  [[nodiscard]] bool is_doubtful(std::size_t block) const {
    const auto set = set_of_[block];
    bool silent = false;
    for (const auto& visit : visits_[block]) {
      if (did(visit).misses > 0 || did(visit).visits == 0) continue;
      silent = true;
      if (static_cast<std::size_t>(loads_[set][visit.footprint].lines) > worth_[set].size) return true;
    }
    return silent && lines_of(members_[set]) <= worth_[set].size;
  }

  /// By how much likelier the walks are if two sets become what they are worth then.
  [[nodiscard]] double gain(std::size_t one, const Worth& one_then, std::size_t other, const Worth& other_then) const {
    auto laps = laps_;
    laps -= worth_[one].laps, laps -= worth_[other].laps;
    laps += one_then.laps, laps += other_then.laps;
    return one_then.log_likelihood + other_then.log_likelihood - worth_[one].log_likelihood - worth_[other].log_likelihood +
           laps.lack_at_own_rate(walks_.silence) - laps_.lack_at_own_rate(walks_.silence);
  }

  /// Calls `each(set, gain)` for all sets that a block may move to.
  template <class Each> void each_move(std::size_t block, Each each) {
    const auto from = set_of_[block];
    take(from, block);
    const auto left = worth(from);
    for (std::size_t to = 0; to < members_.size(); ++to) {
      if (to != from && !members_[to].empty()) each(to, gain(from, left, to, worth(to, visits_[block])));
    }
    put(from, block);
  }

  /// The set that a block had better go to; nullopt: none.
  [[nodiscard]] std::optional<std::size_t> better_set(std::size_t block) {
    std::optional<std::size_t> best;
    double most = kLeastGain;
    each_move(block, [&](std::size_t to, double gain) {
      if (gain > most) best = to, most = gain;
    });
    return best;
  }

  void move(std::size_t block, std::size_t to) {
    const auto from = set_of_[block];
    std::erase(members_[from], block), members_[to].push_back(block), set_of_[block] = to;
    take(from, block), put(to, block);
    update(from, worth(from)), update(to, worth(to));
  }

  void update(std::size_t set, const Worth& then) {
    laps_ -= worth_[set].laps, laps_ += then.laps;
    worth_[set] = then;
  }

  /// All lines of a set that has some doubtful block go to another, where that is better.
  bool merge() {
    bool any = false;
    for (std::size_t from = 0; from < members_.size(); ++from) {
      if (std::none_of(members_[from].begin(), members_[from].end(), [&](auto block) { return is_doubtful(block); })) continue;
      for (std::size_t to = 0; to < members_.size(); ++to) {
        if (to == from || members_[to].empty()) continue;
        for (const auto block : members_[from]) put(to, block);
        const auto both = worth(to);
        if (gain(from, {}, to, both) <= kLeastGain) {
          for (const auto block : members_[from]) take(to, block);
          continue;
        }
        for (const auto block : members_[from]) take(from, block), set_of_[block] = to;
        members_[to].insert(members_[to].end(), members_[from].begin(), members_[from].end()), members_[from].clear();
        update(to, both), update(from, {});
        any = true;
        break;
      }
    }
    return any;
  }

  /// Of a set, by what its blocks did in one footprint in which it overflows.
  struct Part {
    Members blocks;    ///< those that never missed
    Members open;      ///< those that were not there
    double lacks = 0;  ///< how much less likely it is that the first did not miss than if they fit
  };

  /// Of the footprints in which that is least likely.
  [[nodiscard]] std::vector<Part> silent_parts(std::size_t set) const {
    std::map<std::size_t, Part> by_footprint;
    for (const auto block : members_[set]) {
      const auto& visits = visits_[block];
      for (auto first = visits.begin(), end = first; first != visits.end(); first = end) {
        double misses = 0, visited = 0, lacks = 0;
        for (; end != visits.end() && end->footprint == first->footprint; ++end) {
          misses += did(*end).misses, visited += did(*end).visits, lacks += did(*end).fits - did(*end).own;
        }
        const auto& load = loads_[set][first->footprint];
        if (static_cast<std::size_t>(load.lines) <= worth_[set].size || load.sums.misses == 0 || misses > 0 || visited == 0) continue;
        auto& silent = by_footprint[first->footprint];
        silent.blocks.push_back(block), silent.lacks += lacks;
      }
    }
    std::vector<std::pair<std::size_t, Part>> all;
    for (auto& [footprint, part] : by_footprint) {
      if (lines_of(part.blocks) > 1) all.emplace_back(footprint, std::move(part));
    }
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second.lacks > b.second.lacks; });
    std::vector<Part> likeliest;
    for (auto& [footprint, part] : all) {
      if (likeliest.size() == kMostSplits) break;
      if (std::any_of(likeliest.begin(), likeliest.end(), [&, &same = part](const Part& other) { return other.blocks == same.blocks; })) continue;
      for (const auto block : members_[set]) {
        if (std::none_of(visits_[block].begin(), visits_[block].end(), [&, at = footprint](const Visit& visit) { return visit.footprint == at; })) part.open.push_back(block);
      }
      likeliest.push_back(std::move(part));
    }
    return likeliest;
  }

  /// By how much likelier the walks are if the blocks of a part are a set of their own, and open ones of the one or the other, as is likelier.
  /// `keep`: from now on they are.
  double split_off(std::size_t from, const Part& part, bool keep) {
    const auto to = members_.size();
    auto blocks = part.blocks;
    members_.emplace_back(), worth_.emplace_back(), loads_.emplace_back(walks_.footprints.size());
    for (const auto block : blocks) take(from, block), put(to, block);
    auto left = worth(from), apart = worth(to);
    double gained = gain(from, left, to, apart);
    for (const auto block : part.open) {
      take(from, block), put(to, block);
      const auto left_then = worth(from), apart_then = worth(to);
      const double then = gain(from, left_then, to, apart_then);
      if (then > gained) gained = then, left = left_then, apart = apart_then, blocks.push_back(block);
      else put(from, block), take(to, block);
    }
    if (keep) {
      for (const auto block : blocks) std::erase(members_[from], block), set_of_[block] = to;
      members_[to] = blocks;
      update(from, left), update(to, apart);
    } else {
      for (const auto block : blocks) put(from, block);
      members_.pop_back(), worth_.pop_back(), loads_.pop_back();
    }
    return gained;
  }

  const LineWalks& walks_;
  Rates rates_;
  Blocks blocks_;
  Visits visits_;  ///< by block, as of all below that are not said to be by set
  std::vector<std::vector<std::size_t>> unplaced_;  ///< by footprint and set
  std::vector<Members> members_;  ///< by set
  std::vector<Worth> worth_;      ///< by set
  std::vector<std::size_t> set_of_;
  std::vector<std::vector<SetLoad>> loads_;  ///< by set and footprint
  mutable WorthBySize by_size_;  ///< of the set that is looked at
  int round_ = 0;
  Laps laps_;  ///< of all sets that overflow
  double log_rate_of_silence_ = Laps().log_rate(walks_.silence);  ///< of them, with which sizes are chosen
};

}  // namespace

BetterSets improved(const std::vector<LabelledLine>& lines, std::size_t sets, const LineWalks& walks, Rates rates,
                    const Among& among) {
  Search search(lines, sets, Blocks(lines, 0), walks, rates, among);
  search.climb();
  const auto by_line = search.labels(lines);
  BetterSets better{search.result(lines), {}, {}};
  std::vector<Blocks> by_bits;  // from one bit on
  for (int bits = 1, most = search.settled() ? 0 : 62; bits <= most; ++bits) {
    Blocks blocks(lines, bits);
    if (blocks.sizes.size() <= better.whole.sets) break;
    by_bits.push_back(std::move(blocks));
  }
  std::vector<FoundSets> of_blocks(by_bits.size());
  in_parallel(1 + by_bits.size(), [&](std::size_t bits) {
    if (bits == 0) {
      bool was_split = false;
      for (; search.rounds_left() && search.split(); was_split = true) search.climb();
      if (was_split) better.split = search.result(lines);
      return;
    }
    Search whole_blocks(by_line, sets, std::move(by_bits[bits - 1]), walks, rates, among);
    whole_blocks.climb();
    while (whole_blocks.rounds_left() && whole_blocks.split()) whole_blocks.climb();
    of_blocks[bits - 1] = whole_blocks.result(lines);
  });
  for (auto& found : of_blocks) {
    const auto is_same = [&](const FoundSets& other) {
      return std::equal(found.lines.begin(), found.lines.end(), other.lines.begin(), [](const LabelledLine& a, const LabelledLine& b) { return a.set == b.set; });
    };
    if (!is_same(better.whole) && std::none_of(better.by_block.begin(), better.by_block.end(), is_same)) better.by_block.push_back(std::move(found));
  }
  return better;
}

std::vector<Move> likeliest_moves(const FoundSets& found, const LineWalks& walks, const Among& among) {
  std::vector<Move> all;
  for (const int bits : std::set<int>{0, blocks_of_one_set(found.lines).bits}) {
    auto own = Search(found.lines, found.sets, Blocks(found.lines, bits), walks, found.rates, among).moves();
    const auto kept = own.begin() + static_cast<std::ptrdiff_t>(std::min(kMostMoves, own.size()));
    std::partial_sort(own.begin(), kept, own.end(), [](const Move& a, const Move& b) { return a.gain > b.gain; });
    all.insert(all.end(), own.begin(), kept);
  }
  return all;
}

}  // namespace gexp::infer::model
