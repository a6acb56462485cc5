// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/sim/random.h"

namespace gexp::sim {

/// A number for each region that an SM waits for: a hash table with open addressing, since regions come and go with every load.
class UnderWay {
 public:
  /// Null where there is none; valid until the next call that changes the table.
  [[nodiscard]] std::uint32_t* find(std::uint64_t region) {
    if (count_ == 0) return nullptr;
    for (std::size_t at = home(region);; at = next(at)) {
      if (places_[at].region == region) return &places_[at].number;
      if (places_[at].region == kNothing) return nullptr;
    }
  }
  [[nodiscard]] const std::uint32_t* find(std::uint64_t region) const { return const_cast<UnderWay*>(this)->find(region); }

  /// The number of `region`, 0 where there was none.
  std::uint32_t& operator[](std::uint64_t region) {
    if (2 * (count_ + 1) > places_.size()) grow();
    std::size_t at = home(region);
    while (places_[at].region != region && places_[at].region != kNothing) at = next(at);
    if (places_[at].region == kNothing) ++count_, places_[at] = {region, 0};
    return places_[at].number;
  }

  /// `region` has a number.
  void erase(std::uint64_t region) {
    std::size_t hole = home(region);
    while (places_[hole].region != region) hole = next(hole);
    // What stands after the hole moves up unless that would put it before its home.
    for (std::size_t at = next(hole); places_[at].region != kNothing; at = next(at)) {
      if (((at - home(places_[at].region)) & mask()) < ((at - hole) & mask())) continue;
      places_[hole] = places_[at];
      hole = at;
    }
    places_[hole] = {};
    --count_;
  }

 private:
  static constexpr std::uint64_t kNothing = ~0ull;
  struct Place {
    std::uint64_t region = kNothing;
    std::uint32_t number = 0;
  };
  [[nodiscard]] std::size_t mask() const { return places_.size() - 1; }
  [[nodiscard]] std::size_t home(std::uint64_t region) const { return mix(region) & mask(); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & mask(); }

  void grow() {
    std::vector<Place> old(places_.empty() ? 16 : 2 * places_.size());
    old.swap(places_);
    for (const Place& place : old) {
      if (place.region == kNothing) continue;
      std::size_t at = home(place.region);
      while (places_[at].region != kNothing) at = next(at);
      places_[at] = place;
    }
  }

  std::vector<Place> places_;
  std::size_t count_ = 0;
};

}  // namespace gexp::sim
