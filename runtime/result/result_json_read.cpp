// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "lang/base/visible.h"
#include "runtime/result/checked_json.h"
#include "runtime/result/result_json.h"
#include "runtime/result/result_words.h"
#include "runtime/result/ticks_text.h"
#include "runtime/result/timeline_json.h"

// Reads what result_json.cpp writes. This file is the schema: each member with its type and its bounds.
namespace gexp::result {
namespace {

using Json = CheckedJson::Json;

constexpr double kMostNumber = 1e18;                        // of cycles, seconds, hertz, accesses
constexpr std::size_t kMostColumns = 64, kMostStages = kMostMembers, kMostSeen = 1 << 16;

/// What a reader knows besides the document.
struct Reading {
  std::vector<std::vector<std::uint32_t>>* lifted;  ///< the lists of ticks that were taken out of the text; null: none was
  ReadBudget& budget;

  /// Takes memory before it is asked for.
  void take(std::uint64_t bytes) const {
    if (!budget.take(bytes)) throw TooLarge{};
  }
};

/// The one whose word the text is.
template <class T, class Word> T one_of(const CheckedJson& json, std::initializer_list<T> all, const Word& word) {
  const auto text = json.line();
  std::string words;
  for (const auto& each : all) {
    if (text == word(each)) return each;
    words += (words.empty() ? "" : ", ") + std::string(word(each));
  }
  json.wrong("one of: " + words);
}

Value read_value(const CheckedJson& checked) {
  const auto& json = checked.json();
  if (json.is_null()) return {};
  if (json.is_boolean()) return checked.flag();
  if (json.is_string()) return checked.line();
  if (json.is_number()) return checked.number();
  if (json.is_array()) {
    List list;
    for (std::size_t i = 0; i < checked.size(); ++i) list.push_back(read_value(checked.item(i)));
    return list;
  }
  if (checked.has("fields")) {
    Fields fields;
    const auto inner = checked.at("fields");
    for (const auto& [key, item] : inner.object().json().items()) fields[key] = read_value(CheckedJson(item, key));
    return fields;
  }
  const auto unit = checked.at("unit").line();
  const auto found = find_unit(unit);
  if (unit != "count" && !found) checked.at("unit").wrong("a unit");
  return Value(checked.at("n").number(), unit == "count" ? Dimension{} : found->dimension);
}

std::map<std::string, Value> read_values(const CheckedJson& json) {
  std::map<std::string, Value> values;
  for (const auto& [key, item] : json.object().json().items()) {
    if (key.size() > kLongestName || find_control(key) != key.size()) json.wrong("an object of names");
    values[key] = read_value(CheckedJson(item, key));
  }
  return values;
}

std::string read_date(const CheckedJson& json) {
  auto date = json.line();
  if (!is_date(date)) json.wrong("a time as 2026-11-22T10:30:00Z");
  return date;
}

std::vector<std::uint32_t> read_ticks(const CheckedJson& coded, const Reading& reading) {
  constexpr std::uint64_t kMostTick = std::numeric_limits<std::uint32_t>::max();
  if (reading.lifted) return std::move((*reading.lifted)[coded.natural(reading.lifted->size() - 1)]);
  if (coded.list().size() % 2 != 0) coded.wrong("pairs of value and count");
  std::vector<std::uint32_t> ticks;
  for (std::size_t i = 0; i < coded.size(); i += 2) {
    const auto count = coded.item(i + 1).natural(kMaxTicks);
    reading.take(count * kBytesATick);
    ticks.insert(ticks.end(), count, static_cast<std::uint32_t>(coded.item(i).natural(kMostTick)));
  }
  return ticks;
}

records::Run read_run(const CheckedJson& json, const Reading& reading) {
  records::Run run;
  reading.take(kBytesARun);
  run.ticks = read_ticks(json.at("ticks"), reading);
  read_run_head(json, run);
  return run;
}

records::Point read_point(const CheckedJson& json, const Reading& reading) {
  records::Point point;
  point.at = read_values(json.at("at"));
  point.overhead = json.at("overhead").number(-kMostNumber, kMostNumber);
  if (json.has("overhead_error")) point.overhead_error = json.at("overhead_error").number(0, kMostNumber);
  point.steps = json.at("steps").whole(0, kMostCount);
  point.warm_steps = json.at("warm_steps").whole(0, kMostCount);
  if (json.has("converged")) point.converged = json.at("converged").flag();
  if (json.has("outcome")) {
    using Status = device::Outcome::Status;
    const auto outcome = json.at("outcome");
    point.outcome.status = one_of(outcome.at("status"), {Status::Timeout, Status::Interrupted, Status::Fault, Status::Unplaced}, [](Status status) { return device::word(status); });
    point.outcome.what = outcome.at("what").text(kLongestLine);
  }
  const auto runs = json.at("runs");
  if (runs.json().is_number()) {
    const auto count = runs.natural(kMaxTicks);
    reading.take(count * kBytesARun);
    point.runs.resize(count);
  } else {
    for (std::size_t i = 0; i < runs.list().size(); ++i) point.runs.push_back(read_run(runs.item(i), reading));
  }
  return point;
}

RefinementCost read_refined(const CheckedJson& spent) {
  const auto number = [](const CheckedJson& json) { return json.number(0, kMostNumber); };
  const auto full = spent.at("full");
  return {number(spent.at("points")), number(spent.at("accesses")), {number(full.at("points")), number(full.at("accesses")), full.at("about").flag(), full.at("at_least").flag()}};
}

PointCounters read_counters(const CheckedJson& json, const Reading& reading) {
  PointCounters point;
  point.at = read_values(json.at("at"));
  const auto counts = json.at("counts");
  reading.take(counts.size() * sizeof(device::Counters::value_type));
  point.counts = read_counts(counts);
  return point;
}

StageResult read_stage(const CheckedJson& json, const Reading& reading) {
  using Status = StageResult::Status;
  using Timing = records::Table::Timing;
  StageResult stage;
  stage.name = json.at("name").name();
  stage.status = one_of(json.at("status"), {Status::Done, Status::Blocked, Status::Stopped}, stage_word);
  if (json.has("why")) stage.why = json.at("why").text(kLongestLine);
  if (json.has("kept")) {
    const auto kept = json.at("kept");
    stage.kept = KeptFrom{kept.at("result").whole(0, kMostCount), read_date(kept.at("date")), kept.at("seconds").number(0, kMostNumber)};
  }
  stage.inputs = read_values(json.at("inputs"));
  stage.skipped = json.at("skipped").whole(0, kMostCount);
  if (json.has("clocks")) stage.clocks = json.at("clocks").text(kLongestLine);
  if (json.has("no_room")) {
    stage.no_room = json.at("no_room").at("points").whole(0, kMostCount);
    stage.why_no_room = json.at("no_room").at("why").text(kLongestLine);
  }
  if (json.has("refined")) stage.spent = read_refined(json.at("refined"));
  if (json.has("counters")) {
    const auto counters = json.at("counters");
    for (std::size_t i = 0; i < counters.list().size(); ++i) stage.counters.push_back(read_counters(counters.item(i), reading));
  }
  stage.table.stage = stage.name;
  if (const auto record = json.at("record"); !record.line().empty()) stage.table.timed = record.name();  // of a blocked stage there is none
  stage.table.timing = one_of(json.at("timing"), {Timing::Each, Timing::Total, Timing::Wall, Timing::Values}, timing_word);
  const auto columns = json.at("columns");
  for (std::size_t i = 0; i < columns.list(kMostColumns).size(); ++i) stage.table.columns.push_back(columns.item(i).name());
  const auto points = json.at("points");
  for (std::size_t i = 0; i < points.list().size(); ++i) {
    stage.table.points.push_back(read_point(points.item(i), reading));
    for (const auto& column : stage.table.columns) {
      if (!stage.table.points.back().at.contains(column)) throw BadShape{"a point lacks its column " + column};
    }
  }
  return stage;
}

ConditionSample read_seen(const CheckedJson& json) {
  constexpr std::int64_t kMostDegrees = 1000, kMostPercent = 1000;
  ConditionSample seen;
  seen.when = json.at("when").line();
  auto& now = seen.condition;
  now.sm_clock_hz = json.at("sm_clock_hz").number(0, kMostNumber);
  now.sm_clock_max_hz = json.at("sm_clock_max_hz").number(0, kMostNumber);
  now.memory_clock_hz = json.at("memory_clock_hz").number(0, kMostNumber);
  now.temperature = static_cast<int>(json.at("temperature").whole(-kMostDegrees, kMostDegrees));
  now.busy = static_cast<int>(json.at("busy_percent").whole(0, kMostPercent));
  now.slowed = json.at("slowed_by").lines(kMostMembers);
  const auto others = json.at("others");
  for (std::size_t i = 0; i < others.list(kMostSeen).size(); ++i) {
    const auto process = others.item(i);
    now.others.push_back({static_cast<std::uint32_t>(process.at("pid").natural(std::numeric_limits<std::uint32_t>::max())), process.at("bytes").natural()});
  }
  return seen;
}

/// "3.5"
void read_compute(const CheckedJson& json, device::DeviceInfo& device) {
  const auto text = json.line();
  const auto* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, device.compute_major);
  const bool dot = major.ec == std::errc() && major.ptr != end && *major.ptr == '.';
  const auto minor = dot ? std::from_chars(major.ptr + 1, end, device.compute_minor) : major;
  if (!dot || minor.ec != std::errc() || minor.ptr != end) json.wrong("a compute capability as 3.5");
}

device::DeviceInfo read_device(const CheckedJson& json) {
  constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 60;
  constexpr std::int64_t kMostSms = 1 << 20;
  device::DeviceInfo device;
  device.kind = one_of(json.at("kind"), {"simulated", "cuda"}, [](const char* kind) { return kind; });
  device.id = json.at("id").line();
  const std::string_view prefix = device.kind == "simulated" ? "sim:" : "cuda:";
  if (!device.id.starts_with(prefix) || device.id.size() == prefix.size()) json.at("id").wrong(fmt::format("a device as {}NAME", prefix));
  const auto bytes = [&](const char* key) { return json.has(key) ? json.at(key).natural(kMostBytes) : 0; };
  const auto line = [&](const char* key) { return json.has(key) ? json.at(key).line() : std::string(); };
  const auto flag = [&](const char* key) { return json.has(key) && json.at(key).flag(); };
  device.selector = json.at("selector").line();
  device.name = json.at("name").line();
  read_compute(json.at("compute"), device);
  device.sms = static_cast<int>(json.at("sms").whole(0, kMostSms));
  device.sm_clock_hz = json.at("sm_clock_hz").number(0, kMostNumber);
  device.memory_clock_hz = json.at("memory_clock_hz").number(0, kMostNumber);
  if (json.has("memory_peak_by_api")) device.memory_peak = json.at("memory_peak_by_api").number(0, kMostNumber);
  device.shared_per_block = bytes("shared_per_block");
  device.shared_per_sm = bytes("shared_per_sm");
  device.memory_bytes = json.at("memory_bytes").natural(kMostBytes);
  device.l2_bytes = json.at("l2_bytes_by_api").natural(kMostBytes);
  if (json.has("model_sha256")) device.model_sha256 = json.at("model_sha256").hash(true);
  device.driver = line("driver");
  device.uuid = line("uuid");
  device.ecc = flag("ecc");
  device.mig = flag("mig");
  device.persistence = flag("persistence");
  return device;
}

void read_spec(const CheckedJson& spec, RunResult& result) {
  result.spec_path = spec.at("path").line();
  result.spec_text = spec.at("text").text(kLongestFile);
  result.spec_sha256 = spec.at("sha256").hash(true);
  const auto settings = spec.at("settings");
  for (const auto& [key, value] : settings.object().json().items()) {
    if (find_control(key) != key.size()) settings.wrong("an object of names");
    result.settings.emplace_back(key, CheckedJson(value, key).line());
  }
  if (spec.has("uses")) {
    const auto uses = spec.at("uses");
    for (std::size_t i = 0; i < uses.list(kMostMembers).size(); ++i) {
      const auto used = uses.item(i);
      result.used.push_back({used.at("by").line(), used.at("path").line(), used.at("file").line(), used.at("sha256").hash(true), used.at("text").text(kLongestFile)});
    }
  }
  result.parameters = read_values(spec.at("params"));
  result.seed = spec.at("seed").natural();
}

RunResult read_result(const CheckedJson& json, const Reading& reading) {
  using End = RunResult::End;
  RunResult result;
  result.experiment = json.at("experiment").name();
  read_spec(json.at("spec"), result);
  const auto device = json.at("device");
  result.device = read_device(device);
  if (device.has("structure_by_model")) result.structure = read_value(device.at("structure_by_model"));
  if (device.has("seen")) {
    const auto seen = device.at("seen");
    for (std::size_t i = 0; i < seen.list(kMostSeen).size(); ++i) result.seen.push_back(read_seen(seen.item(i)));
  }
  const auto toolchain = json.at("toolchain");
  result.gexp_version = toolchain.at("gexp").line();
  result.nvrtc = toolchain.at("nvrtc").line();
  const auto kernels = toolchain.at("kernels");
  for (std::size_t i = 0; i < kernels.list().size(); ++i) {
    const auto kernel = kernels.item(i);
    result.kernels.push_back({kernel.at("template").line(kLongestName), kernel.at("key").line(kLongestName), false, 0, nullptr});
  }
  result.end = one_of(json.at("end"), {End::Complete, End::Interrupted, End::Faulted, End::OutOfTime, End::OutOfDefaultTime, End::OutOfSetTime}, [](End end) { return word(end); });
  const auto stages = json.at("stages");
  for (std::size_t i = 0; i < stages.list(kMostStages).size(); ++i) result.stages.push_back(read_stage(stages.item(i), reading));
  if (json.has("timeline")) result.timeline = read_timeline(json.at("timeline"));
  const auto timing = json.at("timing");
  result.date = read_date(timing.at("date"));
  result.seconds = timing.at("seconds").number(0, kMostNumber);
  return result;
}

/// What `read` makes of JSON text, or why not.
template <class Read>
auto parsed(const std::string& text, const std::string& path, ReadBudget& budget, const Read& read) -> Result<decltype(read(CheckedJson(Json()), Reading{nullptr, budget}))> {
  constexpr std::uint64_t kBytesOfTree = 12;  // that a byte of text becomes
  const auto refusals = Budget::refusals();
  try {
    auto lifted = lift_ticks(text, budget);
    if (!budget.take(kBytesOfTree * (lifted.lifted ? lifted.text.size() : text.size()))) throw TooLarge{};
    auto json = parse_json(lifted.lifted ? lifted.text : text, path);
    // Where it is wrong is told of the text as it was written.
    if (!json && lifted.lifted) {
      lifted = {};
      json = parse_json(text, path);
    }
    if (!json) return json.error();
    return read(CheckedJson(*json), Reading{lifted.lifted ? &lifted.ticks : nullptr, budget});
  } catch (const BadShape& problem) {
    if (Budget::refusals() != refusals) return Budget::exceeded({});
    return failure("E0904", fmt::format("{} is damaged: {}", path, problem.what));
  } catch (const TooLarge&) {
    return too_large(path, budget);
  }
}

}  // namespace

Diagnostic too_large(const std::string& path, const ReadBudget& budget) {
  if (budget.is_over()) return Budget::exceeded({});
  return failure("E0905", fmt::format("{} needs more than {} MiB of memory, half of what gexp may hold", path, budget.bytes() >> 20), "GEXP_MEMORY_LIMIT, in MiB, gives more");
}

void read_run_head(const CheckedJson& json, records::Run& run) {
  if (json.has("elapsed")) run.elapsed = json.at("elapsed").number(0, kMostNumber);
  if (json.has("sms")) {
    const auto sms = json.at("sms"), begins = json.at("begins"), ends = json.at("ends");
    constexpr std::uint64_t kMostClock = std::uint64_t{1} << 53;
    for (std::size_t i = 0; i < sms.list().size(); ++i) run.sms.push_back(static_cast<std::uint32_t>(sms.item(i).natural(1 << 20)));
    for (std::size_t i = 0; i < begins.list().size(); ++i) run.begins.push_back(begins.item(i).natural(kMostClock));
    for (std::size_t i = 0; i < ends.list().size(); ++i) run.ends.push_back(ends.item(i).natural(kMostClock));
    if (run.begins.size() != run.sms.size() || run.ends.size() != run.sms.size()) sms.wrong("one for each warp");
  }
  if (!json.has("windows")) return;
  const auto windows = json.at("windows");
  run.windows.clear();
  for (std::size_t i = 0; i < windows.list().size(); ++i) run.windows.push_back(static_cast<std::uint32_t>(windows.item(i).natural(std::numeric_limits<std::uint32_t>::max())));
  const bool ascend = std::adjacent_find(run.windows.begin(), run.windows.end(), std::greater_equal<>()) == run.windows.end();
  if (!ascend || run.windows.empty() || run.windows.front() != 0 || run.windows.back() > run.ticks.size()) windows.wrong("where the launches of a run begin: from 0, ascending");
}

Result<RunResult> from_json(const std::string& text, const std::string& path) {
  ReadBudget budget;
  std::string schema = kSchema;
  auto result = parsed(text, path, budget, [&](const CheckedJson& json, const Reading& reading) {
    schema = json.json().is_object() && json.has("schema") && json.json().at("schema").is_string() ? json.at("schema").line() : "";
    return schema == kSchema ? read_result(json, reading) : RunResult{};
  });
  if (!result || schema == kSchema) return result;
  if (schema.rfind("gexp.result/", 0) != 0) return failure("E0902", fmt::format("{} is no result of gexp", path));
  return failure("E0903", fmt::format("{} has the schema {}, this gexp reads {}", path, schema, kSchema), "use a newer gexp");
}
Result<StageResult> stage_from_json(const std::string& text, const std::string& path, ReadBudget& budget) { return parsed(text, path, budget, read_stage); }
Result<records::Point> point_from_json(const std::string& text, const std::string& path, ReadBudget& budget) { return parsed(text, path, budget, read_point); }

}  // namespace gexp::result
