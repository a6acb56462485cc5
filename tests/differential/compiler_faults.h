// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace gexp::differential {

/// What a release of NVRTC is known to compile wrongly, put right in its PTX, so that the rest of a kernel is still compared.
/// A release without a known fault, and code that has none, is left as it is.
///
/// NVRTC 11.8: `(x >> P) & (2^L - 1)` with a signed 64-bit x becomes `bfe.u64 d, x, P, L`, also where P + L > 64. The shift brings copies
/// of the sign into the upper bits of the field; `bfe.u64` fills what lies above bit 63 with zeros (PTX ISA, *Integer Arithmetic
/// Instructions: bfe*). With x = 2 << 62, P = 62 and L = 8 that is 2 in place of 0xfe. NVRTC 13.0 writes `shr.s64` and `and.b64`. So does
/// 11.8 where the mask does not begin at bit 0, and of an unsigned x it makes `shr.u64`: such a `bfe.u64` comes of a signed shift only.
///
/// Another fault of 11.8 cannot be told from its PTX: see `factor` in device_operations.cu. One of 13.0 is left: see `anywhere` in campaign.cpp.
struct CompilerFaults {
  std::string ptx;
  int corrected = 0;  ///< instructions
};
CompilerFaults without_compiler_faults(std::string ptx, const std::string& nvrtc_build);

}  // namespace gexp::differential
