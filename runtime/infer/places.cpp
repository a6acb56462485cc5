// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "runtime/infer/address_functions.h"
#include "runtime/infer/analysis.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/place_vectors.h"

// Where lines lie. Without `above`, a place is what all points take to reach a line (place_vectors.h). With it, there are two kinds of
// lines: those that take as long as L, and those that the next level of latency answers. Then it is asked which exclusive ors of address
// bits decide the place (address_functions.h).
namespace gexp::infer {
namespace {

constexpr double kFewestJudged = 30;  // limit: lines that a share is told from

Value bits_of(const std::vector<std::uint64_t>& masks) {
  List list;
  for (const auto mask : masks) {
    List bits;
    for (int bit = 0; bit < 64; ++bit) {
      if (mask >> bit & 1) bits.emplace_back(static_cast<double>(bit));
    }
    list.emplace_back(std::move(bits));
  }
  return Value(std::move(list));
}

/// Lines of two kinds by the classes of what most of their visits took: that of `level` or faster, and the next slower one. Others are left
/// out: they came from further away.
std::vector<PlacedLine> lines_of_two_kinds(const Context& context, double level) {
  const auto& classes = context.classes;
  std::map<std::int64_t, std::array<int, 3>> votes;  // by offset: level, next, neither
  for (const auto& point : context.table.points) {
    if (!point.walk || point.walk->steps == 0) continue;
    const auto base = classes.of(static_cast<std::uint32_t>(std::lround(level + point.overhead)));
    for (const auto& run : point.runs) {
      work(1 + run.ticks.size() / 4);
      for (std::size_t i = 0; i < run.ticks.size(); ++i) {
        const auto of = classes.of(run.ticks[i]);
        ++votes[point.walk->at(0, static_cast<std::int64_t>(i) % point.walk->steps)][of <= base ? 0 : of == base + 1 ? 1 : 2];
      }
    }
  }
  std::vector<PlacedLine> lines;
  for (const auto& [offset, kinds] : votes) {
    if (2 * kinds[0] > kinds[0] + kinds[1] + kinds[2]) lines.push_back({offset, 0});
    if (2 * kinds[1] > kinds[0] + kinds[1] + kinds[2]) lines.push_back({offset, 1});
  }
  return lines;
}

}  // namespace

Finding places(const Context& context) {
  if (context.table.timing != records::Table::Timing::Each) return undetermined(context, "the record does not tell accesses apart; `each` would");
  const auto page_value = argument_value(context, "page");
  const auto* page_number = page_value.get<Number>();
  if (!page_number || page_number->number < 2 || page_number->number > 0x1p40 || !std::has_single_bit(static_cast<std::uint64_t>(page_number->number))) return undetermined(context, "a page is a power of two, in bytes");
  const auto page = static_cast<std::int64_t>(page_number->number);
  const auto level = above_of(context);
  if (!level && argument(context, "above")) return undetermined(context, "the level after `above:` was not found");

  std::vector<PlacedLine> lines;
  std::size_t count = 2;
  double confidence = model::kSurest;
  std::string why;
  if (level) {
    if (context.classes.list.size() < 2) return undetermined(context, "all latencies are of one class: all lines are of one kind; a point from which some lie further away would decide");
    lines = lines_of_two_kinds(context, *level);
    const auto slow = static_cast<std::size_t>(std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.label == 1; }));
    if (slow == 0 || slow == lines.size()) return undetermined(context, "all lines are of one kind; a point from which some lie further away would decide");
    why = fmt::format("{} of {} lines take longer than {}", slow, lines.size(), show(*level, kCycles));
  } else {
    const auto vectors = place_vectors(context.table);
    if (!vectors.problem.empty()) return undetermined(context, vectors.problem);
    const auto found_places = find_places(vectors);
    count = found_places.lines_of.size();
    for (std::size_t i = 0; i < vectors.offsets.size(); ++i) lines.push_back({vectors.offsets[i], found_places.of_line[i]});
    if (count == 1) return undetermined(context, fmt::format("{} lines are alike from all {} points: they lie in the same place, or in several that differ by less than the noise; more laps would decide", lines.size(), vectors.views));
    if (2 * count > lines.size()) return undetermined(context, fmt::format("{} lines lie in {} places: hardly two in one; more lines, or more laps, would decide", lines.size(), count));
    confidence = std::min(confidence, found_places.predicted * std::exp(-found_places.overlooked));
    why = fmt::format("{} lines seen from {} points; half of the visits put {:.1f} % of the lines where the other half does", lines.size(), vectors.views, 100 * found_places.predicted);
    if (count > 1) why += fmt::format("; the two places that are most alike differ by {:.2g} times the noise", found_places.nearest);
    const auto [fewest, most] = std::minmax_element(found_places.lines_of.begin(), found_places.lines_of.end());
    why += fmt::format("; {} to {} lines a place", *fewest, *most);
  }

  const auto varying = varying_bits(lines, page);
  const auto bits = static_cast<std::size_t>(std::popcount(varying.mask));
  Fields fields;
  fields["count"] = Value(static_cast<double>(count));
  std::string evidence;
  if (varying.independent < bits) {
    why += fmt::format("; the lines of a page differ in {} bits, but only {} exclusive ors of them vary independently, so that none is told from another; lines chosen by chance would decide which bits choose the place", bits, varying.independent);
  } else if (bits > 0 && count > 1) {
    const auto parities = find_parities(lines, count, page);
    if (parities.judged < kFewestJudged) {
      why += "; too few lines are left to judge exclusive ors of address bits by";
    } else {
      fields["bits"] = bits_of(parities.masks);
      fields["predicted"] = parities.masks.empty() ? Value() : Value(parities.predicted);
      why += fmt::format("; of bits {} to {}", std::countr_zero(varying.mask), 63 - std::countl_zero(varying.mask));
      if (parities.masks.empty()) {
        why += " no exclusive or is decided by the place";
        if (parities.refuted > 0)
          why += fmt::format(" of more than one page: what holds in the pages it was chosen by holds for {:.1f} % of the lines of others at most",
                             100 * parities.refuted);
        if (level) confidence = std::min(confidence, model::kGivenPart);
      } else {
        why += fmt::format(" {} exclusive ors are decided by the place, within pages; each holds for {:.2f} % of {} lines that it was not chosen by, in {} pages", parities.masks.size(), 100 * parities.predicted, parities.judged, parities.pages);
        if (level) confidence = std::min(confidence, 1 - (1 - parities.predicted) - 1 / (static_cast<double>(parities.judged) + 2));
      }
      if (!level) {
        const auto flips = find_flips(lines, count, parities, page);
        if (!flips.masks.empty() && static_cast<double>(flips.judged) >= kFewestJudged) {
          fields["flips"] = bits_of(flips.masks);
          fields["groups"] = Value(static_cast<double>(flips.groups));
          why += fmt::format("; flips of bits that never leave a group of places make {} groups, for {:.2f} % of {} pairs by which they were not chosen", flips.groups, 100 * flips.predicted, flips.judged);
        }
      }
    }
  }
  return found(context, Value(std::move(fields)), confidence, why, evidence, level ? kNothingMore : "more lines, or more laps,");
}

}  // namespace gexp::infer
