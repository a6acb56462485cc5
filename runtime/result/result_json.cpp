// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "runtime/result/result_json.h"
#include "runtime/result/result_words.h"
#include "runtime/result/timeline_json.h"

// The result file. Records keep raw ticks, run-length coded: [value, count, value, count, …] (a cache that hits says the same
// number thousands of times). Patterns and lists of a stage are not kept: the spec makes them again.
namespace gexp::result {
namespace {

using Json = nlohmann::ordered_json;

Json value_json(const Value& value);

struct ValueWriter {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const Number& n) const {
    if (n.number == std::floor(n.number) && std::fabs(n.number) < 9e15) {
      if (n.dimension.none()) return static_cast<std::int64_t>(n.number);
      return Json{{"n", static_cast<std::int64_t>(n.number)}, {"unit", name(n.dimension)}};
    }
    if (n.dimension.none()) return n.number;
    return Json{{"n", n.number}, {"unit", name(n.dimension)}};
  }
  Json operator()(bool flag) const { return flag; }
  Json operator()(const std::string& text) const { return text; }
  Json operator()(const List& list) const {
    Json array = Json::array();
    for (const auto& item : list) array.push_back(value_json(item));
    return array;
  }
  Json operator()(const Fields& fields) const {
    Json inner = Json::object();
    for (const auto& [key, item] : fields) inner[key] = value_json(item);
    return Json{{"fields", inner}};
  }
  Json operator()(const std::shared_ptr<const Pattern>&) const { return nullptr; }  // made again from the spec
};

Json value_json(const Value& value) { return std::visit(ValueWriter{}, value.of); }

/// A finding's value as design.md has it: sizes and latencies as plain numbers, structures as objects.
Json plain_json(const Value& value) {
  if (const auto* n = value.get<Number>()) {
    return n->number == std::floor(n->number) && std::fabs(n->number) < 9e15 ? Json(static_cast<std::int64_t>(n->number)) : Json(n->number);
  }
  if (const auto* list = value.get<List>()) {
    Json array = Json::array();
    for (const auto& item : *list) array.push_back(plain_json(item));
    return array;
  }
  if (const auto* fields = value.get<Fields>()) {
    Json object = Json::object();
    for (const auto& [key, item] : *fields) object[key] = plain_json(item);
    return object;
  }
  return value_json(value);
}

Json values_json(const std::map<std::string, Value>& values) {
  Json object = Json::object();
  for (const auto& [key, value] : values) {
    if (!value.get<std::shared_ptr<const Pattern>>()) object[key] = value_json(value);
  }
  return object;
}

Json ticks_json(const std::vector<std::uint32_t>& ticks) {
  Json coded = Json::array();
  for (std::size_t i = 0; i < ticks.size();) {
    std::size_t end = i;
    while (end < ticks.size() && ticks[end] == ticks[i]) ++end;
    coded.push_back(ticks[i]);
    coded.push_back(end - i);
    i = end;
  }
  return coded;
}

/// What a point is called by: its coordinates, and the stage's lets but for lists. The spec makes those again, as it makes patterns; an
/// access pattern that is a list can be larger than the records.
Json at_json(const records::Point& point, const std::vector<std::string>& columns) {
  auto at = point.at;
  std::erase_if(at, [&](const auto& item) { return item.second.template get<List>() && std::find(columns.begin(), columns.end(), item.first) == columns.end(); });
  return values_json(at);
}

/// `records`: false: of its runs only how many they are.
Json point_json(const records::Point& point, const std::vector<std::string>& columns, bool records) {
  Json runs = Json::array();
  for (const auto& run : point.runs) {
    if (!records) break;
    Json coded = {{"ticks", ticks_json(run.ticks)}};
    if (run.windows.size() > 1) coded["windows"] = run.windows;
    if (run.elapsed > 0) coded["elapsed"] = run.elapsed;
    if (!run.sms.empty()) coded["sms"] = run.sms, coded["begins"] = run.begins, coded["ends"] = run.ends;
    runs.push_back(std::move(coded));
  }
  Json json = {{"at", at_json(point, columns)}, {"overhead", point.overhead}, {"steps", point.steps}, {"warm_steps", point.warm_steps}};
  if (point.overhead_error > 0) json["overhead_error"] = point.overhead_error;
  if (!point.outcome.done()) json["outcome"] = {{"status", word(point.outcome.status)}, {"what", point.outcome.what}};
  json["runs"] = records ? std::move(runs) : Json(point.runs.size());
  return json;
}

Json counters_json(const std::vector<PointCounters>& counters) {
  Json points = Json::array();
  for (const auto& point : counters) points.push_back({{"at", values_json(point.at)}, {"counts", counts_json(point.counts)}});
  return points;
}

Json stage_json(const StageResult& stage, bool records) {
  Json points = Json::array();
  std::int64_t unconverged = 0;
  for (const auto& point : stage.table.points) {
    points.push_back(point_json(point, stage.table.columns, records));
    unconverged += point.converged ? 0 : 1;
    if (!point.converged) points.back()["converged"] = false;
  }
  Json json = {{"name", stage.name}, {"status", stage_word(stage.status)}};
  if (!stage.why.empty()) json["why"] = stage.why;
  if (stage.kept) json["kept"] = {{"result", stage.kept->result}, {"date", stage.kept->date}, {"seconds", stage.kept->seconds}};
  json["record"] = stage.table.timed;
  json["timing"] = timing_word(stage.table.timing);
  json["columns"] = stage.table.columns;
  json["inputs"] = values_json(stage.inputs);
  json["skipped"] = stage.skipped;
  json["unconverged"] = unconverged;
  if (stage.no_room > 0) json["no_room"] = {{"points", stage.no_room}, {"why", stage.why_no_room}};
  if (!stage.clocks.empty()) json["clocks"] = stage.clocks;
  if (stage.spent) {
    const auto& full = stage.spent->full;
    const auto whole = [](double number) { return static_cast<std::int64_t>(std::llround(number)); };
    json["refined"] = {{"points", whole(stage.spent->points)}, {"accesses", whole(stage.spent->accesses)},
                       {"full", {{"points", whole(full.points)}, {"accesses", whole(full.accesses)}, {"about", full.about}, {"at_least", full.at_least}}}};
  }
  if (!stage.counters.empty()) json["counters"] = counters_json(stage.counters);
  json["points"] = std::move(points);
  return json;
}

Json finding_json(const infer::Finding& finding) {
  Json json = {{"id", finding.id}, {"value", plain_json(finding.value)}, {"unit", finding.unit}};
  json["interval"] = finding.interval ? Json::array({finding.interval->first, finding.interval->second}) : Json(nullptr);
  json["confidence"] = finding.confidence;
  json["status"] = infer::word(finding.status);
  json["why"] = finding.why;
  json["evidence"] = finding.evidence;
  return json;
}

Json device_json(const device::DeviceInfo& device) {
  Json json = {{"kind", device.kind}, {"id", device.id}, {"selector", device.selector}, {"name", device.name},
               {"compute", fmt::format("{}.{}", device.compute_major, device.compute_minor)}, {"sms", device.sms},
               {"sm_clock_hz", device.sm_clock_hz}, {"memory_clock_hz", device.memory_clock_hz},
               {"memory_bytes", device.memory_bytes}, {"memory_peak_by_api", device.memory_peak},
               {"shared_per_block", device.shared_per_block}, {"shared_per_sm", device.shared_per_sm}, {"l2_bytes_by_api", device.l2_bytes}};
  if (device.kind == "simulated") {
    json["model_sha256"] = device.model_sha256;
  } else {
    json["driver"] = device.driver;
    json["uuid"] = device.uuid;
    json["ecc"] = device.ecc;
    json["mig"] = device.mig;
    json["persistence"] = device.persistence;
  }
  return json;
}

Json seen_json(const ConditionSample& seen) {
  const auto& now = seen.condition;
  Json others = Json::array();
  for (const auto& process : now.others) others.push_back({{"pid", process.pid}, {"bytes", process.bytes}});
  return {{"when", seen.when}, {"sm_clock_hz", now.sm_clock_hz}, {"sm_clock_max_hz", now.sm_clock_max_hz}, {"memory_clock_hz", now.memory_clock_hz},
          {"temperature", now.temperature}, {"busy_percent", now.busy}, {"slowed_by", now.slowed}, {"others", others}};
}

Json result_json(const RunResult& result, bool stages) {
  Json settings = Json::object();
  for (const auto& [key, value] : result.settings) settings[key] = value;
  Json json;
  json["schema"] = kSchema;
  json["experiment"] = result.experiment;
  json["simulated"] = result.device.kind == "simulated";
  json["spec"] = {{"path", result.spec_path}, {"sha256", result.spec_sha256}, {"settings", settings},
                  {"params", values_json(result.parameters)}, {"seed", result.seed}, {"text", result.spec_text}};
  for (const auto& used : result.used) {
    json["spec"]["uses"].push_back({{"by", used.by}, {"path", used.path}, {"file", used.file}, {"sha256", used.sha256}, {"text", used.text}});
  }
  json["device"] = device_json(result.device);
  for (const auto& seen : result.seen) json["device"]["seen"].push_back(seen_json(seen));
  if (result.structure.known()) json["device"]["structure_by_model"] = value_json(result.structure);
  Json kernels = Json::array();
  for (const auto& kernel : result.kernels) kernels.push_back({{"template", kernel.file}, {"key", kernel.key}});
  json["toolchain"] = {{"gexp", result.gexp_version}, {"nvrtc", result.nvrtc}, {"kernels", kernels}};
  json["end"] = word(result.end);
  json["findings"] = Json::array();
  for (const auto& finding : result.findings) json["findings"].push_back(finding_json(finding));
  json["expectations"] = Json::array();
  for (const auto& judged : result.expectations) {
    json["expectations"].push_back({{"text", judged.text}, {"status", word(judged.status)}, {"observed", judged.observed}, {"from", judged.from}});
  }
  json["stages"] = Json::array();
  for (const auto& stage : result.stages) {
    if (stages) json["stages"].push_back(stage_json(stage, true));
  }
  if (result.timeline) json["timeline"] = timeline_json(*result.timeline);
  Json timing = {{"date", result.date}, {"seconds", result.seconds}};
  timing["stages"] = Json::object();
  for (const auto& stage : result.stages) {
    const auto& effort = stage.effort;
    timing["stages"][stage.name] = {{"seconds", stage.seconds},         {"launches", effort.launches},   {"compiling", effort.compiling}, {"launching", effort.launching},
                                    {"on_device", effort.on_device}, {"measuring", effort.measuring}, {"answering", stage.answering}};
  }
  Json compiles = Json::array();
  for (const auto& kernel : result.kernels) compiles.push_back({{"template", kernel.file}, {"from_cache", kernel.from_cache}, {"seconds", kernel.seconds}});
  timing["compiles"] = compiles;
  json["timing"] = timing;
  return json;
}

std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string to_json(const RunResult& result) { return dump(result_json(result, true), 1) + "\n"; }
std::string head_to_json(const RunResult& result) { return dump(result_json(result, false), -1); }
std::string stage_to_json(const StageResult& stage) { return dump(stage_json(stage, false), -1); }
std::string place_to_json(const std::map<std::string, Value>& at) { return dump(values_json(at), -1); }

std::string point_to_json(const records::Point& point, const std::vector<std::string>& columns) {
  auto json = point_json(point, columns, false);
  if (!point.converged) json["converged"] = false;
  return dump(json, -1);
}

}  // namespace gexp::result
