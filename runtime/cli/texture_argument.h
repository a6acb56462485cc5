// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "lang/base/result.h"
#include "runtime/sim/texture.h"

namespace gexp::cli {

/// A texture or a surface that `gexp sim` gives a kernel: "tex,linear:f32[64x32]=random", "surf:u8x4[64x32]".
struct TextureArgument {
  sim::Texture texture;  ///< without its address
  std::string array;     ///< its elements, as read_kernel_argument() reads them: "f32[2048]=random"
};

/// Nothing where the text is no texture. E0510: what is wrong with it.
Result<std::optional<TextureArgument>> read_texture_argument(const std::string& text);

}  // namespace gexp::cli
