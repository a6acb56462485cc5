// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/counters_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lang/base/units.h"

namespace gexp::report {
namespace {

constexpr std::string_view kStalled = "stalled.", kLookups = ".lookups";

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Exact where that is short.
std::string bytes_text(std::uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes >= 100u << 20) return fmt::format("{:.1f} MiB", number / (1 << 20));
  return bytes >= 100u << 10 ? fmt::format("{:.1f} KiB", number / (1 << 10)) : show(number, kBytes);
}

std::uint64_t all_stalled(const device::Counters& counters) {
  std::uint64_t all = 0;
  for (const auto& [name, count] : counters) all += name.starts_with(kStalled) ? count : 0;
  return all;
}

/// "n = 4 KiB"; the stage's only point has no coordinates.
std::string place_text(const result::StageResult& stage, const result::PointCounters& point) {
  std::vector<std::pair<std::string, Value>> at;
  for (const auto& column : stage.table.columns) {
    const auto value = point.at.find(column);
    if (value != point.at.end()) at.emplace_back(column, value->second);
  }
  return at.empty() ? "its point" : records::coordinates_text(at);
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string share(std::uint64_t part, std::uint64_t whole) { return fmt::format("{:.1f} %", 100 * ratio(part, whole)); }

std::string stalls_text(const device::Counters& counters, std::uint64_t warp_cycles) {
  std::vector<std::pair<std::uint64_t, std::string>> stalls;
  for (const auto& [name, count] : counters) {
    if (name.starts_with(kStalled) && count > 0) stalls.emplace_back(count, name.substr(kStalled.size()));
  }
  std::stable_sort(stalls.begin(), stalls.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<std::string> parts;
  for (auto& [count, cause] : stalls) {
    std::replace(cause.begin(), cause.end(), '_', ' ');
    parts.push_back(cause + " " + share(count, warp_cycles));
  }
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::array<std::string, 2>> counter_lines(const device::Counters& counters, double clock_hz) {
  std::vector<std::array<std::string, 2>> lines;
  const auto row = [&](std::string name, std::string what) { lines.push_back({std::move(name), std::move(what)}); };
  const auto n = [&](std::string_view name) { return device::count_of(counters, name); };
  const auto cycles = n("cycles"), issued = n("issued"), executed = n("executed");
  row("time", fmt::format("{} cycles, {:.4g} us", grouped(cycles), static_cast<double>(cycles) / clock_hz * 1e6));
  row("instructions",
      fmt::format("{} issued by {} warps, {} executed by threads: {:.1f} of 32 lanes, {:.2f} issued a cycle", grouped(issued),
                  grouped(n("warps")), grouped(executed), ratio(executed, issued), ratio(issued, cycles)));
  if (n("diverged") > 0)
    row("divergence", fmt::format("branches at which the lanes of a warp parted: {}", grouped(n("diverged"))));
  if (const auto all = n("loads") + n("stores") + n("atomics"); all > 0) {
    row("memory", fmt::format("{} loads, {} stores, {} atomics of warps made {} requests, {:.2f} each", grouped(n("loads")),
                              grouped(n("stores")), grouped(n("atomics")), grouped(n("requests")), ratio(n("requests"), all)));
  }
  if (n("shared") > 0) row("shared memory", fmt::format("{} accesses of warps", grouped(n("shared"))));
  std::vector<std::string> replays;
  for (const auto& [name, count] : counters) {
    if (name.starts_with("replays.") && count > 0)
      replays.push_back(fmt::format("{} {}", name.substr(name.find('.') + 1), grouped(count)));
  }
  if (!replays.empty()) row("replays", fmt::format("{}", fmt::join(replays, ", ")));
  if (n("merged") > 0)
    row("merged", fmt::format("{} of {} sectors joined a request under way", grouped(n("merged")), grouped(n("sectors"))));
  for (const auto& [name, lookups] : counters) {
    if (!name.ends_with(kLookups) || lookups == 0) continue;
    const auto level = name.substr(0, name.size() - kLookups.size());
    auto text = fmt::format("{} of {} lookups hit, {}", grouped(n(level + ".hits")), grouped(lookups),
                            share(n(level + ".hits"), lookups));
    if (const auto bytes = n(level + ".bytes"); bytes > 0) text += "; " + bytes_text(bytes);
    row(level, text);
  }
  if (n("dram.read") + n("dram.written") > 0)
    row("DRAM", fmt::format("{} read, {} written", bytes_text(n("dram.read")), bytes_text(n("dram.written"))));
  row("warps waited", fmt::format("{} of their time: {}", share(all_stalled(counters), n("warp_cycles")),
                                  stalls_text(counters, n("warp_cycles"))));
  return lines;
}

std::string counters_text(const result::RunResult& result, CountsOf of) {
  std::string text;
  const auto add = [&](const std::string& what, const device::Counters& counts) {
    const auto launches = device::count_of(counts, "launches");
    text += fmt::format("  {}, {} launch{}\n", what, grouped(launches), launches == 1 ? "" : "es");
    for (const auto& [name, count] : counter_lines(counts, result.device.sm_clock_hz))
      text += fmt::format("    {:<14}{}\n", name, count);
  };
  for (const auto& stage : result.stages) {
    const auto points = stage.counters.size();
    if (of == CountsOf::Stages && points > 0)
      add(fmt::format("{}: {} point{}", stage.name, points, points == 1 ? "" : "s"), stage.counted());
    for (const auto& point : stage.counters) {
      if (of == CountsOf::Points) add(fmt::format("{}: {}", stage.name, place_text(stage, point)), point.counts);
    }
  }
  return text.empty() ? text : "\ncounters, of whole launches with their warm-ups\n" + text;
}

}  // namespace gexp::report
