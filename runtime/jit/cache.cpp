// SPDX-License-Identifier: Apache-2.0
// An entry is one file, kernels/KK/KEY: a first line
//     gexp-kernel 3 IMAGE_BYTES LOG_BYTES ENTRY_BYTES SHA256
// then the image, then the log, then the entry. The hash, of the key and these, is what makes a half-written, truncated, damaged or renamed
// file a miss.
#include "runtime/jit/cache.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <sstream>

#include "lang/base/files.h"
#include "lang/base/sha256.h"

namespace gexp::jit {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kKernelMark = "gexp-kernel 3 ";
constexpr std::string_view kVersionMark = "gexp-nvrtc 2 ";
constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // no kernel is that large; a damaged header may say so

/// Of this user alone: what somebody else could have written is not run.
bool is_own(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0 && info.st_uid == geteuid() && (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<std::string> read_own(const std::string& path) {
  if (!is_own(path)) return std::nullopt;
  auto text = read_regular_file(path, kMostBytes);
  if (!text) return std::nullopt;
  return std::move(*text);
}

/// A folder of ours, that nobody else may write into: made so, or closed to them.
bool make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) return false;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid()) return false;
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0 && chmod(path.c_str(), info.st_mode & 07755) != 0) return false;
  return access(path.c_str(), W_OK | X_OK) == 0;
}

constexpr mode_t kPrivate = 0600;

std::string entry_hash(const std::string& key, std::string_view payload) { return Sha256().add_field(key).add_field(payload).hex(); }

/// The file that keeps what a library said of itself: another library at the same path has another name.
std::string version_path(const std::string& folder, const std::string& library) {
  struct stat info {};
  if (stat(library.c_str(), &info) != 0) return {};
  Sha256 hash;
  hash.add_field(library);
  hash.add_field(fmt::format("{} {} {}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec));
  return fmt::format("{}/nvrtc/{}", folder, hash.hex().substr(0, 32));
}

}  // namespace

Cache::Cache(std::string folder) : folder_(std::move(folder)) {
  usable_ = !folder_.empty() && make_folder(folder_) && make_folder(folder_ + "/kernels") && make_folder(folder_ + "/nvrtc");
}

std::string Cache::kernel_path(const std::string& key) const {
  return fmt::format("{}/kernels/{}/{}", folder_, key.substr(0, 2), key);
}

std::optional<Cache::Entry> Cache::find(const std::string& key) const {
  if (!usable_) return std::nullopt;
  const auto text = read_own(kernel_path(key));
  if (!text || text->rfind(kKernelMark, 0) != 0) return std::nullopt;
  const auto line_end = text->find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  std::istringstream header(text->substr(kKernelMark.size(), line_end - kKernelMark.size()));
  std::size_t image_bytes = 0, log_bytes = 0, entry_bytes = 0;
  std::string hash;
  header >> image_bytes >> log_bytes >> entry_bytes >> hash;
  if (!header || image_bytes == 0 || image_bytes > kMostBytes || log_bytes > kMostBytes || entry_bytes > kMostBytes) return std::nullopt;
  const auto payload = std::string_view(*text).substr(line_end + 1);
  if (payload.size() != image_bytes + log_bytes + entry_bytes || entry_hash(key, payload) != hash) return std::nullopt;
  return Entry{std::string(payload.substr(0, image_bytes)), std::string(payload.substr(image_bytes, log_bytes)),
               std::string(payload.substr(image_bytes + log_bytes))};
}

void Cache::keep(const std::string& key, const Entry& entry) const {
  if (!usable_ || !make_folder(fmt::format("{}/kernels/{}", folder_, key.substr(0, 2)))) return;
  const auto payload = entry.image + entry.log + entry.entry;
  const auto head = fmt::format("{}{} {} {} {}\n", kKernelMark, entry.image.size(), entry.log.size(), entry.entry.size(),
                                entry_hash(key, payload));
  (void)replace_file(kernel_path(key), head + payload, kPrivate);
}

std::optional<NvrtcVersion> Cache::find_version(const std::string& library) const {
  if (!usable_) return std::nullopt;
  const auto path = version_path(folder_, library);
  const auto text = path.empty() ? std::nullopt : read_own(path);
  // The first line holds the hash of the rest: a damaged entry is asked for again, and written anew.
  const auto first = text ? text->find('\n') : std::string::npos;
  if (first == std::string::npos || text->substr(0, first) != std::string(kVersionMark) + sha256_hex(std::string_view(*text).substr(first + 1))) return std::nullopt;
  std::istringstream lines(text->substr(first + 1));
  NvrtcVersion version;
  if (!(lines >> version.major >> version.minor >> version.build)) return std::nullopt;
  for (int architecture = 0; lines >> architecture;) version.architectures.push_back(architecture);
  if (version.architectures.empty()) return std::nullopt;
  return version;
}

void Cache::keep_version(const std::string& library, const NvrtcVersion& version) const {
  const auto path = usable_ ? version_path(folder_, library) : std::string();
  if (path.empty()) return;
  const auto told = fmt::format("{} {} {}\n{}\n", version.major, version.minor, version.build, fmt::join(version.architectures, " "));
  (void)replace_file(path, fmt::format("{}{}\n{}", kVersionMark, sha256_hex(told), told), kPrivate);
}

Cache::Usage Cache::usage() const {
  Usage usage;
  if (!usable_) return usage;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder_ + "/kernels", error), end; !error && at != end; at.increment(error)) {
    std::error_code none;
    if (!at->is_regular_file(none)) continue;
    const auto bytes = at->file_size(none);
    if (none) continue;
    usage.bytes += bytes;
    if (at->path().extension() != ".tmp") ++usage.kernels;
  }
  return usage;
}

}  // namespace gexp::jit
