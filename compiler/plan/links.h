// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <unordered_map>

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

  const Memory& memory_;
  std::uint64_t bytes_;
  std::unordered_map<std::int64_t, std::int64_t> successors_;
  std::unordered_map<std::int64_t, std::int64_t> seen_;
};

}  // namespace gexp::compiler
