// SPDX-License-Identifier: Apache-2.0
#include "runtime/jit/locate.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace gexp::jit {
namespace {

#if defined(__aarch64__)
constexpr const char* kMultiarch = "/usr/lib/aarch64-linux-gnu";
constexpr const char* kTarget = "targets/sbsa-linux/lib";
#else
constexpr const char* kMultiarch = "/usr/lib/x86_64-linux-gnu";
constexpr const char* kTarget = "targets/x86_64-linux/lib";
#endif

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// The link that a toolkit's development files set first, then the newest. CUDA 11.2 to 11.8 share one soname.
const std::vector<std::string>& file_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = {"libnvrtc.so"};
    for (int major = 19; major >= 12; --major) list.push_back(fmt::format("libnvrtc.so.{}", major));
    list.push_back("libnvrtc.so.11.2");
    return list;
  }();
  return names;
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

/// The file behind links, so that one library found by two names is one; empty when there is none.
std::string real_file(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  char* resolved = realpath(path.c_str(), nullptr);
  std::string real = resolved != nullptr ? resolved : path;
  std::free(resolved);
  return real;
}

std::vector<std::string> folders() {
  std::vector<std::string> list;
  const auto toolkit = [&](const std::string& root) {
    if (root.empty()) return;
    for (const char* below : {"lib64", kTarget, "lib"}) list.push_back(root + "/" + below);
  };
  toolkit(environment("CUDA_PATH"));
  toolkit(environment("CUDA_HOME"));
  toolkit("/usr/local/cuda");
  const auto path = environment("LD_LIBRARY_PATH");
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (end > at) list.push_back(path.substr(at, end - at));
    at = end + 1;
  }
  for (const char* folder : {kMultiarch, "/usr/lib64", "/usr/lib", "/usr/local/lib"}) list.emplace_back(folder);
  return list;
}

void look_in(const std::string& folder, std::set<std::string>& seen, Location& location) {
  for (const auto& name : file_names()) {
    const auto real = real_file(folder + "/" + name);
    if (real.empty() || !seen.insert(real).second) continue;
    if (location.path.empty()) {
      location.path = real;
    } else {
      location.others.push_back(real);
    }
  }
}

/// What the loader finds by name alone (ld.so.conf). There is no way to ask it without loading.
std::string ask_loader() {
  for (const auto& name : file_names()) {
    void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    link_map* map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) return real_file(map->l_name);
  }
  return {};
}

}  // namespace

Location locate_nvrtc() {
  Location location;
  std::set<std::string> seen;
  if (const auto chosen = environment("GEXP_NVRTC"); !chosen.empty()) {
    location.searched.push_back("GEXP_NVRTC=" + chosen);
    if (is_folder(chosen)) {
      look_in(chosen, seen, location);
    } else {
      location.path = real_file(chosen);
    }
    return location;
  }
  for (const auto& folder : folders()) {
    if (std::find(location.searched.begin(), location.searched.end(), folder) != location.searched.end()) continue;
    location.searched.push_back(folder);
    look_in(folder, seen, location);
  }
  if (location.path.empty()) {
    location.searched.emplace_back("the loader's path (libnvrtc.so, .so.13, .so.12, .so.11.2)");
    location.path = ask_loader();
  }
  return location;
}

std::string locate_cache() {
  if (auto folder = environment("GEXP_CACHE"); !folder.empty()) return folder;
  // The XDG specification: a relative path is to be ignored.
  if (auto folder = environment("XDG_CACHE_HOME"); !folder.empty() && folder.front() == '/') return folder + "/gexp";
  if (auto home = environment("HOME"); !home.empty() && home.front() == '/') return home + "/.cache/gexp";
  return {};
}

}  // namespace gexp::jit
