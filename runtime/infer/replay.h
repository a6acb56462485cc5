// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/infer/classes.h"
#include "runtime/infer/policies.h"
#include "runtime/infer/set_index.h"
#include "runtime/records/table.h"

/// A whole cache as a file claims it, replayed through the walks of the file.
namespace gexp::infer {

/// Sets of equally many ways, what chooses a line's set, and a deterministic policy.
struct CacheClaim {
  std::int64_t line_bytes = 0;
  std::size_t ways = 0;
  SetKey set_of;               ///< line: offset div line_bytes
  std::uint64_t bits = 0;      ///< of line numbers, in which the walks that told the sets differ: it says nothing of lines that differ in others
  Candidate policy{Candidate::Policy::Lru};
};

/// What one walk did otherwise than the claim says.
struct Unpredicted {
  std::string where;      ///< "capacity, n = 16 KiB"
  std::size_t lines = 0;  ///< that went otherwise at most of their visits
  bool hit = false;       ///< they hit where they should miss; else they miss where they should hit
  double nats = 0;        ///< by which each line's own rate of misses is likelier than the claim, tempered
};

/// The walk of one thread that contradicts the claim most; nullopt: none does. `range`: what missed.
std::optional<Unpredicted> replay(const CacheClaim& claim, const records::Table& table, const MissRange& range, const std::string& stage);

}  // namespace gexp::infer
