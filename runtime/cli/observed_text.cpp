// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/observed_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "lang/base/units.h"

namespace gexp::cli {
namespace {

double share(std::uint64_t part, std::uint64_t whole) { return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole); }

/// "12,345".
std::string grouped(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

/// Work by place: several instructions, and several lines of the PTX, may be of one line of the source.
std::vector<std::pair<std::string, sim::WorkCount>> by_place(const sim::Observed& observed, const Places& places) {
  std::vector<std::pair<std::string, sim::WorkCount>> list;
  std::map<std::string, std::size_t> known;
  for (const auto& [line, work] : observed.lines) {
    const auto [at, is_new] = known.emplace(places.of(line), list.size());
    if (is_new) list.emplace_back(at->first, sim::WorkCount{});
    sim::WorkCount& to = list[at->second].second;
    to.issued += work.issued, to.executed += work.executed;
    for (std::size_t k = 0; k < sim::kStalls; ++k) to.stalled[k] += work.stalled[k];
  }
  return list;
}

/// "memory 61.0 %, arithmetic 3.2 %", largest first.
std::string causes(const sim::WorkCount& work, std::uint64_t whole) {
  std::vector<std::size_t> order;
  for (std::size_t k = 0; k < sim::kStalls; ++k) {
    if (work.stalled[k] > 0) order.push_back(k);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return work.stalled[a] > work.stalled[b]; });
  std::vector<std::string> parts;
  for (const std::size_t k : order) parts.push_back(fmt::format("{} {:.1f} %", sim::name(static_cast<sim::Stall>(k)), share(work.stalled[k], whole)));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<std::uint32_t> source_lines(std::string_view ptx) {
  std::vector<std::uint32_t> lines(1, 0);
  std::uint32_t now = 0;
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    std::string_view line = ptx.substr(0, end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.starts_with(".loc")) {  // .loc FILE LINE COLUMN, of the text itself: file 1
      const std::string words(line.substr(4));
      char* at = nullptr;
      const auto file = std::strtoul(words.c_str(), &at, 10);
      if (file == 1) now = static_cast<std::uint32_t>(std::strtoul(at, nullptr, 10));
    } else if (line.starts_with(".visible") || line.starts_with(".entry") || line.starts_with(".func")) {
      now = 0;
    }
    lines.push_back(now);
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
  }
  return lines;
}

std::string Places::of(std::uint32_t ptx_line) const {
  const std::uint32_t line = ptx_line < lines.size() ? lines[ptx_line] : 0;
  return line > 0 ? fmt::format("{}:{}", source_file, line) : fmt::format("{}:{}", ptx_file, ptx_line);
}

std::string counters_text(const sim::Observed& observed, const Places& places, double clock_hz, std::size_t busiest) {
  const sim::Counters& c = observed.counters;
  std::string text;
  const auto row = [&](const char* name, const std::string& what) { text += fmt::format("  {:<14}{}\n", name, what); };
  row("time", fmt::format("{} cycles, {}", grouped(c.cycles), fmt::format("{:.4g} us", static_cast<double>(c.cycles) / clock_hz * 1e6)));
  const double lanes = c.work.issued == 0 ? 0 : static_cast<double>(c.work.executed) / static_cast<double>(c.work.issued);
  row("instructions", fmt::format("{} issued by {} warps, {} executed by threads: {:.1f} of 32 lanes, {:.2f} issued a cycle", grouped(c.work.issued), grouped(c.warps), grouped(c.work.executed),
                                  lanes, static_cast<double>(c.work.issued) / static_cast<double>(std::max<std::uint64_t>(c.cycles, 1))));
  if (c.diverged > 0) row("divergence", fmt::format("branches at which the lanes of a warp parted: {}", grouped(c.diverged)));
  if (const std::uint64_t all = c.loads + c.stores + c.atomics; all > 0) {
    row("memory", fmt::format("{} loads, {} stores, {} atomics of warps made {} requests, {:.2f} each", grouped(c.loads), grouped(c.stores), grouped(c.atomics), grouped(c.requests),
                              static_cast<double>(c.requests) / static_cast<double>(all)));
  }
  if (c.shared > 0) row("shared memory", fmt::format("{} accesses of warps, {} replays", grouped(c.shared), grouped(c.shared_replays)));
  for (const sim::LevelCount& level : c.levels) row(level.name.c_str(), fmt::format("{} of {} lookups hit, {:.1f} %", grouped(level.hits), grouped(level.lookups), share(level.hits, level.lookups)));
  if (c.dram_read + c.dram_written > 0) row("DRAM", fmt::format("{} read, {} written", show(c.dram_read, kBytes), show(c.dram_written, kBytes)));
  row("warps waited", fmt::format("{:.1f} % of their time: {}", share(c.work.all_stalled(), c.warp_cycles), causes(c.work, c.warp_cycles)));
  auto lines = by_place(observed, places);
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second.all_stalled() > b.second.all_stalled(); });
  if (lines.size() > busiest) lines.resize(busiest);
  for (const auto& [place, work] : lines) {
    if (work.all_stalled() == 0) break;
    row("", fmt::format("{:.1f} % at {}: {}", share(work.all_stalled(), c.warp_cycles), place, causes(work, c.warp_cycles)));
  }
  return text;
}

Json counters_json(const sim::Observed& observed, const Places& places) {
  const sim::Counters& c = observed.counters;
  const auto work_json = [](const sim::WorkCount& work) {
    Json stalled = Json::object();
    for (std::size_t k = 0; k < sim::kStalls; ++k) stalled[sim::name(static_cast<sim::Stall>(k))] = work.stalled[k];
    return Json{{"issued", work.issued}, {"executed", work.executed}, {"stalled", stalled}};
  };
  Json levels = Json::array(), lines = Json::array();
  for (const sim::LevelCount& level : c.levels) levels.push_back(Json{{"name", level.name}, {"lookups", level.lookups}, {"hits", level.hits}});
  for (const auto& [place, work] : by_place(observed, places)) {
    Json line{{"line", place}};
    line.update(work_json(work));
    lines.push_back(std::move(line));
  }
  return {{"cycles", c.cycles}, {"blocks", c.blocks}, {"warps", c.warps}, {"warp_cycles", c.warp_cycles}, {"work", work_json(c.work)}, {"diverged", c.diverged},
          {"loads", c.loads}, {"stores", c.stores}, {"atomics", c.atomics}, {"requests", c.requests}, {"shared", c.shared}, {"shared_replays", c.shared_replays},
          {"levels", levels}, {"dram_read", c.dram_read}, {"dram_written", c.dram_written}, {"lines", lines}};
}

std::string trace_events(const sim::Observed& observed, const Places& places, const std::string& kernel) {
  // Written as text: half a million objects would take gigabytes. What comes from outside goes through Json.
  std::string events;
  const auto add = [&](const std::string& event) { events += (events.empty() ? "" : ",\n") + event; };
  std::set<std::uint32_t> sms;
  std::set<std::pair<std::uint32_t, std::uint32_t>> warps;
  std::map<std::uint32_t, std::string> lines;  // as JSON
  for (const sim::TimelineSpan& span : observed.timeline) {
    if (sms.insert(span.sm).second) add(fmt::format(R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"SM {0}"}}}})", span.sm));
    if (warps.emplace(span.sm, span.warp).second)
      add(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{0},"tid":{1},"args":{{"name":"warp place {1}"}}}})", span.sm, span.warp));
    auto& line = lines[span.line];
    if (line.empty()) line = Json(places.of(span.line)).line();
    const auto args = fmt::format(R"({{"line":{},"block":{},"first thread":{}}})", line, span.block, span.first_thread);
    add(fmt::format(R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
                    span.issues ? "issues" : sim::name(span.stall), span.issues ? "issue" : "wait", span.sm, span.warp,
                    span.begin, span.end - span.begin, args));
  }
  const Json about{{"kernel", kernel}, {"time", "a microsecond is a cycle of the SM"}, {"cut", observed.timeline_cut}};
  return fmt::format("{{\"traceEvents\":[{}],\"displayTimeUnit\":\"ns\",\"otherData\":{}}}\n", events, about.line());
}

}  // namespace gexp::cli
