// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace gexp::lang {

/// What a person is told of a memory space (memory_spaces.def).
struct SpaceWord {
  std::string_view word;         ///< after `in`
  std::uint64_t most_bytes = 0;  ///< of one memory; 0: as many as the device has
  std::string_view access, limits;  ///< for the documents
};

std::span<const SpaceWord> memory_spaces();
/// Null when there is no such space.
const SpaceWord* find_space(std::string_view word);

}  // namespace gexp::lang
