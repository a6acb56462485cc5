// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "ptx/tree.h"

/// Which way a body is run through. Boost.Graph stays inside flow.cpp.
namespace gexp::ptx {

/// Items of a body that run one after the other: entered at the first, left after the last.
struct Block {
  std::size_t begin = 0, end = 0;  ///< items [begin, end); its labels come first
  std::vector<std::size_t> to;     ///< blocks that may follow; of a branch its target comes before what follows in the text
  bool falls = false;              ///< what follows in the text is one of them
};

/// A natural loop: what reaches its header again without leaving the blocks that the header dominates.
struct Loop {
  std::size_t header = 0;
  std::vector<std::size_t> blocks;   ///< in order, the header among them
  std::optional<std::size_t> outer;  ///< the smallest loop around it
  [[nodiscard]] bool has(std::size_t block) const;
};

struct Flow {
  std::vector<Block> blocks;  ///< in the order of the text; the first is where the function begins
  std::vector<std::optional<std::size_t>> dominators;  ///< the immediate one of each; none of the first and of what is never reached
  std::vector<Loop> loops;    ///< outer ones before inner ones
  [[nodiscard]] bool reachable(std::size_t block) const { return block == 0 || dominators[block].has_value(); }
};

/// Scopes of a body are taken away: what is declared inside one gets a name of its own. After that each name means one thing.
void flatten(Module& module, Function& function);

/// Of a body without scopes. E0801: a branch to a label or table that is not there.
Result<Flow> flow_of(const Function& function);

}  // namespace gexp::ptx
