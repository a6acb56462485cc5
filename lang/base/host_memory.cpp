// SPDX-License-Identifier: Apache-2.0
#include "lang/base/host_memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace gexp {
namespace {

/// The number in a file such as memory.max; nullopt where there is none ("max").
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// What is left to the control group (version 2) that the process is in, or to one around it.
std::uint64_t left_in_group() {
  auto least = std::numeric_limits<std::uint64_t>::max();
  std::ifstream groups("/proc/self/cgroup");
  std::string line, path;
  while (std::getline(groups, line)) {
    if (line.starts_with("0::")) path = line.substr(3);
  }
  for (;;) {
    const auto folder = "/sys/fs/cgroup" + (path == "/" ? "" : path);
    const auto most = number_in(folder + "/memory.max"), now = number_in(folder + "/memory.current");
    if (most && now) least = std::min(least, *most > *now ? *most - *now : 0);
    const auto slash = path.rfind('/');
    if (slash == std::string::npos) return least;
    path.resize(slash);
  }
}

/// MemAvailable of /proc/meminfo; 0: nobody tells.
std::uint64_t available() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  for (std::uint64_t kib = 0; info >> key >> kib; std::getline(info, key)) {
    if (key == "MemAvailable:") return kib << 10;
  }
  return 0;
}

}  // namespace

std::uint64_t free_host_memory() {
  const auto free = std::min(available(), left_in_group());
  rlimit limit{};
  const bool limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? std::min<std::uint64_t>(free, limit.rlim_cur) : free;
}

}  // namespace gexp
