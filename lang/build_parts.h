// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "lang/base/result.h"
#include "lang/build_expression.h"

/// How build.cpp reads a statement's tree.
namespace gexp::lang {

/// Reads a statement's parts in order; optional clauses are told by their kind.
class Parts {
 public:
  Parts(const Tree& tree, Diagnostics& diagnostics) : tree_(tree), diagnostics_(diagnostics) {}

  Word word() { return word_of(take()); }
  ExprPtr expression() { return build_expression(take(), diagnostics_); }
  std::string text() { return inner_text(take()); }

  /// The next part when it is of this kind; null otherwise.
  const Tree* optional(Kind kind) { return next_ < tree_.children.size() && tree_.children[next_]->kind == kind ? &take() : nullptr; }
  const Tree* optional_expression() {
    return next_ < tree_.children.size() && is_expression(tree_.children[next_]->kind) ? &take() : nullptr;
  }
  const Tree& take() {
    GEXP_CHECK(next_ < tree_.children.size());
    return *tree_.children[next_++];
  }
  [[nodiscard]] bool more() const { return next_ < tree_.children.size(); }

  ExprPtr build(const Tree* tree) { return tree ? build_expression(*tree, diagnostics_) : nullptr; }
  /// The one expression of a clause.
  ExprPtr clause(Kind kind) {
    const auto* found = optional(kind);
    return found ? build(found->children[0]) : nullptr;
  }
  std::string text_clause(Kind kind) {
    const auto* found = optional(kind);
    return found ? inner_text(*found) : "";
  }

 private:
  /// A string is a leaf, or the leaf inside its clause.
  static std::string inner_text(const Tree& tree) {
    const Tree* at = &tree;
    while (at->kind != Kind::String && !at->children.empty()) at = at->children[0];
    return std::string(at->kind == Kind::String ? at->text : "");
  }

  const Tree& tree_;
  Diagnostics& diagnostics_;
  std::size_t next_ = 0;
};

/// Says E0110 where a clause stands twice; the first one counts.
class Once {
 public:
  explicit Once(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  bool add(const Tree& clause) {
    const auto first = std::find_if(seen_.begin(), seen_.end(), [&](const Tree* other) { return other->kind == clause.kind; });
    if (first == seen_.end()) return seen_.push_back(&clause), true;
    auto& problem = diagnostics_.error("E0110", clause.span, "this clause stands twice in one statement", "keep one of them");
    problem.notes.push_back({(*first)->span, "the first one"});
    return false;
  }

 private:
  Diagnostics& diagnostics_;
  std::vector<const Tree*> seen_;
};

}  // namespace gexp::lang
