// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// What a PTX text says of its kernels, for whoever launches one that gexp did not write. Instructions are not looked at.
namespace gexp::jit {

struct PtxParameter {
  std::uint32_t bytes = 0;  ///< 0: of no type that is known
  bool is_float = false;
  bool is_array = false;  ///< a structure, which PTX declares as bytes
};

struct PtxEntry {
  std::string name;
  std::vector<PtxParameter> parameters;
};

/// The kernels of a text, each once, in its order. A text that is no PTX has none.
std::vector<PtxEntry> ptx_entries(std::string_view text);

/// "_Z5saxpyfPKfPfi" as its author wrote it: "saxpy(float, float const*, float*, int)".
std::string readable_name(const std::string& name);
/// The same without arguments and template arguments: "saxpy".
std::string short_name(const std::string& name);

}  // namespace gexp::jit
