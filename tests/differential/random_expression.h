// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "tests/differential/random_values.h"

namespace gexp::differential {

Node literal(Type type, std::uint64_t value);
Node apply(Op op, Type operands, std::vector<Node> children);

/// What the threads do with a shared array between two barriers.
enum class SharedUse { Own, Read, Updated };

/// Random expressions over what a program has where they stand.
class Expressions {
 public:
  Expressions(Random& random, Program& program) : r_(random), p_(program) {}

  Node make(Type type, int depth);
  Node condition(int depth);
  Node index();  ///< of an array: any unsigned value
  std::uint8_t width(int array);  ///< elements of one access
  void add_function();
  int open_loop();
  void close_loop() { loops_.pop_back(); }
  void use(int array, SharedUse how);
  [[nodiscard]] bool writable(int array) const;

 private:
  Node leaf(Type type);
  Node walk();
  Node integer(Type type, int depth);
  Node floating(Type type, int depth);
  Node operation(Op op, Type operands, int depth);
  Node cast(Type type, int depth);
  std::optional<Node> element(Type type);
  std::optional<Node> call(Type type, int depth);
  Type any_type() { return static_cast<Type>(r_.below(kTypes)); }

  Random& r_;
  Program& p_;
  std::vector<int> loops_;
  std::vector<SharedUse> uses_;
  const Function* inside_ = nullptr;
};

}  // namespace gexp::differential
