// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/lower/kernels.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/selectors.h"
#include "compiler/passes/passes.h"
#include "lang/base/base64.h"
#include "lang/check.h"
#include "lang/kernel_file.h"
#include "lang/parse.h"

namespace gexp::compiler {
namespace {

/// `64KiB` as an expression: read by the one parser there is, as the value of a let.
lang::ExprPtr parse_setting(const std::string& name, const std::string& value, Diagnostics& diagnostics) {
  const Source source("--set " + name, "gexp 1 experiment setting let value = " + value + "\n");
  Diagnostics problems;
  auto file = lang::parse(source, problems);
  if (!problems.has_errors()) lang::check(file, source, problems);
  if (!problems.has_errors() && file.statements.size() == 1) {
    if (auto* let = std::get_if<lang::Let>(&file.statements[0].node)) return std::move(let->value);
  }
  // A bare word is the value of a `name` parameter: --set share=warps.
  if (!value.empty() && value.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string::npos &&
      (std::isalpha(static_cast<unsigned char>(value[0])) || value[0] == '_')) {
    auto text = std::make_unique<lang::Expr>();
    text->node = lang::Text{value};
    return text;
  }
  diagnostics.error("E0409", {}, fmt::format("--set {}={}: this is no value", name, value), "write a value as in a .gexp file, such as 64KiB or 0.5");
  return nullptr;
}

void list_used(const lang::Uses& uses, const Source& by, std::vector<UsedFile>& list) {
  for (const auto& use : uses) {
    const bool listed = std::any_of(list.begin(), list.end(), [&](const UsedFile& file) { return file.by == by.path() && file.path == use.path; });
    const bool bytes = use.path.ends_with(".npy");
    if (!listed) list.push_back({by.path(), use.path, use.source->path(), use.sha256, bytes ? base64(use.source->text()) : use.source->text()});
    list_used(use.uses, *use.source, list);
  }
}

}  // namespace

std::optional<Program> compile(const Source& source, const Options& options, Diagnostics& diagnostics) {
  const auto file = lang::parse(source, diagnostics);
  lang::Uses uses;
  lang::KernelFiles kernels;
  if (!diagnostics.has_errors()) {
    uses = lang::check_with_uses(file, source, options.load, diagnostics);
    kernels = lang::read_kernel_files(file, source, options.load, diagnostics, options.outside);
  }
  Settings settings;
  for (const auto& [name, value] : options.settings) {
    if (auto expression = parse_setting(name, value, diagnostics)) settings[name] = std::move(expression);
  }
  if (!diagnostics.has_errors()) check_selectors(file, source, options.models, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  const Budget::Work budget(options.budget);
  auto ir = lower(file, source, uses, settings, diagnostics, !options.dump_after.empty());
  ir.points_given = !options.settings.empty() || options.measured;
  list_used(uses, source, ir.program.used);
  for (const auto& kernel : kernels) {
    ir.program.used.push_back({source.path(), kernel.path, kernel.source->path(), kernel.sha256, kernel.source->text()});
  }
  take_texts(ir.program, kernels);
  for (const auto& pass : passes::kPasses) {
    if (diagnostics.has_errors()) return std::nullopt;
    pass.run(ir, source, diagnostics);
    if (pass.name != options.dump_after) continue;
    ir.program.ir = ir.graph.text();
    ir.program.dot = ir.graph.dot(ir.program.experiment);
  }
  if (diagnostics.has_errors()) return std::nullopt;
  return std::move(ir.program);
}

std::vector<std::string_view> pass_names() {
  std::vector<std::string_view> names;
  for (const auto& pass : passes::kPasses) names.push_back(pass.name);
  return names;
}

}  // namespace gexp::compiler
