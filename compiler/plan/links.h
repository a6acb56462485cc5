// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/codegen/body.h"
#include "compiler/formula/pattern.h"

namespace gexp::compiler {

/// Collects the links of all rings of one memory and refuses what a chase cannot follow.
class Linker {
 public:
  Linker(const Memory& memory, std::uint64_t bytes, int width) : memory_(memory), bytes_(bytes) {
    links.memory = memory.name;
    links.width = width;
  }
  Links links;

  /// Adds a ring; E0420 to E0423 at the chase for offsets that it cannot follow.
  std::optional<Diagnostic> add(const Op& chase, const Pattern& ring);

 private:
  /// What one step of a ring is refused for.
  [[nodiscard]] std::optional<Diagnostic> refused(const Op& chase, std::int64_t step, std::int64_t offset) const;

  /// Adds the links of the first ring in which each offset is above the one before it: it visits none twice, whatever their places in a
  /// table. False, and nothing is added: it is no such ring, or has an offset that cannot be followed.
  bool add_rising(const Pattern& ring, std::int64_t last);

  const Memory& memory_;
  std::uint64_t bytes_;
  struct Link {
    std::int64_t offset;
    std::int64_t next;
    std::int64_t ring;  ///< the last one that visited it, counted from 1; 0: this place of the table is free
  };
  /// The link at an offset; of one that is new, `ring` is 0.
  Link& link_at(std::int64_t offset);
  /// Makes the table, with the links that there are and room for a ring of `steps`.
  void make_table(std::int64_t steps);

  /// Empty: not wanted yet. Each link at its offset's place, or in the next one that was free; at most half of the places are taken.
  std::vector<Link> table_;
  std::int64_t rings_ = 0;  ///< those that were added, each thread's
};

}  // namespace gexp::compiler
