// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "lang/base/units.h"

namespace gexp {

/// A run of a pattern's steps that carries one label (`nonuniform(label: PATTERN, …)`).
struct Segment {
  std::string label;
  std::int64_t first = 0;  ///< index of its first step
};

/// A sequence of byte offsets, the same number of steps for each thread.
/// One ring for all threads (`threads` == 1), or one a thread (`bank`, anything that names `lane` or `tid`).
struct Pattern {
  std::int64_t threads = 1;
  std::int64_t steps = 0;
  std::vector<std::int64_t> offsets;  ///< bytes; [thread * steps + step]
  std::vector<Segment> segments;      ///< empty when unlabelled; else sorted, the first at 0

  [[nodiscard]] std::int64_t at(std::int64_t thread, std::int64_t step) const {
    return offsets[static_cast<std::size_t>((threads == 1 ? 0 : thread) * steps + step)];
  }
};

struct Value;
using List = std::vector<Value>;
/// What a structured finding holds: `.sets`, `.ways`, … in the order of their names.
using Fields = std::map<std::string, Value>;

struct Number {
  double number = 0;  ///< in base units: bytes, cycles, seconds, ops; integers are exact to 2^53
  Dimension dimension;
  friend bool operator==(const Number&, const Number&) = default;
};

/// A value of the language at any binding time. monostate is "not known".
struct Value {
  std::variant<std::monostate, Number, bool, std::string, List, Fields, std::shared_ptr<const Pattern>> of;

  // Compiled once, in value.cpp: each file that has one would compile its own (docs/decisions/build-time.md).
  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();
  Value(Number n) : of(n) {}
  Value(double n, Dimension d = {}) : of(Number{n, d}) {}
  Value(bool b) : of(b) {}
  Value(std::string s) : of(std::move(s)) {}
  Value(const char* s) : of(std::string(s)) {}
  Value(List l) : of(std::move(l)) {}
  Value(Fields f) : of(std::move(f)) {}
  Value(std::shared_ptr<const Pattern> p) : of(std::move(p)) {}

  template <class T> [[nodiscard]] const T* get() const { return std::get_if<T>(&of); }
  [[nodiscard]] bool known() const { return of.index() != 0; }
  friend bool operator==(const Value&, const Value&) = default;
};

/// As a reader would write it: "12288 B", "[17, 8, 8]", "lru", "{sets: 4, ways: 96}".
std::string show(const Value& value);

}  // namespace gexp
