// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lang/base/result.h"

/// What `gexp sim` gives a kernel: values, and arrays in the device's memory.
namespace gexp::cli {

/// The types of elements: u8 to u64, s8 to s64, f32 and f64.
struct ElementType {
  char kind = 'u';  ///< u, s or f
  std::uint32_t bytes = 4;
  [[nodiscard]] std::string name() const;
};
std::vector<std::string> element_types();

/// One argument, read: "1024", "f32=2.5", "u32[1024]=index".
struct KernelArgument {
  std::string text;                ///< as it was given
  bool is_array = false;
  bool typed = false;              ///< a value that says of which type it is; an array always does
  ElementType type;
  std::vector<std::byte> content;  ///< of an array; of a typed value
};

/// Reads one. `seed` decides an array's random content, `most_bytes` how large it may be. E0510: the place in the text that is wrong.
Result<KernelArgument> read_kernel_argument(const std::string& text, std::uint64_t seed, std::uint64_t most_bytes);

/// The bits of a value for a parameter of `bytes` bytes. E0510: it is no such value, or of another size.
Result<std::uint64_t> value_for(const KernelArgument& argument, std::uint32_t bytes, bool is_float);

/// Elements [first, first + count) for people: "1 2.5 4 …".
std::string show_elements(const ElementType& type, const std::vector<std::byte>& content, std::size_t first, std::size_t count);
/// Elements that two contents of one size do not have alike: the first and how many.
struct Change {
  std::size_t first = 0, elements = 0;
};
Change changed(const ElementType& type, const std::vector<std::byte>& before, const std::vector<std::byte>& after);

}  // namespace gexp::cli
