// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/program.h"
#include "runtime/device/backend.h"
#include "runtime/jit/compiler.h"

namespace gexp::measure {

/// Compiled kernels of one kind of device. A shape is compiled once, by whoever asks first; others wait for it. Any thread may ask.
class Kernels {
 public:
  Kernels(jit::Compiler& compiler, std::string template_folder, device::Target target)
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
  device::Target target_;
  std::mutex mutex_;  // of the map, not of what is in it
  std::map<compiler::Shape, Kernel> kernels_;
};

/// Compiles shapes before they are asked for, in their order, on threads of its own; when it goes, those that are not begun are left.
class CompileAhead {
 public:
  CompileAhead(Kernels& kernels, std::vector<compiler::Shape> shapes);
  ~CompileAhead() { next_ = shapes_.size(); }
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

 private:
  Kernels& kernels_;
  std::vector<compiler::Shape> shapes_;
  std::atomic<std::size_t> next_{0};
  std::vector<std::jthread> threads_;
};

/// The shapes that a program's kernels have as far as they are known before it runs, each once.
std::vector<compiler::Shape> known_shapes(const compiler::Program& program);

}  // namespace gexp::measure
