// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "compiler/emit.h"
#include "runtime/backend.h"
#include "runtime/jit/compiler.h"

namespace gexp::runtime {

/// The compiled kernels of one run, for all its devices. A shape is compiled once, by whoever asks first; others wait for it.
/// Any thread may ask.
class Kernels {
 public:
  Kernels(jit::Compiler& compiler, std::string template_folder, Target target)
      : compiler_(compiler), template_folder_(std::move(template_folder)), target_(target) {}

  /// Lives as long as this. Errors: of emit_cuda; of jit::Compiler, at the shape's statement.
  const Result<jit::Compiled>& get(const compiler::Shape& shape);

 private:
  struct Kernel {
    std::once_flag once;
    std::optional<Result<jit::Compiled>> compiled;
  };
  [[nodiscard]] Result<jit::Compiled> compile(const compiler::Shape& shape);

  jit::Compiler& compiler_;
  std::string template_folder_;
  Target target_;
  std::mutex mutex_;  // of the map, not of what is in it
  std::map<compiler::Shape, Kernel> kernels_;
};

}  // namespace gexp::runtime
