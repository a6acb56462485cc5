// SPDX-License-Identifier: Apache-2.0
// Points of a launch of several stages (templates/roles.cu): one launch, a record for each stage.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "compiler/plan/calibrate.h"
#include "compiler/plan/residency.h"
#include "lang/base/budget.h"
#include "runtime/measure/point_runner.h"

namespace gexp::measure {
namespace {

using compiler::kControlWords;
using compiler::kWarpWords;
using compiler::PointPlan;
using compiler::Where;
using device::Outcome;

constexpr std::uint32_t kMostPlacings = 16;
constexpr std::uint64_t kPatience = std::uint64_t{1} << 24;  // cycles within which a block comes that there is room for
enum Verdict : std::uint32_t { kAllThere = 1, kLeftOut = 2 };

std::vector<const PointPlan*> parts_of(const PointPlan& plan) {
  std::vector<const PointPlan*> parts{&plan};
  for (const auto& beside : plan.beside) parts.push_back(&beside);
  return parts;
}

std::uint32_t warps_of(const PointPlan& part) { return (part.block + 31) / 32; }

/// What one part of the launch wrote.
records::Run run_of(const PointPlan& part, std::span<const std::uint32_t> words) {
  records::Run run;
  const std::size_t warps = std::size_t{warps_of(part)} * part.grid;
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> by_sm;
  for (std::size_t warp = 0; warp < warps; ++warp) {
    const auto* mine = &words[warp * kWarpWords];
    const auto begin = mine[0] | std::uint64_t{mine[1]} << 32, end = mine[2] | std::uint64_t{mine[3]} << 32;
    run.begins.push_back(begin), run.ends.push_back(end), run.sms.push_back(mine[4]);
    const auto [range, fresh] = by_sm.try_emplace(mine[4], begin, end);
    if (!fresh) range->second = {std::min(range->second.first, begin), std::max(range->second.second, end)};
    if (part.timing == compiler::Timing::Total) run.ticks.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(end - begin, ~0u)));
  }
  for (const auto& [sm, range] : by_sm) run.elapsed = std::max(run.elapsed, static_cast<double>(range.second - range.first));
  if (part.timing != compiler::Timing::Each) return run;
  run.elapsed = 0;
  const auto recorded = std::min<std::uint64_t>(part.role.window, static_cast<std::uint64_t>(std::max<std::int64_t>(part.steps, 1)));
  for (std::size_t warp = 0; warp < warps_of(part); ++warp) {
    const auto* first = &words[warps * kWarpWords + warp * part.role.window];
    std::copy_if(first, first + recorded, std::back_inserter(run.ticks), [](auto tick) { return tick != ~0u; });
  }
  return run;
}

/// Whether a part ran where it was to; the first block of the first part is what others are relative to.
bool is_placed(const PointPlan& part, const records::Run& run, std::uint32_t first) {
  return std::all_of(run.sms.begin(), run.sms.end(), [&](std::uint32_t sm) {
    switch (part.role.where) {
      case Where::Sm: return sm == part.sm;
      case Where::Same:
      case Where::Block: return sm == first || part.role.where == Where::Block;
      case Where::Other: return sm != first;
      case Where::SameTpc: return sm / part.role.per_tpc == first / part.role.per_tpc && sm != first;
      case Where::OtherTpc: return sm / part.role.per_tpc != first / part.role.per_tpc;
      case Where::SameGpc: return sm != first;  // a block of the first one's cluster took it
      case Where::Any: break;
    }
    return true;
  });
}

/// How many blocks must be on one multiprocessor at once: those that follow the first one there, and its share of all.
std::uint32_t most_together(const std::vector<const PointPlan*>& parts, std::uint32_t claimed, std::uint32_t sms) {
  std::uint32_t here = 1;
  for (const auto* part : parts) here += part->role.where == Where::Same ? static_cast<std::uint32_t>(part->grid) : 0;
  return std::max(here, (claimed + sms - 1) / sms);
}

std::string sms_text(const std::vector<const PointPlan*>& parts, const std::vector<records::Run>& runs) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", runs[i].sms.front());
  return text;
}

}  // namespace

Result<std::vector<device::Argument>> PointRunner::role_arguments(const PointPlan& plan, device::KernelId kernel) {
  std::vector<device::Argument> arguments;
  const auto parts = parts_of(plan);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto& part = *parts[i];
    const auto trace = (part.body.shared_bytes + 15) / 16 * 16 / 2;
    for (const std::uint64_t value : {std::uint64_t{part.role.first_thread}, std::uint64_t{part.block}, std::uint64_t{part.grid}, std::uint64_t{part.role.records_at},
                                      std::uint64_t{part.role.window}, trace, std::uint64_t{part.role.shared_at}, std::uint64_t{part.sm}}) {
      arguments.push_back({value, 8});
    }
    auto own = body_arguments(part.body, part, kernel, fmt::format("role {} ", i));
    if (!own) return own.error();
    arguments.insert(arguments.end(), own->begin(), own->end());
  }
  return arguments;
}

// What a multiprocessor sets aside by default holds one block, and the next would wait until that one has ended.
std::int64_t PointRunner::room_of(std::uint32_t blocks, std::uint32_t shared_bytes) const {
  const auto& device = backend_.device();
  const auto each = shared_bytes + static_cast<std::uint64_t>(compiler::reserved_shared(device.compute_major * 10 + device.compute_minor));
  return static_cast<std::int64_t>(std::min(blocks * each, device.shared_per_sm));
}

Result<Outcome> PointRunner::launch_roles(const PointPlan& plan, std::uint64_t control, std::vector<device::Argument> arguments, device::KernelId kernel, const LaunchLimit& limit) {
  auto shape = launch_shape(plan, plan.block_shared);
  shape.block = plan.block_threads;
  shape.shared_bytes = std::max<std::uint32_t>(shape.shared_bytes, 16);  // where a block's threads learn their role
  const auto parts = parts_of(plan);
  const bool placed = std::any_of(parts.begin(), parts.end(), [](const auto* part) { return part->role.where != Where::Any && part->role.where != Where::Block; });
  const auto sms = static_cast<std::uint32_t>(std::max(backend_.device().sms, 1));
  const auto together = most_together(parts, plan.claimed, sms);
  if (shape.carveout_bytes < 0) shape.carveout_bytes = room_of(together, shape.shared_bytes);
  // A device hands blocks to multiprocessors in turn, so a round brings one to each; more where that was not so.
  for (std::uint32_t blocks = placed ? std::max(plan.claimed, together * sms) : plan.claimed, tries = 1;; blocks *= 2, ++tries) {
    const std::vector<std::uint32_t> zeros(kControlWords * (1 + plan.flags.size()));
    if (auto done = backend_.write(control, std::as_bytes(std::span(zeros))); !done) return done.error();
    blocks = (blocks + shape.cluster - 1) / shape.cluster * shape.cluster;
    shape.grid = blocks;
    auto outcome = launch(plan, kernel, shape, arguments, limit, tries == 1 && plan.before.empty());
    if (!outcome || !outcome->done()) return outcome;
    auto words = read_words(control, 8);
    if (!words) return words.error();
    if ((*words)[3] == kAllThere) {
      const auto flag = (*words)[5];
      if (flag == 0) return outcome;
      return Outcome{Outcome::Status::Timeout, fmt::format("a `wait {}` was given up: nobody signalled it in time", flag <= plan.flags.size() ? plan.flags[flag - 1] : ""), outcome->elapsed_seconds};
    }
    if ((*words)[3] == kLeftOut && placed && tries <= kMostPlacings && blocks < kMostPlacings * sms) continue;
    return Outcome{Outcome::Status::Unplaced,
                   (*words)[3] == kLeftOut ? fmt::format("{} of {} blocks came where they were to run, of {} that were launched", (*words)[2], plan.claimed, blocks)
                                           : std::string("the blocks that are to begin together were not on the device at once"),
                   0};
  }
}

Result<> PointRunner::run_roles(const PointPlan& plan, records::Point& point, const LaunchLimit& limit) {
  auto kernel = kernel_for(plan.shape, plan.block_threads);
  if (!kernel) return kernel.error();
  const auto parts = parts_of(plan);
  auto control = buffer("control", kControlWords * (1 + plan.flags.size()) * 4);
  if (!control) return control.error();
  auto records = buffer("records", std::max<std::uint64_t>(plan.record_words, 4) * 4);
  if (!records) return records.error();
  auto calibrated = calibration(parts.size() * compiler::kCalibrationWords * 4);
  if (!calibrated) return calibrated.error();
  auto rest = role_arguments(plan, *kernel);
  if (!rest) return rest.error();
  std::vector<device::Argument> arguments = {device::pointer(calibrated->cell), device::pointer(*control), device::pointer(*records), device::pointer(calibrated->times),
                                             {plan.claimed, 4},      {plan.together, 4},        {kPatience, 8}};
  arguments.insert(arguments.end(), rest->begin(), rest->end());
  auto before = launch_before(plan, point, limit);
  if (!before || !*before) return before ? Result<>(Ok{}) : Result<>(before.error());
  auto outcome = launch_roles(plan, *control, std::move(arguments), *kernel, limit);
  if (!outcome) return outcome.error();
  point.outcome = *outcome;
  if (!outcome->done()) return Ok{};
  if (!Budget::spend_bytes(std::uint64_t{plan.record_words} * 16)) return Budget::exceeded(plan.shape.span);
  auto words = read_words(*records, plan.record_words);
  if (!words) return words.error();
  std::vector<records::Run> runs;
  for (const auto* part : parts) runs.push_back(run_of(*part, std::span(*words).subspan(part->role.records_at)));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (is_placed(*parts[i], runs[i], runs[0].sms.front())) continue;
    point.outcome = {Outcome::Status::Unplaced, fmt::format("the stages of this launch ran on the multiprocessors {}", sms_text(parts, runs)), outcome->elapsed_seconds};
    return Ok{};
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    auto& into = i == 0 ? point : point.beside[i - 1];
    if (auto done = calibrate(calibrated->times + i * compiler::kCalibrationWords * 4, into); !done) return done;
    into.runs.push_back(std::move(runs[i]));
  }
  return Ok{};
}

}  // namespace gexp::measure
