// SPDX-License-Identifier: Apache-2.0
// A stand-in for libnvrtc: "compiles" a text to a line that quotes it, in no time, on any machine. A text that holds "error"
// does not compile. FAKE_NVRTC_BUILD sets the patch release that its PTX tells. Built once with FAKE_TOO_OLD: as before
// CUDA 11.2. FAKE_NVRTC_SECONDS: how long it takes over a text of more than one line.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "runtime/jit/nvrtc.h"

namespace gexp::jit {
struct NvrtcProgram {
  std::string source, image, log;
};
}  // namespace gexp::jit

using gexp::jit::NvrtcProgram;

extern "C" {

const char* nvrtcGetErrorString(int status) { return status == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR_INVALID_OPTION"; }
int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 9;
  return 0;
}
#ifndef FAKE_TOO_OLD
int nvrtcGetNumSupportedArchs(int* count) {
  *count = 3;
  return 0;
}
int nvrtcGetSupportedArchs(int* architectures) {
  const int list[] = {50, 86, 90};
  std::memcpy(architectures, list, sizeof list);
  return 0;
}
#endif
int nvrtcCreateProgram(NvrtcProgram** program, const char* source, const char*, int, const char* const*, const char* const*) {
  *program = new NvrtcProgram{source, {}, {}};
  return 0;
}
int nvrtcDestroyProgram(NvrtcProgram** program) {
  delete *program;
  *program = nullptr;
  return 0;
}
int nvrtcCompileProgram(NvrtcProgram* program, int count, const char* const* options) {
  if (program->source.find("error") != std::string::npos) {
    program->log =
        "t.cu(2): error: it says error\n  quoted (3): error text\n\n1 error detected in the compilation of \"t.cu\".\n";
    return 6;
  }
  const char* seconds = std::getenv("FAKE_NVRTC_SECONDS");
  const auto first_line = program->source.find('\n');
  if (seconds != nullptr && first_line != std::string::npos && first_line + 1 < program->source.size()) sleep(static_cast<unsigned>(std::atoi(seconds)));
  const char* build = std::getenv("FAKE_NVRTC_BUILD");
  program->image = std::string("// Cuda compilation tools, release 12.9, V") + (build != nullptr ? build : "12.9.1") + "\n";
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(options[i], "--bad") == 0) return 5;
    program->image += std::string(options[i]) + "\n";
  }
  program->image += program->source;
  return 0;
}
int nvrtcGetPTXSize(NvrtcProgram* program, std::size_t* size) {
  *size = program->image.size() + 1;
  return 0;
}
int nvrtcGetPTX(NvrtcProgram* program, char* out) {
  std::memcpy(out, program->image.c_str(), program->image.size() + 1);
  return 0;
}
int nvrtcGetCUBINSize(NvrtcProgram* program, std::size_t* size) {
  *size = program->image.size();
  return 0;
}
int nvrtcGetCUBIN(NvrtcProgram* program, char* out) {
  std::memcpy(out, program->image.data(), program->image.size());
  return 0;
}
int nvrtcGetProgramLogSize(NvrtcProgram* program, std::size_t* size) {
  *size = program->log.size() + 1;
  return 0;
}
int nvrtcGetProgramLog(NvrtcProgram* program, char* out) {
  std::memcpy(out, program->log.c_str(), program->log.size() + 1);
  return 0;
}
}
