// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/observed_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

#include "runtime/report/counters_text.h"

namespace gexp::cli {
namespace {

/// Work by place: several instructions, and several lines of the PTX, may be of one line of the source.
std::vector<std::pair<std::string, sim::WorkCount>> by_place(const sim::Observed& observed, const Places& places) {
  std::vector<std::pair<std::string, sim::WorkCount>> list;
  std::map<std::string, std::size_t> known;
  for (const auto& [line, work] : observed.lines) {
    const auto [at, is_new] = known.emplace(places.of(line), list.size());
    if (is_new) list.emplace_back(at->first, sim::WorkCount{});
    list[at->second].second += work;
  }
  return list;
}

/// The stalls of some work, as a launch has them among its counters.
device::Counters stalls_of(const sim::WorkCount& work) {
  sim::Counters counters;
  counters.stalled = work.stalled;
  return counters.by_name();
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
  std::string text;
  const auto row = [&](const std::string& name, const std::string& what) { text += fmt::format("  {:<14}{}\n", name, what); };
  for (const auto& [name, what] : report::counter_lines(observed.counters.by_name(), clock_hz)) row(name, what);
  auto lines = by_place(observed, places);
  std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.second.all_stalled() > b.second.all_stalled(); });
  if (lines.size() > busiest) lines.resize(busiest);
  const auto whole = observed.counters.warp_cycles;
  for (const auto& [place, work] : lines) {
    if (work.all_stalled() == 0) break;
    row("", fmt::format("{} at {}: {}", report::share(work.all_stalled(), whole), place,
                        report::stalls_text(stalls_of(work), whole)));
  }
  return text;
}

Json counters_json(const sim::Observed& observed, const Places& places) {
  Json json = Json::object(), lines = Json::array();
  for (const auto& [name, count] : observed.counters.by_name()) json[name] = count;
  for (const auto& [place, work] : by_place(observed, places)) {
    Json stalled = Json::object();
    for (std::size_t k = 0; k < sim::kStalls; ++k) stalled[sim::name(static_cast<sim::Stall>(k))] = work.stalled[k];
    lines.push_back(
        Json{{"line", place}, {"issued", work.issued}, {"executed", work.executed}, {"stalled", std::move(stalled)}});
  }
  json["lines"] = std::move(lines);
  return json;
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
