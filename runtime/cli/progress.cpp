// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

namespace gexp::cli {

StderrProgress::StderrProgress(bool quiet, std::string prefix)
    : quiet_(quiet), prefix_(prefix.empty() ? prefix : prefix + " "), terminal_(prefix.empty() && isatty(STDERR_FILENO)) {}

void StderrProgress::stage(const std::string& name, std::size_t number, std::size_t of) {
  stage_ = fmt::format("{}{}[{}/{}] {}", prefix_, experiment_, number, of, name);
  if (quiet_) return;
  if (terminal_) {
    fmt::print(stderr, "\r\033[K{}", stage_);
  } else {
    fmt::print(stderr, "{}\n", stage_);
  }
  std::fflush(stderr);
}

void StderrProgress::point(const std::string& where, std::size_t done) {
  if (quiet_ || !terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < std::chrono::milliseconds(60)) return;
  last_ = now;
  fmt::print(stderr, "\r\033[K{}: {} points, {}", stage_, done, where);
  std::fflush(stderr);
}

void StderrProgress::notice(const std::string& text) {
  if (!quiet_) fmt::print(stderr, "{}note: {}\n", terminal_ ? "\r\033[K" : "", text);
}

void StderrProgress::finished() {
  if (!quiet_ && terminal_) fmt::print(stderr, "\r\033[K");
}

}  // namespace gexp::cli
