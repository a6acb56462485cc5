// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/model/line_walks.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/infer/cut_short.h"
#include "runtime/infer/model/occupancy.h"

namespace gexp::infer::model {
namespace {

constexpr std::size_t kNotYet = ~std::size_t{0};  // fact: stands for none

Conduct conduct_of(const Footprint& footprint, std::size_t i, bool follows) {
  Conduct did;
  did.addresses = 1;
  did.fits = footprint.fits[i], did.either = std::max(footprint.fits[i], footprint.overflows[i]);
  if (follows) {
    did.followers = footprint.fits[i];
    return did;
  }
  did.own = footprint.overflows[i], did.misses = footprint.misses[i], did.visits = footprint.visits[i];
  for (const auto& order : footprint.by_order) {
    if (order.visits[i] == 0) continue;
    ++did.in_orders;
    if (order.misses[i] == 0) ++did.kept, did.kept_visits += order.visits[i];
  }
  if (footprint.missed[i]) did.not_fitting = footprint.overflows[i] - footprint.fits[i];
  did.log_own_silence = log_of_silence(did.misses, did.visits, did.visits / footprint.laps);
  return did;
}

/// Adds the bits of address `i` to those of a line.
void add_bits(std::vector<std::uint64_t>& all, std::size_t line, const std::vector<std::uint64_t>& of_addresses, std::size_t i, std::size_t words) {
  all.resize(std::max(all.size(), (line + 1) * words));
  for (std::size_t word = 0; word < words; ++word) all[line * words + word] |= of_addresses[i * words + word];
}

bool any(std::span<const std::uint64_t> words) {
  return std::any_of(words.begin(), words.end(), [](auto word) { return word != 0; });
}

}  // namespace

bool follows(std::int64_t line_bytes, std::int64_t fill_bytes, const Walks& walks, const Footprint& footprint, std::size_t i) {
  const auto before = footprint.before[i], own = footprint.addresses[i];
  if (fill_bytes == 0 || before == kSeveral || before == own) return false;
  const auto first = walks.offsets[before], second = walks.offsets[own];
  return first / line_bytes == second / line_bytes && first / fill_bytes == second / fill_bytes;
}

double Conduct::log_silence(const Footprint& footprint, double of_misses, double of_visits) const {
  return log_of_silence(of_misses, of_visits, visits / footprint.laps);
}

double Conduct::some_stay(const Footprint& footprint) const {
  if (footprint.orders > 1) return -INFINITY;
  const double names = log_of_choices(in_orders, kept) + std::log(in_orders + 1);
  return log_of_likeliest_rate(misses, visits - kept_visits) - names;
}

LineWalks by_line(const Walks& walks, const std::vector<std::size_t>& chosen, std::int64_t line_bytes, std::int64_t fill_bytes) {
  LineWalks made{line_bytes, fill_bytes, {}, {}, walks.silence};
  std::vector<std::uint32_t> line_of(walks.offsets.size());
  std::unordered_map<std::int64_t, std::uint32_t> known;
  for (std::size_t i = 0; i < line_of.size(); ++i) {
    const auto number = walks.offsets[i] / line_bytes;
    const auto [at, fresh] = known.try_emplace(number, static_cast<std::uint32_t>(made.numbers.size()));
    if (fresh) made.numbers.push_back(number);
    line_of[i] = at->second;
  }
  for (const auto f : chosen) {
    const auto& footprint = walks.footprints[f];
    LineFootprint own{&footprint, {}, {}, {}};
    std::vector<std::size_t> at(made.numbers.size(), kNotYet);
    const auto words = footprint.words();
    work(footprint.addresses.size() + made.numbers.size() / 16);
    for (std::size_t i = 0; i < footprint.addresses.size(); ++i) {
      const auto line = line_of[footprint.addresses[i]];
      if (at[line] == kNotYet) at[line] = own.lines.size(), own.lines.push_back({line, false, {}});
      own.lines[at[line]].did += conduct_of(footprint, i, follows(line_bytes, fill_bytes, walks, footprint, i));
      add_bits(own.missed_bits, at[line], footprint.missed_in, i, words), add_bits(own.unsure_bits, at[line], footprint.unsure_in, i, words);
    }
    for (std::size_t i = 0; i < own.lines.size(); ++i) own.lines[i].doubted = any(own.missed_in(i)) || any(own.unsure_in(i));
    made.footprints.push_back(std::move(own));
  }
  return made;
}

LineWalks by_line(const Walks& walks, std::int64_t line_bytes, std::int64_t fill_bytes) {
  std::vector<std::size_t> all(walks.footprints.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return by_line(walks, all, line_bytes, fill_bytes);
}

}  // namespace gexp::infer::model
