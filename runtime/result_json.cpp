// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "runtime/result_json.h"

// The result file. Records keep raw ticks, run-length coded: [value, count, value, count, …] (a cache that hits says the same
// number thousands of times). Patterns and lists of a stage are not kept: the spec makes them again.
namespace gexp::runtime {
namespace {

using Json = nlohmann::ordered_json;
constexpr const char* kSchema = "gexp.result/1";

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
Json at_json(const infer::Point& point, const std::vector<std::string>& columns) {
  auto at = point.at;
  std::erase_if(at, [&](const auto& item) { return item.second.template get<List>() && std::find(columns.begin(), columns.end(), item.first) == columns.end(); });
  return values_json(at);
}

/// `records`: false: of its runs only how many they are.
Json point_json(const infer::Point& point, const std::vector<std::string>& columns, bool records) {
  Json runs = Json::array();
  for (const auto& run : point.runs) {
    if (!records) break;
    Json coded = {{"ticks", ticks_json(run.ticks)}};
    if (run.windows.size() > 1) coded["windows"] = run.windows;
    if (run.elapsed > 0) coded["elapsed"] = run.elapsed;
    runs.push_back(std::move(coded));
  }
  Json json = {{"at", at_json(point, columns)}, {"overhead", point.overhead}, {"steps", point.steps}, {"warm_steps", point.warm_steps}};
  if (!point.outcome.done()) json["outcome"] = {{"status", word(point.outcome.status)}, {"what", point.outcome.what}};
  json["runs"] = records ? std::move(runs) : Json(point.runs.size());
  return json;
}

const char* stage_word(StageResult::Status status) {
  switch (status) {
    case StageResult::Status::Done: return "done";
    case StageResult::Status::Blocked: return "blocked";
    case StageResult::Status::Stopped: return "stopped";
  }
  return "";
}

const char* timing_word(infer::Table::Timing timing) {
  return timing == infer::Table::Timing::Each ? "each" : timing == infer::Table::Timing::Total ? "total" : "wall";
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

Json device_json(const DeviceInfo& device) {
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

Json seen_json(const Seen& seen) {
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


/// Exceptions of the JSON library stay in this file: from_json catches them.
struct BadShape {
  std::string what;
};

Dimension dimension_of(const std::string& text) {
  if (text == "count") return {};
  const auto unit = find_unit(text);
  if (!unit) throw BadShape{"unknown unit " + text};
  return unit->dimension;
}

Value read_value(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number()) return json.get<double>();
  if (json.is_array()) {
    List list;
    for (const auto& item : json) list.push_back(read_value(item));
    return list;
  }
  if (json.contains("fields")) {
    Fields fields;
    for (const auto& [key, item] : json.at("fields").items()) fields[key] = read_value(item);
    return fields;
  }
  return Value(json.at("n").get<double>(), dimension_of(json.at("unit").get<std::string>()));
}

std::map<std::string, Value> read_values(const Json& json) {
  std::map<std::string, Value> values;
  for (const auto& [key, item] : json.items()) values[key] = read_value(item);
  return values;
}

infer::Run read_run(const Json& json) {
  constexpr std::uint64_t kMaxTicks = std::uint64_t{1} << 31;
  infer::Run run;
  const auto& coded = json.at("ticks");
  if (coded.size() % 2 != 0) throw BadShape{"ticks are pairs of value and count"};
  for (std::size_t i = 0; i < coded.size(); i += 2) {
    const auto count = coded[i + 1].get<std::uint64_t>();
    if (count > kMaxTicks - run.ticks.size()) throw BadShape{"too many ticks"};
    run.ticks.insert(run.ticks.end(), count, coded[i].get<std::uint32_t>());
  }
  run.elapsed = json.value("elapsed", 0.0);
  if (json.contains("windows")) run.windows = json.at("windows").get<std::vector<std::uint32_t>>();
  return run;
}

infer::Point read_point(const Json& json) {
  infer::Point point;
  point.at = read_values(json.at("at"));
  point.overhead = json.at("overhead").get<double>();
  point.steps = json.at("steps").get<std::int64_t>();
  point.warm_steps = json.at("warm_steps").get<std::int64_t>();
  point.converged = json.value("converged", true);
  if (json.contains("outcome")) {
    const auto status = json.at("outcome").at("status").get<std::string>();
    point.outcome.status = status == "timeout"       ? Outcome::Status::Timeout
                           : status == "interrupted" ? Outcome::Status::Interrupted
                                                     : Outcome::Status::Fault;
    point.outcome.what = json.at("outcome").at("what").get<std::string>();
  }
  if (json.at("runs").is_number()) {
    point.runs.resize(json.at("runs").get<std::size_t>());
  } else {
    for (const auto& run : json.at("runs")) point.runs.push_back(read_run(run));
  }
  return point;
}

StageResult read_stage(const Json& json) {
  StageResult stage;
  stage.name = json.at("name").get<std::string>();
  const auto status = json.at("status").get<std::string>();
  stage.status = status == "blocked" ? StageResult::Status::Blocked : status == "stopped" ? StageResult::Status::Stopped : StageResult::Status::Done;
  stage.why = json.value("why", "");
  stage.inputs = read_values(json.at("inputs"));
  stage.skipped = json.at("skipped").get<std::int64_t>();
  stage.clocks = json.value("clocks", "");
  if (json.contains("no_room")) {
    stage.no_room = json.at("no_room").at("points").get<std::int64_t>();
    stage.why_no_room = json.at("no_room").at("why").get<std::string>();
  }
  if (json.contains("refined")) {
    const auto& spent = json.at("refined");
    const auto& full = spent.at("full");
    stage.spent = Spent{spent.at("points").get<double>(), spent.at("accesses").get<double>(),
                        {full.at("points").get<double>(), full.at("accesses").get<double>(), full.at("about").get<bool>(), full.at("at_least").get<bool>()}};
  }
  stage.table.stage = stage.name;
  stage.table.timed = json.at("record").get<std::string>();
  const auto timing = json.at("timing").get<std::string>();
  for (const auto each : {infer::Table::Timing::Each, infer::Table::Timing::Total, infer::Table::Timing::Wall}) {
    if (timing == timing_word(each)) stage.table.timing = each;
  }
  stage.table.columns = json.at("columns").get<std::vector<std::string>>();
  for (const auto& point : json.at("points")) {
    stage.table.points.push_back(read_point(point));
    for (const auto& column : stage.table.columns) {
      if (!stage.table.points.back().at.contains(column)) throw BadShape{"a point lacks its column " + column};
    }
  }
  return stage;
}

Seen read_seen(const Json& json) {
  Seen seen;
  seen.when = json.at("when").get<std::string>();
  auto& now = seen.condition;
  now.sm_clock_hz = json.at("sm_clock_hz").get<double>();
  now.sm_clock_max_hz = json.at("sm_clock_max_hz").get<double>();
  now.memory_clock_hz = json.at("memory_clock_hz").get<double>();
  now.temperature = json.at("temperature").get<int>();
  now.busy = json.at("busy_percent").get<int>();
  now.slowed = json.at("slowed_by").get<std::vector<std::string>>();
  for (const auto& process : json.at("others")) now.others.push_back({process.at("pid").get<std::uint32_t>(), process.at("bytes").get<std::uint64_t>()});
  return seen;
}

RunResult read_result(const Json& json) {
  RunResult result;
  result.experiment = json.at("experiment").get<std::string>();
  const auto& spec = json.at("spec");
  result.spec_path = spec.at("path").get<std::string>();
  result.spec_text = spec.at("text").get<std::string>();
  result.spec_sha256 = spec.at("sha256").get<std::string>();
  for (const auto& [key, value] : spec.at("settings").items()) result.settings.emplace_back(key, value.get<std::string>());
  if (spec.contains("uses")) {
    for (const auto& used : spec.at("uses")) {
      const auto text = [&](const char* key) { return used.at(key).get<std::string>(); };
      result.used.push_back({text("by"), text("path"), text("file"), text("sha256"), text("text")});
    }
  }
  result.parameters = read_values(spec.at("params"));
  result.seed = spec.at("seed").get<std::uint64_t>();
  const auto& device = json.at("device");
  result.device.kind = device.at("kind").get<std::string>();
  result.device.id = device.at("id").get<std::string>();
  result.device.selector = device.at("selector").get<std::string>();
  result.device.name = device.at("name").get<std::string>();
  const auto compute = device.at("compute").get<std::string>();
  if (std::sscanf(compute.c_str(), "%d.%d", &result.device.compute_major, &result.device.compute_minor) != 2) throw BadShape{"compute"};
  result.device.sms = device.at("sms").get<int>();
  result.device.sm_clock_hz = device.at("sm_clock_hz").get<double>();
  result.device.memory_clock_hz = device.at("memory_clock_hz").get<double>();
  result.device.memory_peak = device.value("memory_peak_by_api", 0.0);
  result.device.shared_per_block = device.value("shared_per_block", std::uint64_t{0});
  result.device.shared_per_sm = device.value("shared_per_sm", std::uint64_t{0});
  result.device.memory_bytes = device.at("memory_bytes").get<std::uint64_t>();
  result.device.l2_bytes = device.at("l2_bytes_by_api").get<std::uint64_t>();
  if (device.contains("structure_by_model")) result.structure = read_value(device.at("structure_by_model"));
  result.device.model_sha256 = device.value("model_sha256", "");
  result.device.driver = device.value("driver", "");
  result.device.uuid = device.value("uuid", "");
  result.device.ecc = device.value("ecc", false);
  result.device.mig = device.value("mig", false);
  result.device.persistence = device.value("persistence", false);
  if (device.contains("seen")) {
    for (const auto& seen : device.at("seen")) result.seen.push_back(read_seen(seen));
  }
  const auto& toolchain = json.at("toolchain");
  result.gexp_version = toolchain.at("gexp").get<std::string>();
  result.nvrtc = toolchain.at("nvrtc").get<std::string>();
  for (const auto& kernel : toolchain.at("kernels")) {
    result.kernels.push_back({kernel.at("template").get<std::string>(), kernel.at("key").get<std::string>(), false, 0, nullptr});
  }
  const auto end = json.at("end").get<std::string>();
  for (const auto candidate : {RunResult::End::Interrupted, RunResult::End::Faulted, RunResult::End::OutOfTime,
                               RunResult::End::OutOfDefaultTime, RunResult::End::OutOfSetTime}) {
    if (end == word(candidate)) result.end = candidate;
  }
  for (const auto& stage : json.at("stages")) result.stages.push_back(read_stage(stage));
  const auto& timing = json.at("timing");
  result.date = timing.at("date").get<std::string>();
  result.seconds = timing.at("seconds").get<double>();
  return result;
}

/// What `read` makes of JSON text, or why not.
template <class Read>
auto reading(const std::string& text, const std::string& path, const Read& read) -> Result<decltype(read(Json()))> {
  try {
    return read(Json::parse(text));
  } catch (const Json::parse_error& problem) {
    return failure("E0901", fmt::format("{} is no JSON, or cut short (byte {})", path, problem.byte), "was the run that wrote it stopped half-way?");
  } catch (const Json::exception& problem) {
    return failure("E0904", fmt::format("{} is damaged: {}", path, problem.what()));
  } catch (const BadShape& problem) {
    return failure("E0904", fmt::format("{} is damaged: {}", path, problem.what));
  }
}

std::string dump(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string to_json(const RunResult& result) { return dump(result_json(result, true), 1) + "\n"; }
std::string head_to_json(const RunResult& result) { return dump(result_json(result, false), -1); }
std::string stage_to_json(const StageResult& stage) { return dump(stage_json(stage, false), -1); }
std::string place_to_json(const std::map<std::string, Value>& at) { return dump(values_json(at), -1); }

std::string point_to_json(const infer::Point& point, const std::vector<std::string>& columns) {
  auto json = point_json(point, columns, false);
  if (!point.converged) json["converged"] = false;
  return dump(json, -1);
}

Result<RunResult> from_json(const std::string& text, const std::string& path) {
  std::string schema = kSchema;
  auto result = reading(text, path, [&](const Json& json) {
    schema = json.is_object() ? json.value("schema", "") : "";
    return schema == kSchema ? read_result(json) : RunResult{};
  });
  if (!result || schema == kSchema) return result;
  if (schema.rfind("gexp.result/", 0) != 0) return failure("E0902", fmt::format("{} is no result of gexp", path));
  return failure("E0903", fmt::format("{} has the schema {}, this gexp reads {}", path, schema, kSchema), "use a newer gexp");
}
Result<StageResult> stage_from_json(const std::string& text, const std::string& path) { return reading(text, path, read_stage); }
Result<infer::Point> point_from_json(const std::string& text, const std::string& path) { return reading(text, path, read_point); }

}  // namespace gexp::runtime
