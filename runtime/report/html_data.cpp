// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "runtime/report/html.h"
#include "runtime/report/thin.h"

namespace gexp::report {
namespace {

using Json = nlohmann::ordered_json;
using result::Figure;
using result::Raster;

constexpr std::size_t kFigureDots = 6'000;  // drawn of one figure
constexpr std::size_t kPageDots = 60'000;    // drawn of all

Json axis_json(const result::Axis& axis) { return {{"name", axis.name}, {"unit", axis.dimension.none() ? "" : name(axis.dimension)}, {"log", axis.log}}; }

Json figure_json(const Figure& figure, std::size_t most) {
  Json series = Json::array();
  for (const auto& each : figure.series) {
    // A dot is [x, y], and [x, y, 0] where it is not converged.
    Json dots = Json::array();
    for (const auto& dot : thin(each.dots, std::max<std::size_t>(50, most * each.dots.size() / figure.size()))) {
      dots.push_back({dot.x, dot.y});
      if (!dot.converged) dots.back().push_back(0);
    }
    series.push_back({{"name", each.name}, {"of", each.dots.size()}, {"dots", std::move(dots)}});
  }
  Json marks = Json::array();
  for (const auto& mark : figure.marks) {
    marks.push_back({{"finding", mark.finding}, {"text", mark.text}, {"at", mark.at}, {"level", mark.level}});
    if (mark.interval) marks.back()["interval"] = {mark.interval->first, mark.interval->second};
  }
  return {{"stage", figure.stage}, {"x", axis_json(figure.x)}, {"y", axis_json(figure.y)}, {"series", std::move(series)}, {"marks", std::move(marks)}};
}

Json raster_json(const Raster& raster) {
  Json rows = Json::array();
  for (const auto& row : raster.rows) {
    Json coded = Json::array();
    for (std::size_t i = 0; i < row.ticks.size();) {
      std::size_t end = i;
      while (end < row.ticks.size() && row.ticks[end] == row.ticks[i]) ++end;
      coded.push_back(row.ticks[i]);
      coded.push_back(end - i);
      i = end;
    }
    rows.push_back({{"name", row.name}, {"overhead", row.overhead}, {"ticks", std::move(coded)}});
  }
  Json levels = Json::array();
  for (const auto& level : raster.levels) levels.push_back({{"centre", level.centre}, {"to", level.to}, {"support", level.support}});
  return {{"stage", raster.stage}, {"record", raster.record}, {"levels", std::move(levels)}, {"runs", raster.runs}, {"steps", raster.steps}, {"runs_a_row", raster.runs_a_row},
          {"steps_a_column", raster.steps_a_column}, {"accesses", raster.accesses}, {"rows", std::move(rows)}};
}

}  // namespace

std::string json_text(const std::string& text) { return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string figures_json(const result::Figures& figures) {
  Json json = {{"plots", Json::array()}, {"rasters", Json::array()}};
  const auto most = std::min(kFigureDots, kPageDots / std::max<std::size_t>(1, figures.plots.size()));
  for (const auto& figure : figures.plots) {
    if (!figure.heatmap) json["plots"].push_back(figure_json(figure, most));
  }
  for (const auto& raster : figures.rasters) json["rasters"].push_back(raster_json(raster));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);  // a name in another encoding must not stop a report
}

}  // namespace gexp::report
