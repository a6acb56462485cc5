// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

#include "ptx/tree.h"

/// The words of an instruction: "ld.global.v4.u32".
namespace gexp::ptx {

class Opcode {
 public:
  explicit Opcode(std::string_view text) : text_(text) {}
  [[nodiscard]] std::string_view name() const { return text_.substr(0, text_.find('.')); }
  [[nodiscard]] bool has(std::string_view word) const;
  [[nodiscard]] Type type() const;          ///< the first of its types: of what it gives
  [[nodiscard]] std::size_t vector() const;  ///< of ".v4"

 private:
  std::string_view text_;
};

}  // namespace gexp::ptx
