// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/kernels.h"

#include <algorithm>
#include <functional>

#include "compiler/lower/lower.h"

namespace gexp::compiler {
namespace {

FormulaPtr name_formula(const lang::Word& name) {
  auto made = std::make_shared<Formula>();
  made->kind = Formula::Kind::Name;
  made->text = name.text;
  made->span = name.span;
  return made;
}

FormulaPtr one_lap(Span span) {
  auto made = std::make_shared<Formula>();
  made->constant = Value(1.0);
  made->span = span;
  return made;
}

void change_kernels(Body& body, const std::function<void(FileKernel&)>& change) {
  for (auto& op : body) {
    change_kernels(op.body, change);
    change_kernels(op.otherwise, change);
    if (!op.kernel) continue;
    auto changed = std::make_shared<FileKernel>(*op.kernel);
    change(*changed);
    op.kernel = std::move(changed);
  }
}

void change_kernels(Stage& stage, const std::function<void(FileKernel&)>& change) {
  for (auto& warm : stage.warm_launches) change_kernels(warm.body, change);
  change_kernels(stage.warm, change);
  change_kernels(stage.timed, change);
}

}  // namespace

void lower_kernel(const lang::Op& op, int element_bytes, Op& lowered) {
  const auto formula = [&](const lang::ExprPtr& expression) { return expression ? lower_expression(*expression, element_bytes) : nullptr; };
  const auto& call = op.kernel;
  auto kernel = std::make_shared<FileKernel>();
  kernel->path = call.path.text, kernel->path_span = call.path.span;
  kernel->entry = call.entry.text, kernel->entry_span = call.entry.span;
  for (const auto& argument : call.arguments) {
    FileKernel::Argument made;
    made.value = argument.name ? name_formula(*argument.name) : formula(argument.value);
    made.entries = formula(argument.entries);
    made.width = formula(argument.width);
    made.linked = argument.pattern.has_value();
    made.span = argument.span;
    if (made.linked) {
      Op chase;
      chase.span = argument.span;
      chase.memory = made.value->text;
      chase.pattern = argument.pattern->text;
      chase.count = one_lap(argument.pattern->span);
      lowered.body.push_back(std::move(chase));
    }
    kernel->arguments.push_back(std::move(made));
  }
  for (const auto& value : call.templates) kernel->templates.push_back(formula(value));
  for (const auto& define : call.defines) kernel->defines.push_back({define.name.text, formula(define.value)});
  lowered.kernel = std::move(kernel);
}

void name_arguments(Stage& stage, const std::vector<Memory>& memories, const std::set<std::string_view>& own) {
  change_kernels(stage, [&](FileKernel& kernel) {
    for (auto& argument : kernel.arguments) {
      if (argument.value->kind != Formula::Kind::Name) continue;
      const auto& name = argument.value->text;
      const bool memory = std::any_of(memories.begin(), memories.end(), [&](const Memory& each) { return each.name == name; });
      argument.kind = name == stage.timed_name        ? ArgumentKind::Record
                      : memory && !own.contains(name) ? ArgumentKind::Memory
                                                      : ArgumentKind::Value;
      if (argument.kind != ArgumentKind::Value) argument.name = name;
    }
  });
}

void take_texts(Program& program, const lang::KernelFiles& files) {
  for (auto& stage : program.stages) {
    change_kernels(stage, [&](FileKernel& kernel) {
      const auto file = std::find_if(files.begin(), files.end(), [&](const lang::KernelFile& each) { return each.path == kernel.path; });
      if (file == files.end()) return;
      kernel.source = file->source;
      kernel.sha256 = file->sha256;
    });
  }
}

}  // namespace gexp::compiler
