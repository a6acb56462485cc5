// SPDX-License-Identifier: Apache-2.0
#include "runtime/jit/nvrtc.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

#include "runtime/jit/elf.h"

namespace gexp::jit {
namespace {

template <class Function>
bool bind(void* library, const char* symbol, Function& function, std::string& missing) {
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  if (function == nullptr && missing.empty()) missing = symbol;
  return function != nullptr;
}

/// Between "V" and the end of its line in "// Cuda compilation tools, release 13.0, V13.0.88".
std::string release_in(const std::string& ptx) {
  static constexpr std::string_view kMark = "Cuda compilation tools, release ";
  auto at = ptx.find(kMark);
  if (at == std::string::npos) return {};
  const auto line_end = ptx.find_first_of("\r\n", at);
  at = ptx.find(", V", at);
  if (at == std::string::npos || at > line_end) return {};
  return ptx.substr(at + 3, line_end - at - 3);
}

std::string take_text(int (*size_of)(NvrtcProgram*, std::size_t*), int (*get)(NvrtcProgram*, char*), NvrtcProgram* program,
                      int& status) {
  std::size_t size = 0;
  status = size_of(program, &size);
  std::string text(size, '\0');
  if (status == kNvrtcSuccess && size > 0) status = get(program, text.data());
  return text;
}

/// NVRTC opens its builtins by name while it compiles. Loading the file beside it first makes that succeed in a folder that the
/// loader does not search (Debian's library, unpacked elsewhere); where the file is missing, NVRTC says so itself.
/// Why it must not even be tried; empty: nothing is wrong with it.
std::string load_builtins(const Nvrtc& nvrtc, const std::string& path) {
  int major = 0, minor = 0;
  const auto slash = path.rfind('/');
  if (slash == std::string::npos || nvrtc.version(&major, &minor) != kNvrtcSuccess) return {};
  const auto builtins = fmt::format("{}/libnvrtc-builtins.so.{}.{}", path.substr(0, slash), major, minor);
  if (const auto why = why_not_whole(builtins); !why.empty()) return fmt::format("{}: {}", builtins, why);
  dlopen(builtins.c_str(), RTLD_LAZY | RTLD_LOCAL);
  return {};
}

}  // namespace

Result<Nvrtc> load_nvrtc(const std::string& path) {
  constexpr const char* kInstead = "set GEXP_NVRTC to another libnvrtc.so, or install one again";
  if (const auto why = why_not_whole(path); !why.empty()) return failure("E0701", fmt::format("cannot load the CUDA runtime compiler {}: {}", path, why), kInstead);
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return failure("E0701",
                   fmt::format("cannot load the CUDA runtime compiler {}: {}", path, why != nullptr ? why : "unknown reason"),
                   kInstead);
  }
  Nvrtc n;
  std::string missing;
  bind(library, "nvrtcGetErrorString", n.error_string, missing);
  bind(library, "nvrtcVersion", n.version, missing);
  bind(library, "nvrtcCreateProgram", n.create_program, missing);
  bind(library, "nvrtcDestroyProgram", n.destroy_program, missing);
  bind(library, "nvrtcCompileProgram", n.compile_program, missing);
  bind(library, "nvrtcGetPTXSize", n.ptx_size, missing);
  bind(library, "nvrtcGetPTX", n.ptx, missing);
  bind(library, "nvrtcGetProgramLogSize", n.log_size, missing);
  bind(library, "nvrtcGetProgramLog", n.log, missing);
  if (!missing.empty()) {
    return failure("E0701", fmt::format("{} is not a CUDA runtime compiler: it has no {}", path, missing),
                   "set GEXP_NVRTC to a libnvrtc.so of CUDA 11.2 or newer");
  }
  std::string may_be_missing;
  bind(library, "nvrtcAddNameExpression", n.add_name_expression, may_be_missing);
  bind(library, "nvrtcGetLoweredName", n.lowered_name, may_be_missing);
  bind(library, "nvrtcGetCUBINSize", n.cubin_size, missing);  // since 11.1
  bind(library, "nvrtcGetCUBIN", n.cubin, missing);
  bind(library, "nvrtcGetNumSupportedArchs", n.num_supported_archs, missing);  // since 11.2
  bind(library, "nvrtcGetSupportedArchs", n.supported_archs, missing);
  if (!missing.empty()) {
    int major = 0, minor = 0;
    n.version(&major, &minor);
    return failure("E0701",
                   fmt::format("the CUDA runtime compiler {} is too old: version {}.{} has no {}", path, major, minor, missing),
                   "install NVRTC of CUDA 11.2 or newer (Debian: libnvrtc11.2 from non-free), or set GEXP_NVRTC to one");
  }
  if (const auto why = load_builtins(n, path); !why.empty()) return failure("E0701", fmt::format("cannot load the CUDA runtime compiler's {}", why), kInstead);
  return n;
}

Result<NvrtcVersion> ask_version(const Nvrtc& nvrtc) {
  NvrtcVersion version;
  int count = 0;
  auto status = nvrtc.version(&version.major, &version.minor);
  if (status == kNvrtcSuccess) status = nvrtc.num_supported_archs(&count);
  if (status == kNvrtcSuccess && count > 0) {
    version.architectures.resize(static_cast<std::size_t>(count));
    status = nvrtc.supported_archs(version.architectures.data());
  }
  if (status != kNvrtcSuccess || count <= 0) {
    return failure(
        "E0701",
        fmt::format("the CUDA runtime compiler does not tell its version and architectures: {}", nvrtc.error_string(status)),
        "install NVRTC again, or set GEXP_NVRTC to another one");
  }
  std::sort(version.architectures.begin(), version.architectures.end());
  NvrtcOutput made;
  status = run_nvrtc(nvrtc, "extern \"C\" __global__ void empty() {}\n", "version.cu", {}, false, "", made);
  if (status != kNvrtcSuccess) {
    return failure("E0701",
                   fmt::format("the CUDA runtime compiler {}.{} does not work: {}{}{}", version.major, version.minor,
                               nvrtc.error_string(status), made.log.empty() ? "" : "\n", made.log),
                   "install NVRTC again with its libnvrtc-builtins, or set GEXP_NVRTC to another one");
  }
  version.build = release_in(made.image);
  if (version.build.empty()) version.build = fmt::format("{}.{}", version.major, version.minor);
  return version;
}

int run_nvrtc(const Nvrtc& nvrtc, const std::string& source, const std::string& name, const std::vector<std::string>& options,
              bool cubin, const std::string& expression, NvrtcOutput& output) {
  NvrtcProgram* program = nullptr;
  auto& [image, log, entry] = output;
  auto status = nvrtc.create_program(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr);
  if (status == kNvrtcSuccess && !expression.empty()) status = nvrtc.add_name_expression(program, expression.c_str());
  if (status != kNvrtcSuccess) return status;
  std::vector<const char*> words;
  for (const auto& option : options) words.push_back(option.c_str());
  status = nvrtc.compile_program(program, static_cast<int>(words.size()), words.data());
  int log_status = kNvrtcSuccess;
  log = take_text(nvrtc.log_size, nvrtc.log, program, log_status);
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) log.pop_back();
  if (status == kNvrtcSuccess) {
    image = cubin ? take_text(nvrtc.cubin_size, nvrtc.cubin, program, status)
                  : take_text(nvrtc.ptx_size, nvrtc.ptx, program, status);
    if (!cubin) {
      while (!image.empty() && image.back() == '\0') image.pop_back();
    }
    const char* lowered = nullptr;
    if (status == kNvrtcSuccess && !expression.empty()) status = nvrtc.lowered_name(program, expression.c_str(), &lowered);
    if (lowered) entry = lowered;
  }
  nvrtc.destroy_program(&program);
  return status;
}

}  // namespace gexp::jit
