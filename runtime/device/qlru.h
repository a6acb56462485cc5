// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Quad-age LRU: replacement policies that give each way an age of 0 to 3, by the names of Abel and Reineke (nanoBench, uops.info).
/// Header only: the simulator follows them and the inference looks for them, each by code of its own.
namespace gexp {

struct Qlru {
  enum class Replace : std::uint8_t {
    First,        ///< r0: the first way of age 3
    FirstOrZero,  ///< r1: the first way of age 3, or way 0 where there is none
    FilledLast,   ///< r2: as r0; a set that is not full takes its last empty way, not its first
  };
  enum class Update : std::uint8_t {
    All,        ///< u0: all grow older by what the oldest lacks of 3
    Others,     ///< u1: all but the accessed one, by what the oldest of them lacks
    AllByOne,   ///< u2: where none has age 3, all by one
    OthersByOne,///< u3: where none has age 3, all but the accessed one, by one
  };
  std::uint8_t hit3 = 0, hit2 = 0;  ///< hXY: a hit makes age 3 X and age 2 Y, and 1 and 0 to 0
  std::uint8_t insert = 0;          ///< mX: the age of what comes in
  Replace replace = Replace::First;
  Update update = Update::All;
  bool on_miss = false;             ///< umo: ages grow on misses only, before the victim is chosen; else after every access
  friend bool operator==(const Qlru&, const Qlru&) = default;

  /// The age after a hit.
  [[nodiscard]] constexpr std::uint8_t hit(std::uint8_t age) const { return age == 3 ? hit3 : age == 2 ? hit2 : std::uint8_t{0}; }
  [[nodiscard]] constexpr bool fills_last() const { return replace == Replace::FilledLast; }

  /// r0 and r2 need what u2 and u3 do not promise, a way of age 3; on a miss alone, nothing has been accessed.
  [[nodiscard]] constexpr bool sensible() const {
    const bool by_one = update == Update::AllByOne || update == Update::OthersByOne, others = update == Update::Others || update == Update::OthersByOne;
    return !(by_one && replace != Replace::FirstOrZero) && !(on_miss && others);
  }

  /// "qlru_h11_m1_r0_u0", "qlru_h00_m2_r0_u0_umo".
  [[nodiscard]] std::string name() const {
    std::string text = "qlru_h00_m0_r0_u0";
    const std::array<std::pair<std::size_t, int>, 5> digits{{{6, hit3}, {7, hit2}, {10, insert}, {13, static_cast<int>(replace)}, {16, static_cast<int>(update)}}};
    for (const auto& [at, digit] : digits) text[at] = static_cast<char>('0' + digit);
    return on_miss ? text + "_umo" : text;
  }
};

/// Every variant, the simplest first: on every access before on misses only, then by name.
inline const std::vector<Qlru>& qlru_variants() {
  static const auto all = [] {
    std::vector<Qlru> list;
    for (const bool on_miss : {false, true}) {
      for (const auto& [hit3, hit2] : {std::pair{0, 0}, {1, 0}, {1, 1}, {2, 0}, {2, 1}}) {
        for (int insert = 0; insert < 4; ++insert) {
          for (int replace = 0; replace < 3; ++replace) {
            for (int update = 0; update < 4; ++update) {
              const Qlru each{static_cast<std::uint8_t>(hit3), static_cast<std::uint8_t>(hit2), static_cast<std::uint8_t>(insert),
                              static_cast<Qlru::Replace>(replace), static_cast<Qlru::Update>(update), on_miss};
              if (each.sensible()) list.push_back(each);
            }
          }
        }
      }
    }
    return list;
  }();
  return all;
}

inline std::optional<Qlru> qlru_named(std::string_view name) {
  for (const auto& each : qlru_variants()) {
    if (each.name() == name) return each;
  }
  return std::nullopt;
}

}  // namespace gexp
