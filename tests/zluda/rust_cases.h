// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace zluda {

/// One `test_ptx!(name, [input], [output])` of ZLUDA's mod.rs. Input and output are arrays in the bytes that Rust gives them.
struct Case {
  std::string name;
  std::optional<std::vector<std::byte>> input;  ///< none: the kernel gets its output in both places
  std::vector<std::byte> output;
  unsigned threads = 1;  ///< of its one block: 64 of `test_ptx_warp!`
};

/// The cases that say what a kernel writes, in the file's order. Nothing: the text has a form that this reader does not know, and
/// `why` says which.
std::optional<std::vector<Case>> read_cases(std::string_view text, std::string& why);

}  // namespace zluda
