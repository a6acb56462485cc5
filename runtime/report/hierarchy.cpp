// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "runtime/report/escape.h"

// Nothing is drawn that is no finding: which level lies above which is told by their sizes alone, and a finding is put to the level that
// its stage rests on in the program's graph.
namespace gexp::report {
namespace {

using infer::Finding;

constexpr double kDrawingWidth = 680, kGap = 44, kPad = 18, kRow = 22, kHead = 58;
constexpr std::size_t kMostSets = 64;  // bars of one level

bool of(const compiler::Question& question, std::initializer_list<std::string_view> analyses) {
  return std::find(analyses.begin(), analyses.end(), question.analysis) != analyses.end();
}

const List* set_sizes(const Finding& finding) {
  const auto* fields = finding.value.get<Fields>();
  if (!fields || !fields->count("sizes") || !fields->count("ways")) return nullptr;
  const auto* sizes = fields->at("sizes").get<List>();
  return sizes && !sizes->empty() && sizes->size() <= kMostSets ? sizes : nullptr;
}

/// "4 sets of 96 ways", "lru", "32 B"
std::string said(const Finding& finding) {
  const auto* fields = finding.value.get<Fields>();
  if (!fields) return show(finding.value);
  const auto field = [&](const char* name) { return fields->count(name) && fields->at(name).known() ? show(fields->at(name)) : std::string(); };
  const auto sets = field("sets"), ways = field("ways"), sizes = field("sizes"), name = field("name");
  if (!sets.empty()) {
    const auto* list = set_sizes(finding);
    const bool alike = list && std::all_of(list->begin(), list->end(), [&](const Value& size) { return size == list->front(); });
    return fmt::format("{} set{} of {} ways", sets, sets == "1" ? "" : "s", alike ? show(list->front()) : sizes.empty() ? ways : sizes);
  }
  return name.empty() ? show(finding.value) : name;
}

struct Drawing {
  std::string svg;
  void text(double x, double y, const char* style, const std::string& words, const char* anchor = "start") {
    svg += fmt::format(R"(<text x="{:.0f}" y="{:.0f}" class="{}" text-anchor="{}">{}</text>)", x, y, style, anchor, escaped(words));
  }
  void box(double x, double y, double width, double height, const char* style, double round) {
    svg += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{:.0f}" class="{}"/>)", x, y, width, height, round, style);
  }
  void arrow(double x, double from, double to) {
    svg += fmt::format(R"(<path d="M{0:.0f} {1:.0f}V{2:.0f}m-5 -7l5 7l5 -7" class="arrow"/>)", x, from, to);
  }
  /// A bar a set, as high as it has ways.
  void sets(double right, double bottom, const List& sizes) {
    double most = 1;
    for (const auto& size : sizes) {
      if (const auto* n = size.get<Number>()) most = std::max(most, n->number);
    }
    const double width = std::min(16.0, 150.0 / static_cast<double>(sizes.size()));
    double x = right - width * static_cast<double>(sizes.size());
    for (const auto& size : sizes) {
      const auto* n = size.get<Number>();
      const double height = n ? 40 * n->number / most : 0;
      box(x, bottom - height, width - std::min(2.0, width / 4), height, "set", 1);
      x += width;
    }
  }
};

double number(const Finding& finding) {
  const auto* n = finding.value.get<Number>();
  return n ? n->number : 0;
}

}  // namespace

std::vector<MemoryLevel> memory_levels(const compiler::Program& program, const result::RunResult& result) {
  std::vector<MemoryLevel> levels;
  const auto finding_of = [&](const std::string& id) -> const Finding* {
    const auto found = std::find_if(result.findings.begin(), result.findings.end(), [&](const auto& each) { return each.id == id && each.status == Finding::Status::Found; });
    return found == result.findings.end() ? nullptr : &*found;
  };
  std::vector<std::size_t> level_of(program.stages.size(), SIZE_MAX);  // by stage: the last level that it rests on
  for (std::size_t s = 0; s < program.stages.size(); ++s) {
    const auto& stage = program.stages[s];
    for (const auto earlier : stage.after) {
      if (level_of[earlier] != SIZE_MAX && (level_of[s] == SIZE_MAX || level_of[earlier] > level_of[s])) level_of[s] = level_of[earlier];
    }
    for (const auto& question : stage.finds) {
      const auto* finding = finding_of(question.id);
      if (!finding || finding->unit != "B" || !of(question, {"last_flat", "knee"})) continue;
      level_of[s] = levels.size();
      levels.push_back({finding, nullptr, nullptr, {}, stage.doc});
    }
    if (level_of[s] == SIZE_MAX) continue;
    auto& level = levels[level_of[s]];
    for (const auto& question : stage.finds) {
      const auto* finding = finding_of(question.id);
      if (!finding || finding == level.size) continue;
      if (finding->unit == "cycles" && of(question, {"fastest"}) && !level.latency) level.latency = finding;
      else if (finding->unit == "cycles" && of(question, {"slowest"}) && !level.beyond) level.beyond = finding;
      else if (of(question, {"first_flat", "step_width", "cache_sets", "replacement"})) level.others.push_back(finding);
    }
  }
  std::stable_sort(levels.begin(), levels.end(), [](const auto& a, const auto& b) { return number(*a.size) < number(*b.size); });
  return levels;
}

std::string hierarchy_svg(const std::vector<MemoryLevel>& levels) {
  if (levels.empty()) return {};
  Drawing drawing;
  double y = 4;
  std::string description;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const auto& level = levels[i];
    // Wider where it holds more; how much more is said, not drawn.
    const double width = kDrawingWidth * (levels.size() == 1 ? 0.8 : 0.7 + 0.3 * static_cast<double>(i) / static_cast<double>(levels.size() - 1)) - 4;
    const double left = (kDrawingWidth - width) / 2, height = kHead + kRow * static_cast<double>(level.others.size()) + 14;
    drawing.box(left, y, width, height, "level", 8);
    drawing.text(left + kPad, y + 36, "size", show(level.size->value));
    drawing.text(left + kPad + 130, y + 34, "name", level.size->id);
    if (level.latency) {
      drawing.text(left + width - kPad, y + 30, "latency", show(level.latency->value), "end");
      drawing.text(left + width - kPad, y + 47, "name", level.latency->id, "end");
    }
    description += fmt::format("{} {}{}. ", level.size->id, show(level.size->value), level.latency ? fmt::format(", latency {}", show(level.latency->value)) : "");
    double row = y + kHead + 14;
    for (const auto* other : level.others) {
      drawing.text(left + kPad, row, "name", other->id);
      drawing.text(left + kPad + 130, row, "fact", said(*other));
      if (const auto* sizes = set_sizes(*other)) drawing.sets(left + width - kPad, y + height - 12, *sizes);
      description += fmt::format("{}: {}. ", other->id, said(*other));
      row += kRow;
    }
    y += height;
    if (level.beyond || i + 1 < levels.size()) {
      drawing.arrow(kDrawingWidth / 2, y + 3, y + kGap - 4);
      if (level.beyond) {
        drawing.text(kDrawingWidth / 2 + 16, y + 26, "latency", show(level.beyond->value));
        drawing.text(kDrawingWidth / 2 + 16 + 11.0 * static_cast<double>(show(level.beyond->value).size()), y + 26, "name", level.beyond->id);
        description += fmt::format("Beyond it: {}. ", show(level.beyond->value));
      }
      y += kGap;
    }
  }
  constexpr const char* kStyle =
      "text{font-family:system-ui,sans-serif;font-size:13px;fill:#1f2933}.size{font-size:22px;font-weight:600}.latency{font-size:15px;font-weight:600}"
      ".name{font-family:ui-monospace,monospace;font-size:12px;fill:#52606d}.level{fill:#eef5fb;stroke:#0072b2;stroke-width:1.5}"
      ".set{fill:#0072b2;opacity:.65}.arrow{fill:none;stroke:#52606d;stroke-width:1.5}";
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" class="hierarchy" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}"><style>{}</style>{}</svg>)", kDrawingWidth, y + 4,
                     escaped("Memory hierarchy as found. " + description), kStyle, drawing.svg);
}

}  // namespace gexp::report
