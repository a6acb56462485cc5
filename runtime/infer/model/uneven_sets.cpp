// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/uneven_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/occupancy.h"

namespace gexp::infer::model {
namespace {

constexpr int kKindRounds = 30;   // limit: of expectation and maximisation: the share and the rate stand still before
constexpr double kBarely = 1e-9;  // limit: a share or a rate is no nearer to 0 or 1, where its logarithm has no value

using Did = std::tuple<double, double, double>;  ///< misses and visits of an address, and the log-likelihood of them where its set fits
struct MissCounts {
  std::map<Did, double> addresses;  ///< how many did so
  std::set<std::int64_t> lines;
  double misses = 0, visits = 0;
  double own = 0;  ///< log-likelihood if each address misses at a rate of its own
  [[nodiscard]] double all() const {
    return std::accumulate(addresses.begin(), addresses.end(), 0.0, [](double sum, const auto& each) { return sum + each.second; });
  }
  /// Of the addresses, those that never missed.
  [[nodiscard]] double share_that_hits() const {
    return std::accumulate(addresses.begin(), addresses.end(), 0.0,
                           [](double sum, const auto& each) {
                             const auto& [missed, visited, fits] = each.first;
                             return sum + (missed > 0 || std::isinf(fits) ? 0 : each.second);
                           }) /
           all();
  }
};

/// Log-likelihood if some of the addresses miss at one rate and the others fit, whichever they are: of the likeliest share and rate, less
/// what it takes to tell these.
double log_of_two_kinds(const MissCounts& counts) {
  double addresses = 0, share = 0.5, visits_of_missing = 0, likelihood = 0;
  for (const auto& [did, times] : counts.addresses) {
    addresses += times;
    if (std::get<0>(did) > 0) visits_of_missing += times * std::get<1>(did);
  }
  double rate = std::min(counts.misses / visits_of_missing, 1 - kBarely);  // to begin with: what never missed may be of the others
  for (int round = 0; round < kKindRounds; ++round) {
    double missing = 0, misses = 0, visits = 0;
    likelihood = 0;
    for (const auto& [did, times] : counts.addresses) {
      const auto& [missed, visited, fits] = did;
      const double as_missing = std::log(share) + missed * std::log(rate) + (visited - missed) * std::log1p(-rate);
      const double either = log_sum(as_missing, std::log1p(-share) + fits), part = times * std::exp(as_missing - either);
      likelihood += times * either;
      missing += part, misses += part * missed, visits += part * visited;
    }
    if (visits == 0) break;
    share = std::clamp(missing / addresses, kBarely, 1 - kBarely), rate = std::clamp(misses / visits, kBarely, 1 - kBarely);
  }
  return likelihood - std::log(addresses) - std::log(counts.visits);
}

/// Addresses that miss where some of these are walked alone: in a footprint of more addresses, their sets overflow, too.
std::vector<bool> overflow_alone(const Walks& walks, const Footprint& footprint) {
  std::vector<bool> walked(walks.offsets.size()), missed(walks.offsets.size());
  for (const auto address : footprint.addresses) walked[address] = true;
  for (const auto& other : walks.footprints) {
    if (other.addresses.size() >= footprint.addresses.size()) continue;
    work(other.addresses.size() / 8);
    if (!std::all_of(other.addresses.begin(), other.addresses.end(), [&](auto address) { return walked[address]; })) continue;
    for (std::size_t i = 0; i < other.addresses.size(); ++i) {
      if (other.missed[i]) missed[other.addresses[i]] = true;
    }
  }
  return missed;
}

/// What the addresses of each set did, all orders together or, `order`, in one of them. `overflow`: addresses of which another walk shows
/// that their sets do not fit.
std::map<std::uint32_t, MissCounts> counts_of(const SetHypothesis& hypothesis, const Walks& walks, const Footprint& footprint,
                                              const Footprint::OfOrder* order, const std::vector<bool>& overflow = {}) {
  work(4 * footprint.addresses.size());
  std::map<std::uint32_t, MissCounts> by_set;
  for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
    const auto line = walks.offsets[footprint.addresses[i]] / hypothesis.line_bytes;
    const auto set = hypothesis.set_of(line);
    if (set == kNoSet) continue;
    auto& counts = by_set[set];
    counts.lines.insert(line);
    if (follows(hypothesis.line_bytes, hypothesis.fill_bytes, walks, footprint, i)) continue;
    const double misses = order ? order->misses[i] : footprint.misses[i], visits = order ? order->visits[i] : footprint.visits[i];
    const double fits =
        footprint.misses[i] > 0 ? footprint.fits[i] * misses / footprint.misses[i] : 0;  // what an accident costs, each time
    counts.misses += misses, counts.visits += visits, counts.own += footprint.overflows[i];
    const bool cannot_fit = !overflow.empty() && overflow[footprint.addresses[i]];
    counts.addresses[{misses, visits, cannot_fit ? -INFINITY : order ? fits : footprint.fits[i]}] += 1;
  }
  return by_set;
}

/// What a set's addresses did in each order.
using ByOrder = std::vector<std::map<std::uint32_t, MissCounts>>;
ByOrder by_order_of(const SetHypothesis& hypothesis, const Walks& walks, const Footprint& footprint) {
  ByOrder orders;
  for (const auto& order : footprint.by_order) orders.push_back(counts_of(hypothesis, walks, footprint, &order));
  return orders;
}

/// What each order chooses anew leaves few addresses that no order chose; more of them are of a set that fits. The natural logarithm of the
/// odds against so many, 0 where there are no more than that. `all`: of the set, all orders together.
double odds_against_chosen_anew(const ByOrder& orders, std::uint32_t set, const MissCounts& all) {
  double never = 1;
  for (const auto& order : orders) never *= order.at(set).share_that_hits();
  const double lines = all.all(), share = all.share_that_hits(), expected = std::clamp(never, kBarely, 1 - kBarely);
  if (share <= never) return 0;
  return log_of_likeliest_rate(share * lines, lines) - lines * (share * std::log(expected) + (1 - share) * std::log1p(-expected));
}

/// Whether others miss in another order, so that which ones do is the policy's doing and tells nothing of sets.
/// `in_any_order`: how well two kinds of lines explain all orders together.
bool depends_on_order(const ByOrder& orders, std::uint32_t set, double odds_against, double in_any_order) {
  if (orders.size() < 2) return false;
  double in_each = 0;
  for (const auto& order : orders) {
    const auto& counts = order.at(set);
    if (counts.misses > 0) in_each += log_of_two_kinds(counts);
  }
  return in_each > in_any_order + kContradicted && odds_against < kDecisive;
}

}  // namespace

std::optional<UnevenSet> uneven_set(const SetHypothesis& hypothesis, const SetScore& score, const Walks& walks, bool order_may_choose) {
  std::optional<UnevenSet> found;
  double most = 0;
  for (std::size_t f = 0; f < walks.footprints.size(); ++f) {
    const auto& footprint = walks.footprints[f];
    if (footprint.orders < 2 || footprint.never_misses()) continue;
    ByOrder orders;  // of a footprint in which a set overflows
    const auto against = [&](std::uint32_t set, const MissCounts& counts) {
      if (orders.empty()) orders = by_order_of(hypothesis, walks, footprint);
      const double two_kinds = log_of_two_kinds(counts), odds_against = odds_against_chosen_anew(orders, set, counts);
      const double lacks = two_kinds - std::max(log_of_likeliest_rate(counts.misses, counts.visits), counts.own);
      const bool two_rates = lacks > kContradicted && !(order_may_choose && depends_on_order(orders, set, odds_against, two_kinds));
      return std::max(two_rates ? lacks : 0, odds_against > -std::log(kByChanceAnywhere) ? odds_against : 0);
    };
    std::map<std::uint32_t, MissCounts> beside_others;  // what other walks say of its addresses, once that matters
    for (const auto& [set, counts] : counts_of(hypothesis, walks, footprint, nullptr)) {
      if (counts.lines.size() <= score.sizes[set] || counts.misses == 0 || against(set, counts) <= most) continue;
      if (beside_others.empty()) beside_others = counts_of(hypothesis, walks, footprint, nullptr, overflow_alone(walks, footprint));
      const double odds = against(set, beside_others.at(set));
      if (odds > most) most = odds, found = UnevenSet{f, set, counts.lines.size()};
    }
  }
  return found;
}

std::string several_sets(const UnevenSet& set, const Walks& walks) {
  return fmt::format(
      "of {} lines that seem to share a set only some miss in the walk of {}, in whatever order: "
      "they are of several sets, which are not told apart; more repetitions, or one line at a time, would decide",
      set.lines, walks.footprints[set.footprint].where);
}

}  // namespace gexp::infer::model
