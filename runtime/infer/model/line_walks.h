// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/infer/model/walks.h"

/// The walks of some stages line by line, lines being of one length.
namespace gexp::infer::model {

/// Whether address `i` of a footprint is visited right after another of what one miss brings in, so that it finds itself there.
/// `fill_bytes`: 0 if each address comes alone.
bool follows(std::int64_t line_bytes, std::int64_t fill_bytes, const Walks& walks, const Footprint& footprint, std::size_t i);

/// What some addresses did in one footprint: logarithms are natural, sums over addresses.
struct Conduct {
  double addresses = 0;
  double fits = 0;                ///< log-likelihood, if they fit
  double followers = 0;           ///< of those of them that follow another (`follows`): whether they fit or not
  double own = 0;                 ///< of the rest, if they overflow and each misses at its own rate
  double misses = 0, visits = 0;  ///< of the rest
  double in_orders = 0;           ///< of the rest: in how many orders each is visited
  double kept = 0, kept_visits = 0;  ///< the same of orders in which it never missed, and its visits there
  double not_fitting = 0;         ///< by how much likelier it is of those that miss again and again if they overflow
  double either = 0;              ///< of all, each as it is likelier
  double log_own_silence = 0;     ///< log of the chance of a lap in which none of the rest misses, each at its own rate

  Conduct& operator+=(const Conduct& other) {
    addresses += other.addresses, fits += other.fits, followers += other.followers, own += other.own, misses += other.misses, visits += other.visits;
    in_orders += other.in_orders, kept += other.kept, kept_visits += other.kept_visits;
    not_fitting += other.not_fitting, either += other.either, log_own_silence += other.log_own_silence;
    return *this;
  }
  Conduct& operator-=(const Conduct& other) {
    addresses -= other.addresses, fits -= other.fits, followers -= other.followers, own -= other.own, misses -= other.misses, visits -= other.visits;
    in_orders -= other.in_orders, kept -= other.kept, kept_visits -= other.kept_visits;
    not_fitting -= other.not_fitting, either -= other.either, log_own_silence -= other.log_own_silence;
    return *this;
  }
  /// The chance of such a lap, as a logarithm, if all of the rest miss at one rate: `of_misses` in `of_visits`.
  [[nodiscard]] double log_silence(const Footprint& footprint, double of_misses, double of_visits) const;
  /// Log-likelihood of the rest if they overflow and some of them stay, as a policy that goes in circles keeps them, and all others miss at one
  /// rate; less the names of those that stay. Only in one order the same ones stay: of several, minus infinity.
  [[nodiscard]] double some_stay(const Footprint& footprint) const;
};

/// One line in one footprint.
struct LineVisit {
  std::uint32_t line = 0;  ///< index into LineWalks::numbers
  bool doubted = false;    ///< in some whole lap it missed, or may have
  Conduct did;
};

struct LineFootprint {
  const Footprint* walked;
  std::vector<LineVisit> lines;
  /// By line, as in Footprint: the laps in which one of its addresses missed, or may have.
  [[nodiscard]] std::span<const std::uint64_t> missed_in(std::size_t i) const { return {missed_bits.data() + i * walked->words(), walked->words()}; }
  [[nodiscard]] std::span<const std::uint64_t> unsure_in(std::size_t i) const { return {unsure_bits.data() + i * walked->words(), walked->words()}; }
  std::vector<std::uint64_t> missed_bits, unsure_bits;
};

/// Views walks, which must outlive it.
struct LineWalks {
  std::int64_t line_bytes = 0, fill_bytes = 0;
  std::vector<std::int64_t> numbers;      ///< offset div line_bytes, of each line once
  std::vector<LineFootprint> footprints;  ///< of those that were chosen
  Silence silence;                        ///< as in Walks
};

/// `chosen`: indices of footprints.
LineWalks by_line(const Walks& walks, const std::vector<std::size_t>& chosen, std::int64_t line_bytes, std::int64_t fill_bytes);
LineWalks by_line(const Walks& walks, std::int64_t line_bytes, std::int64_t fill_bytes);

}  // namespace gexp::infer::model
