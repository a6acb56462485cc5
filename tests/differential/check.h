// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>

#include "runtime/device/backend.h"
#include "runtime/jit/compiler.h"
#include "tests/differential/program.h"

namespace gexp::differential {

/// One kernel on one device against the host.
struct Verdict {
  enum class Kind { Same, Differs, Fault, Refused };  ///< Refused: the device's backend takes the kernel's code for no code
  Kind kind = Kind::Same;
  std::string what;          ///< the first difference, or the message
  std::uint64_t compared = 0;  ///< values
  std::uint64_t different = 0;
};

struct Images {
  std::vector<device::KernelImage> kernels;  ///< by program; they differ in their entries only
  int corrected = 0;                          ///< instructions that this NVRTC is known to get wrong, put right (compiler_faults.h)
};

/// One compilation for all.
Result<Images> compile(jit::Compiler& compiler, std::span<const Program> programs, device::Target target);

/// Loads, launches, and compares all of the memory that the kernel may write with what the host writes. NaNs are equal.
Verdict check(device::Backend& backend, const device::KernelImage& image, const Program& program);

}  // namespace gexp::differential
