// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/size_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/infer/address_bias.h"
#include "runtime/infer/confounders.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/even_fill.h"
#include "runtime/infer/fill_curves.h"
#include "runtime/infer/hits_alike.h"
#include "runtime/infer/kept_points.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/model/walks.h"
#include "runtime/infer/paired_visits.h"
#include "runtime/infer/room_for_more.h"
#include "runtime/infer/statistics.h"

// A size says that every walk within it fits, whichever of its addresses it visits, and that is a prediction about other walks of the file:
// a finer one within the same bytes must not miss. Where none was finer, the unit may be smaller than the stride, and the size is
// that of the walk and not of the device: unless the walk itself shows units of several addresses, or its stride is one that was found. It
// also says that nothing more fits: a walk over as much and one thing more must miss, wherever that is. And what the sets hold together is
// the size, if they fill evenly. What sets and their policy say together is replayed (replay_claims.h).
namespace gexp::infer {

namespace {

using model::kContradicted;

/// Whether walks grow with x as a footprint does: each byte more of x is as many steps more as each byte is at the size; or, where places
/// are visited more or less often, as much further, at places as far apart as before.
bool is_a_footprint(const SizeClaim& claim, double size) {
  const auto& [least, smallest] = claim.least;
  const auto& [most, largest] = *std::max_element(claim.beyond.begin(), claim.beyond.end());
  const auto grows = [&, range = most - least](double from, double at, double to) {
    return std::abs((to - from) / range - at / size) < at / size / 4;
  };
  const auto steps = [](const records::Point& point) { return static_cast<double>(point.walk->steps); };
  if (grows(steps(*smallest), steps(*claim.fits.front()), steps(*largest))) return true;
  const auto first = extent_of(*smallest), last = extent_of(*largest);
  const auto spans = [](const Extent& extent) { return static_cast<double>(extent.high - extent.low); };
  return 4 * std::abs(first.gap - last.gap) < last.gap && grows(spans(first), spans(claim.extent), spans(last));
}

/// Where walks grow with x as a footprint does, but span another number of bytes than x says. A walk that ends further on leaves gaps, whose
/// sets may have room. Empty: they do not, or x is something else.
std::string wrong_extent(const SizeClaim& claim) {
  const double size = claim.finding->value.get<Number>()->number;
  const auto& extent = claim.extent;
  const double spans = static_cast<double>(extent.high - extent.low);
  if (!is_a_footprint(claim, size) || (spans < size && size - spans <= 2 * static_cast<double>(extent.gap))) return {};
  return fmt::format("its walk goes from {} to {}, so it does not span as many bytes as the sweep says; a pattern that does would decide",
                     show(static_cast<double>(extent.low), kBytes), show(static_cast<double>(extent.high), kBytes));
}

/// Fills in the walks of a claim; false where x is no number of bytes.
bool read_walks(SizeClaim& claim, const compiler::Scope& scope, const std::string& sweep) {
  const auto* size = claim.finding->value.get<Number>();
  if (!size || size->dimension != kBytes) return false;
  const auto x_of = [&](const records::Point& point) {
    const auto at = point.at.find(sweep);
    const auto* n = at == point.at.end() ? nullptr : at->second.get<Number>();
    return n && n->dimension == kBytes ? n->number : std::nan("");
  };
  const auto kept = kept_points(*claim.question, *claim.measured, scope);
  for (std::size_t i = 0; kept && i < kept->size(); ++i) {
    const auto& point = claim.measured->table->points[i];
    if (!(*kept)[i] || point.runs.empty() || !point.walk || point.walk->threads != 1 || point.walk->steps < 2) continue;
    if (x_of(point) > 0 && (!claim.least.second || x_of(point) < claim.least.first)) claim.least = {x_of(point), &point};
    if (x_of(point) > size->number) claim.beyond.emplace_back(x_of(point), &point);
    if (x_of(point) > 0 && x_of(point) <= size->number) claim.within.emplace_back(x_of(point), &point);
    if (x_of(point) == size->number) claim.fits.push_back(&point);
    if (x_of(point) > size->number && x_of(point) <= 2 * size->number) claim.misses.push_back(&point);
  }
  if (claim.fits.empty() || claim.misses.empty()) return false;
  const auto [low, high, gap] = claim.extent = extent_of(*claim.fits.front());
  claim.low = low, claim.high = low + static_cast<std::int64_t>(size->number);
  claim.spans = high < claim.high && 2 * (high - low) >= static_cast<std::int64_t>(size->number);
  return true;
}

/// What is written after `above:` of a call: which level's misses it is about.
std::string level_of(const std::vector<compiler::Formula::Argument>& arguments) {
  const auto* above = above_of(arguments);
  return above ? show(*above) : "";
}

/// The same of a question.
std::string level_of(const compiler::Stage& stage, const compiler::Question& question) {
  if (auto own = level_of(question.arguments); !own.empty() || question.arguments.empty()) return own;
  const auto* call = miss_call(stage, *question.arguments.front().value);
  return call ? level_of(call->arguments) : "";
}

}  // namespace

std::vector<SizeClaim> size_claims(const compiler::Program& program, const MeasuredStages& measured, const compiler::Scope& outer, Findings& findings) {
  std::vector<SizeClaim> claims;
  for (const auto& stage : program.stages) {
    const auto scope = measured.names_of(stage, outer);
    const auto own = std::find_if(measured.all().begin(), measured.all().end(), [&](const auto& each) { return each.stage == &stage; });
    for (const auto& question : stage.finds) {
      auto* finding = findings.find(question.id);
      if (!finding || own == measured.all().end() || question.analysis != "last_flat" || question.arguments.empty()) continue;
      if (!stage.flushes.empty() && stage.warm.empty()) continue;  // a cold walk: nothing was there to fit
      const auto& data = question.arguments.front();
      const auto* call = miss_call(stage, *data.value);
      const bool counts = miss_call(*data.value) != nullptr;
      if (!call || !data.over || data.over->kind != compiler::Formula::Kind::Name || call->arguments[0].where) continue;
      SizeClaim claim{&stage, &*own, &question, finding, std::nullopt, counts, {}, {}, {}, 0, 0, true, {}, {}, {}};
      if (read_above(*call, scope, claim.slower_than) && read_walks(claim, scope, data.over->text)) claims.push_back(std::move(claim));
    }
  }
  return claims;
}

namespace {

/// Those walks that stay within its bytes.
model::Walks walks_within(const SizeClaim& claim, model::Walks walks) {
  std::erase_if(walks.footprints, [&](const model::Footprint& footprint) {
    return std::any_of(footprint.addresses.begin(), footprint.addresses.end(), [&](auto address) { return walks.offsets[address] < claim.low || walks.offsets[address] >= claim.high; });
  });
  return walks;
}

/// How much less likely the misses of a footprint are where all of it fits than where each address misses as it likes.
double lacks(const model::Footprint& footprint) {
  double all = 0;
  for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
    if (footprint.missed[i]) all += footprint.overflows[i] - footprint.fits[i];
  }
  return all;
}

/// What the claim's stage reads of an earlier one, if it was found and is a number of bytes; 0 otherwise.
double bytes_read(const compiler::StageInput& read, const compiler::Program& program, Findings& findings) {
  const auto* finding = findings.find(program.id_of(read));
  const auto* n = finding ? finding->value.get<Number>() : nullptr;
  return n && n->dimension == kBytes ? n->number : 0;
}

/// Whether the size of a unit of the same level was found before, and the claim's walk has that stride or a smaller one.
bool stride_was_found(const SizeClaim& claim, const compiler::Program& program, Findings& findings, std::int64_t stride) {
  return std::any_of(claim.stage->reads.begin(), claim.stage->reads.end(), [&](const compiler::StageInput& read) {
    const auto& from = program.stages[read.stage];
    const double bytes = bytes_read(read, program, findings);
    if (bytes <= 0 || bytes < static_cast<double>(stride)) return false;
    const auto asked = std::find_if(from.finds.begin(), from.finds.end(), [&](const auto& question) { return question.id == from.name + "." + read.finding; });
    return asked != from.finds.end() && level_of(from, *asked) == level_of(*claim.stage, *claim.question);
  });
}

/// The least size of a unit that was found before and that the claim's walk visits one by one; its stride where there is none.
std::int64_t unit_visited(const SizeClaim& claim, const compiler::Program& program, Findings& findings) {
  std::int64_t unit = 0;
  for (const auto& read : claim.stage->reads) {
    const auto bytes = static_cast<std::int64_t>(bytes_read(read, program, findings));
    if (2 * bytes >= claim.extent.gap && bytes > 0 && (unit == 0 || bytes < unit)) unit = bytes;  // at any place of each
  }
  return unit > 0 && 2 * unit <= claim.high - claim.low ? unit : claim.extent.gap;
}

/// Whether some walk within the size visited addresses nearer to each other than the claim's own, and fitted too.
bool was_walked_finer(const model::Walks& walks, std::int64_t apart, std::size_t most) {
  return std::any_of(walks.footprints.begin(), walks.footprints.end(), [&](const model::Footprint& footprint) {
    if (lacks(footprint) > kContradicted || footprint.addresses.size() <= most) return false;
    work(footprint.addresses.size());
    std::vector<std::int64_t> offsets;
    for (const auto address : footprint.addresses) offsets.push_back(walks.offsets[address]);
    std::sort(offsets.begin(), offsets.end());
    std::size_t finer = 0;
    for (std::size_t i = 1; i < offsets.size(); ++i) finer += 4 * (offsets[i] - offsets[i - 1]) <= 3 * apart ? 1 : 0;
    return 4 * finer >= offsets.size();
  });
}

/// What misses of each footprint. A visit to the unit of the one before counts for nothing: that one brought it in.
std::vector<MissingShare> missing_shares(const std::vector<std::pair<double, const records::Point*>>& walks, const MissRange& range,
                                         std::int64_t apart) {
  std::vector<MissingShare> shares;
  for (const auto& [x, point] : walks) {
    const auto lap = static_cast<std::size_t>(point->walk->steps);
    const Misses missed(range, *point);
    double visits = 0, misses = 0;
    std::set<std::int64_t> units;
    for (const auto& run : point->runs) {
      work(run.ticks.size());
      for (std::size_t i = 1; i < run.ticks.size(); ++i) {
        const auto unit = point->walk->at(0, static_cast<std::int64_t>(i % lap)) / apart;
        if (unit == point->walk->at(0, static_cast<std::int64_t>((i - 1) % lap)) / apart) continue;
        ++visits, misses += missed(i, run.ticks[i]) || missed.unsure(i, run.ticks[i]) ? 1 : 0;
        units.insert(unit);
      }
    }
    if (visits > 0) shares.push_back({x, misses / visits, static_cast<double>(units.size())});
  }
  return shares;
}

/// Where less misses than does not fit. Whatever replaces lines, each lap misses at least as often as there are more units than fit; what
/// keeps no lines for good misses more often than that, in sets that fill evenly. And in such sets the share that misses grows in a way
/// that uneven ones do not have. `sets_are_known`: they were told line by line, so that a policy that does keep some is no other size.
std::string wrong_share_misses(const SizeClaim& claim, const MissRange& range, bool sets_are_known) {
  const auto apart = std::max<std::int64_t>(1, claim.extent.gap);
  const double first = std::min_element(claim.beyond.begin(), claim.beyond.end())->first;  // the size is below it
  auto shares = missing_shares(claim.beyond, range, apart);
  // Or it is a step further, if some misses count as none. What misses at the first is then not for want of room, and misses of all that is
  // larger, too.
  const auto& told = claim.finding->interval;
  const double step = !claim.counts && told ? told->second - claim.finding->value.get<Number>()->number : 0;
  double besides = 1;
  for (const auto& each : shares) besides = each.footprint == first ? std::min(besides, each.share) : besides;
  for (const auto& [x, share, units] : shares) {
    // Laps repeat each other: what is counted is the units.
    const auto is_less = [&, share = share, seen = units](double least) {
      return least > 0 && share_at_least(std::ceil(seen * (1 - share)), seen, 1 - least) <= model::kByChance;
    };
    const auto too_few = [&, x = x](const auto& missing_of) {
      if (!is_less(missing_of(x / first))) return false;
      return step == 0 || is_less(besides + (1 - besides) * missing_of(std::max(1.0, x / (first + step))));
    };
    const auto without_room = [](double ratio) { return 1 - 1 / ratio; };
    if (too_few(without_room)) {
      return fmt::format("of {}, at least {:.0f} % would miss in every lap if no more than that fits, whatever replaces lines, and {:.1f} % do: "
                         "sets fill unevenly, as they do where pages lie by chance, and no footprint says what they hold together",
                         show(x, kBytes), 100 * without_room(x / first), 100 * share);
    }
    if (!sets_are_known && too_few(missing_at_random)) {
      return fmt::format("of {}, at least {:.0f} % would miss if no more than that fits, by LRU or at random in sets that fill evenly, and {:.1f} % do: "
                         "sets fill unevenly, and hold more together, or the policy keeps some lines for good; "
                         "a stage that grows the footprint line by line, with `cache_sets`, would decide",
                         show(x, kBytes), 100 * missing_at_random(x / first), 100 * share);
    }
  }
  if (sets_are_known) return {};
  const auto within = missing_shares(claim.within, range, apart);
  shares.insert(shares.end(), within.begin(), within.end());
  const double size = claim.finding->value.get<Number>()->number;
  double fits = size;  // of what misses at the size, half at most is too many: each makes another one miss
  for (const auto& each : within) fits = each.footprint == size ? std::min(fits, size * (1 - each.share / 2)) : fits;
  if (better_by_uneven_sets(shares, {fits, told ? told->second : size}) <= model::kDecisive) return {};
  return "how many lines miss grows with the footprint as where sets fill unevenly, some of them long before the others: "
         "chance, or a hash, deals lines to them, and they hold more together; a stage that grows the footprint line by line, with `cache_sets`, would decide";
}

/// Where lines of some pages miss and those of others do not, though more is walked than fits.
std::string uneven_fill(const SizeClaim& claim, const MissRange& range) {
  const auto size = claim.finding->value.get<Number>()->number;
  const Fits fits{size, claim.finding->interval ? claim.finding->interval->second : size, claim.fits.front()};
  const auto block = uneven_blocks(claim.beyond, fits, std::max<std::int64_t>(1, claim.extent.gap), range);
  if (!block) return {};
  return fmt::format("which lines miss beyond it goes by blocks of {}: sets fill unevenly, as they do where pages lie by chance, and no footprint says what they hold together",
                     show(static_cast<double>(*block), kBytes));
}

/// The misses of one level alone, the fastest one: what ends at a size shows in the level right behind it.
MissRange fastest_misses(MissRange range, const Classes& raw) {
  const auto& classes = range.unbiased ? range.unbiased->classes : raw;
  const auto level = std::find_if(classes.list.begin(), classes.list.end(), [&](const LatencyClass& each) { return each.centre > range.above; });
  if (level == classes.list.end()) return range;
  if (const auto border = classes.above(static_cast<std::size_t>(level - classes.list.begin()))) range.outlier = std::min(range.outlier, *border);
  return range;
}

/// The points of the smallest footprint that does not fit: further on, other structures may end, too.
std::vector<const records::Point*> next_beyond(const SizeClaim& claim) {
  const double next = std::min_element(claim.beyond.begin(), claim.beyond.end())->first;
  std::vector<const records::Point*> points;
  for (const auto& [x, point] : claim.beyond) {
    if (x == next) points.push_back(point);
  }
  return points;
}

/// Whether misses just beyond the size are told one by one, and are no slow places: of those a second visit in a row is as slow.
bool are_told(const SizeClaim& claim, const MissRange& range) {
  RepeatedMisses misses;
  for (const auto* point : next_beyond(claim)) misses.add(*point, range);
  return misses.misses[0] > 0 && !misses.are_places(range);
}

/// Where what misses beyond a size comes in units far larger than the one that was found: pages, and so another structure that ends there.
std::string other_unit(const SizeClaim& claim, const compiler::Program& program, Findings& findings, const Granularity& granularity) {
  constexpr std::int64_t kLinesAPage = 8;  // fact: no line is so near to a page
  if (granularity.unit < kLeastPage || !stride_was_found(claim, program, findings, 1) || stride_was_found(claim, program, findings, granularity.unit / kLinesAPage)) return {};
  return fmt::format("what misses beyond it comes in blocks of {}, of which a second address never misses soon after the first: these are pages, and a TLB may end there; "
                     "`above: L` with the latency of a TLB's miss would decide", show(static_cast<double>(granularity.unit), kBytes));
}

}  // namespace

ToldMisses told_misses(const SizeClaim& claim) {
  if (!claim.spans) return {};
  const auto& records = claim.measured->records();
  const auto range = miss_range(records.table(), records.classes(), claim.slower_than);
  if (!range || !are_told(claim, *range)) return {};
  return {range, granularity_of(claim.misses, *range)};
}

void count_units(const SizeClaim& claim, const ToldMisses& told) {
  if (claim.extent.gap <= kLeastLine || !claim.finding->interval) return;
  if (!told.granularity || told.granularity->shared == 0) return;
  const auto unit = told.granularity->unit;
  const auto brought = [&](const records::Point& point) {
    std::set<std::int64_t> units;
    for (std::int64_t step = 0; step < point.walk->steps; ++step) units.insert(point.walk->at(0, step) / unit);
    return static_cast<double>(units.size()) * static_cast<double>(unit);
  };
  auto& finding = *claim.finding;
  const double fits = brought(*claim.fits.front());
  if (fits == finding.value.get<Number>()->number) return;
  finding.interval = {fits, std::max(fits, brought(*next_beyond(claim).front()) - 1)};
  finding.value = Value(fits, kBytes);
  finding.why += fmt::format("; {} in units of {} that come in at once", show(fits, kBytes), show(static_cast<double>(unit), kBytes));
}

std::string other_hits(const SizeClaim& claim, const ToldMisses& told) {
  const auto unlike = claim.spans && told.range && !claim.slower_than ? unlike_hits(claim.within, *told.range) : std::nullopt;
  if (!unlike) return {};
  const auto from = show(unlike->above, kBytes), last = show(unlike->last, kBytes);
  if (unlike->ticks < 0) {
    return fmt::format("from {} on, the same addresses come {:.1f} cycles sooner than up to {}: another level answers there, which is faster than the first one, "
                       "and what it answers is no miss by that; `above: L` with the latency of the first one's hits, or another load path, would decide",
                       from, -unlike->ticks, last);
  }
  return fmt::format("from {} on, the same addresses take {:.1f} cycles longer than up to {}, and are no misses by that: "
                     "a level that is hardly slower may answer there; more repetitions, or another load path, would decide",
                     from, unlike->ticks, last);
}

std::string contradiction(const SizeClaim& claim, const ToldMisses& told, const compiler::Program& program, const MeasuredStages& measured,
                          model::WalksByStage& by_stage, Findings& findings, bool sets_are_known) {
  if (auto why = wrong_extent(claim); !why.empty()) return why;
  if (!claim.spans) return {};
  const auto& range = told.range;
  const auto& granularity = told.granularity;
  const auto first = range ? fastest_misses(*range, claim.measured->records().classes()) : MissRange{};
  const auto next = range ? next_beyond(claim) : std::vector<const records::Point*>{};
  auto nearest = range ? granularity_of(next, first) : std::nullopt;
  if (nearest && !misses_anywhere_in(nearest->unit, next, first)) nearest.reset();
  for (const auto& each : {nearest, granularity}) {
    if (!each) continue;
    if (auto why = other_unit(claim, program, findings, *each); !why.empty()) return why;
  }
  if (range && stride_was_found(claim, program, findings, claim.extent.gap)) {
    if (auto why = wrong_share_misses(claim, *range, sets_are_known); !why.empty()) return why;
    if (auto why = sets_are_known ? std::string() : uneven_fill(claim, *range); !why.empty()) return why;
  }
  const auto unit_is_smaller = [&](const model::Walks& walks) -> std::string {
    if (!granularity || granularity->apart <= kLeastLine || granularity->is_finer_than_the_unit() || stride_was_found(claim, program, findings, granularity->apart)) return {};
    if (was_walked_finer(walks, granularity->apart, claim.fits.front()->walk->offsets.size())) return {};
    return fmt::format("it was walked every {}, and each of these addresses missed by itself beyond it: what comes in at once may be smaller than that, and then less would fit; a smaller stride would decide",
                       show(static_cast<double>(granularity->apart), kBytes));
  };
  const auto& all = by_stage.of(*claim.stage, claim.slower_than);
  if (!claim.counts) return unit_is_smaller(walks_within(claim, all));
  const auto unit = std::max(unit_visited(claim, program, findings), granularity ? granularity->unit : 0);
  if (const auto roomy = walk_with_room(claim, unit, measured, range ? &all : nullptr); !roomy.empty()) {
    return fmt::format("the walk of {} visits as much and something beyond it, and never misses: there is room for more than neighbours fill; "
                       "a walk whose addresses differ in more bits would decide", roomy);
  }
  const auto walks = walks_within(claim, all);
  const model::Footprint* finest = nullptr;
  for (const auto& footprint : walks.footprints) {
    if (lacks(footprint) > kContradicted && (!finest || footprint.addresses.size() > finest->addresses.size())) finest = &footprint;
  }
  if (finest) {
    return fmt::format("the walk of {} visits {} addresses within these bytes and misses, and this one visited {}: lines may be smaller than the stride, or another structure overflows there; "
                       "a sweep over walks of half the stride would decide", finest->where, finest->addresses.size(), claim.fits.front()->walk->steps);
  }
  return unit_is_smaller(walks);
}

}  // namespace gexp::infer
