// SPDX-License-Identifier: Apache-2.0
#include "lang/use.h"

#include "compiler/formula/pattern.h"
#include "compiler/lower/lower.h"
#include "compiler/plan/expand.h"

namespace gexp::compiler {
namespace {

Span pattern_span(const lang::File& file, const std::string& name) {
  for (const auto& statement : file.statements) {
    const auto* pattern = std::get_if<lang::PatternDef>(&statement.node);
    if (pattern && pattern->name.text == name) return pattern->value->span;
  }
  return {};
}

}  // namespace

UsedValues evaluate_used(const lang::Used& used, const Settings& settings, const std::string& prefix, Diagnostics& diagnostics) {
  UsedValues made;
  if (used.numbers) {
    made.values = *used.numbers;
    return made;
  }
  Diagnostics own;
  auto program = lower_values(*used.file, *used.source, used.uses, settings, prefix, own);
  std::erase_if(program.lets, [&](const Binding& binding) { return used.exports->per_thread.contains(binding.name); });
  if (!own.has_errors()) {
    const auto scope = file_scope(program);
    if (!scope) own.add(scope.error());
    for (const auto name : used.exports->type.field_names()) {
      const std::string key(name);
      const Value* value = scope ? scope->lookup(key) : nullptr;
      if (!value) continue;
      if (used.exports->type.field(name)->kind != lang::Type::Kind::Pattern) {
        made.values[key] = *value;
      } else if (auto pattern = as_pattern(*value, pattern_span(*used.file, key))) {  // a list of offsets, say
        made.values[key] = Value(std::move(*pattern));
      } else {
        own.add(pattern.error());
      }
    }
  }
  lang::hand_on(own, used.source, used.span, diagnostics);
  made.parameters = std::move(program.parameters);
  return made;
}

}  // namespace gexp::compiler
