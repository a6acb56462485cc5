// SPDX-License-Identifier: Apache-2.0
#include "runtime/jit/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "lang/base/sha256.h"
#include "runtime/jit/cache.h"
#include "runtime/jit/crash_guard.h"
#include "runtime/jit/locate.h"
#include "runtime/jit/nvrtc.h"
#include "runtime/jit/without_files.h"

namespace gexp::jit {
namespace {

using device::Target;
using Clock = std::chrono::steady_clock;

/// Part of every key: raise it when the meaning of an entry changes.
constexpr std::string_view kKeyFormat = "gexp-kernel-key 1";

std::atomic<int> compiles_under_way{0};

struct UnderWay {
  UnderWay() { ++compiles_under_way; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;
  ~UnderWay() { --compiles_under_way; }
};

Diagnostic not_found(const Location& location) {
  auto problem =
      failure("E0701", "no CUDA runtime compiler (NVRTC) found",
              "Debian: install libnvrtc11.2 from non-free; or install a CUDA toolkit; or set CUDA_PATH to a toolkit's folder "
              "or GEXP_NVRTC to libnvrtc.so");
  for (const auto& place : location.searched) problem.notes.push_back({{}, "searched " + place});
  return problem;
}

/// E0706, telling an NVRTC that is too old for the device from one that is too new.
Diagnostic cannot_target(int wanted, const NvrtcVersion& version, const Location& location) {
  const auto oldest = version.architectures.front(), newest = version.architectures.back();
  const char* why = wanted > newest ? "it is too old for this device" : wanted < oldest ? "it is too new for this device" : "";
  const char* what =
      wanted > newest ? "install a newer CUDA toolkit" : "install an older NVRTC (11.8 reaches back to sm_35, 12.x to sm_50)";
  auto problem =
      failure("E0706", fmt::format("NVRTC {} cannot target sm_{}{}{}", version.build, wanted, *why != '\0' ? ": " : "", why),
              fmt::format("{}, and set GEXP_NVRTC to its libnvrtc.so", what));
  problem.notes.push_back({{}, fmt::format("{} targets sm_{}", location.path, fmt::join(version.architectures, ", sm_"))});
  for (const auto& other : location.others) problem.notes.push_back({{}, "also on this machine: " + other});
  return problem;
}

Diagnostic does_not_compile(const Request& request, const std::string& log) {
  auto problem =
      failure("E0702", fmt::format("the CUDA text {} does not compile:\n{}", request.name, log.empty() ? "(no log)" : log));
  for (const auto& [line, message] : parse_log(log)) problem.notes.push_back({{}, fmt::format("line {}: {}", line, message)});
  return problem;
}

bool sets_dialect(const std::vector<std::string>& options) {
  return std::any_of(options.begin(), options.end(),
                     [](const std::string& option) { return option.starts_with("--std") || option.starts_with("-std"); });
}

/// What is in one generation of devices alone is made for that architecture by name: "sm_90a", which NVRTC 12.0 knows.
const char* of_one_generation(const Request& request, int wanted, const NvrtcVersion& version) {
  const bool uses = request.source.find("wgmma.") != std::string::npos || request.source.find("setmaxnreg.") != std::string::npos;
  return uses && wanted == 90 && version.major >= 12 ? "a" : "";
}

std::string key_of(const Request& request, const std::vector<std::string>& options, const NvrtcVersion& version) {
  Sha256 hash;
  hash.add_field(kKeyFormat).add_field(version.build).add_field(request.target.form == Target::Form::Cubin ? "cubin" : "ptx");
  for (const auto& option : options) hash.add_field(option);
  if (!request.expression.empty()) hash.add_field("expression " + request.expression);
  return hash.add_field(request.name).add_field(request.source).hex();
}

}  // namespace

struct Compiler::State {
  Location location;
  Cache cache;
  NvrtcVersion version;

  explicit State(Location where) : location(std::move(where)), cache(locate_cache()) {}

  /// Loads NVRTC once; its own functions may be called from several threads.
  Result<Nvrtc> nvrtc() {
    const std::lock_guard lock(mutex_);
    if (!nvrtc_) {
      auto loaded = load_nvrtc(location.path);
      if (!loaded) return loaded.error();
      nvrtc_ = *loaded;
    }
    return *nvrtc_;
  }
  bool loaded() {
    const std::lock_guard lock(mutex_);
    return nvrtc_.has_value();
  }

 private:
  std::mutex mutex_;
  std::optional<Nvrtc> nvrtc_;
};

Compiler::Compiler(std::shared_ptr<State> state) : state_(std::move(state)) {}

Result<Compiled> Compiler::compile(const Request& request, const std::function<bool()>& give_up) {
  struct Shared {
    std::mutex mutex;
    std::condition_variable done;
    std::optional<Result<Compiled>> made;
  };
  constexpr auto kSlice = std::chrono::milliseconds(50);  // between two looks whether to wait on
  const auto shared = std::make_shared<Shared>();
  std::thread([shared, compiler = *this, request]() mutable {
    const CrashGuard guard(request.name);
    auto made = compiler.compile(request);
    const std::lock_guard lock(shared->mutex);
    shared->made = std::move(made);
    shared->done.notify_all();
  }).detach();
  std::unique_lock lock(shared->mutex);
  while (!shared->done.wait_for(lock, kSlice, [&] { return shared->made.has_value(); })) {
    if (give_up()) return failure("E0721", fmt::format("the compile of {} was given up", request.name));
  }
  return std::move(*shared->made);
}

int Compiler::under_way() { return compiles_under_way.load(); }

Result<Compiler> Compiler::open() {
  auto location = locate_nvrtc();
  if (location.path.empty()) return not_found(location);
  auto state = std::make_shared<State>(std::move(location));
  if (auto known = state->cache.find_version(state->location.path)) {
    state->version = std::move(*known);
    return Compiler(std::move(state));
  }
  auto nvrtc = state->nvrtc();
  if (!nvrtc) return nvrtc.error();
  auto version = ask_version(*nvrtc);
  if (!version) return version.error();
  state->version = std::move(*version);
  state->cache.keep_version(state->location.path, state->version);
  return Compiler(std::move(state));
}

Result<Compiled> Compiler::compile(const Request& request) {
  const UnderWay counted;
  const auto start = Clock::now();
  const auto& version = state_->version;
  const bool cubin = request.target.form == Target::Form::Cubin;
  const bool oldest = request.target.major == 0;
  GEXP_CHECK(!(cubin && oldest));
  const int wanted = oldest ? version.architectures.front() : request.target.major * 10 + request.target.minor;
  if (!std::binary_search(version.architectures.begin(), version.architectures.end(), wanted)) {
    return cannot_target(wanted, version, state_->location);
  }

  Compiled compiled;
  compiled.architecture = fmt::format("{}_{}{}", cubin ? "sm" : "compute", wanted, of_one_generation(request, wanted, version));
  std::vector<std::string> options = {"--gpu-architecture=" + compiled.architecture};
  if (!sets_dialect(request.options)) options.emplace_back("--std=c++17");
  options.insert(options.end(), request.options.begin(), request.options.end());
  compiled.key = key_of(request, options, version);
  compiled.image.form = request.target.form;
  compiled.image.entry = request.entry;

  if (auto entry = state_->cache.find(compiled.key)) {
    compiled.image.bytes = std::move(entry->image);
    compiled.log = std::move(entry->log);
    if (!request.expression.empty()) compiled.image.entry = std::move(entry->entry);
    compiled.from_cache = true;
  } else {
    auto nvrtc = state_->nvrtc();
    if (!nvrtc) return nvrtc.error();
    if (!request.expression.empty() && (nvrtc->add_name_expression == nullptr || nvrtc->lowered_name == nullptr)) {
      return failure("E0701", fmt::format("{} knows no kernels with template arguments", state_->location.path),
                     "set GEXP_NVRTC to a libnvrtc.so of CUDA 11.2 or newer");
    }
    NvrtcOutput made;
    int status = kNvrtcSuccess;
    const auto run = [&] {
      const CrashGuard guard(request.name);
      status = run_nvrtc(*nvrtc, request.source, request.name, options, cubin, request.expression, made);
    };
    if (request.foreign) without_files(run);
    else status = run_nvrtc(*nvrtc, request.source, request.name, options, cubin, request.expression, made);
    compiled.image.bytes = std::move(made.image);
    compiled.log = std::move(made.log);
    if (!request.expression.empty()) compiled.image.entry = std::move(made.entry);
    if (status == kNvrtcCompilationFailed) return does_not_compile(request, compiled.log);
    if (status != kNvrtcSuccess || compiled.image.bytes.empty()) {
      return failure("E0702",
                     fmt::format("NVRTC {} could not compile {}: {}{}{}", version.build, request.name,
                                 status != kNvrtcSuccess ? nvrtc->error_string(status) : "it gave no code",
                                 compiled.log.empty() ? "" : "\n", compiled.log),
                     status == kNvrtcInvalidOption ? fmt::format("the options were: {}", fmt::join(options, " ")) : "");
    }
    state_->cache.keep(compiled.key, {compiled.image.bytes, compiled.log, request.expression.empty() ? "" : compiled.image.entry});
  }
  compiled.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return compiled;
}

int Compiler::major() const { return state_->version.major; }
int Compiler::minor() const { return state_->version.minor; }
const std::string& Compiler::build() const { return state_->version.build; }
const std::string& Compiler::library_path() const { return state_->location.path; }
const std::vector<int>& Compiler::architectures() const { return state_->version.architectures; }
const std::string& Compiler::cache_folder() const { return state_->cache.folder(); }
bool Compiler::cache_usable() const { return state_->cache.usable(); }
bool Compiler::loaded() const { return state_->loaded(); }

std::string cache_folder() {
  const Cache cache(locate_cache());
  return cache.usable() ? cache.folder() : std::string();
}

Description describe() {
  Description description;
  const Cache cache(locate_cache());
  description.cache_folder = cache.folder();
  description.cache_usable = cache.usable();
  const auto usage = cache.usage();
  description.cached_kernels = usage.kernels;
  description.cached_bytes = usage.bytes;
  const auto location = locate_nvrtc();
  description.library = location.path;
  description.others = location.others;
  auto compiler = Compiler::open();
  if (!compiler) {
    description.problem = compiler.error();
    return description;
  }
  description.version = compiler->build();
  description.architectures = compiler->architectures();
  return description;
}

}  // namespace gexp::jit
