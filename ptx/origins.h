// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "ptx/tree.h"

/// Which data structure of a kernel an address belongs to.
namespace gexp::ptx {

/// What a register may hold, whichever of its definitions gave it: nothing yet, numbers, addresses within one structure, or unknown.
struct Origin {
  enum class Kind : std::uint8_t { Nothing, Number, Structure, Unknown };
  Kind kind = Kind::Nothing;
  std::size_t structure = 0;
  friend bool operator==(const Origin&, const Origin&) = default;
};
/// What holds either.
Origin join(const Origin& a, const Origin& b);

/// Origins of the registers of a kernel without scopes (flatten). An address is what its parameter points to with numbers added, through
/// mov, add, sub, mad, cvta and selp, over loops too; anything else that is made of one is unknown. What memory holds counts as numbers:
/// an access through such a pointer belongs to no structure.
class Origins {
 public:
  /// `structures`: of each parameter the data structure that it points to; nothing of a number.
  Origins(const Function& kernel, std::vector<std::optional<std::size_t>> structures);

  [[nodiscard]] Origin of(std::string_view name) const;
  /// The structure that `[base+offset]` lies in; nothing where that is not known.
  [[nodiscard]] std::optional<std::size_t> structure(const Operand& address) const;

 private:
  static std::string_view register_of(std::string_view name);
  void gives(const Operand& to, const Origin& origin);
  [[nodiscard]] Origin result(const Statement& s) const;
  [[nodiscard]] Origin loaded(const Statement& s) const;
  [[nodiscard]] Origin value(const Operand& o) const;

  std::vector<std::pair<std::string_view, std::optional<std::size_t>>> parameters_;
  std::map<std::string_view, Origin> registers_;
  std::vector<std::string_view> grown_;
};

}  // namespace gexp::ptx
