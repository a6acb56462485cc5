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

/// One compilation for all: the images differ in their entries only.
Result<std::vector<device::KernelImage>> compile(jit::Compiler& compiler, std::span<const Program> programs, device::Target target);

/// Loads, launches, and compares all of the memory that the kernel may write with what the host writes. NaNs are equal.
Verdict check(device::Backend& backend, const device::KernelImage& image, const Program& program);

}  // namespace gexp::differential
