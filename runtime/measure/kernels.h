// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/program.h"
#include "runtime/device/backend.h"
#include "runtime/jit/compiler.h"

namespace gexp::measure {

/// Asked a few times a second by whoever waits: whether it should wait no longer.
using GiveUp = std::function<bool()>;

/// Compiled kernels of one kind of device. A shape is compiled once, whoever asks for it; all others wait for that. Any thread may ask.
class Kernels {
 public:
  /// `own`: the device's own architecture, for kernels of files, which may need it; 0.0: the target's.
  Kernels(const jit::Compiler& compiler, std::string template_folder, device::Target target, device::Target own = {});

  /// Never null. Errors: of emit_cuda; of jit::Compiler, at the shape's statement; E0702 when `give_up` says so. NVRTC cannot be
  /// interrupted: a compile that was given up goes on by itself, and its kernel is there for whoever asks later.
  std::shared_ptr<const Result<jit::Compiled>> get(const compiler::Shape& shape, const GiveUp& give_up);

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< shared with the compiles under way, which may outlive this
};

/// Compiles shapes before they are asked for, in their order, on threads of its own; when it goes, those that are not begun are left.
class CompileAhead {
 public:
  CompileAhead(Kernels& kernels, std::vector<compiler::Shape> shapes);
  ~CompileAhead() { left_ = true; }
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

 private:
  Kernels& kernels_;
  std::vector<compiler::Shape> shapes_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> left_{false};
  std::vector<std::jthread> threads_;
};

/// The shapes that a program's kernels have as far as they are known before it runs, each once.
std::vector<compiler::Shape> known_shapes(const compiler::Program& program);

}  // namespace gexp::measure
