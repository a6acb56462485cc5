// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "compiler/pipeline.h"

namespace gexp::test {

/// A spec compiled for a test, with what was said about it.
struct Compiled {
  std::optional<compiler::Program> program;
  Diagnostics diagnostics;
  Source source{"test.gexp", ""};

  /// Every diagnostic as a user sees it.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const auto& diagnostic : diagnostics.sorted()) all += render(diagnostic, &source);
    return all;
  }
  /// Codes in order, separated by spaces.
  [[nodiscard]] std::string codes() const {
    std::string all;
    for (const auto& diagnostic : diagnostics.sorted()) all += (all.empty() ? "" : " ") + diagnostic.code;
    return all;
  }
};

inline Compiled compile(const std::string& text, const compiler::Options& options = {}) {
  Compiled compiled;
  compiled.source = Source("test.gexp", text);
  compiled.program = compiler::compile(compiled.source, options, compiled.diagnostics);
  return compiled;
}

}  // namespace gexp::test
