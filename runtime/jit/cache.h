// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "runtime/jit/nvrtc.h"

namespace gexp::jit {

/// Compiled kernels on disk, and what is known of each NVRTC library. Every failure is a miss: a cache is never a reason to
/// stop. Entries are written under another name and renamed, and checked when read, so that processes may share a folder and
/// die at any time.
class Cache {
 public:
  struct Entry {
    std::string image;
    std::string log;
    std::string entry = {};  ///< what the image calls a kernel that was asked for by its name in C++
  };
  struct Usage {
    std::uint64_t kernels = 0;
    std::uint64_t bytes = 0;
  };

  /// Empty, a folder that cannot be made, or one that somebody else owns or may write to: nothing is found and nothing kept.
  explicit Cache(std::string folder);

  [[nodiscard]] const std::string& folder() const { return folder_; }
  /// Whether the folder exists (made when it does not), is this user's alone, and can be written.
  [[nodiscard]] bool usable() const { return usable_; }

  [[nodiscard]] std::optional<Entry> find(const std::string& key) const;
  void keep(const std::string& key, const Entry& entry) const;

  /// Known by the library's path, size and time of change.
  [[nodiscard]] std::optional<NvrtcVersion> find_version(const std::string& library) const;
  void keep_version(const std::string& library, const NvrtcVersion& version) const;

  [[nodiscard]] Usage usage() const;

 private:
  [[nodiscard]] std::string kernel_path(const std::string& key) const;

  std::string folder_;
  bool usable_ = false;
};

}  // namespace gexp::jit
