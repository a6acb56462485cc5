// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "lang/base/result.h"

/// NVRTC through our own declarations, opened at run time: the build needs no CUDA headers, and one binary takes
/// NVRTC 11.2 to 13.x. tests/jit compares the declarations with <nvrtc.h> where CMake finds one.
namespace gexp::jit {

struct NvrtcProgram;  // opaque to us

inline constexpr int kNvrtcSuccess = 0;
inline constexpr int kNvrtcInvalidOption = 5;
inline constexpr int kNvrtcCompilationFailed = 6;

struct Nvrtc {
  const char* (*error_string)(int) = nullptr;
  int (*version)(int*, int*) = nullptr;
  int (*num_supported_archs)(int*) = nullptr;
  int (*supported_archs)(int*) = nullptr;
  int (*create_program)(NvrtcProgram**, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_program)(NvrtcProgram**) = nullptr;
  int (*compile_program)(NvrtcProgram*, int, const char* const*) = nullptr;
  int (*ptx_size)(NvrtcProgram*, std::size_t*) = nullptr;
  int (*ptx)(NvrtcProgram*, char*) = nullptr;
  int (*cubin_size)(NvrtcProgram*, std::size_t*) = nullptr;
  int (*cubin)(NvrtcProgram*, char*) = nullptr;
  int (*log_size)(NvrtcProgram*, std::size_t*) = nullptr;
  int (*log)(NvrtcProgram*, char*) = nullptr;
  int (*add_name_expression)(NvrtcProgram*, const char*) = nullptr;                     ///< null: this library has it not
  int (*lowered_name)(NvrtcProgram*, const char*, const char**) = nullptr;  ///< likewise
};

/// What one NVRTC library says of itself.
struct NvrtcVersion {
  int major = 0, minor = 0;
  std::string build;               ///< "13.0.88": its own compiler's release; "13.0" when it does not tell
  std::vector<int> architectures;  ///< 75 for sm_75; ascending
};

/// Opens the library for the rest of the process. E0701 when it cannot be loaded or is older than 11.2.
Result<Nvrtc> load_nvrtc(const std::string& path);

/// Asks the library. Costs a compilation of an empty kernel: only so does NVRTC tell its patch release.
Result<NvrtcVersion> ask_version(const Nvrtc& nvrtc);

/// What a compile gives besides its status.
struct NvrtcOutput {
  std::string image;  ///< PTX or a cubin
  std::string log;    ///< set either way
  std::string entry;  ///< of a name expression: what the image calls it
};
/// Compiles. Not 0: NVRTC's error. `expression` is a kernel by its name in C++, `copy<32>`, which is made for that; empty: none.
int run_nvrtc(const Nvrtc& nvrtc, const std::string& source, const std::string& name, const std::vector<std::string>& options,
              bool cubin, const std::string& expression, NvrtcOutput& output);

}  // namespace gexp::jit
