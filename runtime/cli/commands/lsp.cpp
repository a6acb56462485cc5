// SPDX-License-Identifier: Apache-2.0
#include "runtime/lsp/lsp.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>

#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/use.h"
#include "runtime/lsp/text.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;

std::size_t read_some(char* into, std::size_t most) {
  while (true) {
    const auto got = ::read(STDIN_FILENO, into, most);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) return 0;
  }
}

bool can_read() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) == 1 && (input.revents & POLLIN) != 0;
}

bool write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto put = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (put < 0 && errno != EINTR) return false;
    if (put > 0) bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

/// Of a document without a folder only the library is found.
Result<lang::LoadedText> load(const std::string& path, const std::string& by) {
  return load_used(path, fs::path(by).is_absolute() || by.starts_with(kLibrary) ? by : kLibrary);
}

/// The library travels in the binary; what ships beside it has the same files.
std::string file_of(const std::string& path) {
  if (!path.starts_with(kLibrary)) return path;
  const auto folder = experiments_folder();
  const auto file = fs::path(folder) / "lib" / path.substr(std::string_view(kLibrary).size());
  std::error_code error;
  return !folder.empty() && fs::is_regular_file(file, error) ? file.string() : "";
}

std::string codes_page() {
  const auto folder = experiments_folder();
  const auto page = (fs::path(folder) / "../docs/diagnostics.md").lexically_normal();
  std::error_code error;
  return !folder.empty() && fs::is_regular_file(page, error) ? lsp::uri_of(page.string()) : "";
}

class Lsp final : public Command {
 public:
  void declare(Options& options) override {
    options.add("--stdio", &stdio_,
                "talk over standard input and output; it does so without this too, which some editors give");
  }
  int run() override {
    std::signal(SIGPIPE, SIG_IGN);  // an editor that is gone is seen where it is written to
    const lsp::Stream stream{read_some, can_read, write_all};
    lsp::Options options;
    options.version = GEXP_VERSION;
    options.models = sim::names();
    options.load = load;
    options.file_of = file_of;
    options.codes_page = codes_page();
    return lsp::serve(stream, options) == 0 ? kDone : kNotHeld;
  }

 private:
  bool stdio_ = false;
};

}  // namespace

std::unique_ptr<Command> new_lsp() { return std::make_unique<Lsp>(); }

}  // namespace gexp::cli
