// SPDX-License-Identifier: Apache-2.0
#include "runtime/measure/point_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"
#include "compiler/plan/calibrate.h"
#include "lang/base/budget.h"
#include "lang/base/stopwatch.h"

namespace gexp::measure {
namespace {

constexpr std::uint64_t kDefaultAlign = std::uint64_t{2} << 20;  // offsets then keep their low 21 address bits
constexpr std::uint32_t kMostSms = 1024, kMostTries = 16;
constexpr std::uint64_t kCalibrationPage = 4096;                  // the smallest translation page of a GPU
constexpr std::uint64_t kTimesAt = 1024;                          // behind the cell, in no line of it
constexpr std::uint64_t kLeastStep = 4096;                        // of a memory that is made smaller
constexpr std::uint64_t kRoundStep = std::uint64_t{1} << 20;     // of one of many MiB
constexpr std::uint64_t kForRecords = std::uint64_t{256} << 20;  // that are left of a device's memory, at most
constexpr std::uint64_t kWindow = compiler::kTraceBytes / 2;     // ticks of 16 bits

device::Where where(const compiler::Memory& memory) {
  using Home = compiler::MemorySpace::Home;
  using enum device::Where;
  const auto home = memory.space->home;
  return home == Home::Host ? Host : home == Home::Managed ? Managed : home == Home::Peer ? Peer : Device;
}
}  // namespace

PointRunner::PointRunner(const compiler::Program& program, const compiler::Scope& scope, device::Backend& backend, Kernels& kernels, const GiveUp& give_up)
    : program_(program), scope_(scope), backend_(backend), kernels_(kernels), give_up_(give_up), losses_(backend.losses()) {}

PointRunner::~PointRunner() {
  if (backend_.losses() != losses_) return;
  for (const auto& [name, buffer] : buffers_) backend_.release(buffer.first);
}

Result<std::uint64_t> PointRunner::address_of(const std::string& name) {
  if (const auto found = buffers_.find("memory " + name); found != buffers_.end()) return found->second.first;
  for (const auto& memory : program_.memories) {
    if (memory.name != name) continue;
    auto bytes = compiler::memory_bytes(memory, scope_);
    if (!bytes) return bytes.error();
    std::uint64_t align = kDefaultAlign;
    for (const auto& clause : {memory.page, memory.align}) {
      if (!clause) continue;
      auto value = compiler::evaluate(*clause, scope_);
      if (!value) return value.error();
      if (const auto* n = value->get<Number>()) align = std::max(align, static_cast<std::uint64_t>(n->number));
    }
    auto address = backend_.allocate(*bytes, align, where(memory));
    if (!address) {
      auto problem = address.error();
      problem.span = memory.span;
      if (problem.code != "E0802" || memory.holds || where(memory) != device::Where::Device) return problem;
      auto less = allocate_less(memory, *bytes, align, std::move(problem));
      if (!less) return less;
      auto done = fill(memory, *less);
      return done ? less : Result<std::uint64_t>(done.error());
    }
    buffers_["memory " + name] = {*address, *bytes};
    if (auto done = fill(memory, *address); !done) return done.error();
    return *address;
  }
  GEXP_CHECK(false);
  return std::uint64_t{0};
}

Result<std::uint64_t> PointRunner::allocate_less(const compiler::Memory& memory, std::uint64_t bytes, std::uint64_t align, Diagnostic problem) {
  std::uint64_t least = 0, most = bytes;  // what can be had, and what cannot
  while (most - least > std::max(kLeastStep, bytes / 256)) {
    const auto middle = least + (most - least) / 2;
    auto tried = backend_.allocate(middle, align);
    if (!tried && tried.error().code != "E0802") return tried.error();
    if (tried) backend_.release(*tried);
    (tried ? least : most) = middle;
  }
  // The rest is for the file's other memories, in proportion, and for the records.
  double others = 0;
  for (const auto& other : program_.memories) {
    if (other.name == memory.name || !other.space->takes_device_memory() || buffers_.contains("memory " + other.name)) continue;
    if (auto size = compiler::memory_bytes(other, scope_); size) others += static_cast<double>(*size);
  }
  const auto share = static_cast<std::uint64_t>(static_cast<double>(least) * static_cast<double>(bytes) / (static_cast<double>(bytes) + others));
  const auto left = share - std::min(kForRecords, share / 8), step = left > 64 * kRoundStep ? kRoundStep : kLeastStep, kept = left / step * step;
  if (kept == 0) return problem;
  auto address = backend_.allocate(kept, align);
  if (!address) return problem;
  buffers_["memory " + memory.name] = {*address, kept};
  less_[memory.name] = fmt::format("`{}` is {} long instead of {}: {}", memory.name, show(static_cast<double>(kept), kBytes), show(static_cast<double>(bytes), kBytes), problem.message);
  return *address;
}

Result<std::uint64_t> PointRunner::address_of(const std::string& name, const compiler::PointPlan& plan) {
  auto address = address_of(name);
  const auto less = less_.find(name);
  if (!address || less == less_.end()) return address;
  const auto reach = compiler::reach_of(plan, name);
  if (reach <= buffers_.at("memory " + name).second) return address;
  return failure("E0802", fmt::format("a point reaches {} of `{}`, and {}", show(static_cast<double>(reach), kBytes), name, less->second));
}

Result<std::uint64_t> PointRunner::buffer(const std::string& name, std::uint64_t bytes, std::uint64_t align) {
  auto& slot = buffers_[name];
  if (slot.second >= bytes && slot.first != 0) return slot.first;
  if (slot.first != 0) backend_.release(slot.first);
  slot = {0, 0};
  auto address = backend_.allocate(bytes, align);
  if (!address) {
    buffers_.erase(name);
    return address.error();
  }
  slot = {*address, bytes};
  return *address;
}

Result<std::uint64_t> PointRunner::idle_texture(std::uint64_t pitch) {
  auto& handle = textures_[pitch > 0 ? " rows" : ""];
  if (handle != 0) return handle;
  const std::array<std::uint64_t, 4> zeros = {};  // the index 0: each fetch comes back to it
  auto texels = buffer("idle texture", sizeof zeros);
  if (!texels) return texels.error();
  if (auto done = backend_.write(*texels, std::as_bytes(std::span(zeros))); !done) return done.error();
  auto made = backend_.texture(*texels, sizeof zeros, pitch);
  if (made) handle = *made;
  return made;
}

Result<PointRunner::Calibration> PointRunner::calibration(std::uint64_t bytes) {
  const bool fresh = buffers_["calibration"].second < kTimesAt + bytes;
  auto cell = buffer("calibration", kTimesAt + bytes, kCalibrationPage);
  if (!cell) return cell.error();
  const std::array<std::uint64_t, 8> words = {*cell};  // its own address, then zeros: the index 0, and 16 idle bytes at 16
  if (auto done = fresh ? backend_.write(*cell, std::as_bytes(std::span(words))) : Result<>(Ok{}); !done) return done.error();
  return Calibration{*cell, *cell + kTimesAt};
}

Result<> PointRunner::link(const compiler::Links& links, std::uint64_t base) {
  auto& now = linked_[links.memory];
  if (now.width == links.width && now.offsets == links.offsets && now.targets == links.targets) return Ok{};
  if (!Budget::spend_bytes(3 * links.targets.size() * sizeof(std::uint64_t))) return Budget::exceeded({});
  std::vector<std::uint64_t> values;
  values.reserve(links.targets.size());
  for (const auto target : links.targets) values.push_back(static_cast<std::uint64_t>(target / links.width));
  if (auto done = backend_.scatter(base, links.offsets, values, compiler::link_bytes(links.width)); !done) return done;
  now = links;
  return Ok{};
}

Result<std::vector<std::uint32_t>> PointRunner::read_words(std::uint64_t address, std::size_t count) {
  std::vector<std::uint32_t> words(count);
  if (auto done = backend_.read(address, std::as_writable_bytes(std::span(words))); !done) return done.error();
  return words;
}

Result<> PointRunner::take(std::vector<records::Run> runs, std::uint64_t words, records::Point& point) {
  for (auto& run : runs) {
    if (auto done = calibrate(words, point); !done) return done;
    point.runs.push_back(std::move(run));
    words += compiler::kCalibrationWords * 4;
  }
  return Ok{};
}

Result<> PointRunner::calibrate(std::uint64_t words, records::Point& point) {
  constexpr auto words_a_run = static_cast<std::size_t>(compiler::kCalibrationWords);
  auto read = read_words(words, words_a_run);
  if (!read) return read.error();
  // Runs that were measured elsewhere, or earlier, are known by their mean alone.
  const bool all = point.calibration.size() == point.runs.size() * words_a_run;
  if (!all) point.calibration.clear();
  point.calibration.insert(point.calibration.end(), read->begin(), read->end());
  if (all) return Ok{};  // told by set_overhead, once for all of them
  const auto cost = region_cost(point.calibration);
  const auto before = static_cast<double>(point.runs.size());
  point.overhead = (point.overhead * before + cost.cycles) / (before + 1);
  point.overhead_error = std::hypot(point.overhead_error * before, cost.error) / (before + 1);
  return Ok{};
}

void set_overhead(records::Point& point) {
  const auto words = point.runs.size() * static_cast<std::size_t>(compiler::kCalibrationWords);
  if (words == 0 || point.calibration.size() != words) return;
  const auto cost = region_cost(point.calibration);
  point.overhead = cost.cycles, point.overhead_error = cost.error;
}

void PointRunner::forget_what_was_lost() {
  if (backend_.losses() == losses_) return;
  losses_ = backend_.losses();
  buffers_.clear();
  less_.clear();
  loaded_.clear();
  linked_.clear();
  textures_.clear();
  cleared_.clear();
}

device::LaunchShape PointRunner::launch_shape(const compiler::PointPlan& plan, std::uint64_t shared_bytes) const {
  device::LaunchShape shape;
  shape.grid = plan.grid;
  shape.block = plan.block;
  shape.cluster = plan.cluster;
  auto shared = shared_bytes + plan.smem;
  if (plan.persm > 0) {  // blocks that take the N-th part of the shared memory: no more than N of them fit
    const auto& device = backend_.device();
    const std::uint64_t reserved = device.compute_major >= 8 ? 1024 : 0;
    const auto part = device.shared_per_sm / plan.persm;
    shared = std::max(shared, std::min(part > reserved ? (part - reserved) / 128 * 128 : 0, device.shared_per_block));
  }
  shape.shared_bytes = static_cast<std::uint32_t>(shared);
  shape.carveout_bytes = plan.carveout == 0 ? -1 : plan.carveout;  // 0 B: as little as the kernel fits in
  shape.bank_bytes = plan.bank;
  shape.limit = plan.limit;
  shape.registers = plan.registers;
  return shape;
}

Result<device::Outcome> PointRunner::launch(const compiler::PointPlan& plan, device::KernelId kernel, const device::LaunchShape& shape, const std::vector<device::Argument>& arguments,
                              const LaunchLimit& limit, bool first) {
  if (first) {
    for (const auto& level : plan.flushes) {
      if (auto done = backend_.flush(level); !done) return done.error();
    }
  }
  if (!Budget::go_on()) return Budget::exceeded(plan.shape.span);
  const Stopwatch watch;
  auto outcome = backend_.launch(kernel, shape, arguments, limit());
  ++effort_.launches;
  effort_.launching += watch.seconds();
  effort_.on_device += outcome.elapsed_seconds;
  return outcome;
}

Result<device::Outcome> PointRunner::launch_timed(const compiler::PointPlan& plan, device::KernelId kernel, device::LaunchShape shape, std::vector<device::Argument> arguments, const LaunchLimit& limit,
                                    bool first) {
  if (plan.sms == 0) return launch(plan, kernel, shape, arguments, limit, first);
  const bool fresh = !buffers_.contains("last turn");
  auto last = buffer("last turn", kMostSms * 4);
  if (!last) return last.error();
  if (fresh) {
    const std::vector<std::uint32_t> none(kMostSms);
    if (auto done = backend_.write(*last, std::as_bytes(std::span(none))); !done) return done.error();
  }
  shape.shared_bytes = std::max<std::uint32_t>(shape.shared_bytes, 16);  // where a block's threads learn whether they stay
  arguments.insert(arguments.end(), {{plan.sm, 4}, {plan.sms, 4}, {0, 4}, device::pointer(*last)});
  // A device hands blocks to multiprocessors in turn, which is seldom and nowhere said to be otherwise: more blocks then.
  const auto sms = static_cast<std::uint32_t>(backend_.device().sms);
  for (std::uint32_t blocks = sms; blocks <= kMostTries * sms; blocks *= 2) {
    shape.grid = blocks;
    arguments.end()[-2].bits = ++turn_;
    auto outcome = launch(plan, kernel, shape, arguments, limit, first && blocks == sms);
    if (!outcome || !outcome->done()) return outcome;
    auto ran = read_words(*last, plan.sms);
    if (!ran) return ran.error();
    if (std::all_of(ran->begin(), ran->end(), [&](auto turn) { return turn == turn_; })) return outcome;
  }
  return device::Outcome{device::Outcome::Status::Fault, fmt::format("the device brought no block to a chosen multiprocessor ({} to {})", plan.sm, plan.sm + plan.sms - 1), 0};
}

Result<> PointRunner::repeat(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit) {
  forget_what_was_lost();
  const Stopwatch watch;
  auto done = run_once(plan, point, limit);
  effort_.measuring += watch.seconds();
  if (backend_.losses() == losses_) return done;
  forget_what_was_lost();
  if (!done) point.outcome = {device::Outcome::Status::Fault, done.error().message, 0};
  return Ok{};
}

Result<> PointRunner::run_once(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit) {
  if (plan.shape.of_file()) return run_kernel(plan, point, limit);
  if (plan.shape.made_from == &compiler::kRolesTemplate) return run_roles(plan, point, limit);
  if (plan.shape.made_from == &compiler::kBodyTemplate) return run_body(plan, point, limit);
  return plan.shape.made_from == &compiler::kTotalTemplate ? run_total(plan, point, limit) : run_each(plan, point, limit);
}

Result<> PointRunner::run_each(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit) {
  const auto& links = plan.links.front();
  auto base = address_of(links.memory, plan);
  if (!base) return base.error();
  auto kernel = kernel_for(plan.shape, plan.block);
  if (!kernel) return kernel.error();
  const auto sms = std::max(plan.sms, 1u);
  auto ticks = buffer("ticks", sms * kWindow * 4);
  if (!ticks) return ticks.error();
  auto calibrated = calibration(sms * (compiler::kCalibrationWords * 4 + 16));
  if (!calibrated) return calibrated.error();
  if (auto done = link(links, *base); !done) return done;

  const auto element = [&](const std::shared_ptr<const Pattern>& ring) {
    return ring ? static_cast<std::uint64_t>(ring->at(0, 0) / plan.width) : 0;
  };
  std::vector<records::Run> runs(sms);
  for (auto& run : runs) run.windows.clear();
  const auto total = static_cast<std::uint64_t>(plan.steps);
  if (!Budget::spend_bytes(sms * total * sizeof(std::uint32_t))) return Budget::exceeded(plan.shape.span);
  for (std::uint64_t skip = 0; skip < total; skip += kWindow) {
    const auto steps = std::min(kWindow, total - skip);
    if (auto before = launch_before(plan, point, limit); !before || !*before) return before ? Result<>(Ok{}) : Result<>(before.error());
    const std::vector<device::Argument> arguments = {device::pointer(*base),
                                             {element(plan.warm), 8},
                                             {static_cast<std::uint64_t>(plan.warm_steps), 8},
                                             {element(plan.timed), 8},
                                             {skip, 8},
                                             {steps, 4},
                                             device::pointer(*ticks),
                                             device::pointer(calibrated->cell),
                                             device::pointer(calibrated->times),
                                             device::pointer(calibrated->times + sms * compiler::kCalibrationWords * 4)};
    const auto outcome = launch_timed(plan, *kernel, launch_shape(plan, static_cast<std::uint64_t>(compiler::kTraceBytes)), arguments, limit, plan.before.empty());
    if (!outcome) return outcome.error();
    if (!outcome->done()) {
      point.outcome = *outcome;
      return Ok{};
    }
    auto windows = read_words(*ticks, (sms - 1) * kWindow + steps);
    if (!windows) return windows.error();
    for (std::uint32_t i = 0; i < sms; ++i) {
      const auto first = windows->begin() + static_cast<std::ptrdiff_t>(i * kWindow);
      runs[i].windows.push_back(static_cast<std::uint32_t>(runs[i].ticks.size()));
      runs[i].ticks.insert(runs[i].ticks.end(), first, first + static_cast<std::ptrdiff_t>(steps));
    }
  }
  return take(std::move(runs), calibrated->times, point);
}

Result<> PointRunner::run_total(const compiler::PointPlan& plan, records::Point& point, const LaunchLimit& limit) {
  auto kernel = kernel_for(plan.shape, plan.block);
  if (!kernel) return kernel.error();
  const auto& linked = plan.links.front();
  const auto links = linked.offsets.size();
  const auto warps = (plan.block + 31) / 32;
  std::uint64_t bytes = 0;
  for (const auto& memory : program_.memories) {
    if (memory.name != linked.memory) continue;
    auto size = compiler::memory_bytes(memory, scope_);
    if (!size) return size.error();
    bytes = *size;
  }
  auto tables = buffer("links", links * 8 + plan.block * 4);
  if (!tables) return tables.error();
  auto ticks = buffer("ticks", std::max<std::uint64_t>(kWindow, warps) * 4);
  if (!ticks) return ticks.error();
  auto empty = buffer("empty", 64);
  if (!empty) return empty.error();
  auto last = buffer("last", plan.block * 4);
  if (!last) return last.error();

  std::vector<std::uint32_t> words;
  for (const auto offset : linked.offsets) words.push_back(static_cast<std::uint32_t>(offset));
  for (const auto target : linked.targets) words.push_back(static_cast<std::uint32_t>(target));
  for (std::uint32_t thread = 0; thread < plan.block; ++thread) {
    words.push_back(static_cast<std::uint32_t>(plan.timed->at(thread, 0)));
  }
  if (auto done = backend_.write(*tables, std::as_bytes(std::span(words))); !done) return done;

  const std::vector<device::Argument> arguments = {device::pointer(*tables),
                                           device::pointer(*tables + links * 4),
                                           {links, 4},
                                           device::pointer(*tables + links * 8),
                                           {static_cast<std::uint64_t>(plan.warm_steps), 4},
                                           {static_cast<std::uint64_t>(plan.steps), 4},
                                           {0, 4},
                                           device::pointer(*ticks),
                                           device::pointer(*empty),
                                           device::pointer(*last)};
  if (auto before = launch_before(plan, point, limit); !before || !*before) return before ? Result<>(Ok{}) : Result<>(before.error());
  const auto outcome = launch(plan, *kernel, launch_shape(plan, bytes), arguments, limit, plan.before.empty());
  if (!outcome) return outcome.error();
  if (!outcome->done()) {
    point.outcome = *outcome;
    return Ok{};
  }
  auto spent = read_words(*ticks, warps);
  if (!spent) return spent.error();
  auto region = read_words(*empty, 1);
  if (!region) return region.error();
  point.overhead = region->front();
  point.runs.push_back({std::move(*spent), {0}});
  return Ok{};
}

}  // namespace gexp::measure
