// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/sandbox.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "lang/base/files.h"
#include "runtime/worker/confine.h"

namespace gexp::cli {

void limit_disk(const std::vector<std::string>& paths, bool each) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::uint64_t free = 0, there = 0;
  const auto look = [&](const fs::path& folder) {
    if (const auto space = fs::space(folder.empty() ? "." : folder, error); !error) free = std::max<std::uint64_t>(free, space.available);
  };
  look(fs::temp_directory_path(error));
  for (const auto& path : paths) {
    const bool is_folder = fs::is_directory(path, error);
    if (!path.empty()) look(is_folder ? fs::path(path) : fs::path(path).parent_path());
    if (fs::is_regular_file(path, error)) there = std::max<std::uint64_t>(there, fs::file_size(path, error));
  }
  const char* set = std::getenv("GEXP_DISK_LIMIT");
  const auto most = set ? std::strtoull(set, nullptr, 10) << 20 : free / 2;
  limit_writing(most, each ? std::optional(there + most) : std::nullopt);
}

void confine_to(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::string> writable = {"/dev", fs::temp_directory_path(error).string(), "/var/tmp"};
  for (const auto& path : paths) {
    if (path.empty()) continue;
    for (const auto& each : {fs::path(path), fs::weakly_canonical(path, error)}) {
      writable.push_back(fs::is_directory(each, error) ? each.string() : each.parent_path().string());
    }
  }
  limit_disk(paths, true);
  worker::confine({writable, false});
}

}  // namespace gexp::cli
