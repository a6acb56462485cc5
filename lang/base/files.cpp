// SPDX-License-Identifier: Apache-2.0
#include "lang/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <limits>

#include "lang/base/units.h"

namespace gexp {
namespace {

constexpr auto kNoLimit = std::numeric_limits<std::uint64_t>::max();
std::atomic<std::uint64_t> may_write = kNoLimit, left_to_write = kNoLimit;

/// Closes what it holds.
struct Descriptor {
  int file;
  ~Descriptor() {
    if (file >= 0) close(file);
  }
};

std::string word_for(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISREG(mode) ? "" : "no file";
}

Diagnostic unreadable(const std::string& path, const std::string& why) { return failure("E0711", fmt::format("cannot read {}: {}", path, why)); }

}  // namespace

std::string other_than_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? word_for(info.st_mode) : "";
}

Result<std::string> read_regular_file(const std::string& path, std::uint64_t most) {
  if (path.find('\0') != std::string::npos) return unreadable(path, "no file has a NUL in its name");
  const Descriptor opened{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (opened.file < 0) {
    const auto why = errno;
    const auto other = other_than_file(path);  // a socket cannot be opened at all
    return other.empty() ? unreadable(path, std::strerror(why)) : failure("E0711", fmt::format("{} is {}, not a file", path, other));
  }
  struct stat info {};
  if (fstat(opened.file, &info) != 0) return unreadable(path, std::strerror(errno));
  if (const auto other = word_for(info.st_mode); !other.empty()) return failure("E0711", fmt::format("{} is {}, not a file", path, other));
  const auto too_large = [&] { return failure("E0711", fmt::format("{} is too large: more than {} bytes", path, most)); };
  if (static_cast<std::uint64_t>(info.st_size) > most) return too_large();
  // A file of /proc says that it is empty; one that grows meanwhile has its bytes as of now.
  std::string text(static_cast<std::size_t>(info.st_size), '\0');
  for (std::size_t done = 0;;) {
    if (done == text.size()) {
      if (done >= most) {
        char further;
        if (read(opened.file, &further, 1) > 0) return too_large();
        return text;
      }
      text.resize(done + std::min<std::uint64_t>(most - done, done == 0 ? 4096 : done == static_cast<std::size_t>(info.st_size) ? 1 : done));
    }
    const auto got = read(opened.file, text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, std::strerror(errno));
    if (got == 0) {
      text.resize(done);
      return text;
    }
    done += static_cast<std::size_t>(got);
  }
}

int open_beside(const std::string& path, std::string& name, unsigned mode) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    std::uint64_t chance[2];
    if (getrandom(chance, sizeof chance, 0) != sizeof chance) return -1;
    name = fmt::format("{}.{:016x}{:016x}.tmp", path, chance[0], chance[1]);
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode));
    if (file >= 0 || errno != EEXIST) return file;
  }
  return -1;
}

void limit_writing(std::uint64_t together, std::optional<std::uint64_t> largest) {
  may_write = left_to_write = together;
  if (!largest) return;
  std::signal(SIGXFSZ, SIG_IGN);  // it is an error of the write, not the end of the process
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, *largest);
  setrlimit(RLIMIT_FSIZE, &limit);
}

std::string why_not_written(int reason) {
  const auto most = may_write.load();
  if (reason != EFBIG || most == kNoLimit) return std::strerror(reason);
  return fmt::format("gexp may write no more than {}, half of what is free there unless GEXP_DISK_LIMIT says more, in MiB", show(static_cast<double>(most), kBytes));
}

bool write_all(int file, std::string_view text) {
  auto left = left_to_write.load();
  do {
    if (text.size() > left) return errno = EFBIG, false;
  } while (left != kNoLimit && !left_to_write.compare_exchange_weak(left, left - text.size()));
  while (!text.empty()) {
    const auto wrote = write(file, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return true;
}

int replace_file(const std::string& path, std::string_view text, unsigned mode) {
  std::string name;
  const int file = open_beside(path, name, mode);
  if (file < 0) return errno;
  struct stat before {};
  // Whoever may read the old file may read the new one, unless it is to be private; not every file system has permissions.
  if (mode == kAsOthers && stat(path.c_str(), &before) == 0 && S_ISREG(before.st_mode)) (void)!fchmod(file, before.st_mode & 07777);
  int reason = write_all(file, text) ? 0 : errno;
  if (close(file) != 0 && reason == 0) reason = errno;
  if (reason == 0 && std::rename(name.c_str(), path.c_str()) != 0) reason = errno;
  if (reason != 0) unlink(name.c_str());
  return reason;
}

}  // namespace gexp
