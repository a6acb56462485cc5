// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

/// Which kernels a CUDA text has, as far as its words tell.
namespace gexp::measure {

struct TextKernel {
  std::string name;        ///< of the function
  std::string parameters;  ///< "typename T, int K" of a template; empty: it is none
};

/// The __global__ functions that stand in a text, in their order. What its macros make of it is not seen, so this serves hints alone.
std::vector<TextKernel> kernels_of_text(std::string_view text);

/// What to write instead of `wanted`, "copy" or "copy<float>", which the text has not. `compiled`: the kernels of its PTX, readable.
std::string meant_kernel(std::string_view wanted, const std::vector<TextKernel>& kernels, const std::vector<std::string>& compiled);

}  // namespace gexp::measure
