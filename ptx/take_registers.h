// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "lang/base/result.h"

namespace gexp::ptx {

inline constexpr std::uint32_t kMostRegisters = 1024;  // limit: of a thread; no GPU gives one so many

/// The kernel `entry` with threads that take `count` registers of 4 bytes: it may have no more (`.maxnreg`), and holds more values from its
/// begin to its end. A device may give fewer: `count` is what is asked for. E0801: the text is no PTX that can be read, or bounds its registers
/// itself.
Result<std::string> take_registers(std::string_view text, std::string_view entry, std::uint32_t count);

}  // namespace gexp::ptx
