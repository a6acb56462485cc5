// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

/// What measuring leaves in a result besides records: the kernels that ran, and where the time went.
namespace gexp::result {

/// What a kernel was made of.
struct KernelRecord {
  std::string file;       ///< template
  std::string key;        ///< hash of source, options, NVRTC version and architecture
  bool from_cache = false;
  double seconds = 0;     ///< compile time, 0 from the cache
  std::shared_ptr<const std::string> cuda;  ///< its text; null where a saved result does not hold it
};

/// Adds those that are not among them yet.
void add_kernels(std::vector<KernelRecord>& kernels, std::vector<KernelRecord> more);

/// Where the time of measuring went, in seconds.
struct TimeSpent {
  std::size_t launches = 0;
  double compiling = 0;  ///< waiting for kernels that were not compiled yet, and loading them
  double launching = 0;  ///< from asking for a launch to knowing of its end
  double on_device = 0;  ///< between the events around the launches
  double measuring = 0;  ///< all of it, and what is written and read between launches

  TimeSpent& operator+=(const TimeSpent& more);
};

}  // namespace gexp::result
