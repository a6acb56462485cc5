// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/timeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>
#include <vector>

#include "runtime/report/counters_text.h"
#include "runtime/report/escape.h"

namespace gexp::report {
namespace {

using result::Timeline;
using Kind = Timeline::Kind;

constexpr double kWidth = 980, kLeft = 170, kRight = 16, kBar = 20, kLine = 6, kGap = 12, kLegendRow = 20, kAxis = 44;
constexpr double kCharacter = 7.2;        // of the legend's font, at most
constexpr std::size_t kMostLines = 6;     // of loads under way at once in a row
constexpr std::size_t kWarpSize = 32;

// Okabe and Ito's colours, and the ink; a place of this list is a cause in the order of counters.def.
constexpr std::array<std::string_view, 8> kCauses = {"#d55e00", "#e69f00", "#56b4e9", "#8a3ffc", "#cc79a7", "#009e73", "#b8a800", "#9aa5b1"};
constexpr std::array<std::string_view, 6> kLevels = {"#8cc5e3", "#0072b2", "#00805f", "#7b3294", "#a87600", "#4b5563"};

/// "waits for memory", "load from l2"
std::string words_of(const Timeline::Name& name) {
  if (name.kind == Kind::Waits) return "waits for " + name.text;
  return name.kind == Kind::Loads ? "load from " + name.text : name.text;
}

std::string_view colour(const Timeline& timeline, std::size_t index) {
  const auto& name = timeline.names[index];
  if (name.kind == Kind::Issues) return "#1f2933";
  if (name.kind == Kind::Loads) {
    const auto before = std::count_if(timeline.names.begin(), timeline.names.begin() + static_cast<std::ptrdiff_t>(index),
                                      [](const auto& each) { return each.kind == Kind::Loads; });
    return kLevels[static_cast<std::size_t>(before) % kLevels.size()];
  }
  std::size_t cause = 0;
  for (const auto& row : device::counter_rows()) {
    if (!row.name.starts_with("stalled.")) continue;
    auto text = row.name.substr(row.name.find('.') + 1);
    std::replace(text.begin(), text.end(), '_', ' ');
    if (text == name.text) break;
    ++cause;
  }
  return kCauses[cause % kCauses.size()];
}

/// The distance of marks on an axis of so many cycles: 1, 2 or 5 times a power of ten.
std::uint64_t mark_step(std::uint64_t cycles) {
  std::uint64_t power = 1;
  while (cycles / power > 80) power *= 10;
  for (const std::uint64_t step : {power, 2 * power, 5 * power}) {
    if (cycles / step <= 8) return step;
  }
  return 10 * power;
}

/// For each load its line; kMostLines for one that finds none free.
std::vector<std::size_t> lines_of(const Timeline& timeline, const Timeline::Warp& warp) {
  std::vector<std::size_t> lines(warp.spans.size(), kMostLines);
  std::array<std::uint64_t, kMostLines> free{};
  for (std::size_t i = 0; i < warp.spans.size(); ++i) {
    if (timeline.names[warp.spans[i].name].kind != Kind::Loads) continue;
    const auto line = std::find_if(free.begin(), free.end(), [&](std::uint64_t until) { return until <= warp.spans[i].begin; });
    if (line == free.end()) continue;
    *line = warp.spans[i].end;
    lines[i] = static_cast<std::size_t>(line - free.begin());
  }
  return lines;
}

std::size_t left_out(const Timeline& timeline) {
  std::size_t count = 0;
  for (const auto& warp : timeline.warps) {
    const auto lines = lines_of(timeline, warp);
    for (std::size_t i = 0; i < lines.size(); ++i)
      count += timeline.names[warp.spans[i].name].kind == Kind::Loads && lines[i] == kMostLines;
  }
  return count;
}

class TimelineDrawing {
 public:
  explicit TimelineDrawing(const Timeline& timeline) : timeline_(timeline) {}

  std::string svg() {
    legend();
    const double top = y_;
    for (const auto& warp : timeline_.warps) row(warp);
    axis(top);
    constexpr const char* kStyle =
        "text{font-family:system-ui,sans-serif;font-size:12px;fill:#1f2933}.quiet{fill:#52606d}.mark{stroke:#dde3e9;stroke-width:1}"
        ".base{stroke:#52606d;stroke-width:1}";
    const auto label = fmt::format("Timeline of {}: {} warps of SM {}, cycles {} to {}", timeline_.of, timeline_.warps.size(),
                                   timeline_.sm, timeline_.from, timeline_.to);
    return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" class="timeline" viewBox="0 0 {:.0f} {:.0f}" role="img" )"
                       R"(aria-label="{}"><style>{}</style>{}{}</svg>)",
                       kWidth, y_, escaped(label), kStyle, behind_, svg_);
  }

 private:
  void text(double x, double y, const std::string& words, const char* anchor, const char* style = "") {
    svg_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>)", x, y, anchor, style, escaped(words));
  }
  void line(double x1, double y1, double x2, double y2, const char* style) {
    behind_ += fmt::format(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" class="{}"/>)", x1, y1, x2, y2, style);
  }
  [[nodiscard]] double at(std::uint64_t cycle) const {
    const auto all = static_cast<double>(std::max<std::uint64_t>(1, timeline_.to - timeline_.from));
    return kLeft + (kWidth - kLeft - kRight) * static_cast<double>(cycle - timeline_.from) / all;
  }

  void legend() {
    double x = 0;
    y_ = kLegendRow;
    std::vector<std::size_t> order(timeline_.names.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return timeline_.names[a].kind < timeline_.names[b].kind; });
    for (const auto i : order) {
      const auto words = words_of(timeline_.names[i]);
      const double width = 34 + kCharacter * static_cast<double>(words.size());
      if (x > 0 && x + width > kWidth) x = 0, y_ += kLegendRow;
      const bool load = timeline_.names[i].kind == Kind::Loads;
      svg_ += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="14" height="{:.0f}" class="{}" fill="{}"/>)", x, y_ - (load ? 7 : 11),
                          load ? kLine - 2 : 12, style(i), colour(timeline_, i));
      text(x + 20, y_, words, "start");
      x += width;
    }
    y_ += kGap;
  }

  /// The ink turns with the paper.
  [[nodiscard]] const char* style(std::size_t name) const { return timeline_.names[name].kind == Kind::Issues ? "ink" : "span"; }

  void row(const Timeline::Warp& warp) {
    const auto last = warp.first_thread + std::uint64_t{kWarpSize} - 1;
    text(kLeft - 10, y_ + kBar - 6, fmt::format("block {}, threads {}–{}", warp.block, warp.first_thread, last), "end");
    const auto lines = lines_of(timeline_, warp);
    std::size_t used = 0;
    for (std::size_t i = 0; i < warp.spans.size(); ++i) {
      const auto& span = warp.spans[i];
      const bool load = timeline_.names[span.name].kind == Kind::Loads;
      if (load && lines[i] == kMostLines) continue;
      if (load) used = std::max(used, lines[i] + 1);
      const double y = load ? y_ + kBar + 3 + kLine * static_cast<double>(lines[i]) : y_;
      const auto& by = timeline_.instructions[span.instruction];
      const auto title = fmt::format("{}: cycles {} to {} ({}), {} at {}{}{}", words_of(timeline_.names[span.name]), span.begin, span.end,
                                     span.end - span.begin, by.opcode, by.place, by.statement.empty() ? "" : ", ", by.statement);
      svg_ += fmt::format(R"(<rect x="{:.2f}" y="{:.1f}" width="{:.2f}" height="{:.0f}" class="{}" fill="{}"><title>{}</title></rect>)",
                          at(span.begin), y, at(span.end) - at(span.begin), load ? kLine - 2 : kBar, style(span.name),
                          colour(timeline_, span.name), escaped(title));
    }
    y_ += kBar + 3 + kLine * static_cast<double>(used) + kGap;
  }

  void axis(double top) {
    const auto step = mark_step(timeline_.to - timeline_.from);
    for (std::uint64_t cycle = (timeline_.from + step - 1) / step * step; cycle <= timeline_.to; cycle += step) {
      line(at(cycle), top - 4, at(cycle), y_, "mark");
      text(at(cycle), y_ + 15, grouped(cycle), "middle", "quiet");
    }
    line(kLeft, y_, kWidth - kRight, y_, "base");
    text((kLeft + kWidth - kRight) / 2, y_ + 34, "cycles since the launch began", "middle");
    text(kLeft - 10, y_ + 15, fmt::format("SM {}", timeline_.sm), "end", "quiet");
    y_ += kAxis;
  }

  const Timeline& timeline_;
  std::string svg_, behind_;
  double y_ = 0;
};

}  // namespace

std::string timeline_svg(const Timeline& timeline) { return timeline.warps.empty() ? "" : TimelineDrawing(timeline).svg(); }

std::string timeline_words(const Timeline& timeline) {
  auto words = fmt::format("What {} of {} warp{} of SM {} did in {}. ", timeline.warps.size(), timeline.warps_of_sm,
                           timeline.warps_of_sm == 1 ? "" : "s", timeline.sm, timeline.of);
  const bool cut = timeline.from > 0 || timeline.to < timeline.cycles;
  words += cut ? fmt::format("Shown are cycles {} to {} of {}", grouped(timeline.from), grouped(timeline.to), grouped(timeline.cycles))
               : fmt::format("Shown are all {} cycles", grouped(timeline.cycles));
  words += fmt::format(" of launch {} of {}", timeline.launch, timeline.launches);
  words += cut ? ", up to the last value that came from a memory. " : ". ";
  if (!timeline.noted_whole) words += "The launch went on after the part of it that was noted. ";
  if (const auto loads = left_out(timeline); loads > 0) words += fmt::format("{} loads that overlapped others are not drawn. ", loads);
  return words + "No finding reads this.";
}

}  // namespace gexp::report
