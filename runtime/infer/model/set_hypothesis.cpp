// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_hypothesis.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_set>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"

// For each footprint and set a hypothesis says how many lines compete, at least. If the set holds as many, all its addresses fit; if not, they
// overflow. So the likelihood of a size is a sum over footprints, of `fits` where it is large enough and of `overflows` where it is not,
// and all sizes of a set are judged in one pass. Sets of one size are one number to describe; sets of their own sizes, one each.
//
// The addresses of sets that overflow all miss at one rate, as in a loop over LRU or FIFO; or at one rate where as many of them compete for as
// many places, as by a random policy; or each at its own, as by a tree; or all but those that stay, as by a policy that goes in circles, which
// are others in another order: as many stay where as many compete for as many places. It is one of these in all walks. And whatever replaces
// lines, at least one of them misses in every lap. A lap in which none does is an error of the measurement, or another level held the line
// that was absent: such silent laps have one rate in all walks, as much at least as scatter makes misses as fast as hits. Where that rate
// explains them worse than the rates of the addresses do, each of them speaks against the hypothesis. Laps with a miss never speak for one:
// misses depend on each other in other ways, too, and a machine that goes in circles repeats itself. Sizes are chosen first, set by set; then
// the rates that sets share are counted.
namespace gexp::infer::model {
namespace {

constexpr int kSizeRounds = 5;                  // limit: sizes and the rate of silence agree before
constexpr std::int64_t kSectors[] = {32, 16};  // fact: bytes that may be filled by themselves

/// One set in one footprint.
struct Load {
  std::uint32_t set = 0, footprint = 0;
  std::uint32_t lines = 0;
  std::uint32_t others = 0;  ///< lines of the footprint that may be of this set, too: it is not said of which they are
  Conduct did;
  Laps laps;                 ///< with the rates that each address has for itself
  Laps laps_at_one_rate;     ///< with one rate for all of them
  Laps laps_of_some;         ///< with one rate for all but those that stay
  double at_one_rate = 0;    ///< log-likelihood of what those did that follow no other
  double of_some = 0;        ///< the same, if some of them stay
  double at_rates = 0;       ///< log-likelihood of what its addresses did, at one rate or at its own of each
  /// The same, if they overflow: at least one of them misses in every lap.
  [[nodiscard]] double overflows(double log_rate_of_silence) const {
    const double one = laps_at_one_rate.lack(log_rate_of_silence), some = laps_of_some.lack(log_rate_of_silence), own = laps.lack(log_rate_of_silence);
    return one == 0 && some == 0 && own == 0 ? at_rates : either(one, some, own);
  }
  [[nodiscard]] double either(double lack_at_one_rate, double lack_of_some, double lack_at_own) const {
    return did.followers + log_sum(at_one_rate + lack_at_one_rate, log_sum(of_some + lack_of_some, did.own + lack_at_own)) - std::log(3.0);
  }
};

/// What the hypothesis leaves out: lines of which it does not say which set they are of.
struct Unsaid {
  double likelihood = 0;                          ///< whatever their addresses do costs what a right prediction would
  std::vector<std::vector<std::uint32_t>> lines;  ///< by footprint, those of which it does not
  std::vector<std::uint32_t> among;               ///< by line: of how many sets it may be
};

/// By set.
std::vector<std::vector<Load>> loads_of(const SetHypothesis& hypothesis, const LineWalks& walks, Unsaid& beside) {
  auto& among = beside.among;
  std::vector<std::uint32_t> set_of;  // by line
  for (const auto line : walks.numbers) {
    set_of.push_back(hypothesis.set_of(line));
    among.push_back(set_of.back() == kNoSet && hypothesis.among ? hypothesis.among(line) : hypothesis.sets);
  }
  std::vector<std::vector<Load>> by_set(hypothesis.sets);
  std::vector<std::uint32_t> here, others;  // sets of a footprint; by how many sets they may be of: lines without one
  std::vector<std::uint64_t> missed, unsure;  // laps, by set
  beside.lines.resize(walks.footprints.size());
  for (std::uint32_t f = 0; f < walks.footprints.size(); ++f) {
    const auto& footprint = walks.footprints[f];
    const auto words = footprint.walked->words();
    work(footprint.lines.size() / 4 + hypothesis.sets * (words + 1) / 16);
    here.clear(), others.assign(hypothesis.sets + 1, 0);
    missed.assign(hypothesis.sets * words, 0), unsure.assign(hypothesis.sets * words, 0);
    Conduct unsaid;
    for (std::size_t i = 0; i < footprint.lines.size(); ++i) {
      const auto& visit = footprint.lines[i];
      const auto set = set_of[visit.line];
      if (set == kNoSet) {
        unsaid += visit.did;
        ++others[among[visit.line]];
        beside.lines[f].push_back(visit.line);
        continue;
      }
      auto& loads = by_set[set];
      if (loads.empty() || loads.back().footprint != f) {
        here.push_back(set);
        loads.emplace_back();
        loads.back().set = set, loads.back().footprint = f;
      }
      ++loads.back().lines, loads.back().did += visit.did;
      if (!visit.doubted) continue;
      const auto in = footprint.missed_in(i), may = footprint.unsure_in(i);
      for (std::size_t word = 0; word < words; ++word) missed[set * words + word] |= in[word], unsure[set * words + word] |= may[word];
    }
    beside.likelihood += std::max({unsaid.either, unsaid.followers + unsaid.some_stay(*footprint.walked), unsaid.followers + log_of_likeliest_rate(unsaid.misses, unsaid.visits)});
    std::partial_sum(others.rbegin(), others.rend(), others.rbegin());
    for (const auto set : here) {
      auto& load = by_set[set].back();
      const auto& did = load.did;
      load.laps = Laps({missed.data() + set * words, words}, {unsure.data() + set * words, words}, footprint.walked->whole_laps, did.log_own_silence);
      load.laps_at_one_rate = load.laps;
      load.laps_at_one_rate.by_rates = load.laps.silent * did.log_silence(*footprint.walked, did.misses, did.visits);
      load.at_one_rate = log_of_likeliest_rate(did.misses, did.visits);
      load.laps_of_some = load.laps;
      load.laps_of_some.by_rates = load.laps.silent * log_of_silence(did.misses, did.visits - did.kept_visits, (did.visits - did.kept_visits) / footprint.walked->laps);
      load.of_some = did.some_stay(*footprint.walked);
      load.at_rates = load.either(0, 0, 0);
      load.others = others[set + 1];
    }
  }
  return by_set;
}

/// As SetScore::telling.
std::vector<bool> telling(const std::vector<std::vector<Load>>& by_set, const std::vector<std::size_t>& sizes, const LineWalks& walks) {
  std::vector<std::size_t> overflowing(walks.footprints.size());
  for (const auto& loads : by_set) {
    for (const auto& load : loads) overflowing[load.footprint] += load.lines > sizes[load.set] ? 1 : 0;
  }
  std::vector<bool> tell;
  for (std::size_t f = 0; f < walks.footprints.size(); ++f) tell.push_back(!walks.footprints[f].walked->never_misses() && overflowing[f] < by_set.size());
  return tell;
}

/// To say which set each block of lines is of that was left out, where that matters: a right prediction needs it.
double description(const Unsaid& beside, const SetHypothesis& hypothesis, const std::vector<bool>& telling, const LineWalks& walks) {
  if (std::all_of(beside.lines.begin(), beside.lines.end(), [](const auto& lines) { return lines.empty(); })) return 0;
  std::unordered_set<std::int64_t> said;
  for (const auto line : walks.numbers) {
    if (hypothesis.set_of(line) != kNoSet) said.insert(line >> hypothesis.block_bits);
  }
  double all = 0;
  for (std::size_t f = 0; f < walks.footprints.size(); ++f) {
    if (!telling[f]) continue;
    for (const auto line : beside.lines[f]) {
      if (said.insert(walks.numbers[line] >> hypothesis.block_bits).second) all += std::log(std::max(1U, beside.among[line]));
    }
  }
  return all;
}

/// By size from 0 on: the log-likelihood of one set's loads. A size beyond the last is as the last.
using BySize = std::span<const double>;

/// Those of all sets, which lie in one array.
class Likelihoods {
 public:
  explicit Likelihoods(const std::vector<std::vector<Load>>& by_set) : by_set_(by_set), begins_{0} {
    for (const auto& loads : by_set) {
      std::uint32_t most = 0;
      for (const auto& load : loads) most = std::max(most, load.lines + load.others);
      begins_.push_back(begins_.back() + most + 1);
      longest_ = std::max<std::size_t>(longest_, most + 1);
    }
    all_.resize(begins_.back());
  }
  void work_out(double log_rate_of_silence) {
    for (std::size_t set = 0; set < by_set_.size(); ++set) {
      const auto& loads = by_set_[set];
      work(1 + loads.size());
      const auto begin = all_.begin() + static_cast<std::ptrdiff_t>(begins_[set]), end = all_.begin() + static_cast<std::ptrdiff_t>(begins_[set + 1]);
      std::fill(begin, end, 0.0);
      for (const auto& load : loads) {
        const double either = std::max(load.did.fits, load.at_rates);
        const double overflows = load.overflows(log_rate_of_silence);
        begin[0] += overflows, begin[load.lines] += either - overflows;
        begin[load.lines + load.others] += load.did.fits - either;
      }
      std::partial_sum(begin, end, begin);
    }
  }
  [[nodiscard]] BySize of(std::size_t set) const { return BySize(all_).subspan(begins_[set], begins_[set + 1] - begins_[set]); }
  [[nodiscard]] std::size_t sets() const { return by_set_.size(); }
  [[nodiscard]] bool empty(std::size_t set) const { return by_set_[set].empty(); }
  [[nodiscard]] std::size_t longest() const { return longest_; }

 private:
  const std::vector<std::vector<Load>>& by_set_;
  std::vector<std::size_t> begins_;  ///< in `all_`, by set
  std::vector<double> all_;
  std::size_t longest_ = 1;
};

double at_size(BySize likelihood, std::size_t size) { return likelihood[std::min(size, likelihood.size() - 1)]; }

std::size_t likeliest(BySize likelihood) {
  return static_cast<std::size_t>(std::max_element(likelihood.begin() + std::min<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(likelihood.size()) - 1), likelihood.end()) - likelihood.begin());
}

/// The sizes about `size` that are nearly as likely.
std::pair<std::size_t, std::size_t> not_told(BySize likelihood, std::size_t size) {
  auto least = size, most = size;
  while (least > 1 && likelihood[least - 1] > likelihood[size] - kTemper * kDecisive) --least;
  while (most + 1 < likelihood.size() && likelihood[most + 1] > likelihood[size] - kTemper * kDecisive) ++most;
  return {least, most};
}

struct Sizes {
  std::vector<std::size_t> of_set, least, most;  ///< as in SetScore
  double description = 0;                        ///< natural logarithm
};

/// One size for all sets, or one for each, whatever is likelier with its description.
Sizes likeliest_sizes(Likelihoods& each, double log_rate_of_silence) {
  each.work_out(log_rate_of_silence);
  const std::size_t longest = each.longest(), sets = each.sets();
  std::vector<double> equal(longest, 0.0);
  double own = 0;
  for (std::size_t set = 0; set < sets; ++set) {
    work(longest / 64);
    const auto likelihood = each.of(set);
    for (std::size_t size = 0; size < likelihood.size(); ++size) equal[size] += likelihood[size];
    for (std::size_t size = likelihood.size(); size < longest; ++size) equal[size] += likelihood.back();
    own += at_size(likelihood, likeliest(likelihood));
  }
  const auto size = likeliest(equal);
  const double of_size = std::log(static_cast<double>(longest)), of_all_sizes = of_size * static_cast<double>(sets);
  const bool alike = equal[size] / kTemper - of_size >= own / kTemper - of_all_sizes;
  const auto equal_range = not_told(equal, size);
  Sizes result;
  result.description = alike ? of_size : of_all_sizes;
  for (auto* list : {&result.of_set, &result.least, &result.most}) list->reserve(sets);
  for (std::size_t set = 0; set < sets; ++set) {
    const auto likely = likeliest(each.of(set));
    const auto range = alike ? equal_range : not_told(each.of(set), likely);
    result.of_set.push_back(each.empty(set) ? 0 : alike ? size : likely);
    result.least.push_back(range.first), result.most.push_back(range.second);
  }
  return result;
}

/// Of sets that overflow.
Laps laps_of(const std::vector<std::vector<Load>>& by_set, const std::vector<std::size_t>& sizes) {
  Laps laps;
  for (const auto& loads : by_set) {
    for (const auto& load : loads) {
      if (load.lines > sizes[load.set]) laps += load.laps;
    }
  }
  return laps;
}

/// Whether each line of a set that overflows may miss, or some stay in each order.
enum class Missing { Any, AllButSome };

/// Log-likelihood of loads that overflow, if all of them miss at the rates of their kind, and as many of them stay: `kind(load)` names it.
template <class Kind> double of_shared_rates(const std::vector<const Load*>& loads, const LineWalks& walks, Missing missing, Kind kind) {
  const auto kept_visits = [&](const Conduct& did) { return missing == Missing::Any ? 0 : did.kept_visits; };
  std::map<decltype(kind(*loads.front())), Conduct> kinds;
  for (const auto* load : loads) kinds[kind(*load)] += load->did;
  double all = 0;
  for (const auto& [which, did] : kinds) {
    all += log_of_own_rate(did.misses, did.visits - kept_visits(did));
    if (missing == Missing::AllButSome) all += log_of_own_rate(did.kept, did.in_orders);
  }
  Laps laps;
  for (const auto* load : loads) {
    const auto& alike = kinds.at(kind(*load));
    auto own = load->laps;
    const double in_lap = (load->did.visits - kept_visits(load->did)) / walks.footprints[load->footprint].walked->laps;
    own.by_rates = own.silent * log_of_silence(alike.misses, alike.visits - kept_visits(alike), in_lap);
    laps += own;
  }
  return all + laps.lack_at_own_rate(walks.silence);
}

/// The log-likelihood of all loads, the sizes given: the rates that sets share, and that of silent laps, once for all of them.
double of_rates(const std::vector<std::vector<Load>>& by_set, const std::vector<std::size_t>& sizes, const LineWalks& walks) {
  std::vector<const Load*> overflowing;
  double all = 0, own = 0, of_some = 0;
  Laps laps, laps_of_some;
  for (const auto& loads : by_set) {
    for (const auto& load : loads) {
      const auto size = sizes[load.set];
      const bool overflows = load.lines > size || (load.lines + load.others > size && load.at_rates > load.did.fits);
      all += overflows ? load.did.followers : load.did.fits;
      if (!overflows) continue;
      overflowing.push_back(&load);
      own += load.did.own, laps += load.laps;
      const bool may_stay = load.of_some > -INFINITY;
      of_some += may_stay ? load.of_some : load.did.own;
      laps_of_some += may_stay ? load.laps_of_some : load.laps;
    }
  }
  const auto one = of_shared_rates(overflowing, walks, Missing::Any, [](const Load&) { return 0; });
  const auto in_one_walk = [&](const Load& load) { return std::tuple(load.footprint, load.did.addresses, sizes[load.set]); };
  const auto alike = of_shared_rates(overflowing, walks, Missing::Any, in_one_walk);
  const auto as_many_stay = of_shared_rates(overflowing, walks, Missing::AllButSome, in_one_walk);
  own += laps.lack_at_own_rate(walks.silence);
  of_some += laps_of_some.lack_at_own_rate(walks.silence);
  return all + std::max({one, alike, own, of_some, as_many_stay}) - std::log(5.0);
}

}  // namespace

Laps::Laps(std::span<const std::uint64_t> missed_in, std::span<const std::uint64_t> unsure_in, std::size_t whole_laps, double log_silence) {
  std::size_t missed = 0, unsure = 0;
  for (std::size_t word = 0; word < missed_in.size(); ++word) {
    missed += static_cast<std::size_t>(std::popcount(missed_in[word]));
    unsure += static_cast<std::size_t>(std::popcount(unsure_in[word] & ~missed_in[word]));
  }
  loud = static_cast<double>(missed), silent = static_cast<double>(whole_laps - missed - unsure);
  by_rates = silent * log_silence;
}

SetScore score(const SetHypothesis& hypothesis, const LineWalks& walks) {
  Unsaid beside;
  const auto by_set = loads_of(hypothesis, walks, beside);
  double log_rate_of_silence = Laps().log_rate(walks.silence);
  Likelihoods each(by_set);
  auto sizes = likeliest_sizes(each, log_rate_of_silence);
  for (int round = 0; round < kSizeRounds; ++round) {
    log_rate_of_silence = laps_of(by_set, sizes.of_set).log_rate(walks.silence);
    auto next = likeliest_sizes(each, log_rate_of_silence);
    const bool same = next.of_set == sizes.of_set;
    sizes = std::move(next);
    if (same) break;
  }
  SetScore result;
  result.log_posterior = beside.likelihood / kTemper + of_rates(by_set, sizes.of_set, walks) / kTemper - hypothesis.bits * std::log(2.0) - sizes.description;
  result.telling = telling(by_set, sizes.of_set, walks);
  result.unsaid = description(beside, hypothesis, result.telling, walks);
  std::vector<double> lacks(walks.footprints.size());
  for (const auto& loads : by_set) {
    for (const auto& load : loads) {
      const auto held = sizes.of_set[load.set];
      const double overflows = load.overflows(log_rate_of_silence);
      if (load.lines > held) lacks[load.footprint] += std::max(0.0, load.did.fits - overflows);
      else if (load.lines + load.others <= held) lacks[load.footprint] += std::max(0.0, load.did.not_fitting);
    }
  }
  result.worst_footprint = static_cast<std::size_t>(std::max_element(lacks.begin(), lacks.end()) - lacks.begin());
  result.worst = lacks.empty() ? 0 : lacks[result.worst_footprint];
  result.sizes = std::move(sizes.of_set), result.least = std::move(sizes.least), result.most = std::move(sizes.most);
  return result;
}

SetScore score(const SetHypothesis& hypothesis, const Walks& walks) { return score(hypothesis, by_line(walks, hypothesis.line_bytes, hypothesis.fill_bytes)); }

std::int64_t likeliest_fill(const SetHypothesis& hypothesis, const Walks& walks) {
  auto with = hypothesis;
  std::int64_t best = 0;
  double most = -INFINITY;
  for (const auto bytes : {hypothesis.line_bytes, kSectors[0], kSectors[1], std::int64_t{0}}) {
    if (bytes > hypothesis.line_bytes) continue;
    with.fill_bytes = bytes;
    if (const double own = score(with, walks).log_posterior; own > most) most = own, best = bytes;
  }
  return best;
}

double log_of_none(const Walks& walks) {
  double all = 0;
  for (const auto& footprint : walks.footprints) all = std::accumulate(footprint.overflows.begin(), footprint.overflows.end(), all);
  return all / kTemper;
}

}  // namespace gexp::infer::model
