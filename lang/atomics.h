// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <span>
#include <string>
#include <string_view>

/// The operations of `atomic` (atomics.def).
namespace gexp::lang {

struct Atomic {
  std::string_view name;  ///< as written in a spec
  std::string_view ptx;   ///< the end of the PTX instruction: "add.noftz.f16x2"
  int bytes;
  char operand;           ///< i: the number 1; f, d: 1 as a float; x, y: two halves of 1
  bool compares;          ///< with 1, before it writes the operand
  bool has_red;           ///< there is a form that returns nothing
  int global, shared;     ///< the oldest compute capability, times ten, that has it there
};

std::span<const Atomic> atomics();
/// Null when there is none of that name.
const Atomic* find_atomic(std::string_view name);
/// What to write instead of a name that is none; empty: nothing is near.
std::string meant_atomic(std::string_view name);

}  // namespace gexp::lang
