// SPDX-License-Identifier: Apache-2.0
// The kernels of points; and points of kernels of files: their arguments, their launches, and what they wrote into the record.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/memory/memory_space.h"
#include "lang/base/budget.h"
#include "lang/base/stopwatch.h"
#include "runtime/measure/file_kernel.h"
#include "runtime/measure/point_runner.h"

namespace gexp::measure {
namespace {

constexpr std::size_t kZeros = std::size_t{1} << 20;  // bytes that are written at once
constexpr std::uint8_t kUnwritten = 0xff;             // of every byte of a record before the launch

/// Whether a record's words are what they were before the launch.
bool unwritten(std::uint64_t entry, std::uint32_t width) { return entry == (width == 8 ? ~std::uint64_t{0} : 0xffffffffu); }

}  // namespace

Result<> PointRunner::clear(const std::string& memory, std::uint64_t address) {
  if (!cleared_.insert(memory).second) return Ok{};
  const std::vector<std::byte> zeros(kZeros);
  const auto bytes = buffers_.at("memory " + memory).second;
  for (std::uint64_t at = 0; at < bytes; at += kZeros) {
    if (!Budget::tick()) return Budget::exceeded({});
    const auto some = std::span(zeros).first(std::min<std::uint64_t>(kZeros, bytes - at));
    if (auto done = backend_.write(address + at, some); !done) return done;
  }
  linked_.erase(memory);
  return Ok{};
}

Result<const PointRunner::Loaded*> PointRunner::load(const compiler::Shape& shape) {
  if (const auto found = loaded_.find(shape); found != loaded_.end()) return &found->second;
  const Stopwatch watch;
  const auto kernel = kernels_.get(shape, give_up_);
  if (!*kernel) return kernel->error();
  const auto& compiled = *kernel;
  auto id = backend_.load(compiled->image);
  effort_.compiling += watch.seconds();
  if (!id) {
    auto problem = id.error();
    problem.span = shape.span;
    return problem;
  }
  const result::KernelRecord record{shape.file(), compiled->key, compiled->from_cache, compiled->seconds, compiled->source};
  return &loaded_.insert_or_assign(shape, Loaded{*id, backend_.most_threads(*id), record, compiled->parameters}).first->second;
}

Result<device::KernelId> PointRunner::kernel_for(const compiler::Shape& shape, std::uint64_t threads) {
  auto loaded = load(shape);
  if (loaded && shape.registers == 0 && (*loaded)->most_threads && threads > *(*loaded)->most_threads) {
    auto bounded = shape;
    bounded.threads = static_cast<std::uint32_t>(threads);
    if (auto fewer = load(bounded)) loaded = fewer;  // else the driver says at the launch what it refuses
  }
  if (!loaded) return loaded.error();
  const auto& record = (*loaded)->record;
  if (told_.insert(record.key).second) new_kernels_.push_back(record);
  return (*loaded)->id;
}

Result<std::vector<device::Argument>> PointRunner::kernel_arguments(const compiler::PointPlan& plan, const compiler::Shape& shape,
                                                                    const compiler::KernelPlan& kernel, std::uint64_t record) {
  const auto& parameters = loaded_.at(shape).parameters;
  if (auto problem = misfit(kernel, parameters, shape)) return std::move(*problem);
  std::vector<device::Argument> arguments;
  for (std::size_t i = 0; i < kernel.arguments.size(); ++i) {
    const auto& argument = kernel.arguments[i];
    if (argument.kind == compiler::ArgumentKind::Record) {
      arguments.push_back(device::pointer(record + argument.first * kernel.width));
    } else if (argument.kind == compiler::ArgumentKind::Value) {
      auto value = value_argument(argument, parameters[i]);
      if (!value) return value.error();
      arguments.push_back(*value);
    } else {
      auto base = address_of(argument.memory, plan);
      if (!base) return base.error();
      if (less_.contains(argument.memory))
        return failure("E0802", fmt::format("a kernel of a file may use all of `{}`, and {}", argument.memory, less_.at(argument.memory)));
      if (auto done = clear(argument.memory, *base); !done) return done.error();
      const auto links =
          std::find_if(plan.links.begin(), plan.links.end(), [&](const compiler::Links& each) { return each.memory == argument.memory; });
      if (links != plan.links.end()) {
        if (auto done = link(*links, *base); !done) return done.error();
      }
      linked_.erase(argument.memory);  // the kernel may write over them
      arguments.push_back(device::pointer(*base));
    }
  }
  return arguments;
}

Result<device::Outcome> PointRunner::launch_kernel(const compiler::PointPlan& plan, const compiler::Shape& shape,
                                                   const compiler::KernelPlan& kernel, device::Extent grid, device::Extent block,
                                                   std::uint64_t record, const LaunchLimit& limit, bool first) {
  auto id = kernel_for(shape, block.count());
  if (!id) return id.error();
  auto arguments = kernel_arguments(plan, shape, kernel, record);
  if (!arguments) return arguments.error();
  auto launched = launch_shape(plan, 0);
  launched.grid = grid, launched.block = block;
  return launch(plan, *id, launched, *arguments, limit, first);
}

Result<> PointRunner::run_kernel(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit) {
  const auto bytes = plan.kernel.entries * plan.kernel.width;
  std::uint64_t record = 0;
  if (bytes > 0) {
    if (!Budget::spend_bytes(2 * bytes)) return Budget::exceeded(plan.shape.span);
    auto made = buffer("kernel record", bytes);
    if (!made) return made.error();
    record = *made;
    const std::vector<std::byte> fresh(bytes, std::byte{kUnwritten});
    if (auto done = backend_.write(record, fresh); !done) return done;
  }
  auto before = launch_before(plan, point, limit);
  if (!before || !*before) return before ? Result<>(Ok{}) : Result<>(before.error());
  auto outcome = launch_kernel(plan, plan.shape, plan.kernel, plan.grid, plan.block, record, limit, plan.before.empty());
  if (!outcome) return outcome.error();
  const bool wall = plan.timing == compiler::Timing::Wall;
  if (wall) limit_wall(*outcome);
  point.outcome = *outcome;
  if (!outcome->done()) return Ok{};
  if (!wall) return read_record(plan, record, point);
  point.runs.push_back(wall_run(*outcome));
  return Ok{};
}

Result<> PointRunner::read_record(const compiler::PointPlan& plan, std::uint64_t record, records::Point& point) {
  const auto width = plan.kernel.width;
  auto words = read_words(record, plan.kernel.entries * width / 4);
  if (!words) return words.error();
  records::Run run;
  run.ticks.reserve(plan.kernel.entries);
  const auto refuse = [&](std::string why) {
    point.outcome = {device::Outcome::Status::Fault, std::move(why), 0};
    return Ok{};
  };
  for (std::uint64_t i = 0; i < plan.kernel.entries; ++i) {
    const std::uint64_t entry = width == 4 ? (*words)[i] : (*words)[2 * i] | std::uint64_t{(*words)[2 * i + 1]} << 32;
    if (unwritten(entry, width))
      return refuse(fmt::format("the kernel wrote nothing into entry {} of its record, which has {}", i, plan.kernel.entries));
    if (entry > 0xffffffffu) return refuse(fmt::format("entry {} of the record is {}: a value has 32 bits", i, entry));
    run.ticks.push_back(static_cast<std::uint32_t>(entry));
  }
  point.runs.push_back(std::move(run));
  return Ok{};
}

}  // namespace gexp::measure
