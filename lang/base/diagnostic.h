// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "lang/base/source.h"

namespace gexp {

enum class Severity { Error, Warning };

/// A second place that helps to understand a diagnostic.
struct Note {
  Span span;  ///< empty when the note is about no place
  std::string message;
};

/// The one form in which gexp tells a user that something is wrong.
/// Codes: E01xx text and syntax, E02xx names and types, E03xx binding times, E04xx values and limits,
/// E05xx lowering, E06xx device models, E07xx environment (NVRTC, drivers, files), E08xx execution, E09xx results.
struct Diagnostic {
  std::string code;  ///< "E0201"
  Span span;         ///< empty when it is about no place in a text
  std::string message;
  std::vector<Note> notes;
  std::string hint;  ///< what to write instead; empty when nothing sensible can be said
  Severity severity = Severity::Error;
};

/// Every diagnostic of one run over one source; sorted by place when taken out.
class Diagnostics {
 public:
  Diagnostic& error(std::string code, Span span, std::string message, std::string hint = {});
  Diagnostic& warning(std::string code, Span span, std::string message, std::string hint = {});
  void add(Diagnostic diagnostic);

  [[nodiscard]] bool has_errors() const;
  [[nodiscard]] bool empty() const { return list_.empty(); }
  /// By place, then code; exact repetitions at one place dropped. Deterministic.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;

 private:
  std::vector<Diagnostic> list_;
};

/// Renders as `path:line:col: error[E0201]: message`, the line, a caret, notes and the hint. No colour unless asked for.
/// `source` may be null: then no line is shown.
std::string render(const Diagnostic& diagnostic, const Source* source, bool colour = false);

}  // namespace gexp
