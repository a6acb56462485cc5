// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <variant>

#include "lang/base/diagnostic.h"

/// For bugs only: an invariant of gexp itself that does not hold. Never for bad input.
#define GEXP_CHECK(condition)                                                                  \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      std::fprintf(stderr, "gexp: internal error: %s at %s:%d\n", #condition, __FILE__, __LINE__); \
      std::abort();                                                                            \
    }                                                                                          \
  } while (false)

namespace gexp {

struct Ok {};

/// What an operation that can fail (driver, files, toolchain) returns: the value, or why not.
template <class T = Ok>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Diagnostic diagnostic) : state_(std::in_place_index<1>, std::move(diagnostic)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() { GEXP_CHECK(ok()); return std::get<0>(state_); }
  const T& value() const { GEXP_CHECK(ok()); return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Diagnostic& error() const { GEXP_CHECK(!ok()); return std::get<1>(state_); }

 private:
  std::variant<T, Diagnostic> state_;
};

/// A failed operation as a diagnostic without a place.
inline Diagnostic failure(std::string code, std::string message, std::string hint = {}) {
  Diagnostic diagnostic;
  diagnostic.code = std::move(code);
  diagnostic.message = std::move(message);
  diagnostic.hint = std::move(hint);
  return diagnostic;
}

/// One about a place of a text.
inline Diagnostic failure(std::string code, Span span, std::string message, std::string hint = {}) {
  auto diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = span;
  return diagnostic;
}

}  // namespace gexp
