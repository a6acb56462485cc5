// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/app.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "lang/base/files.h"
#include "runtime/cli/one_liner.h"
#include "runtime/cli/output.h"
#include "runtime/cli/use.h"
#include "runtime/cuda/cuda.h"
#include "runtime/sim/sim.h"
#include "runtime/store/store.h"
#include "runtime/worker/worker.h"

namespace gexp::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultModel = "gtx780";
constexpr std::uintmax_t kMaxSpecBytes = 4u << 20;

std::atomic<bool> interrupt_seen{false};

/// A GPU is driven by a worker, this program once more (docs/reference/running.md).
Result<std::unique_ptr<device::Backend>> open_gpu(int ordinal) {
  if (const char* here = std::getenv("GEXP_IN_PROCESS"); here && *here) return cuda::open(ordinal);
  worker::Options options;
  options.command = {"/proc/self/exe", "worker", fmt::format("{}", ordinal), fmt::format("{}", getpid())};
  options.interrupted = interrupted;
  return worker::open(std::move(options));
}

void on_interrupt(int) {
  if (interrupt_seen.exchange(true)) _exit(kInterrupted);
  sim::request_interrupt();
  cuda::request_interrupt();
}

}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // A terminal that is gone ends the run as Ctrl-C does, unless somebody (nohup) wanted it to go on.
  struct sigaction before = {};
  if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

bool interrupted() { return interrupt_seen.load(); }

bool colour_on(int descriptor) {
  const char* no = std::getenv("NO_COLOR");
  return isatty(descriptor) && (!no || !*no);
}

void print(const Diagnostic& diagnostic, const Source* source) {
  write_err(render(diagnostic, source, colour_on(STDERR_FILENO)));
}

int refuse(const Diagnostic& diagnostic, const Source* source, int exit) {
  print(diagnostic, source);
  return exit;
}

Result<std::string> read_file(const std::string& path) { return read_regular_file(path); }

Result<std::string> read_spec_file(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error) && fs::file_size(path, error) > kMaxSpecBytes && !error) {
    return failure("E0101", fmt::format("{} is larger than {} bytes: no spec is", path, kMaxSpecBytes));
  }
  return read_regular_file(path);
}

namespace {

/// A pipe, a terminal, /dev/null: written to as it is, since a file in its place would be another thing.
bool stays(const fs::file_status& now) { return fs::exists(now) && !fs::is_regular_file(now); }

}  // namespace

Result<> check_writable(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return failure("E0710", fmt::format("cannot write {}: it is a folder", path));
  if (stays(fs::status(path, error))) return Ok{};
  std::string probe;
  const int file = open_beside(path, probe);
  if (file < 0) return failure("E0710", fmt::format("cannot write {}: {}", path, std::strerror(errno)), "name another file");
  close(file);
  unlink(probe.c_str());
  return Ok{};
}

Result<> may_write(const std::string& path, const std::string& source) {
  std::error_code error;
  if (!fs::exists(path, error)) return Ok{};
  if (store::is_database(path)) return failure("E0710", fmt::format("cannot write {}: it is a store of results, or another database", path), "name another file");
  if (fs::exists(source, error) && fs::equivalent(path, source, error)) return failure("E0710", fmt::format("cannot write {}: it is what is read", path), "name another file");
  return Ok{};
}

Result<> write_file(const std::string& path, const std::string& text) {
  std::error_code error;
  int reason = 0;
  if (!stays(fs::status(path, error))) {
    reason = replace_file(path, text);
  } else if (const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); file >= 0) {
    // A pipe that nobody reads is not waited for: ENXIO.
    fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    reason = write_all(file, text) ? 0 : errno;
    if (close(file) != 0 && reason == 0) reason = errno;
  } else {
    reason = errno;
  }
  if (reason == ENXIO)
    return failure("E0710", fmt::format("cannot write {}: nobody reads this pipe", path), "begin to read it before gexp writes");
  if (reason != 0) return failure("E0710", fmt::format("cannot write {}: {}", path, why_not_written(reason)));
  return Ok{};
}

std::string experiments_folder() {
  std::error_code error;
  if (const char* set = std::getenv("GEXP_EXPERIMENTS"); set && *set) return set;
  // Beside a built binary (build/release/gexp) or an installed one (bin/gexp).
  const auto self = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    for (const char* up : {"experiments", "../experiments", "../../experiments", "../share/gexp/experiments"}) {
      const auto candidate = (self.parent_path() / up).lexically_normal();
      if (fs::is_directory(candidate, error)) return candidate.string();
    }
  }
  return {};
}

std::vector<std::string> shipped_experiments() {
  std::vector<std::string> files;
  const auto folder = experiments_folder();
  std::error_code error;
  if (folder.empty()) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() == ".gexp") files.push_back(fs::relative(entry.path(), folder, error).string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string find_experiment(const std::string& name) {
  std::error_code error;
  if (fs::exists(name, error)) return name;
  const auto folder = experiments_folder();
  if (folder.empty()) return name;
  for (const auto& candidate : {folder + "/" + name, folder + "/" + name + ".gexp"}) {
    if (fs::is_regular_file(candidate, error)) return candidate;
  }
  return name;
}

std::optional<std::vector<std::pair<std::string, std::string>>> split_settings(const std::vector<std::string>& texts) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      print(failure("E0409", fmt::format("--set {}: no NAME=VALUE", text), "write --set limit=64KiB"), nullptr);
      return std::nullopt;
    }
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

std::optional<Loaded> compile_text(Source source, const compiler::Options& options, int& exit) {
  Diagnostics diagnostics;
  auto program = compiler::compile(source, options, diagnostics);
  for (const auto& diagnostic : diagnostics.sorted()) print(diagnostic, &source);
  if (!program) {
    exit = kSpec;
    return std::nullopt;
  }
  return Loaded{std::move(source), std::move(*program)};
}

std::optional<Source> read_spec(const Common& common, int& exit) {
  exit = kSpec;
  if (!common.text.empty()) {
    const auto settings = split_settings(common.set);
    if (!settings) return std::nullopt;
    return is_short_form(common.text) ? expand_short_form(common.text, *settings, load_used) : Source("-e", common.text);
  }
  const auto path = find_experiment(common.file);
  auto text = read_spec_file(path);
  if (!text) {
    print(text.error(), nullptr);
    return std::nullopt;
  }
  return Source(path, std::move(*text));
}

compiler::Options spec_options(const Common& common) {
  compiler::Options options;
  options.settings = split_settings(common.set).value_or(decltype(options.settings){});
  options.models = sim::names();
  options.load = load_used;
  allow_kernels(common.allow);
  options.outside = kernel_allowed;
  return options;
}

std::optional<Loaded> load_spec(const Common& common, int& exit, const std::string& dump_after) {
  if (!split_settings(common.set)) {
    exit = kSpec;
    return std::nullopt;
  }
  auto source = read_spec(common, exit);
  if (!source) return std::nullopt;
  exit = kDone;
  auto options = spec_options(common);
  options.dump_after = dump_after;
  return compile_text(std::move(*source), options, exit);
}

Result<std::unique_ptr<device::Backend>> open_device(const std::string& device, std::optional<std::uint64_t> seed) {
  if (device == "auto") {
    auto gpu = open_gpu(0);
    if (gpu || cuda::devices()) return gpu;
    return open_device(fmt::format("sim:{}", kDefaultModel), seed);
  }
  if (device.rfind("cuda:", 0) == 0) {
    const auto number = device.substr(5);
    if (number.empty() || number.size() > 4 || !std::all_of(number.begin(), number.end(), ::isdigit)) {
      return failure("E0720", fmt::format("--device {}: a number follows cuda:", device), "write --device cuda:0");
    }
    return open_gpu(std::stoi(number));
  }
  if (device.rfind("sim:", 0) == 0) {
    sim::Options options;
    options.seed = seed.value_or(0);
    return sim::open(device.substr(4), options);
  }
  std::vector<std::string> known{"auto", "cuda:0"};
  for (const auto& name : sim::names()) known.push_back("sim:" + name);
  std::vector<std::string_view> words(known.begin(), known.end());
  const auto near = nearest(device, words);
  return failure("E0720", fmt::format("there is no device `{}`", device),
                 near ? fmt::format("did you mean `{}`?", *near) : "auto, cuda:N, sim:NAME and sim:FILE.toml are; `gexp devices` lists them");
}

}  // namespace gexp::cli
