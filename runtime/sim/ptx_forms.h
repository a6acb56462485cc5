// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string_view>

#include "runtime/sim/ptx.h"

/// The instructions that the simulator runs: the decoder's table, of which docs/reference/ptx.md is made.
namespace gexp::sim {

class Decoder;

/// One form of an instruction. Lists are words with spaces between them.
struct Form {
  std::string_view section;  ///< of the PTX ISA, version kPtxVersion
  std::string_view name;
  std::string_view must;     ///< modifiers that stand in it; of "a|b" one
  std::string_view may;      ///< modifiers that may; "L1::*": all that begin so
  std::string_view types;    ///< what its first type can be; empty: it has none
  std::string_view sources;  ///< what its other types can be; empty: it has one type
  void (Decoder::*decode)(const Form&);
  Op op = Op::Mov, without_sign = Op::Mov;  ///< of signed types (and of all, where the second is Mov), and of the others
  std::uint8_t operands = 0;  ///< that are read, where `decode` does not know better
  Cost cost = Cost::Alu;
};

/// An instruction of the PTX ISA that the simulator refuses.
struct Refused {
  std::string_view section, name, why;
};

inline constexpr std::string_view kPtxVersion = "9.0";
/// Titles of the sections, in order.
struct Section {
  std::string_view number, title;
};
std::span<const Section> ptx_sections();
std::span<const Form> ptx_forms();
std::span<const Refused> ptx_refused();

/// Whether a list of a form has a word.
bool lists(std::string_view list, std::string_view word);

}  // namespace gexp::sim
