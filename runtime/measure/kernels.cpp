// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/kernels.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>

#include "compiler/plan/plan.h"
#include "lang/base/budget.h"
#include "lang/base/sha256.h"
#include "ptx/bound_threads.h"
#include "ptx/take_registers.h"
#include "runtime/measure/file_kernel.h"

namespace gexp::measure {
namespace {

constexpr std::size_t kMostCompilers = 16;
constexpr auto kSlice = std::chrono::milliseconds(50);  // between two looks whether to wait on

Result<jit::Compiled> compile(jit::Compiler& compiler, const std::string& template_folder, device::Target target, device::Target own,
                              const compiler::Shape& shape) {
  if (shape.of_file()) return compile_file_kernel(compiler, target, own, shape);
  auto text = compiler::emit_cuda(shape, template_folder);
  if (!text) return text.error();
  jit::Request request;
  request.source = *text;
  request.name = shape.file();
  request.entry = compiler::kEntry;
  request.target = target;
  auto compiled = compiler.compile(request);
  if (compiled) compiled->source = std::make_shared<const std::string>(std::move(request.source));
  if (compiled) return compiled;
  auto problem = compiled.error();
  problem.span = shape.span;
  return problem;
}

}  // namespace

struct Kernels::State {
  using Compiled = std::shared_ptr<const Result<jit::Compiled>>;  // null until it is there

  State(const jit::Compiler& with, std::string folder, device::Target of, device::Target its_own)
      : compiler(with), template_folder(std::move(folder)), target(of), own(its_own) {}

  jit::Compiler compiler;
  const std::string template_folder;
  const device::Target target, own;
  std::mutex mutex;  // of what is below
  std::condition_variable done;
  std::map<compiler::Shape, Compiled> kernels;

  Result<jit::Compiled> make(const compiler::Shape& shape) {
    if (shape.registers == 0 && shape.threads == 0) return compile(compiler, template_folder, target, own, shape);
    auto made = of_any_registers(shape);
    if (!made) return made;
    const auto& [form, bytes, entry] = made->image;
    auto text = shape.registers > 0 ? ptx::take_registers(bytes, entry, shape.registers) : ptx::bound_threads(bytes, entry, shape.threads);
    if (!text) return text.error();
    made->image.bytes = std::move(*text);
    made->key = sha256_hex(made->image.bytes);
    return made;
  }

 private:
  /// Registers and threads are written into PTX, which the driver compiles: a text is compiled once, however many there are to be.
  Result<jit::Compiled> of_any_registers(compiler::Shape shape) {
    shape.registers = shape.threads = 0;
    const std::lock_guard lock(plain_mutex_);
    const auto known = plain_.find(shape);
    if (known != plain_.end()) return known->second;
    return plain_.emplace(shape, compile(compiler, template_folder, {device::Target::Form::Ptx, target.major, target.minor}, own, shape)).first->second;
  }

  std::mutex plain_mutex_;
  std::map<compiler::Shape, Result<jit::Compiled>> plain_;
};

Kernels::Kernels(const jit::Compiler& compiler, std::string template_folder, device::Target target, device::Target own)
    : state_(std::make_shared<State>(compiler, std::move(template_folder), target, own)) {}

std::shared_ptr<const Result<jit::Compiled>> Kernels::get(const compiler::Shape& shape, const GiveUp& give_up) {
  std::unique_lock lock(state_->mutex);
  const auto placed = state_->kernels.try_emplace(shape);
  const auto kernel = placed.first;  // keeps its place: nothing is ever erased
  if (placed.second) {
    std::thread([state = state_, shape, &compiled = kernel->second] {
      auto made = std::make_shared<const Result<jit::Compiled>>(state->make(shape));
      const std::lock_guard guard(state->mutex);
      compiled = std::move(made);
      state->done.notify_all();
    }).detach();
  }
  while (!kernel->second) {
    if (state_->done.wait_for(lock, kSlice, [&] { return kernel->second != nullptr; })) break;
    if (!give_up()) continue;
    auto problem = failure("E0702", "the compile was given up");
    problem.span = shape.span;
    return std::make_shared<const Result<jit::Compiled>>(std::move(problem));
  }
  return kernel->second;
}

CompileAhead::CompileAhead(Kernels& kernels, std::vector<compiler::Shape> shapes) : kernels_(kernels), shapes_(std::move(shapes)) {
  const std::size_t cores = std::max(2u, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < std::min({cores - 1, shapes_.size(), kMostCompilers}); ++i) {
    threads_.emplace_back([this] {
      for (std::size_t at = next_++; at < shapes_.size() && !left_; at = next_++) (void)kernels_.get(shapes_[at], [this] { return left_.load(); });
    });
  }
}

std::vector<compiler::Shape> known_shapes(const compiler::Program& program) {
  std::vector<compiler::Shape> shapes;
  const Budget::Work work(kCompileUnits);  // it is no more than a start that is made early
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
