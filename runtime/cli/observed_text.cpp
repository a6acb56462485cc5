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

/// Written as text: half a million objects would take gigabytes. What comes from outside goes through Json.
class Trace {
 public:
  explicit Trace(const Places& places) : places_(places) {}

  /// A launch, the `number`th, that began at cycle `at`.
  void add(const sim::Observed& launch, std::size_t number, std::uint64_t at) {
    event(R"({{"ph":"X","name":"launch {}","pid":{},"tid":0,"ts":{},"dur":{}}})", number, kDevice, at, launch.counters.cycles);
    if (number == 1) event(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"device"}}}})", kDevice);
    std::vector<std::string> instructions(launch.instructions.size());  // as JSON
    for (const sim::TimelineSpan& span : launch.timeline) {
      name_places(span);
      auto& instruction = instructions[span.instruction];
      if (instruction.empty()) instruction = about(launch.instructions[span.instruction]);
      const auto args = fmt::format(R"({{{},"block":{},"first thread":{}}})", instruction, span.block, span.first_thread);
      const auto begin = at + span.begin;
      if (span.kind == sim::TimelineSpan::Kind::Loads) {
        const auto level = Json(level_name(launch, span.level)).line();
        event(R"({{"ph":"b","cat":"load","id":{},"name":{},"pid":{},"tid":{},"ts":{},"args":{}}})", ++loads_, level, span.sm,
              span.warp, begin, args);
        event(R"({{"ph":"e","cat":"load","id":{},"name":{},"pid":{},"tid":{},"ts":{}}})", loads_, level, span.sm, span.warp,
              at + span.end);
        continue;
      }
      const bool waits = span.kind == sim::TimelineSpan::Kind::Waits;
      event(R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{}}})",
            waits ? sim::name(span.stall) : "issues", waits ? "wait" : "issue", span.sm, span.warp, begin,
            span.end - span.begin, args);
    }
  }

  [[nodiscard]] std::string text(const std::string& of, bool cut) const {
    const Json about{{"of", of}, {"time", "a microsecond is a cycle of the SM"}, {"cut", cut}};
    return fmt::format("{{\"traceEvents\":[{}],\"displayTimeUnit\":\"ns\",\"otherData\":{}}}\n", events_, about.line());
  }

 private:
  static constexpr std::uint32_t kDevice = 1'000'000;  // a process behind those of all SMs

  template <class... T>
  void event(fmt::format_string<T...> form, T&&... values) {
    if (!events_.empty()) events_ += ",\n";
    fmt::format_to(std::back_inserter(events_), form, std::forward<T>(values)...);
  }

  /// The names of the SM and of the warp's place, once each.
  void name_places(const sim::TimelineSpan& span) {
    if (sms_.insert(span.sm).second)
      event(R"({{"ph":"M","name":"process_name","pid":{0},"args":{{"name":"SM {0}"}}}})", span.sm);
    if (warps_.emplace(span.sm, span.warp).second)
      event(R"({{"ph":"M","name":"thread_name","pid":{0},"tid":{1},"args":{{"name":"warp place {1}"}}}})", span.sm, span.warp);
  }

  /// Members of an event's arguments.
  [[nodiscard]] std::string about(const sim::NamedInstruction& instruction) const {
    auto members = fmt::format(R"("line":{},"instruction":{})", Json(places_.of(instruction.line)).line(),
                               Json(instruction.opcode).line());
    if (!instruction.statement.empty()) members += R"(,"statement":)" + Json(instruction.statement).line();
    return members;
  }

  const Places& places_;
  std::string events_;
  std::uint64_t loads_ = 0;
  std::set<std::uint32_t> sms_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> warps_;
};

}  // namespace

std::string level_name(const sim::Observed& launch, std::uint32_t level) {
  if (level == sim::kFromMemory) return "DRAM";
  if (level == sim::kFromPeer) return "peer";
  return level == sim::kFromHost ? "host" : launch.caches[level];
}

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

std::string trace_events(const std::vector<sim::Observed>& launches, const Places& places, const std::string& of) {
  Trace trace(places);
  for (std::size_t k = 0; k < launches.size(); ++k) trace.add(launches[k], k + 1, launches[k].began - launches.front().began);
  return trace.text(of, !launches.empty() && launches.back().timeline_cut);
}

}  // namespace gexp::cli
