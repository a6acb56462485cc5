// SPDX-License-Identifier: Apache-2.0
#include "runtime/worker/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

extern char** environ;

namespace gexp::worker {
namespace {

constexpr off_t kMostWords = 400;     // of what a worker said last

Diagnostic no_worker(const std::string& what, int reason) {
  return failure("E0708", fmt::format("{}: {}", what, std::strerror(reason)), "GEXP_IN_PROCESS=1 drives the GPU without a worker");
}

}  // namespace

Result<Descriptor> anonymous_file(const char* name) {
  Descriptor file(memfd_create(name, MFD_CLOEXEC));
  if (file.get() < 0) return no_worker("no memory to share with a worker", errno);
  return file;
}

Result<> Process::start(const std::vector<std::string>& command, int socket, int memory) {
  GEXP_CHECK(!running());
  auto errors = anonymous_file("gexp-worker-errors");
  if (!errors) return errors.error();
  errors_ = std::move(*errors);
  fcntl(errors_.get(), F_SETFL, O_APPEND);
  // Numbers far from those that the worker gets, so that no dup2 overwrites one that is still needed.
  constexpr int kFar = 10;
  const Descriptor far_socket(fcntl(socket, F_DUPFD_CLOEXEC, kFar)), far_memory(fcntl(memory, F_DUPFD_CLOEXEC, kFar)),
      far_errors(fcntl(errors_.get(), F_DUPFD_CLOEXEC, kFar));
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&files, far_errors.get(), STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&files, far_socket.get(), kSocket);
  posix_spawn_file_actions_adddup2(&files, far_memory.get(), kMemory);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  std::vector<char*> arguments;
  for (const auto& argument : command) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int reason = posix_spawn(&pid, command.front().c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (reason != 0) return no_worker(fmt::format("cannot start a worker ({})", command.front()), reason);
  pid_ = pid;
  return Ok{};
}

std::string Process::end(double patience, double longest) {
  if (!running()) return "is not there";
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto gone = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  int status = 0;
  bool killed = false, reaped = false;
  while (!reaped) {
    const auto waited = waitpid(pid_, &status, WNOHANG);
    reaped = waited == pid_ || (waited < 0 && errno == ECHILD);
    if (reaped || gone() > patience + longest) break;
    if (!killed && gone() >= patience) {
      kill(pid_, SIGKILL);
      killed = true;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(std::clamp(gone() / 10, 2e-4, 2e-2)));
  }
  pid_ = -1;
  if (!reaped) return "does not die";
  const auto words = last_words();
  const auto how = WIFSIGNALED(status) ? fmt::format("was killed by signal {}", WTERMSIG(status)) : fmt::format("ended with exit code {}", WEXITSTATUS(status));
  return words.empty() ? how : fmt::format("{} ({})", how, words);
}

std::string Process::last_words() const {
  const auto size = lseek(errors_.get(), 0, SEEK_END);
  if (size <= 0) return {};
  std::array<char, kMostWords> tail{};
  const auto from = std::max<off_t>(0, size - kMostWords);
  const auto got = pread(errors_.get(), tail.data(), tail.size(), from);
  std::string words(tail.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  while (!words.empty() && (words.back() == '\n' || words.back() == ' ')) words.pop_back();
  const auto line = words.rfind('\n');
  return line == std::string::npos ? words : words.substr(line + 1);
}

}  // namespace gexp::worker
