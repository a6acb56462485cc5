// SPDX-License-Identifier: Apache-2.0
#include "runtime/kernels.h"

namespace gexp::runtime {

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
  if (compiled) return compiled;
  auto problem = compiled.error();
  problem.span = shape.span;
  return problem;
}

}  // namespace gexp::runtime
