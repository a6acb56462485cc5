// SPDX-License-Identifier: Apache-2.0
// An entry is one file, kernels/KK/KEY: a first line
//     gexp-kernel 1 IMAGE_BYTES LOG_BYTES SHA256_OF_BOTH
// then the image, then the log. The hash is what makes a half-written, truncated or damaged file a miss.
#include "runtime/jit/cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "lang/base/sha256.h"

namespace gexp::jit {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kKernelMark = "gexp-kernel 1 ";
constexpr std::string_view kVersionMark = "gexp-nvrtc 1";
constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // no kernel is that large; a damaged header may say so

std::optional<std::string> read_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::string text;
  struct stat info {};
  bool good = fstat(file, &info) == 0 && S_ISREG(info.st_mode) && static_cast<std::size_t>(info.st_size) < kMostBytes;
  if (good) {
    text.resize(static_cast<std::size_t>(info.st_size));
    std::size_t done = 0;
    while (good && done < text.size()) {
      const auto got = read(file, text.data() + done, text.size() - done);
      good = got > 0;
      if (good) done += static_cast<std::size_t>(got);
    }
  }
  close(file);
  if (!good) return std::nullopt;
  return text;
}

/// A rename within one folder is atomic: a reader sees the old file, the new one or none.
void write_file(const std::string& path, const std::string& text) {
  static std::atomic<unsigned> counter = 0;
  const auto temporary = fmt::format("{}.{}.{}.tmp", path, getpid(), counter++);
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return;
  std::size_t done = 0;
  bool good = true;
  while (good && done < text.size()) {
    const auto wrote = write(file, text.data() + done, text.size() - done);
    good = wrote > 0;
    if (good) done += static_cast<std::size_t>(wrote);
  }
  good = close(file) == 0 && good;
  if (!good || std::rename(temporary.c_str(), path.c_str()) != 0) unlink(temporary.c_str());
}

bool make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  return fs::is_directory(path, error) && access(path.c_str(), W_OK | X_OK) == 0;
}

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
  usable_ = !folder_.empty() && make_folder(folder_ + "/kernels") && make_folder(folder_ + "/nvrtc");
}

std::string Cache::kernel_path(const std::string& key) const {
  return fmt::format("{}/kernels/{}/{}", folder_, key.substr(0, 2), key);
}

std::optional<Cache::Entry> Cache::find(const std::string& key) const {
  if (!usable_) return std::nullopt;
  const auto text = read_file(kernel_path(key));
  if (!text || text->rfind(kKernelMark, 0) != 0) return std::nullopt;
  const auto line_end = text->find('\n');
  if (line_end == std::string::npos) return std::nullopt;
  std::istringstream header(text->substr(kKernelMark.size(), line_end - kKernelMark.size()));
  std::size_t image_bytes = 0, log_bytes = 0;
  std::string hash;
  header >> image_bytes >> log_bytes >> hash;
  if (!header || image_bytes == 0 || image_bytes > kMostBytes || log_bytes > kMostBytes) return std::nullopt;
  const auto payload = std::string_view(*text).substr(line_end + 1);
  if (payload.size() != image_bytes + log_bytes || sha256_hex(payload) != hash) return std::nullopt;
  return Entry{std::string(payload.substr(0, image_bytes)), std::string(payload.substr(image_bytes))};
}

void Cache::keep(const std::string& key, const Entry& entry) const {
  if (!usable_ || !make_folder(fmt::format("{}/kernels/{}", folder_, key.substr(0, 2)))) return;
  const auto payload = entry.image + entry.log;
  write_file(kernel_path(key),
             fmt::format("{}{} {} {}\n", kKernelMark, entry.image.size(), entry.log.size(), sha256_hex(payload)) + payload);
}

std::optional<NvrtcVersion> Cache::find_version(const std::string& library) const {
  if (!usable_) return std::nullopt;
  const auto path = version_path(folder_, library);
  const auto text = path.empty() ? std::nullopt : read_file(path);
  // The last line says that all of it is there.
  if (!text || text->size() < 5 || text->compare(text->size() - 5, 5, "\nend\n") != 0) return std::nullopt;
  std::istringstream lines(*text);
  std::string mark;
  NvrtcVersion version;
  std::getline(lines, mark);
  if (mark != kVersionMark || !(lines >> version.major >> version.minor >> version.build)) return std::nullopt;
  for (int architecture = 0; lines >> architecture;) version.architectures.push_back(architecture);
  if (version.architectures.empty()) return std::nullopt;
  return version;
}

void Cache::keep_version(const std::string& library, const NvrtcVersion& version) const {
  const auto path = usable_ ? version_path(folder_, library) : std::string();
  if (path.empty()) return;
  write_file(path, fmt::format("{}\n{} {} {}\n{}\nend\n", kVersionMark, version.major, version.minor, version.build,
                               fmt::join(version.architectures, " ")));
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
