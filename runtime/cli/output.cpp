// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "lang/base/visible.h"
#include "runtime/cli/app.h"

namespace gexp::cli {
namespace {

std::atomic<int> lost{0};  ///< errno of the first text that the standard output did not take

/// How many bytes of a sequence of ours begin here: a colour, or a line that is written over; 0: none.
std::size_t own_sequence(std::string_view text) {
  constexpr std::string_view kOver = "\r\033[K";
  if (text.starts_with(kOver)) return kOver.size();
  constexpr std::string_view kBegin = "\033[";
  constexpr std::size_t kLongest = 7;  // "\033[1;33m"
  if (!text.starts_with(kBegin)) return 0;
  const auto end = text.find_first_not_of("0123456789;", kBegin.size());
  return end != std::string_view::npos && end < kLongest && text[end] == 'm' ? end + 1 : 0;
}

void put(std::FILE* stream, const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
  if (!written && stream == stdout && lost == 0) lost = errno != 0 ? errno : EIO;
}

void on_abort(int) {
  report_bug(nullptr);
  _exit(kBug);
}

}  // namespace

std::string for_stream(const std::string& text, bool colours) {
  if (!colours) return visible(text);
  std::string shown;
  std::size_t done = 0;
  for (std::size_t at = find_control(text); at < text.size(); at = find_control(text, at)) {
    const auto own = own_sequence(std::string_view(text).substr(at));
    if (own == 0) {
      at += control_at(text, at).bytes;
      continue;
    }
    shown += visible(std::string_view(text).substr(done, at - done));
    shown.append(text, at, own);
    done = at += own;
  }
  return shown + visible(std::string_view(text).substr(done));
}

void write_out(const std::string& text) { put(stdout, for_stream(text, colour_on(STDOUT_FILENO))); }

void write_err(const std::string& text) { put(stderr, for_stream(text, isatty(STDERR_FILENO) != 0)); }

void begin_output() {
  // The lowest free number is given out: those of the standard streams, in this order, where they are closed.
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0) (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
  std::signal(SIGABRT, on_abort);
}

int finish_output(int exit) {
  if (std::fflush(stdout) != 0 && lost == 0) lost = errno;
  if (lost == 0) return exit;
  // A reader that has seen enough is told nothing.
  if (lost != EPIPE) write_err(fmt::format("error[E0710]: cannot write the standard output: {}\n", std::strerror(lost)));
  return exit == kDone || exit == kNotHeld ? static_cast<int>(kEnvironment) : exit;
}

void report_bug(const char* what) {
  // In a signal handler too: nothing here takes memory.
  const auto say = [](const char* text) { (void)!write(STDERR_FILENO, text, std::strlen(text)); };
  if (what) say("gexp: internal error: "), say(what), say("\n");
  say("gexp: this is a bug of gexp. Please report it to whoever gave you this gexp, with the line above, the command, its files and\n"
      "`gexp doctor`; what was measured until now is in the store\n");
}

}  // namespace gexp::cli
