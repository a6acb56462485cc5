// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/selectors.h"

#include <fmt/format.h>

#include <algorithm>

namespace gexp::compiler {
namespace {

bool is_architecture(std::string_view text) {
  if (!text.starts_with("sm_") || text.size() < 5 || text.size() > 6) return false;
  return std::all_of(text.begin() + 3, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class SelectorCheck {
 public:
  SelectorCheck(const Source& source, const std::vector<std::string>& models, Diagnostics& diagnostics)
      : source_(source), models_(models.begin(), models.end()), diagnostics_(diagnostics) {}

  void statements(const std::vector<lang::Statement>& list) {
    for (const auto& statement : list) {
      if (const auto* stage = std::get_if<lang::Stage>(&statement.node)) statements(stage->items);
      const auto* expect = std::get_if<lang::Expect>(&statement.node);
      if (!expect) continue;
      for (const auto& selector : expect->on) check(selector);
    }
  }

 private:
  void check(const lang::Selector& selector) {
    const bool quoted = selector.span.begin > 0 && source_.text()[selector.span.begin - 1] == '"';  // the span is of what the quotes hold
    if (quoted || is_architecture(selector.text)) return;
    if (std::find(models_.begin(), models_.end(), selector.text) != models_.end()) return;
    const auto near = nearest(selector.text, models_);
    diagnostics_.error("E0224", selector.span, fmt::format("gexp has no model of the name `{}`", selector.text),
                       near ? fmt::format("did you mean `{}`?", *near)
                            : fmt::format("`gexp devices` lists the models; a GPU's name stands in quotes: \"{}\"", selector.text));
  }

  const Source& source_;
  std::vector<std::string_view> models_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_selectors(const lang::File& file, const Source& source, const std::vector<std::string>& models, Diagnostics& diagnostics) {
  if (!models.empty()) SelectorCheck(source, models, diagnostics).statements(file.statements);
}

}  // namespace gexp::compiler
