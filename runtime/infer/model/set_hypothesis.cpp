// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_hypothesis.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "runtime/infer/model/evidence.h"

// For each footprint and set a hypothesis says how many lines compete, at least. If the set holds as many, all its addresses fit; if not, they
// overflow. So the likelihood of a size is a sum over footprints, of `fits` where it is large enough and of `overflows` where it is not,
// and all sizes of a set are judged in one pass. Sets of one size are one number to describe; sets of their own sizes, one each.
//
// The addresses of sets that overflow all miss at one rate, as in a loop over LRU or FIFO; or at one rate where as many of them compete for as
// many places, as by a random policy; or each at its own, as by a tree. It is one of these in all walks. And whatever replaces lines, at
// least one of them misses in every lap. A lap in which none does is an error of the measurement, or another level held the line that
// was absent: such laps have one rate in all walks. Sizes are chosen first, set by set; then the rates that sets share are counted.
namespace gexp::infer::model {
namespace {

constexpr std::int64_t kSectors[] = {32, 16};  // bytes that may be filled by themselves

/// One set in one footprint.
struct Load {
  std::uint32_t set = 0, footprint = 0;
  std::uint32_t lines = 0, addresses = 0;
  std::uint32_t others = 0;  ///< lines of the footprint that may be of this set, too: it is not said of which they are
  double fits = 0;           ///< log-likelihood of what its addresses did, if they fit
  double followers = 0;      ///< of those of them that are visited right after another of what one miss brings in: whether they fit or not
  double own = 0;            ///< of the rest, if each misses at its own rate
  double misses = 0, visits = 0;  ///< of the rest
  double silent = 0;         ///< laps in which none of its lines missed
  /// If they overflow, at the likeliest rates.
  [[nodiscard]] double overflows() const { return followers + log_sum(log_of_likeliest_rate(misses, visits), own) - std::log(2.0) + silent * std::log(kHiddenLap); }
};

/// `beside`: of addresses about which the hypothesis says nothing: whatever they do costs what a right prediction would.
std::vector<Load> loads_of(const SetHypothesis& hypothesis, const Walks& walks, const std::vector<std::size_t>& chosen, double& beside) {
  std::vector<std::uint32_t> line_of(walks.offsets.size()), set_of_line, among_line;
  std::unordered_map<std::int64_t, std::uint32_t> lines;
  for (std::size_t i = 0; i < line_of.size(); ++i) {
    const auto line = walks.offsets[i] / hypothesis.line_bytes;
    const auto [at, fresh] = lines.try_emplace(line, static_cast<std::uint32_t>(lines.size()));
    if (fresh) {
      set_of_line.push_back(hypothesis.set_of(line));
      among_line.push_back(set_of_line.back() == kNoSet && hypothesis.among ? hypothesis.among(line) : hypothesis.sets);
    }
    line_of[i] = at->second;
  }
  std::vector<Load> loads;
  std::vector<std::size_t> seen_in(set_of_line.size(), ~std::size_t{0}), load_of(hypothesis.sets, ~std::size_t{0});
  for (const auto f : chosen) {
    const auto& footprint = walks.footprints[f];
    const auto first = loads.size(), words = footprint.words();
    std::vector<std::vector<std::uint64_t>> missed_in;  // by load of this footprint
    std::vector<std::uint32_t> others(hypothesis.sets + 1);  // by how many sets they may be of
    for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
      const auto line = line_of[footprint.addresses[i]];
      const auto set = set_of_line[line];
      if (set == kNoSet) {
        beside += std::max(footprint.fits[i], footprint.overflows[i]);
        if (seen_in[line] != f) ++others[among_line[line]], seen_in[line] = f;
        continue;
      }
      if (load_of[set] < first || load_of[set] == ~std::size_t{0}) {
        load_of[set] = loads.size();
        loads.emplace_back();
        loads.back().set = set, loads.back().footprint = static_cast<std::uint32_t>(f);
        missed_in.emplace_back(words);
      }
      auto& load = loads[load_of[set]];
      ++load.addresses;
      auto& laps = missed_in[load_of[set] - first];
      if (seen_in[line] != f) ++load.lines, seen_in[line] = f;
      for (std::size_t word = 0; word < words; ++word) laps[word] |= footprint.missed_in[i * words + word];
      if (follows(hypothesis.line_bytes, hypothesis.fill_bytes, walks, footprint, i)) {
        load.fits += footprint.fits[i], load.followers += footprint.fits[i];
        continue;
      }
      load.fits += footprint.fits[i], load.own += footprint.overflows[i];
      load.misses += footprint.misses[i], load.visits += footprint.visits[i];
    }
    std::partial_sum(others.rbegin(), others.rend(), others.rbegin());
    for (auto at = first; at < loads.size(); ++at) {
      std::size_t with_miss = 0;
      for (const auto word : missed_in[at - first]) with_miss += static_cast<std::size_t>(std::popcount(word));
      loads[at].silent = static_cast<double>(footprint.whole_laps - with_miss);
      loads[at].others = others[loads[at].set + 1];
    }
  }
  return loads;
}

/// By size from 0 on: the log-likelihood of one set's loads. A size beyond the last is as the last.
std::vector<double> likelihoods(const std::vector<Load>& loads) {
  std::uint32_t most = 0;
  for (const auto& load : loads) most = std::max(most, load.lines + load.others);
  std::vector<double> change(most + 2, 0.0);
  for (const auto& load : loads) {
    const double overflows = load.overflows(), either = std::max(load.fits, overflows);
    change[0] += overflows, change[load.lines] += either - overflows, change[load.lines + load.others] += load.fits - either;
  }
  change.pop_back();
  std::partial_sum(change.begin(), change.end(), change.begin());
  return change;
}

double at_size(const std::vector<double>& likelihood, std::size_t size) { return likelihood[std::min(size, likelihood.size() - 1)]; }

std::size_t likeliest(const std::vector<double>& likelihood) {
  return static_cast<std::size_t>(std::max_element(likelihood.begin() + std::min<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(likelihood.size()) - 1), likelihood.end()) - likelihood.begin());
}

/// The sizes about `size` that are nearly as likely.
std::pair<std::size_t, std::size_t> not_told(const std::vector<double>& likelihood, std::size_t size) {
  auto least = size, most = size;
  while (least > 1 && likelihood[least - 1] > likelihood[size] - kTemper * kDecisive) --least;
  while (most + 1 < likelihood.size() && likelihood[most + 1] > likelihood[size] - kTemper * kDecisive) ++most;
  return {least, most};
}

/// The log-likelihood of all loads, the sizes given: the rates that sets share, and the silent laps, once for all of them.
double of_rates(const std::vector<std::vector<Load>>& by_set, const std::vector<std::size_t>& sizes, const Walks& walks) {
  struct Rate {
    double misses = 0, visits = 0;
  };
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::size_t>, Rate> rates;  // by footprint, addresses and size
  double all = 0, own = 0, silent = 0, laps = 0;
  for (const auto& loads : by_set) {
    for (const auto& load : loads) {
      const auto size = sizes[load.set];
      const bool overflows = load.lines > size || (load.lines + load.others > size && load.overflows() > load.fits);
      all += overflows ? load.followers : load.fits;
      if (!overflows) continue;
      auto& rate = rates[{load.footprint, load.addresses, size}];
      rate.misses += load.misses, rate.visits += load.visits, own += load.own;
      if (load.lines > size) silent += load.silent, laps += static_cast<double>(walks.footprints[load.footprint].whole_laps);
    }
  }
  Rate one;
  double shared = 0;
  for (const auto& [where, rate] : rates) {
    shared += log_of_own_rate(rate.misses, rate.visits);
    one.misses += rate.misses, one.visits += rate.visits;
  }
  return all + std::max({log_of_own_rate(one.misses, one.visits), shared, own}) - std::log(3.0) + log_of_own_rate(silent, laps);
}

}  // namespace

double log_sum(double a, double b) { return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))); }

bool follows(std::int64_t line_bytes, std::int64_t fill_bytes, const Walks& walks, const Footprint& footprint, std::size_t i) {
  const auto before = footprint.before[i], own = footprint.addresses[i];
  if (fill_bytes == 0 || before == kSeveral || before == own) return false;
  const auto first = walks.offsets[before], second = walks.offsets[own];
  return first / line_bytes == second / line_bytes && first / fill_bytes == second / fill_bytes;
}

SetScore score(const SetHypothesis& hypothesis, const Walks& walks, const std::vector<std::size_t>& footprints) {
  std::vector<std::vector<Load>> by_set(hypothesis.sets);
  double beside = 0;
  for (const auto& load : loads_of(hypothesis, walks, footprints, beside)) by_set[load.set].push_back(load);
  std::vector<std::vector<double>> each;
  std::size_t longest = 1;
  for (const auto& loads : by_set) {
    each.push_back(likelihoods(loads));
    longest = std::max(longest, each.back().size());
  }
  std::vector<double> equal(longest, 0.0);
  double own = 0;
  for (const auto& likelihood : each) {
    for (std::size_t size = 0; size < longest; ++size) equal[size] += at_size(likelihood, size);
    own += at_size(likelihood, likeliest(likelihood));
  }
  // A number for the size of all sets, or one for each.
  const auto size = likeliest(equal);
  const double of_size = std::log(static_cast<double>(longest));
  const double equal_posterior = equal[size] / kTemper - of_size, own_posterior = own / kTemper - of_size * static_cast<double>(hypothesis.sets);
  const bool alike = equal_posterior >= own_posterior;
  const auto equal_range = not_told(equal, size);
  SetScore result;
  for (std::size_t set = 0; set < each.size(); ++set) {
    const auto likely = likeliest(each[set]);
    const auto range = alike ? equal_range : not_told(each[set], likely);
    result.sizes.push_back(by_set[set].empty() ? 0 : alike ? size : likely);
    result.least.push_back(range.first), result.most.push_back(range.second);
  }
  result.log_posterior = beside / kTemper + of_rates(by_set, result.sizes, walks) / kTemper - hypothesis.bits * std::log(2.0);
  result.log_posterior -= of_size * (alike ? 1 : static_cast<double>(hypothesis.sets));
  std::vector<double> lacks(walks.footprints.size());
  for (const auto& loads : by_set) {
    for (const auto& load : loads) {
      const auto held = result.sizes[load.set];
      const double overflows = load.overflows();
      if (load.lines > held) lacks[load.footprint] += std::max(0.0, load.fits - overflows);
      else if (load.lines + load.others <= held) lacks[load.footprint] += std::max(0.0, overflows - load.fits);
    }
  }
  result.worst_footprint = static_cast<std::size_t>(std::max_element(lacks.begin(), lacks.end()) - lacks.begin());
  result.worst = lacks.empty() ? 0 : lacks[result.worst_footprint];
  return result;
}

SetScore score(const SetHypothesis& hypothesis, const Walks& walks) {
  std::vector<std::size_t> all(walks.footprints.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return score(hypothesis, walks, all);
}

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
