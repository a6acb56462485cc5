// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/kernels.h"

#include <algorithm>

#include "compiler/plan/plan.h"

namespace gexp::measure {
namespace {

constexpr std::size_t kMostCompilers = 16;

}  // namespace

const Result<jit::Compiled>& Kernels::get(const compiler::Shape& shape) {
  std::unique_lock lock(mutex_);
  auto& kernel = kernels_[shape];
  lock.unlock();
  std::call_once(kernel.once, [&] { kernel.compiled = compile(shape); });
  return *kernel.compiled;
}

Result<jit::Compiled> Kernels::compile(const compiler::Shape& shape) {
  auto text = compiler::emit_cuda(shape, template_folder_);
  if (!text) return text.error();
  jit::Request request;
  request.source = *text;
  request.name = shape.file;
  request.entry = compiler::kEntry;
  request.target = target_;
  auto compiled = compiler_.compile(request);
  if (compiled) {
    compiled->source = std::make_shared<const std::string>(std::move(request.source));
    return compiled;
  }
  auto problem = compiled.error();
  problem.span = shape.span;
  return problem;
}

CompileAhead::CompileAhead(Kernels& kernels, std::vector<compiler::Shape> shapes) : kernels_(kernels), shapes_(std::move(shapes)) {
  const std::size_t cores = std::max(2u, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min({cores - 1, shapes_.size(), kMostCompilers}); ++i) {
    threads_.emplace_back([this] {
      for (std::size_t at = next_++; at < shapes_.size(); at = next_++) (void)kernels_.get(shapes_[at]);
    });
  }
}

std::vector<compiler::Shape> known_shapes(const compiler::Program& program) {
  std::vector<compiler::Shape> shapes;
  const auto scope = compiler::file_scope(program);
  for (const auto& stage : program.stages) {
    if (!scope) break;
    const auto of_stage = compiler::stage_shapes(program, stage, *scope);
    if (!of_stage) continue;  // what an earlier stage finds decides
    for (const auto& shape : *of_stage) {
      if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
    }
  }
  return shapes;
}

}  // namespace gexp::measure
