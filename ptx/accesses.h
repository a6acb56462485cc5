// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "ptx/flow.h"
#include "ptx/origins.h"
#include "ptx/soft_l1.h"

/// What the instructions of a kernel do to data structures that a thread holds copies of.
namespace gexp::ptx {

struct Effect {
  enum class Kind : std::uint8_t {
    None,
    Access,   ///< a plain load or store of a structure
    Elsewhere,  ///< one of an address that may lie in any structure, or an instruction that orders memory: copies are given up before it
    Leave,    ///< the thread's end: likewise
    Barred,   ///< threads meet at it, or nobody here knows what it does to memory: its loop stays whole
  };
  Kind kind = Kind::None;
  std::size_t structure = 0;
  bool store = false;
  std::uint32_t width = 0;  ///< bytes
};

/// One structure as a loop uses it.
struct Used {
  std::size_t structure = 0;
  std::size_t parameter = 0;  ///< the first that points to it
  bool written = false;
  std::uint32_t unit = 0;     ///< bytes of its smallest store: what a bit of the bitmap stands for
};

struct CachedLoop {
  const Loop* loop = nullptr;
  std::vector<Used> used;
  [[nodiscard]] std::optional<std::size_t> index(std::size_t structure) const;
};

struct Accesses {
  std::vector<Effect> effects;     ///< of each item of the body
  std::vector<CachedLoop> loops;   ///< the largest ones that can become two slices
  std::string why;                 ///< if there is none
};

/// Of a kernel without scopes. Structures that an atomic or volatile access touches anywhere are not cached, nor those with an access
/// that does not fit a line.
Accesses accesses_of(const Function& kernel, const Flow& flow, const SoftL1& options);

}  // namespace gexp::ptx
