// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
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
  std::shared_ptr<const Source> in = nullptr;  ///< the text that the span is of; null: that of the run
};

/// The one form in which gexp tells a user that something is wrong.
/// Codes: E01xx text and syntax, E02xx names and types, E03xx binding times, E04xx values and limits,
/// E05xx lowering, E06xx device models, E07xx environment (NVRTC, drivers, files), E08xx execution, E09xx results.
struct Diagnostic {
  // Compiled once, in diagnostic.cpp: each file that has one would compile its own (docs/decisions/build-time.md).
  Diagnostic();
  Diagnostic(std::string its_code, Span where, std::string says, std::string hints, Severity how);
  Diagnostic(const Diagnostic&);
  Diagnostic(Diagnostic&&) noexcept;
  Diagnostic& operator=(const Diagnostic&);
  Diagnostic& operator=(Diagnostic&&) noexcept;
  ~Diagnostic();

  std::string code;  ///< "E0201"
  Span span;         ///< empty when it is about no place in a text
  std::string message;
  std::vector<Note> notes;
  std::string hint;  ///< what to write instead; empty when nothing sensible can be said
  Severity severity = Severity::Error;
  std::shared_ptr<const Source> in = nullptr;  ///< the text that the span is of, where that is a used file; null: that of the run
};

/// Every diagnostic of one run over one source and the files it uses; sorted by place when taken out. After kMost errors (or warnings) more are only
/// counted: they say nothing new, and a hostile file could have a million.
class Diagnostics {
 public:
  static constexpr std::size_t kMost = 50;

  Diagnostic& error(std::string code, Span span, std::string message, std::string hint = {});
  Diagnostic& warning(std::string code, Span span, std::string message, std::string hint = {});
  void add(Diagnostic diagnostic);

  [[nodiscard]] bool has_errors() const;
  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] std::size_t errors() const { return errors_; }
  /// No further error will be shown: whoever looks for them may stop.
  [[nodiscard]] bool full() const { return errors_ >= kMost; }
  /// By place, then code, those in used files last; exact repetitions at one place dropped; E0112 comes last when full. Deterministic.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;

 private:
  Diagnostic& keep(Diagnostic diagnostic);

  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0, warnings_ = 0;  ///< all, kept or not
  Diagnostic counted_;                     ///< the last that was not kept
};

/// Renders as `path:line:col: error[E0201]: message`, the line, a caret, notes and the hint. No colour unless asked for.
/// `source` is the text of whatever names no other; it may be null: then no line is shown.
std::string render(const Diagnostic& diagnostic, const Source* source, bool colour = false);

}  // namespace gexp
