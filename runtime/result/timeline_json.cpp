// SPDX-License-Identifier: Apache-2.0
#include "runtime/result/timeline_json.h"

#include <fmt/format.h>

#include "lang/base/visible.h"

namespace gexp::result {
namespace {

using Json = CheckedJson::Json;
using Kind = Timeline::Kind;

const char* word(Kind kind) { return kind == Kind::Issues ? "issues" : kind == Kind::Waits ? "waits" : "loads"; }

Kind read_kind(const CheckedJson& json) {
  const auto text = json.line(kLongestName);
  for (const auto kind : {Kind::Issues, Kind::Waits, Kind::Loads}) {
    if (text == word(kind)) return kind;
  }
  json.wrong("issues, waits or loads");
}

std::uint32_t small(const CheckedJson& json) {
  return static_cast<std::uint32_t>(json.natural(std::numeric_limits<std::uint32_t>::max()));
}

/// One of a list that has been read.
std::uint32_t one_of(const CheckedJson& json, std::size_t size) {
  const auto index = small(json);
  if (index >= size) json.wrong(fmt::format("less than {}", size));
  return index;
}

/// [name, begin, cycles, instruction]
Timeline::Span read_span(const CheckedJson& json, const Timeline& of) {
  if (json.list().size() != 4) json.wrong("four numbers");
  Timeline::Span span;
  span.name = one_of(json.item(0), of.names.size());
  span.begin = json.item(1).natural(kMostCount);
  span.end = span.begin + json.item(2).natural(kMostCount);
  span.instruction = one_of(json.item(3), of.instructions.size());
  if (span.begin < of.from || span.end > of.to) json.wrong("within what is shown");
  return span;
}

}  // namespace

Json counts_json(const device::Counters& counters) {
  Json counts = Json::object();
  for (const auto& [name, count] : counters) counts[name] = count;
  return counts;
}

device::Counters read_counts(const CheckedJson& counts) {
  device::Counters counters;
  for (const auto& [name, count] : counts.object().json().items()) {
    if (name.size() > kLongestName || find_control(name) != name.size()) counts.wrong("an object of names");
    counters.emplace_back(name, CheckedJson(count, name).natural(kMostCount));
  }
  return counters;
}

Json timeline_json(const Timeline& timeline) {
  Json names = Json::array(), instructions = Json::array(), warps = Json::array();
  for (const auto& name : timeline.names) names.push_back({{"kind", word(name.kind)}, {"text", name.text}});
  for (const auto& each : timeline.instructions) instructions.push_back({each.place, each.opcode, each.statement});
  for (const auto& warp : timeline.warps) {
    Json spans = Json::array();
    for (const auto& span : warp.spans) spans.push_back({span.name, span.begin, span.end - span.begin, span.instruction});
    warps.push_back({{"block", warp.block}, {"first_thread", warp.first_thread}, {"spans", std::move(spans)}});
  }
  return {{"of", timeline.of}, {"launch", timeline.launch}, {"launches", timeline.launches},
          {"from", timeline.from}, {"to", timeline.to}, {"cycles", timeline.cycles}, {"noted_whole", timeline.noted_whole},
          {"sm", timeline.sm}, {"warps_of_sm", timeline.warps_of_sm}, {"names", std::move(names)},
          {"instructions", std::move(instructions)}, {"warps", std::move(warps)}, {"counts", counts_json(timeline.counters)}};
}

Timeline read_timeline(const CheckedJson& json) {
  Timeline timeline;
  timeline.of = json.at("of").line();
  timeline.launches = json.at("launches").natural(kMostCount);
  timeline.launch = json.at("launch").natural(timeline.launches);
  timeline.cycles = json.at("cycles").natural(kMostCount);
  timeline.to = json.at("to").natural(timeline.cycles);
  timeline.from = json.at("from").natural(timeline.to);
  timeline.noted_whole = json.at("noted_whole").flag();
  timeline.sm = small(json.at("sm"));
  timeline.warps_of_sm = json.at("warps_of_sm").natural(kMostCount);
  const auto names = json.at("names"), instructions = json.at("instructions"), warps = json.at("warps");
  for (std::size_t i = 0; i < names.list(Timeline::kMostNames).size(); ++i)
    timeline.names.push_back({read_kind(names.item(i).at("kind")), names.item(i).at("text").line(kLongestName)});
  for (std::size_t i = 0; i < instructions.list(Timeline::kMostSpans).size(); ++i) {
    const auto words = instructions.item(i);
    if (words.list().size() != 3) words.wrong("place, opcode and statement");
    timeline.instructions.push_back({words.item(0).line(), words.item(1).line(), words.item(2).line()});
  }
  std::size_t left = Timeline::kMostSpans;
  for (std::size_t i = 0; i < warps.list(Timeline::kMostWarps).size(); ++i) {
    auto& warp = timeline.warps.emplace_back();
    warp.block = warps.item(i).at("block").natural(kMostCount);
    warp.first_thread = small(warps.item(i).at("first_thread"));
    const auto spans = warps.item(i).at("spans");
    for (std::size_t k = 0; k < spans.list(left).size(); ++k) warp.spans.push_back(read_span(spans.item(k), timeline));
    left -= warp.spans.size();
  }
  timeline.counters = read_counts(json.at("counts"));
  return timeline;
}

}  // namespace gexp::result
