// SPDX-License-Identifier: Apache-2.0
#include "runtime/cli/timeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "runtime/cli/drawn_part.h"
#include "runtime/cli/observed_text.h"
#include "runtime/cli/output.h"
#include "runtime/measure/again.h"
#include "runtime/report/counters_text.h"
#include "runtime/result/point_table.h"

namespace gexp::cli {
namespace {

constexpr std::size_t kShownPoints = 8;
constexpr double kLaunchSeconds = 60;

/// "capacity", then sweeps with their values as they were written.
struct Place {
  std::string stage;
  std::vector<std::pair<std::string, std::string>> at;
};

std::optional<Place> read_place(const std::string& text) {
  std::istringstream words(text);
  Place place;
  words >> place.stage;
  if (place.stage.find('=') != std::string::npos) return std::nullopt;
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) return std::nullopt;
    place.at.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return place;
}

/// Whether a sweep has that value: as it is shown, or as the same number in another unit.
bool is_value(const Value& value, const std::string& text) {
  auto shown = show(value);
  std::erase(shown, ' ');
  if (shown == text) return true;
  const auto* number = value.get<Number>();
  char* rest = nullptr;
  const double given = std::strtod(text.c_str(), &rest);
  if (!number || rest == text.c_str()) return false;
  const auto unit = find_unit(rest);
  if (*rest != '\0' && !unit) return false;
  return given * (unit ? unit->scale : 1) == number->number && (unit ? unit->dimension : Dimension{}) == number->dimension;
}

bool is_at(const Place& place, const records::Point& point, const std::vector<std::string>& columns) {
  return std::all_of(place.at.begin(), place.at.end(), [&](const auto& wanted) {
    const bool swept = std::find(columns.begin(), columns.end(), wanted.first) != columns.end();
    return swept && is_value(point.at.at(wanted.first), wanted.second);
  });
}

/// A stage with a launch of its own, and the first of its points that is wanted.
struct Chosen {
  const result::StageResult* stage = nullptr;
  const records::Point* point = nullptr;
};

Result<Chosen> choose(const Place& place, const compiler::Program& program, const result::RunResult& result) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < result.stages.size(); ++i) {
    const auto& stage = result.stages[i];
    const auto& planned = program.stages[i];
    if (planned.leader || stage.table.points.empty()) continue;
    names.push_back(stage.name);
    if (!place.stage.empty() && stage.name != place.stage) continue;
    const auto& points = stage.table.points;
    const auto found =
        std::find_if(points.begin(), points.end(), [&](const auto& point) { return is_at(place, point, stage.table.columns); });
    if (found != points.end()) return Chosen{&stage, &*found};
    std::vector<std::string> some;
    for (std::size_t k = 0; k < std::min(points.size(), kShownPoints); ++k)
      some.push_back(records::coordinates_text(stage.table, points[k]));
    return failure("E0731", fmt::format("stage `{}` was measured at no such point", stage.name),
                   fmt::format("its points are {}{}", fmt::join(some, "; "), points.size() > kShownPoints ? "; …" : ""));
  }
  if (place.stage.empty()) return failure("E0731", "nothing was measured");
  return failure("E0731", fmt::format("the result holds no records of stage `{}`", place.stage),
                 fmt::format("it holds those of {}", fmt::join(names, ", ")));
}

}  // namespace

std::string misuse_of_place(const std::string& place) {
  return read_place(place) ? "" : place + " is no point: write a stage, then sweeps as 'capacity n=12KiB'";
}

Result<> may_have_timeline(const compiler::Program& program, const std::string& text) {
  const auto place = read_place(text);
  if (!place || place->stage.empty()) return Ok{};
  std::vector<std::string> names;
  for (const auto& stage : program.stages) {
    if (stage.name != place->stage) {
      if (!stage.leader) names.push_back(stage.name);
      continue;
    }
    if (stage.leader)
      return failure("E0731", fmt::format("stage `{}` is measured in the launch of `{}`", stage.name, program.stages[*stage.leader].name), "name that one");
    std::vector<std::string> swept;
    for (const auto& sweep : stage.sweeps) swept.insert(swept.end(), sweep.names.begin(), sweep.names.end());
    for (const auto& [name, value] : place->at) {
      if (std::find(swept.begin(), swept.end(), name) == swept.end())
        return failure("E0731", fmt::format("stage `{}` has no sweep `{}`", stage.name, name), swept.empty() ? "it has none: name the stage alone" : fmt::format("it sweeps {}", fmt::join(swept, ", ")));
    }
    return Ok{};
  }
  return failure("E0731", fmt::format("the experiment has no stage `{}`", place->stage), fmt::format("it has {}", fmt::join(names, ", ")));
}

Result<TraceFile> trace_point(Opened& opened, const Common& common, const compiler::Program& program, result::RunResult& result) {
  const auto chosen = choose(*read_place(common.timeline_of), program, result);
  if (!chosen) return chosen.error();
  const auto where = records::coordinates_text(chosen->stage->table, *chosen->point);
  const auto of = chosen->stage->name + (where.empty() ? "" : " at " + where);
  sim::observe(*opened.backend, kMostSpans);
  TraceFile trace;
  std::optional<result::Timeline> drawn;
  const auto look = [&](const device::Backend& device) {
    const auto& launches = sim::observed(device);
    const auto& all = sim::counted(device);
    const Places places{"PTX", "", {}};
    trace.text = trace_events(launches, places, of);
    drawn = drawn_part(launches, all, places, of);
    const bool cut = launches.size() < all.launches || launches.back().timeline_cut;
    trace.said = fmt::format("timeline of {}, its first repetition: {} of {} launch{}, {} cycles", of, launches.size(), all.launches,
                             all.launches == 1 ? "" : "es", report::grouped(all.cycles));
    if (cut) trace.said += fmt::format(", and of these the first {} spans alone", report::grouped(kMostSpans));
  };
  const auto done = measure::measure_again(program, *opened.backend, *opened.kernels, *chosen->stage, *chosen->point,
                                           common.launch_limit.value_or(kLaunchSeconds), look);
  if (!done) return done.error();
  result.timeline = std::move(drawn);
  return trace;
}

int write_timeline(const Common& common, const Result<TraceFile>& trace) {
  if (interrupted()) return kInterrupted;
  if (!trace) return refuse(trace.error(), nullptr, trace.error().code == "E0731" ? kEnvironment : kFault);
  if (auto written = write_file(common.timeline, trace->text); !written) return refuse(written.error(), nullptr, kEnvironment);
  const auto said = fmt::format("{}; saved as {}\n", trace->said, common.timeline);
  if (common.json)
    print_err("{}", said);
  else
    print_out("{}", said);
  return kDone;
}

}  // namespace gexp::cli
