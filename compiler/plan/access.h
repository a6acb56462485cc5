// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <utility>

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
/// The handle that takes the place of a texture's own where nothing is measured: of one or two dimensions.
inline const char* idle_texture(bool rows) { return rows ? "idle_rows" : "idle_texture"; }

/// How an access asks to be cached: its path, what else stands in its PTX, and the operand that follows its address.
struct Manner {
  Via via = Via::Default;
  std::string modifiers, policy;
  std::string_view space{};  ///< the state space of its instruction; empty: the memory's
  Manner(Via path) : via(path) {}  // a path alone
  Manner(Via path, std::string words, std::string operand) : via(path), modifiers(std::move(words)), policy(std::move(operand)) {}
};
inline constexpr std::string_view kOfCluster = "shared::cluster";  ///< of shared memory that is another block's
/// Of an operation, `fetch` being 0 or the bytes that it asks the L2 to bring.
Manner manner_of(const Op& op, int fetch);

/// `asm volatile` that loads `width` bytes at the variable `at`, an address or a fetch's index of 4 bytes, into `value` (and `value`h for 16).
std::string load_text(const Memory& memory, const Manner& manner, int width, const std::string& at, const std::string& value);
std::string store_text(const Memory& memory, const Manner& manner, int width, const std::string& at, const std::string& value);
/// One step of a chase: loads `link` at `at`, then makes `at` of it and `base`.
std::string step_text(const Memory& memory, const Manner& manner, int width, const std::string& at, const std::string& link, const std::string& base);

/// The same in two: what loads `link`, and what makes `at` of it, which waits for it.
struct StepTexts {
  std::string load, advance;
};
StepTexts step_texts(const Memory& memory, const Manner& manner, int width, const std::string& at, const std::string& link, const std::string& base);

/// "unsigned int" or "unsigned long long": the register that holds a value of this width.
const char* value_type(int width);

}  // namespace gexp::compiler
