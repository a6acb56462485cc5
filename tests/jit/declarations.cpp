// SPDX-License-Identifier: Apache-2.0
// Our declarations of NVRTC against NVIDIA's own, where a toolkit's headers are found (nothing to run).
#if __has_include(<nvrtc.h>)
#include <nvrtc.h>

#include "runtime/jit/nvrtc.h"
#include "tests/jit/same_shape.h"

namespace gexp::jit {
using tests::same_shape;

static_assert(same_shape<decltype(Nvrtc::error_string), decltype(&::nvrtcGetErrorString)>);
static_assert(same_shape<decltype(Nvrtc::version), decltype(&::nvrtcVersion)>);
static_assert(same_shape<decltype(Nvrtc::num_supported_archs), decltype(&::nvrtcGetNumSupportedArchs)>);
static_assert(same_shape<decltype(Nvrtc::supported_archs), decltype(&::nvrtcGetSupportedArchs)>);
static_assert(same_shape<decltype(Nvrtc::create_program), decltype(&::nvrtcCreateProgram)>);
static_assert(same_shape<decltype(Nvrtc::destroy_program), decltype(&::nvrtcDestroyProgram)>);
static_assert(same_shape<decltype(Nvrtc::compile_program), decltype(&::nvrtcCompileProgram)>);
static_assert(same_shape<decltype(Nvrtc::ptx_size), decltype(&::nvrtcGetPTXSize)>);
static_assert(same_shape<decltype(Nvrtc::ptx), decltype(&::nvrtcGetPTX)>);
static_assert(same_shape<decltype(Nvrtc::cubin_size), decltype(&::nvrtcGetCUBINSize)>);
static_assert(same_shape<decltype(Nvrtc::cubin), decltype(&::nvrtcGetCUBIN)>);
static_assert(same_shape<decltype(Nvrtc::log_size), decltype(&::nvrtcGetProgramLogSize)>);
static_assert(same_shape<decltype(Nvrtc::log), decltype(&::nvrtcGetProgramLog)>);
static_assert(kNvrtcSuccess == NVRTC_SUCCESS && kNvrtcInvalidOption == NVRTC_ERROR_INVALID_OPTION &&
              kNvrtcCompilationFailed == NVRTC_ERROR_COMPILATION);

}  // namespace gexp::jit
#endif
