// SPDX-License-Identifier: Apache-2.0
#include "tests/differential/program.h"

namespace gexp::differential {

const OpFacts& facts(Op op) {
  static constexpr OpFacts kFacts[] = {
#define X(name, operands, same) {#name, operands, same},
      GEXP_INTEGER_OPERATIONS(X) GEXP_WORD_OPERATIONS(X) GEXP_FLOAT_OPERATIONS(X)
#undef X
  };
  return kFacts[static_cast<std::size_t>(op)];
}

const char* name(AtomicOp op) {
  static constexpr const char* kNames[] = {
#define X(name) #name,
      GEXP_ATOMIC_OPERATIONS(X)
#undef X
  };
  return kNames[static_cast<std::size_t>(op)];
}

std::vector<std::optional<std::size_t>> Program::parameters() const {
  if (!apart) return {0, 1, 2, std::nullopt, std::nullopt};
  std::vector<std::optional<std::size_t>> all{pieces.size() - 1, std::nullopt, std::nullopt};
  for (const Array& array : arrays) {
    if (array.global()) all.emplace_back(array.piece);
  }
  return all;
}

const char* cuda_name(Type type) {
  static constexpr const char* kNames[kTypes] = {"signed char", "unsigned char", "short", "unsigned short", "int",
                                                 "unsigned", "long long", "unsigned long long", "float", "double"};
  return kNames[static_cast<std::size_t>(type)];
}

std::string cuda_name(Type type, int width) {
  static constexpr const char* kNames[kTypes] = {"char", "uchar", "short", "ushort", "int", "uint", "longlong", "ulonglong", "float", "double"};
  return width == 1 ? cuda_name(type) : kNames[static_cast<std::size_t>(type)] + std::to_string(width);
}

}  // namespace gexp::differential
