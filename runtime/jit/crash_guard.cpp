// SPDX-License-Identifier: Apache-2.0
#include "runtime/jit/crash_guard.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <mutex>

namespace gexp::jit {
namespace {

constexpr std::size_t kStackBytes = 64 << 10;
constexpr int kTextIsWrong = 2;

/// What the handler says; of a length, since it may call almost nothing. Empty: the thread does not compile.
thread_local std::array<char, 1024> message{};
thread_local std::size_t length = 0;

void on_crash(int signal) {
  if (length > 0) {
    const auto written = write(STDERR_FILENO, message.data(), length);
    _exit(written < 0 ? kTextIsWrong + 1 : kTextIsWrong);
  }
  std::signal(signal, SIG_DFL);
  raise(signal);
}

void handle_crashes() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction before = {};
    if (sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL || (before.sa_flags & SA_SIGINFO)) continue;
    struct sigaction action = {};
    action.sa_handler = on_crash;
    action.sa_flags = SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace

CrashGuard::CrashGuard(const std::string& name) : stack_(std::make_unique<char[]>(kStackBytes)) {
  static std::once_flag once;
  std::call_once(once, handle_crashes);
  stack_t own = {};
  own.ss_sp = stack_.get(), own.ss_size = kStackBytes;
  sigaltstack(&own, nullptr);
  std::string safe = name;
  std::replace_if(safe.begin(), safe.end(), [](unsigned char c) { return c < 0x20 || c >= 0x7f; }, '?');
  const auto made = fmt::format_to_n(message.begin(), message.size(),
                                     "error[E0702]: NVRTC crashed while it compiled {:.200}\n"
                                     "  hint: nest its brackets, blocks and macros less deeply\n", safe);
  length = std::min(made.size, message.size());
}

CrashGuard::~CrashGuard() {
  length = 0;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

}  // namespace gexp::jit
