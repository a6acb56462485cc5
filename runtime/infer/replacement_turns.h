// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/infer/replacement_emission.h"

/// How well turns predict a walk: lines fall into groups, and each group in turn loses the line that it used least recently.
namespace gexp::infer::replacing {

/// A counter of the set counts evictions, and its value is the group that is next. Bit i of a line's group is the parity of masks[i] and
/// the line's number, or its opposite where bit i of `flipped` is set: address bits that the walk does not vary decide that.
struct TurnOrder {
  std::vector<std::uint64_t> masks;
  std::uint64_t flipped = 0;
  bool late = false;  ///< a line leaves after the access that follows the miss it makes room for
  [[nodiscard]] std::uint32_t group(std::uint64_t number) const;
  [[nodiscard]] std::uint32_t groups() const { return 1u << masks.size(); }
};

/// One set that holds a line less than are walked. Lines are small numbers.
class TurnsSet {
 public:
  /// `group`: of each line; `counter`: the first group that has its turn.
  TurnsSet(const std::vector<std::uint32_t>& group, std::uint32_t groups, std::uint32_t counter, bool late);
  /// Whether the access hits.
  bool access(std::uint32_t line);

 private:
  void evict();
  void unlink(std::uint32_t line);

  const std::vector<std::uint32_t>& group_;
  std::size_t ways_, held_ = 0;
  std::vector<std::uint32_t> newer_, older_;  ///< rings, one a group: lines, then what stands for each group
  std::vector<bool> holds_;
  std::uint32_t groups_, counter_;
  bool late_, due_ = false;
};

/// What turns make of a walk.
struct Turns {
  std::optional<TurnOrder> order;            ///< the likeliest; none: nothing of the kind
  std::string why_not;                       ///< where there is none
  Outcomes outcomes, unseen;                 ///< of all launches, and of those that the order was not found in
  double log_likelihood = 0;                 ///< tempered nats; a launch begins at any group, each as likely
  double log_description = 0;                ///< nats: the choice of one order among all there are
  std::vector<Bits> hits = {};  ///< what it predicted, by trace
};

/// With one line too many, the line that misses next was evicted last. So the lines that miss, one after the other, are the counter's
/// groups: the parity of the right mask flips each time, that of the next one each second time, and so on, as a counter's bits do. Each
/// mask is found among all at once (fast Walsh-Hadamard transform). Half of the walk's orders are asked. `numbers`: of the walk's lines.
Turns fit_turns(const Walk& walk, const std::vector<std::uint64_t>& numbers, const Reference& reference);

/// The same parities of these numbers by the fewest bits.
std::vector<std::uint64_t> by_fewest_bits(const std::vector<std::uint64_t>& masks, const std::vector<std::uint64_t>& numbers);

}  // namespace gexp::infer::replacing
