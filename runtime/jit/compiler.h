// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/result.h"
#include "runtime/device/backend.h"
#include "runtime/jit/ptx_entries.h"

/// CUDA text to PTX or machine code through NVRTC, with a cache on disk.
/// Codes: E0701 no usable NVRTC, E0702 the text does not compile, E0706 this NVRTC cannot target the device.
namespace gexp::jit {

struct Request {
  std::string source;                ///< CUDA C++; self-contained: the cache cannot see what an #include would bring
  std::string name;                  ///< of the text, for the log: "each.cu"
  std::string entry;                 ///< the extern "C" kernel
  device::Target target;            ///< Ptx 0.0: the oldest architecture of this NVRTC
  std::vector<std::string> options;  ///< further NVRTC options; --gpu-architecture is set here, --std=c++17 unless given
  bool foreign = false;              ///< somebody else's text: while it is compiled, NVRTC finds no file (without_files.h)
  std::string expression = {};       ///< the kernel by its name in C++, `copy<32>`, instead of `entry`; empty: by `entry`
};

struct Compiled {
  device::KernelImage image;
  std::string key;           ///< SHA-256 of everything that the image depends on: source, options, NVRTC, architecture, form
  std::string architecture;  ///< "sm_90", "compute_75"
  std::shared_ptr<const std::string> source;  ///< what it was compiled of, where whoever asked for it keeps that
  std::vector<PtxParameter> parameters;       ///< of a kernel that gexp did not write, where whoever asked for it looked
  std::string log;           ///< NVRTC's warnings; mostly empty
  bool from_cache = false;
  double seconds = 0;  ///< that compile() took, wall clock
};

/// One message of NVRTC's log, at a line of the request's source.
struct LogLine {
  int line = 0;         ///< 1-based
  std::string message;  ///< "error: identifier "x" is undefined"
};

/// The messages of a log, in its order. Lines that are quotations of source or summaries are left out.
std::vector<LogLine> parse_log(std::string_view log);

/// Of an E0702 of compile(): the caller can map the lines to the statements that made them.
std::vector<LogLine> log_lines(const Diagnostic& diagnostic);

/// Every member may be called from several threads at once. A copy is the same compiler: it keeps library and cache in use.
class Compiler {
 public:
  /// Finds NVRTC; loads it only when this machine's cache does not know its version yet. E0701.
  static Result<Compiler> open();

  /// How many calls of compile() are under way in this process. A process must not run its exit handlers, NVRTC's among them,
  /// while there are any.
  static int under_way();

  /// E0702: `notes` hold one message each (log_lines() takes them apart) and the message ends in the whole log. E0706. E0701
  /// when NVRTC turns out not to load.
  Result<Compiled> compile(const Request& request);
  /// The same for one who asks `give_up` some times a second and waits no longer once it says so: E0721. NVRTC cannot be interrupted:
  /// the compile goes on by itself. Where the text makes NVRTC crash, the process ends with a message (crash_guard.h).
  Result<Compiled> compile(const Request& request, const std::function<bool()>& give_up);

  [[nodiscard]] int major() const;
  [[nodiscard]] int minor() const;
  [[nodiscard]] const std::string& build() const;  ///< "13.0.88"
  [[nodiscard]] const std::string& library_path() const;
  [[nodiscard]] const std::vector<int>& architectures() const;  ///< 75 for sm_75; ascending, never empty
  [[nodiscard]] const std::string& cache_folder() const;        ///< empty: there is none
  [[nodiscard]] bool cache_usable() const;
  [[nodiscard]] bool loaded() const;  ///< whether NVRTC had to be loaded so far

 private:
  struct State;
  explicit Compiler(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// What `gexp doctor` says of the compiler.
struct Description {
  std::string library;  ///< empty: none found
  std::string version;  ///< "13.0.88"
  std::vector<int> architectures;
  std::vector<std::string> others;  ///< further NVRTCs on this machine; GEXP_NVRTC chooses one
  std::string cache_folder;
  bool cache_usable = false;
  std::uint64_t cached_kernels = 0, cached_bytes = 0;
  std::optional<Diagnostic> problem;  ///< E0701: what is missing, and what to do
};
Description describe();
/// The folder in which kernels are kept, made if there is none yet; empty where none can be written.
std::string cache_folder();

}  // namespace gexp::jit
