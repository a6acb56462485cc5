// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <random>

#include "runtime/infer/analysis.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/model_choice.h"
#include "runtime/infer/policies.h"
#include "runtime/infer/replacement_candidates.h"
#include "runtime/infer/replacement_chance.h"
#include "runtime/infer/replacement_turns.h"
#include "runtime/infer/replacement_walk.h"
#include "runtime/infer/same_policy.h"

// Which policy replaces lines: walk one line more than a set has ways, in an order with hits and misses mixed. Each policy is a hypothesis
// that gives every access a probability to miss: a deterministic one predicts them all (Abel and Reineke, RTAS 2013), and interference
// errs at a latent rate; where victims are drawn by chance, the line that is absent has a distribution (Mei14 section 3.2: the victim is
// the line that misses next). Their rivals are those that no name describes: accesses that miss at rates of their own, errors that no
// interference makes, victims that age or the victim before decides in part. The confidence of a name is its posterior.
namespace gexp::infer {
namespace {

using namespace replacing;

constexpr std::size_t kListed = 4;    // limit: names that a finding lists
constexpr double kNegligible = 1e-4;  // limit: a weight that is not looked into
constexpr double kShown = 1e-3;       // limit: a weight that is worth a word

/// Natural logarithm of the chance, beforehand, of one of so many.
double one_of(double number) { return -std::log(number); }
constexpr double kFamilies = 9;  // fact: LRU, FIFO, tree-PLRU, NRU, QLRU, turns, equal chances, unequal ones, and none of these

/// A hypothesis with its posterior.
struct Rival {
  enum class Kind { Candidate, Turns, Random, Weighted, None };
  Kind kind;
  std::string name;   ///< of None: what it says
  double log_weight;  ///< tempered log-likelihood and prior
  const Scored* scored = nullptr;
  double weight = 0;  ///< posterior
};

/// All hypotheses about one walk.
struct Rivals {
  Walk walk;
  std::vector<std::uint64_t> numbers;  ///< of the walk's lines
  std::vector<Scored> candidates;
  Turns turns;
  ChanceFit chance;
  Evictions evictions;
  std::vector<Rival> all;  ///< the likeliest first
  std::string failed;      ///< how candidates did, as a finding's evidence

  [[nodiscard]] const Scored* best() const {
    const Scored* best = nullptr;
    for (const auto& each : candidates) {
      if (each.followed && (!best || each.log_likelihood > best->log_likelihood)) best = &each;
    }
    return best;
  }
};

/// As a policy predicts, but for errors of any rate; and but for errors that recur, of which one access at least is to be named.
void add_nearest(Rivals& rivals, const std::string& name, const Outcomes& outcomes, double log_likelihood,
                 const std::vector<Bits>& hits, double log_prior) {
  const double prior = 2 * one_of(kFamilies) + log_prior;
  const double any = log_likelihood - replacing::log_likelihood(outcomes) + log_of_any_errors(outcomes);
  const auto near = fmt::format("{} comes nearest and fails on {:.2f} %", name, 100 * outcomes.wrong());
  rivals.all.push_back({Rival::Kind::None, near + ", more often than interference does", any + prior});
  rivals.all.push_back({Rival::Kind::None, near + ", at the same accesses in each run",
                        any + recurring_errors(rivals.walk, hits) + prior +
                            one_of(static_cast<double>(std::max<std::size_t>(1, accesses_of(rivals.walk))))});
}

void add_candidates(Rivals& rivals) {
  const auto variants = static_cast<double>(qlru_variants().size());
  std::size_t aged = 0, aged_failed = 0;
  const auto note = [&](const std::string& text) { rivals.failed += (rivals.failed.empty() ? "" : ", ") + text; };
  for (const auto& each : rivals.candidates) {
    const bool qlru = each.candidate.policy == Candidate::Policy::Qlru;
    aged += qlru ? 1 : 0, aged_failed += qlru && !each.followed ? 1 : 0;
    if (!qlru && each.followed) note(fmt::format("{} fails on {:.1f} %", each.candidate.name(), each.outcomes.wrong() * 100));
    if (!qlru && !each.followed) note(fmt::format("{} is out after {} accesses", each.candidate.name(), each.accesses));
    if (!each.followed) continue;
    rivals.all.push_back(
        {Rival::Kind::Candidate, each.candidate.name(), each.log_likelihood + one_of(kFamilies) + (qlru ? one_of(variants) : 0), &each});
  }
  if (aged_failed > 0) note(fmt::format("{} of {} variants of QLRU are out", aged_failed, aged));
  const auto* best = rivals.best();
  if (!best) return;
  const double prior = best->candidate.policy == Candidate::Policy::Qlru ? one_of(variants) : 0;
  add_nearest(rivals, best->candidate.name(), best->outcomes, best->log_likelihood, best->hits, prior);
}

void add_turns(Rivals& rivals) {
  const auto& turns = rivals.turns;
  if (!turns.order) return;
  rivals.all.push_back({Rival::Kind::Turns, "turns", turns.log_likelihood + turns.log_description + one_of(kFamilies)});
  add_nearest(rivals, "turns", turns.outcomes, turns.log_likelihood, turns.hits, turns.log_description);
}

void add_chance(Rivals& rivals) {
  const auto& seen = rivals.evictions;
  const double random = rivals.chance.log_likelihood + one_of(kFamilies), weighted = random + seen.uneven;
  rivals.all.push_back({Rival::Kind::Random, "random", random});
  rivals.all.push_back({Rival::Kind::Weighted, "weighted", weighted});
  // By chance, but not by chance alone: two forms for each of both.
  const auto none = [&](const std::string& what, double log_weight) {
    rivals.all.push_back({Rival::Kind::None, "victims are not drawn by chance alone: " + what, log_weight + one_of(2 * kFamilies)});
  };
  const auto older = fmt::format("the half that was used least recently has {:+.1f} % of its share", 100 * seen.older.share());
  const auto last = fmt::format("the same way again has {:+.1f} % of its share", 100 * seen.repeats.share());
  // No tilt gains more than this by an eviction: far behind a policy, nothing is to be looked for.
  const double most = rivals.chance.log_likelihood + seen.misses * std::log(kTilts[std::size(kTilts) - 1]) / model::kTemper;
  const auto* best = rivals.best();
  const auto tilts = best && most < best->log_likelihood - Reference::kBehind ? Tilts{} : tilts_of(rivals.walk, rivals.chance);
  none(older, random + tilts.older);
  none(last, random + tilts.last);
  if (seen.uneven < 0) return;
  none(older, weighted + seen.older.nats);
  none(last, weighted + seen.repeats.nats);
}

Rivals weighed(Walk walk, std::vector<std::uint64_t> numbers, const std::function<bool(const Candidate&)>& allowed, bool may_take_turns) {
  Rivals rivals;
  rivals.walk = std::move(walk), rivals.numbers = std::move(numbers);
  Reference reference(rivals.walk);
  rivals.chance = fit_chance(rivals.walk, false);
  if (auto stale = fit_chance(rivals.walk, true); stale.log_likelihood > rivals.chance.log_likelihood) rivals.chance = std::move(stale);
  reference.offer(rivals.chance.by_block);
  reference.offer(course_of_own_rates(rivals.walk));
  rivals.evictions = evictions_of(rivals.walk, rivals.chance);
  rivals.candidates = scored(rivals.walk, allowed, reference);
  if (may_take_turns) rivals.turns = fit_turns(rivals.walk, rivals.numbers, reference);
  add_candidates(rivals);
  add_turns(rivals);
  add_chance(rivals);
  rivals.all.push_back({Rival::Kind::None, "each access, by its place in the run, misses at a rate of its own",
                        log_of_own_rates(rivals.walk) + one_of(kFamilies)});
  std::stable_sort(rivals.all.begin(), rivals.all.end(), [](const Rival& a, const Rival& b) { return a.log_weight > b.log_weight; });
  double sum = 0;
  for (auto& each : rivals.all) sum += each.weight = std::exp(each.log_weight - rivals.all[0].log_weight);
  for (auto& each : rivals.all) each.weight /= sum;
  return rivals;
}

Finding named(const Context& context, const std::string& name, std::size_t ways, List probabilities, double confidence, std::string why,
              std::string evidence, const char* decides = kNothingMore, Fields fields = {}) {
  fields["name"] = Value(name);
  fields["ways"] = Value(static_cast<double>(ways));
  fields["probabilities"] = Value(std::move(probabilities));
  return found(context, Value(std::move(fields)), confidence, std::move(why), std::move(evidence), decides);
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// The walk on which two policies differ most, among those that shipped experiments make: what would decide between them.
std::string parting_walk(const Candidate& one, const Candidate& other, std::size_t ways) {
  constexpr std::size_t kAccesses = 4000, kMostWords = 16;  // limit: accesses that two policies are compared by, and words of a line there
  std::size_t most = 0, best = 0;
  for (std::size_t words = 1; words <= kMostWords; words *= 2) {
    PolicySet a(one, ways, ways + 1, false), b(other, ways, ways + 1, false);
    std::vector<std::size_t> lap;
    for (std::size_t i = 0; i < (ways + 1) * words; ++i) lap.push_back(i / words);
    std::mt19937_64 random(words);
    std::size_t differ = 0;
    for (std::size_t i = 0; i < kAccesses; ++i) {
      work(2);
      if (i % lap.size() == 0) std::shuffle(lap.begin(), lap.end(), random);
      differ += a.access(lap[i % lap.size()]) != b.access(lap[i % lap.size()]) ? 1 : 0;
    }
    if (differ > most) most = differ, best = words;
  }
  if (most == 0) return "a walk with more hits between misses";
  return fmt::format("shuffled laps that visit each line {} times, where they differ on {:.1f} % of the accesses,", best,
                     100 * static_cast<double>(most) / kAccesses);
}

/// A candidate is the likeliest: its weight is that of all names that no sequence of accesses tells apart from it.
Finding decided(const Context& context, const Rivals& rivals) {
  const auto& best = rivals.all[0];
  const auto ways = rivals.walk.lines - 1;
  const bool full =
      std::all_of(rivals.walk.traces.begin(), rivals.walk.traces.end(), [](const Trace& trace) { return trace.flood != nullptr; });
  double own = best.weight, others = 0;
  const Rival* runner_up = nullptr;
  auto sameness = Sameness::Different;
  std::string same;
  std::size_t names = 0;
  for (const auto& rival : rivals.all) {
    if (&rival == &best) continue;
    if (rival.weight < kNegligible || others > 1 - context.question.need) {
      others += rival.weight;
      continue;
    }
    const auto alike = rival.scored ? compare(best.scored->candidate, rival.scored->candidate, ways, full) : Sameness::Different;
    if (alike == Sameness::Same) {
      own += rival.weight;
      if (++names <= kListed) same += fmt::format("{}{}", same.empty() ? "" : ", ", rival.name);
      continue;
    }
    others += rival.weight;
    if (!runner_up) runner_up = &rival, sameness = alike;
  }
  if (names > kListed) same += fmt::format(" and {} more", names - kListed);
  if (!same.empty()) same = fmt::format("; with {} ways{} it is the same as {}", ways, full ? " that are never empty" : "", same);
  const auto confidence = std::min(own, kMostConfidence);
  const auto why = fmt::format(
      "it predicts {:.2f} % of all hits and misses{}{}", 100 * (1 - best.scored->outcomes.wrong()), same,
      runner_up && runner_up->weight >= kShown ? fmt::format("; then {} ({})", runner_up->name, percent(runner_up->weight)) : "");
  std::string decides = "more repetitions";
  if (runner_up && runner_up->scored) {
    decides = sameness == Sameness::NotDecided ? fmt::format("whether they are one policy in sets of {} ways is not known, and it", ways)
                                               : parting_walk(best.scored->candidate, runner_up->scored->candidate, ways);
  }
  return named(context, best.name, ways, {}, confidence, why, rivals.failed, decides.c_str());
}

/// Turns are the likeliest.
Finding in_turn(const Context& context, const Rivals& rivals, std::int64_t line_bytes) {
  const auto& turns = rivals.turns;
  List groups;
  for (const auto mask : by_fewest_bits(turns.order->masks, rivals.numbers)) {
    List bits;
    for (int bit = 0; bit < 64; ++bit) {
      if (mask >> bit & 1) bits.push_back(Value(static_cast<double>(bit + std::countr_zero(static_cast<std::uint64_t>(line_bytes)))));
    }
    groups.push_back(Value(std::move(bits)));
  }
  Fields fields;
  fields["groups"] = Value(std::move(groups));
  fields["evicts"] = Value(std::string(turns.order->late ? "late" : "at once"));
  const auto then = rivals.all[1].weight >= kShown ? fmt::format("; then {} ({})", rivals.all[1].name, percent(rivals.all[1].weight)) : "";
  const auto why = fmt::format("{} groups of lines lose their least recently used one in turn{}. Found in half of the orders, it predicts "
                               "{:.2f} % of the other half's hits and misses{}",
                               turns.order->groups(), turns.order->late ? ", after the access that follows the miss" : "",
                               100 * (1 - turns.unseen.wrong()), then);
  return named(context, "turns", rivals.walk.lines - 1, {}, std::min(rivals.all[0].weight, kMostConfidence), why,
               fmt::format("{:.0f} misses in {} launches; {}", turns.outcomes.misses, rivals.walk.traces.size(), rivals.failed),
               "more launches", std::move(fields));
}

Finding by_chance(const Context& context, const Rivals& rivals) {
  const auto& best = rivals.all[0];
  const auto& seen = rivals.evictions;
  const auto ways = rivals.walk.lines - 1;
  const auto evidence = fmt::format("{:.0f} evictions; {}", seen.misses, rivals.failed);
  const auto then = rivals.all[1].weight >= kShown ? fmt::format("; then {} ({})", rivals.all[1].name, percent(rivals.all[1].weight)) : "";
  const auto confidence = std::min(best.weight, kMostConfidence);
  if (best.kind == Rival::Kind::Random) {
    List equal(ways, Value(1.0 / static_cast<double>(ways)));
    return named(context, "random", ways, std::move(equal), confidence, fmt::format("victims are drawn by chance, every way alike{}", then),
                 evidence, "more evictions");
  }
  List shares;
  double widest = 0;
  // Ways that are alike are sorted by chance, anew in each history.
  const double counted = seen.by_way_misses / (seen.labelled ? 1 : static_cast<double>(seen.by_way_histories));
  for (const auto count : seen.by_way) {
    const double share = count / seen.by_way_misses;
    shares.emplace_back(share);
    widest = std::max(widest, 1.96 * std::sqrt(share * (1 - share) / counted));
  }
  return named(
      context, "weighted", ways, std::move(shares), confidence,
      fmt::format("victims are drawn by chance, some ways more often; each share within {:.3f}{}{}", widest,
                  seen.labelled ? "; ways in the order in which they are first filled" : "; ways from the most to the least often replaced",
                  then),
      evidence, "more evictions");
}

Finding answer(const Context& context, const Rivals& rivals, std::int64_t line_bytes) {
  const auto& best = rivals.all[0];
  if (best.kind == Rival::Kind::Candidate) return decided(context, rivals);
  if (best.kind == Rival::Kind::Turns) return in_turn(context, rivals, line_bytes);
  if (best.kind != Rival::Kind::None) return by_chance(context, rivals);
  const auto& no_turns = rivals.turns.why_not;
  return undetermined(context, fmt::format("no policy that is a candidate predicts the walk: {} ({}); a policy of another kind, or lines "
                                           "of another set among them: a walk over fewer of them would decide",
                                           best.name, rivals.failed + (no_turns.empty() ? "" : "; turns: " + no_turns)));
}

}  // namespace

Finding replacement(const Context& context) {
  const auto line_value = argument_value(context, "line");
  const auto* line = line_value.get<Number>();
  if (!line || line->number < 1) return undetermined(context, "the line is not known");
  const auto border = miss_range(context.table, context.classes);
  if (!border)
    return undetermined(context,
                        "all latencies are of one class: either nothing is replaced or nothing stays; a walk over one line more than a set "
                        "holds, by another load path, would decide");
  const auto line_bytes = static_cast<std::int64_t>(line->number);
  const auto set_value = argument_value(context, "set");
  const auto* set = set_value.get<Fields>();
  const bool given = set || argument(context, "members") != nullptr;
  const auto members = set     ? listed_members(set->count("members") ? set->at("members") : Value())
                       : given ? listed_members(argument_value(context, "members"))
                               : missed_lines(context, line_bytes, *border);
  if (members.empty())
    return undetermined(context, given ? "the set's members are not known; `cache_sets` would tell them"
                                       : "no line misses more than interference does; a walk over more lines would decide");
  if (members.size() < 2) return undetermined(context, "a set of one line replaces nothing but that line; more members would decide");
  const auto function = set ? set_of(*set, line_bytes) : std::nullopt;
  const auto read = [&](const std::optional<SetKey>& known) {
    LineNumbers numbers(members, line_bytes, known);
    return read_walk(context, numbers, *border, !given);
  };
  auto walk = read(function);
  if (!walk) return undetermined(context, "the walk leaves the set's members; one over them alone would decide");
  const auto ways = walk->lines - 1;
  const auto expected = argument_value(context, "ways");
  if (const auto* n = expected.get<Number>(); n && n->number != static_cast<double>(ways)) {
    return undetermined(context,
                        fmt::format("{} lines compete, and a set of {} ways would have {}", walk->lines, show(expected), n->number + 1));
  }
  const auto models = argument_value(context, "models");
  const auto allowed = [&](const std::string& name) {
    const auto* list = models.get<List>();
    return !list ||
           std::any_of(list->begin(), list->end(), [&](const Value& v) { return v.get<std::string>() && *v.get<std::string>() == name; });
  };
  if (ways == 1) return named(context, "direct", 1, {}, kMostConfidence, "a set of one way has no choice", "");

  const auto may = [&](const Candidate& candidate) {
    return allowed(candidate.name()) || (candidate.policy == Candidate::Policy::Qlru && allowed("qlru"));
  };
  std::vector<std::uint64_t> numbers;
  for (const auto member : members) numbers.push_back(static_cast<std::uint64_t>(member / line_bytes));
  const bool lines_by_bits = std::has_single_bit(static_cast<std::uint64_t>(line_bytes)) && numbers.size() == walk->lines;
  const bool may_take_turns = lines_by_bits && allowed("turns");
  auto rivals = weighed(std::move(*walk), numbers, may, may_take_turns);
  if (rivals.walk.others > 0 && rivals.all[0].kind != Rival::Kind::Candidate) {
    // The function that chooses sets was seen on the lines that overflowed them: it may not hold beyond.
    auto alone = weighed(*read(std::nullopt), numbers, may, may_take_turns);
    if (alone.all[0].log_weight > rivals.all[0].log_weight) rivals = std::move(alone);
  }
  return answer(context, rivals, line_bytes);
}

}  // namespace gexp::infer
