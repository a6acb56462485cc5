// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/program.h"
#include "lang/base/result.h"

/// Memory instructions as inline PTX.
namespace gexp::compiler {

/// Bytes that a link has when steps of this width are followed.
inline int link_bytes(int width) { return width == 8 ? 8 : 4; }

/// The path that an access takes: its own, or the memory's.
Via path_of(const Memory& memory, Via via);

/// E0417 a width that no instruction has, E0429 a path or an operation that the memory's space does not have.
Result<> accepts(const Op& op, const Memory& memory, int width);

/// Whether the access is a texture fetch, whose place is an index, not an address.
bool is_texture(const Memory& memory, Via via);

/// `asm volatile` that loads `width` bytes at the variable `at`, an address or a fetch's index of 4 bytes, into `value` (and `value`h for 16).
std::string load_text(const Memory& memory, Via via, int width, const std::string& at, const std::string& value);
std::string store_text(const Memory& memory, Via via, int width, const std::string& at, const std::string& value);
/// One step of a chase: loads `link` at `at`, then makes `at` of it and `base`.
std::string step_text(const Memory& memory, Via via, int width, const std::string& at, const std::string& link, const std::string& base);

/// "unsigned int" or "unsigned long long": the register that holds a value of this width.
const char* value_type(int width);

}  // namespace gexp::compiler
