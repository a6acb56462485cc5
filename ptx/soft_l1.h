// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/result.h"

/// The software cache of S-L1 (sections 3.1 to 3.4) as a change of any kernel's PTX.
namespace gexp::ptx {

/// What a multiprocessor has for the blocks that it holds at once.
struct Multiprocessor {
  std::uint64_t shared = 0;     ///< bytes of shared memory
  std::uint64_t reserved = 0;   ///< bytes of it that the system takes for each block
  std::uint64_t blocks = 1;     ///< of the launch that it holds at most, whatever registers their threads need
  std::uint64_t registers = 0;  ///< of 4 bytes; 0: as many as they need
  friend auto operator<=>(const Multiprocessor&, const Multiprocessor&) = default;
};

struct SoftL1 {
  std::uint32_t line = 16;      ///< bytes: 8, 16, 24 or 32
  Multiprocessor sm;
  std::uint64_t smem = 0;       ///< bytes of a block's dynamic shared memory
  std::uint32_t threads = 1;    ///< of a block
  std::uint32_t monitor = 300;  ///< accesses of a thread after which slice 1 ends; 0: the first structures are cached at once
  std::vector<std::optional<std::size_t>> structures;  ///< of each parameter: the data structure that it points to, none of a number
  std::vector<std::uint64_t> bytes;                    ///< of each data structure
  std::optional<std::size_t> hits = {};                ///< the data structure whose hits the kernel writes where a further parameter points
  friend auto operator<=>(const SoftL1&, const SoftL1&) = default;
};

inline constexpr std::uint32_t kSoftL1Lines[] = {8, 16, 24, 32};
/// limit: data structures that one loop chooses among; further ones are not cached.
inline constexpr std::size_t kMostStructures = 16;

struct Transformed {
  std::string text;
  std::uint32_t loops = 0;                ///< that became two slices
  std::uint32_t lines = 0;                ///< that a thread has: at most one for each structure of a loop
  std::uint32_t registers = 0;            ///< that a thread needs, about; 0: not known
  std::vector<std::size_t> structures{};  ///< that may be cached, in order
  std::string why;                        ///< of no loop: what stands in the way
};

/// The kernel `entry` with a cache; other kernels of the module are left out. E0801: the text is no PTX that can be read.
Result<Transformed> soft_l1(std::string_view text, std::string_view entry, const SoftL1& options);

}  // namespace gexp::ptx
