// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "lang/base/result.h"
#include "runtime/worker/channel.h"

namespace gexp::worker {

/// Where a worker finds its ends of the link.
inline constexpr int kSocket = 3, kMemory = 4;

/// A worker process. It is in a process group of its own, so a terminal's Ctrl-C does not reach it, and has no standard input
/// or output; what it writes to its standard error is kept for whoever asks why it ended.
class Process {
 public:
  Process() = default;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() { end(0); }

  /// `command`: the program's path, then its arguments. E0708.
  Result<> start(const std::vector<std::string>& command, int socket, int memory);
  [[nodiscard]] bool running() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }

  /// Waits up to `patience` seconds for it to end by itself, then kills it and waits up to `longest` seconds more until it is gone:
  /// its driver frees the GPU's memory first. Says how it ended: "was killed by signal 9", with the last line that it wrote.
  std::string end(double patience, double longest = kLongestDeath);

  static constexpr double kLongestDeath = 30;

 private:
  [[nodiscard]] std::string last_words() const;

  pid_t pid_ = -1;
  Descriptor errors_;
};

/// Memory that two processes can map, and a file that only they see. E0708.
Result<Descriptor> anonymous_file(const char* name);

}  // namespace gexp::worker
