// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/set_hypothesis.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "runtime/infer/model/evidence.h"

// For each footprint and set a hypothesis says how many lines compete, at least. If the set holds as many, all its addresses fit; if not, they
// overflow. So the likelihood of a size is a sum over footprints, of `fits` where it is large enough and of `overflows` where it is not,
// and all sizes of a set are judged in one pass. Sets of one size are one number to describe; sets of their own sizes, one each.
namespace gexp::infer::model {
namespace {

constexpr std::int64_t kSectors[] = {32, 16};  // bytes that may be filled by themselves
constexpr double kNotTold = 4.6;      // natural logarithm of 100: sizes so near to the likeliest one are not told from it

/// One set in one footprint.
struct Load {
  std::uint32_t set = 0, footprint = 0;
  std::uint32_t lines = 0;
  std::uint32_t others = 0;  ///< lines of the footprint that may be of this set, too: it is not said of which they are
  double fits = 0, overflows = 0;
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
    const auto first = loads.size();
    std::vector<bool> any;
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
        loads.push_back({set, static_cast<std::uint32_t>(f), 0, 0, 0, 0});
        any.push_back(false);
      }
      auto& load = loads[load_of[set]];
      if (seen_in[line] != f) ++load.lines, seen_in[line] = f;
      const auto before = footprint.before[i];
      const bool follows = hypothesis.fill_bytes > 0 && before != kSeveral && before != footprint.addresses[i] && line_of[before] == line &&
                           walks.offsets[before] / hypothesis.fill_bytes == walks.offsets[footprint.addresses[i]] / hypothesis.fill_bytes;
      load.fits += footprint.fits[i], load.overflows += follows ? footprint.fits[i] : footprint.overflows[i];
      if (footprint.missed[i]) any[load_of[set] - first] = true;
    }
    std::partial_sum(others.rbegin(), others.rend(), others.rbegin());
    for (auto at = first; at < loads.size(); ++at) {
      if (!any[at - first]) loads[at].overflows += footprint.laps * std::log(kHiddenLap);
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
    const double either = std::max(load.fits, load.overflows);
    change[0] += load.overflows, change[load.lines] += either - load.overflows, change[load.lines + load.others] += load.fits - either;
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
  while (least > 1 && likelihood[least - 1] > likelihood[size] - kNotTold) --least;
  while (most + 1 < likelihood.size() && likelihood[most + 1] > likelihood[size] - kNotTold) ++most;
  return {least, most};
}

}  // namespace

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
  double of_own = 0;
  for (const auto& likelihood : each) {
    for (std::size_t size = 0; size < longest; ++size) equal[size] += at_size(likelihood, size);
    of_own += at_size(likelihood, likeliest(likelihood)) - std::log(static_cast<double>(longest));
  }
  const auto size = likeliest(equal);
  const double of_equal = equal[size] - std::log(static_cast<double>(longest));
  SetScore result;
  result.log_posterior = beside + std::max(of_equal, of_own) - hypothesis.bits * std::log(2.0);
  const auto equal_range = not_told(equal, size);
  for (std::size_t set = 0; set < each.size(); ++set) {
    const auto own = likeliest(each[set]);
    const bool alike = of_equal >= of_own;
    const auto range = alike ? equal_range : not_told(each[set], own);
    result.sizes.push_back(by_set[set].empty() ? 0 : alike ? size : own);
    result.least.push_back(range.first), result.most.push_back(range.second);
    result.overflowed.push_back(std::any_of(by_set[set].begin(), by_set[set].end(), [&](const Load& load) { return load.lines > result.sizes[set]; }));
  }
  std::vector<double> lacks(walks.footprints.size());
  for (const auto& loads : by_set) {
    for (const auto& load : loads) {
      const auto held = result.sizes[load.set];
      if (load.lines > held) lacks[load.footprint] += std::max(0.0, load.fits - load.overflows);
      else if (load.lines + load.others <= held) lacks[load.footprint] += std::max(0.0, load.overflows - load.fits);
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
  return all;
}

}  // namespace gexp::infer::model
