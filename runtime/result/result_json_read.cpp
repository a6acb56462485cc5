// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "runtime/result/result_json.h"
#include "runtime/result/result_words.h"
#include "runtime/result/ticks_text.h"

// Reads what result_json.cpp writes.
namespace gexp::result {
namespace {

using Json = nlohmann::ordered_json;

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

/// The lists of ticks that were lifted out of the text; null: none was.
using Ticks = std::vector<std::vector<std::uint32_t>>*;

std::vector<std::uint32_t> read_ticks(const Json& coded, Ticks lifted) {
  if (lifted) return std::move(lifted->at(coded.get<std::size_t>()));
  std::vector<std::uint32_t> ticks;
  if (coded.size() % 2 != 0) throw BadShape{"ticks are pairs of value and count"};
  for (std::size_t i = 0; i < coded.size(); i += 2) {
    const auto count = coded[i + 1].get<std::uint64_t>();
    if (count > kMaxTicks - ticks.size()) throw BadShape{"too many ticks"};
    ticks.insert(ticks.end(), count, coded[i].get<std::uint32_t>());
  }
  return ticks;
}

records::Run read_run(const Json& json, Ticks lifted) {
  records::Run run;
  run.ticks = read_ticks(json.at("ticks"), lifted);
  run.elapsed = json.value("elapsed", 0.0);
  if (json.contains("windows")) run.windows = json.at("windows").get<std::vector<std::uint32_t>>();
  return run;
}

records::Point read_point(const Json& json, Ticks lifted) {
  records::Point point;
  point.at = read_values(json.at("at"));
  point.overhead = json.at("overhead").get<double>();
  point.overhead_error = json.value("overhead_error", 0.0);
  point.steps = json.at("steps").get<std::int64_t>();
  point.warm_steps = json.at("warm_steps").get<std::int64_t>();
  point.converged = json.value("converged", true);
  if (json.contains("outcome")) {
    const auto status = json.at("outcome").at("status").get<std::string>();
    point.outcome.status = status == "timeout"       ? device::Outcome::Status::Timeout
                           : status == "interrupted" ? device::Outcome::Status::Interrupted
                                                     : device::Outcome::Status::Fault;
    point.outcome.what = json.at("outcome").at("what").get<std::string>();
  }
  if (json.at("runs").is_number()) {
    point.runs.resize(json.at("runs").get<std::size_t>());
  } else {
    for (const auto& run : json.at("runs")) point.runs.push_back(read_run(run, lifted));
  }
  return point;
}

StageResult read_stage(const Json& json, Ticks lifted) {
  StageResult stage;
  stage.name = json.at("name").get<std::string>();
  const auto status = json.at("status").get<std::string>();
  stage.status = status == "blocked" ? StageResult::Status::Blocked : status == "stopped" ? StageResult::Status::Stopped : StageResult::Status::Done;
  stage.why = json.value("why", "");
  if (json.contains("kept")) {
    const auto& kept = json.at("kept");
    stage.kept = KeptFrom{kept.at("result").get<std::int64_t>(), kept.at("date").get<std::string>(), kept.at("seconds").get<double>()};
  }
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
    stage.spent = RefinementCost{spent.at("points").get<double>(), spent.at("accesses").get<double>(),
                        {full.at("points").get<double>(), full.at("accesses").get<double>(), full.at("about").get<bool>(), full.at("at_least").get<bool>()}};
  }
  stage.table.stage = stage.name;
  stage.table.timed = json.at("record").get<std::string>();
  const auto timing = json.at("timing").get<std::string>();
  for (const auto each : {records::Table::Timing::Each, records::Table::Timing::Total, records::Table::Timing::Wall}) {
    if (timing == timing_word(each)) stage.table.timing = each;
  }
  stage.table.columns = json.at("columns").get<std::vector<std::string>>();
  for (const auto& point : json.at("points")) {
    stage.table.points.push_back(read_point(point, lifted));
    for (const auto& column : stage.table.columns) {
      if (!stage.table.points.back().at.contains(column)) throw BadShape{"a point lacks its column " + column};
    }
  }
  return stage;
}

ConditionSample read_seen(const Json& json) {
  ConditionSample seen;
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

RunResult read_result(const Json& json, Ticks lifted) {
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
  for (const auto& stage : json.at("stages")) result.stages.push_back(read_stage(stage, lifted));
  const auto& timing = json.at("timing");
  result.date = timing.at("date").get<std::string>();
  result.seconds = timing.at("seconds").get<double>();
  return result;
}

/// What `make` makes, or why it cannot.
template <class Make>
auto guarded(const std::string& path, const Make& make) -> Result<decltype(make())> {
  try {
    return make();
  } catch (const Json::parse_error& problem) {
    return failure("E0901", fmt::format("{} is no JSON, or cut short (byte {})", path, problem.byte), "was the run that wrote it stopped half-way?");
  } catch (const Json::exception& problem) {
    return failure("E0904", fmt::format("{} is damaged: {}", path, problem.what()));
  } catch (const BadShape& problem) {
    return failure("E0904", fmt::format("{} is damaged: {}", path, problem.what));
  }
}

/// What `read` makes of JSON text, or why not.
template <class Read>
auto parsed(const std::string& text, const std::string& path, const Read& read) -> Result<decltype(read(Json(), Ticks()))> {
  if (auto lifted = lift_ticks(text); lifted.lifted) {
    const auto json = Json::parse(lifted.text, nullptr, false);
    if (!json.is_discarded()) return guarded(path, [&] { return read(json, &lifted.ticks); });
  }
  return guarded(path, [&] { return read(Json::parse(text), nullptr); });  // says where in the file it is wrong
}

}  // namespace

Result<RunResult> from_json(const std::string& text, const std::string& path) {
  std::string schema = kSchema;
  auto result = parsed(text, path, [&](const Json& json, Ticks lifted) {
    schema = json.is_object() ? json.value("schema", "") : "";
    return schema == kSchema ? read_result(json, lifted) : RunResult{};
  });
  if (!result || schema == kSchema) return result;
  if (schema.rfind("gexp.result/", 0) != 0) return failure("E0902", fmt::format("{} is no result of gexp", path));
  return failure("E0903", fmt::format("{} has the schema {}, this gexp reads {}", path, schema, kSchema), "use a newer gexp");
}
Result<StageResult> stage_from_json(const std::string& text, const std::string& path) { return parsed(text, path, read_stage); }
Result<records::Point> point_from_json(const std::string& text, const std::string& path) { return parsed(text, path, read_point); }

}  // namespace gexp::result
