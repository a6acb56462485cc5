// SPDX-License-Identifier: Apache-2.0
// Points of kernels made from body.cu: any operations by any number of threads.
#include <algorithm>
#include <array>
#include <map>

#include "compiler/lower/ops.h"
#include "compiler/memory/contents.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/calibrate.h"
#include "lang/base/budget.h"
#include "runtime/measure/point_runner.h"

namespace gexp::measure {
namespace {

using Kind = compiler::KernelParameter::Kind;

constexpr std::uint64_t kHungAt = 32;  // bytes behind the calibration cell's begin: where a kernel says that a loop has no end (body_control.cpp)

/// From the first begin to the last end on one multiprocessor, the longest of them; clocks of different ones do not compare.
double elapsed_cycles(std::span<const std::uint32_t> words) {
  std::map<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>> by_sm;  // offsets from its first warp's begin, modulo 2^32
  std::map<std::uint32_t, std::uint32_t> origin;
  double longest = 0;
  for (std::size_t i = 0; i + 2 < words.size(); i += 3) {
    const auto begin = words[i], end = words[i + 1], sm = words[i + 2];
    const auto zero = origin.try_emplace(sm, begin - (1u << 30)).first->second;  // warps may begin before the first one listed
    const auto [range, fresh] = by_sm.try_emplace(sm, begin - zero, end - zero);
    if (!fresh) range->second = {std::min(range->second.first, begin - zero), std::max(range->second.second, end - zero)};
    longest = std::max(longest, static_cast<double>(range->second.second - range->second.first));
  }
  return longest;
}

/// What the threads kept, one thread after the other: of each how many, then these.
records::Run kept_run(std::span<const std::uint32_t> words, std::uint64_t own) {
  records::Run run;
  for (std::uint64_t at = 0; at < words.size(); at += own) {
    const auto kept = words.subspan(at + 1, std::min<std::uint64_t>(words[at], own - 1));
    run.ticks.insert(run.ticks.end(), kept.begin(), kept.end());
  }
  return run;
}

}  // namespace

void limit_wall(device::Outcome& outcome) {
  constexpr double kLongest = 4.2;  // seconds; a value has 32 bits of nanoseconds
  if (!outcome.done() || outcome.elapsed_seconds <= kLongest) return;
  outcome.status = device::Outcome::Status::Timeout;
  outcome.what = "a wall record holds at most 4.2 s";
}

records::Run wall_run(const device::Outcome& outcome) { return {{static_cast<std::uint32_t>(outcome.elapsed_seconds * 1e9 + 0.5)}, {0}}; }

Result<> PointRunner::fill(const compiler::Memory& memory, std::uint64_t address) {
  const bool zeros = backend_.device().kind == "simulated";  // a simulated device has nothing else; to write them would take the host's memory
  if (!memory.holds) return compiler::reads_contents(program_) && !zeros ? clear(memory.name, address) : Result<>(Ok{});
  const auto contents = compiler::memory_contents(memory, scope_);
  return contents ? backend_.write(address, *contents) : Result<>(contents.error());
}

Result<std::vector<device::Argument>> PointRunner::body_arguments(const compiler::BodyPlan& body, const compiler::PointPlan& plan, device::KernelId kernel,
                                                                   const std::string& prefix) {
  const auto links_of = [&](const std::string& memory) {
    return std::find_if(plan.links.begin(), plan.links.end(), [&](const compiler::Links& links) { return links.memory == memory; });
  };
  for (const auto& links : plan.links) {  // chases of constant memory follow links that the host writes
    const auto memory = std::find_if(program_.memories.begin(), program_.memories.end(), [&](const auto& m) { return m.name == links.memory; });
    if (memory->space->home != compiler::MemorySpace::Home::Module) continue;
    auto at = backend_.constant(kernel, "c_" + links.memory);
    if (!at) return at.error();
    linked_.erase(links.memory);
    if (auto done = link(links, *at); !done) return done.error();
  }
  std::vector<device::Argument> arguments;
  for (const auto& parameter : body.parameters) {
    if (parameter.kind == Kind::Value) {
      arguments.push_back({static_cast<std::uint64_t>(parameter.value), 8});
      continue;
    }
    if (parameter.kind == Kind::Table) {
      const auto& words = body.tables[parameter.table];
      auto table = buffer(prefix + "table " + std::to_string(parameter.table), std::max<std::size_t>(words.size(), 2) * 4);
      if (!table) return table.error();
      if (auto done = backend_.write(*table, std::as_bytes(std::span(words))); !done) return done.error();
      arguments.push_back(device::pointer(*table));
      continue;
    }
    if (parameter.kind == Kind::IdleTexture) {
      auto handle = idle_texture(parameter.pitch);
      if (!handle) return handle.error();
      arguments.push_back({*handle, 8});
      continue;
    }
    auto base = address_of(parameter.memory, plan);
    if (!base) return base.error();
    if (const auto links = links_of(parameter.memory); links != plan.links.end()) {
      if (auto done = link(*links, *base); !done) return done.error();
    }
    if (parameter.kind == Kind::Memory) {
      arguments.push_back(device::pointer(*base));
      continue;
    }
    if (parameter.kind == Kind::Tile) {
      auto map = backend_.tiles({*base, buffers_.at("memory " + parameter.memory).second, parameter.pitch, parameter.row_bytes, parameter.rows});
      if (!map) return map.error();
      arguments.push_back({*map, device::kTileBytes});
      continue;
    }
    auto& handle = textures_[parameter.memory];
    if (handle == 0) {
      auto made = backend_.texture(*base, buffers_.at("memory " + parameter.memory).second, parameter.pitch);
      if (!made) return made.error();
      handle = *made;
    }
    arguments.push_back({handle, 8});
  }
  return arguments;
}

Result<device::Outcome> PointRunner::launch_body(const compiler::PointPlan& plan, const compiler::Shape& shape, const compiler::BodyPlan& body, const BodyLaunch& how, const LaunchLimit& limit) {
  auto kernel = kernel_for(shape, how.block);
  if (!kernel) return kernel.error();
  auto rest = body_arguments(body, plan, *kernel);
  if (!rest) return rest.error();
  std::vector<device::Argument> arguments = {device::pointer(how.calibration.cell), device::pointer(how.records), device::pointer(how.calibration.times), {how.skip, 4}, {how.window, 4}, {how.trace_at / 2, 4}};
  arguments.insert(arguments.end(), rest->begin(), rest->end());
  const std::uint64_t hung = how.calibration.cell + kHungAt;
  if (body.may_hang) {
    const std::uint32_t none = 0;
    if (auto done = backend_.write(hung, std::as_bytes(std::span(&none, 1))); !done) return done.error();
  }
  auto launched = launch_shape(plan, how.trace_bytes > 0 ? how.trace_at + how.trace_bytes : body.shared_bytes);
  launched.grid = how.grid, launched.block = how.block, launched.cluster = how.cluster;
  launched.registers = shape.registers;  // a warm-up that is a launch of its own has others
  auto outcome = how.timed ? launch_timed(plan, *kernel, launched, std::move(arguments), limit, how.first) : launch(plan, *kernel, launched, arguments, limit, how.first);
  if (!body.may_hang || !outcome || !outcome->done()) return outcome;
  const auto word = read_words(hung, 1);
  if (!word) return word.error();
  if (word->front() != 0) outcome->status = device::Outcome::Status::Timeout, outcome->what = "a `loop while` had not ended after its most rounds";
  return outcome;
}

Result<bool> PointRunner::launch_before(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit) {
  for (std::size_t i = 0; i < plan.before.size(); ++i) {
    const auto& before = plan.before[i];
    if (before.shape.of_file()) {
      auto outcome = launch_kernel(plan, before.shape, before.kernel, before.grid, before.block, 0, limit, i == 0);
      if (!outcome) return outcome.error();
      point.outcome = *outcome;
      if (!outcome->done()) return false;
      continue;
    }
    auto records = buffer("records before", 3 * std::uint64_t{(before.block + 31) / 32} * before.grid * 4);
    if (!records) return records.error();
    auto calibrated = calibration(compiler::kCalibrationWords * 4);
    if (!calibrated) return calibrated.error();
    auto outcome = launch_body(plan, before.shape, before.body, {.records = *records, .calibration = *calibrated, .grid = before.grid, .block = before.block, .cluster = before.cluster, .first = i == 0}, limit);
    if (!outcome) return outcome.error();
    point.outcome = *outcome;
    if (!outcome->done()) return false;
  }
  return true;
}

Result<> PointRunner::run_body(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit) {
  const bool each = plan.timing == compiler::Timing::Each, wall = plan.timing == compiler::Timing::Wall, values = plan.timing == compiler::Timing::Values;
  const std::uint32_t warps = (plan.block + 31) / 32;
  const std::uint32_t window = static_cast<std::uint32_t>(compiler::kTraceBytes / 2) / warps;
  const auto each_keeps = plan.body.kept + 1;  // words of a thread that keeps values
  const auto words = values ? each_keeps * plan.grid * plan.block : each ? std::uint64_t{warps} * window : 3 * std::uint64_t{warps} * plan.grid;
  const auto sms = std::max(plan.sms, 1u);
  auto records = buffer("records", sms * std::max<std::uint64_t>(words, 4) * 4);
  if (!records) return records.error();
  auto calibrated = calibration(sms * compiler::kCalibrationWords * 4);
  if (!calibrated) return calibrated.error();
  const auto trace_at = static_cast<std::uint32_t>((plan.body.shared_bytes + 15) / 16 * 16);
  const BodyLaunch how{.records = *records, .calibration = *calibrated, .window = window, .trace_at = trace_at, .trace_bytes = each ? static_cast<std::uint32_t>(compiler::kTraceBytes) : 0,
                       .grid = plan.grid, .block = plan.block, .cluster = plan.cluster, .first = plan.before.empty(), .timed = true};
  const auto start = [&](std::uint64_t skip) -> Result<bool> {
    auto before = launch_before(plan, point, limit);
    if (!before || !*before) return before;
    auto from = how;
    from.skip = static_cast<std::uint32_t>(skip);
    auto outcome = launch_body(plan, plan.shape, plan.body, from, limit);
    if (!outcome) return outcome.error();
    if (wall) limit_wall(*outcome);
    point.outcome = *outcome;
    return outcome->done();
  };

  std::vector<records::Run> runs(sms);
  std::vector<std::vector<std::uint32_t>> traces(std::size_t{sms} * warps);
  for (auto& run : runs) run.windows.clear();
  const auto total = each ? static_cast<std::uint64_t>(std::max<std::int64_t>(plan.steps, 1)) : 1;
  if (values && !Budget::spend_bytes(2 * words * sizeof(std::uint32_t))) return Budget::exceeded(plan.shape.span);
  if (each && !Budget::spend_bytes(sms * warps * total * sizeof(std::uint32_t))) return Budget::exceeded(plan.shape.span);
  for (std::uint64_t skip = 0; skip < total; skip += each ? window : 1) {
    auto done = start(skip);
    if (!done || !*done) return done ? Result<>(Ok{}) : Result<>(done.error());
    if (wall) {
      point.runs.push_back(wall_run(point.outcome));
      return Ok{};
    }
    auto read = read_words(*records, sms * words);
    if (!read) return read.error();
    if (values) {
      point.runs.push_back(kept_run(*read, each_keeps));
      return Ok{};
    }
    if (!each) {
      for (std::uint32_t i = 0; i < sms; ++i) {
        const auto own = std::span(*read).subspan(i * words, words);
        for (std::size_t at = 0; at + 2 < own.size(); at += 3) runs[i].ticks.push_back(own[at + 1] - own[at]);
        runs[i].elapsed = elapsed_cycles(own);
      }
      break;
    }
    for (auto& run : runs) run.windows.push_back(static_cast<std::uint32_t>(traces[0].size()));
    const auto recorded = static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(window, total - skip));
    for (std::size_t warp = 0; warp < traces.size(); ++warp) {
      const auto first = read->begin() + static_cast<std::ptrdiff_t>(warp * window);
      std::copy_if(first, first + recorded, std::back_inserter(traces[warp]), [](auto tick) { return tick != 0xffffffffu; });
    }
  }
  for (std::size_t warp = 0; warp < traces.size(); ++warp) {
    auto& run = runs[warp / warps];
    run.ticks.insert(run.ticks.end(), traces[warp].begin(), traces[warp].end());
    if (run.windows.empty() || warps > 1) run.windows = {0};
  }
  return take(std::move(runs), calibrated->times, point);
}

}  // namespace gexp::measure
