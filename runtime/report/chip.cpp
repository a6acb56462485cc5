// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/chip.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "runtime/report/escape.h"

// Where a multiprocessor lies on the chip is not known. What is drawn is which ones lie together, as the finding says.
namespace gexp::report {
namespace {

using infer::Finding;
using Column = ChipMap::Column;

constexpr double kChipWidth = 760, kChipPad = 12, kChipLabel = 132, kChipCellWidth = 33, kChipCellHeight = 26, kChipTitle = 26, kChipGap = 10;
constexpr double kChipLine = kChipCellHeight + 4;
constexpr double kChipLightText = 0.62;  // from this shade on light text has more contrast than dark text
constexpr std::size_t kChipMostCells = 1024;
// Two ends of one colour that differ in lightness, so that they differ to every eye.
constexpr std::array<double, 3> kChipLight = {0xde, 0xeb, 0xf7}, kChipDark = {0x08, 0x45, 0x8c};

std::optional<Column> column_of(const std::string& finding, const List& list, std::size_t sms) {
  if (list.size() != sms) return std::nullopt;
  Column made{finding, {}, {}};
  for (const auto& item : list) {
    const auto* n = item.get<Number>();
    if (!n || !std::isfinite(n->number) || (!made.of.empty() && n->dimension != made.dimension)) return std::nullopt;
    made.dimension = n->dimension;
    made.of.push_back(n->number);
  }
  return made;
}

/// "clocks.shared 3", or "seen.near none" where it is in no group.
std::string group_of(const Column& column, double group) { return group < 0 ? column.finding + " none" : fmt::format("{} {:.0f}", column.finding, group); }

/// "multiprocessor 17: clocks.shared 3, seen.latency 263 cycles"
std::string words_of_sm(const ChipMap& map, std::size_t sm) {
  std::string words;
  for (const auto& column : map.groups) words += (words.empty() ? "" : ", ") + group_of(column, column.of[sm]);
  for (const auto& column : map.values) words += fmt::format(", {} {}", column.finding, show(column.of[sm], column.dimension));
  return fmt::format("multiprocessor {}: {}", sm, words);
}

class ChipDrawing {
 public:
  explicit ChipDrawing(const ChipMap& map) : map_(map) {
    if (map.values.empty()) return;
    const auto [low, high] = std::minmax_element(map.values[0].of.begin(), map.values[0].of.end());
    low_ = *low, high_ = *high;
  }

  std::string svg() {
    std::map<double, std::vector<std::size_t>> boxes;
    const auto& outer = map_.groups.front();
    for (std::size_t sm = 0; sm < outer.of.size(); ++sm) boxes[outer.of[sm]].push_back(sm);
    for (const auto& [group, sms] : boxes) {
      if (group >= 0) box(group, sms);
    }
    if (const auto none = boxes.find(-1); none != boxes.end()) box(-1, none->second);
    if (!map_.values.empty()) legend();
    const auto label = fmt::format("{} multiprocessors in {} groups by {}; the table below has each of them", outer.of.size(), outer.groups, outer.finding);
    constexpr const char* kStyle =
        "text{font-family:system-ui,sans-serif;font-size:12px;fill:#1f2933}.title{font-size:13px;font-weight:600}.quiet{fill:#52606d}"
        ".group{fill:#f5f7f9;stroke:#9aa5b1;stroke-width:1}.cell{stroke:#52606d;stroke-width:.5}.frame{fill:none;stroke:#1f2933;stroke-width:1.5}.n{text-anchor:middle}.light{fill:#ffffff}";
    return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" class="sms" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}"><style>{}</style>{}</svg>)", kChipWidth, y_ + 2,
                       escaped(label), kStyle, svg_);
  }

 private:
  void text(double x, double y, const char* style, const std::string& words) {
    svg_ += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>)", x, y, style, escaped(words));
  }

  /// A row for each group of the second column, on several lines where it is long.
  void box(double group, const std::vector<std::size_t>& sms) {
    const auto* inner = map_.groups.size() > 1 ? &map_.groups[1] : nullptr;
    std::map<double, std::vector<std::size_t>> rows;
    for (const auto sm : sms) rows[inner ? inner->of[sm] : 0].push_back(sm);
    const double left = inner ? kChipPad + kChipLabel : kChipPad;
    const auto a_line = static_cast<std::size_t>((kChipWidth - kChipPad - left) / kChipCellWidth);
    std::size_t lines = 0;
    for (const auto& [at, row] : rows) lines += (row.size() + a_line - 1) / a_line;
    const double height = kChipTitle + static_cast<double>(lines) * kChipLine + kChipPad - 4;
    svg_ += fmt::format(R"(<rect x="1" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="8" class="group"/>)", y_ + 1, kChipWidth - 2, height);
    text(kChipPad, y_ + 19, "title", fmt::format("{}: {} multiprocessor{}", group_of(map_.groups[0], group), sms.size(), sms.size() == 1 ? "" : "s"));
    double y = y_ + kChipTitle;
    for (auto& [at, row] : rows) {
      if (innermost()) std::stable_sort(row.begin(), row.end(), [&](auto a, auto b) { return order_of(a) < order_of(b); });
      if (inner) text(kChipPad, y + 17, "quiet", fmt::format("{} ({})", group_of(*inner, at), row.size()));
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (i > 0 && i % a_line == 0) y += kChipLine;
        cell(left + kChipCellWidth * static_cast<double>(i % a_line), y, row[i]);
      }
      frames(left, y - kChipLine * static_cast<double>((row.size() - 1) / a_line), a_line, row);
      y += kChipLine;
    }
    y_ += height + kChipGap;
  }

  [[nodiscard]] const Column* innermost() const { return map_.groups.size() > 2 ? &map_.groups[2] : nullptr; }
  /// Those of no group behind all others.
  [[nodiscard]] double order_of(std::size_t sm) const { return innermost()->of[sm] < 0 ? INFINITY : innermost()->of[sm]; }

  /// Around cells of one row and of one group of the third column, line by line.
  void frames(double left, double top, std::size_t a_line, const std::vector<std::size_t>& row) {
    if (!innermost()) return;
    for (std::size_t first = 0, end = 0; first < row.size(); first = end) {
      for (end = first + 1; end < row.size() && end % a_line != 0 && order_of(row[end]) == order_of(row[first]);) ++end;
      if (end - first < 2 || std::isinf(order_of(row[first]))) continue;
      svg_ += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="4" class="frame"/>)", left + kChipCellWidth * static_cast<double>(first % a_line) - 1.5,
                          top + kChipLine * static_cast<double>(first / a_line) - 1.5, kChipCellWidth * static_cast<double>(end - first), kChipCellHeight + 3);
    }
  }

  void cell(double x, double y, std::size_t sm) {
    const double shade = shade_of(sm);
    svg_ += fmt::format(R"(<g><title>{}</title><rect x="{:.1f}" y="{:.1f}" width="{:.0f}" height="{:.0f}" rx="3" class="cell" fill="{}"/><text x="{:.1f}" y="{:.1f}" class="n{}">{}</text></g>)",
                        escaped(words_of_sm(map_, sm)), x, y, kChipCellWidth - 3, kChipCellHeight, colour(shade), x + (kChipCellWidth - 3) / 2, y + 17, shade > kChipLightText ? " light" : "", sm);
  }

  void legend() {
    constexpr int kChipSteps = 5;
    const auto& column = map_.values[0];
    text(kChipPad, y_ + 17, "quiet", column.finding);
    for (int step = 0; step <= kChipSteps; ++step) {
      const double share = static_cast<double>(step) / kChipSteps, x = kChipPad + kChipLabel + 62 * step;
      svg_ += fmt::format(R"(<rect x="{:.0f}" y="{:.1f}" width="62" height="12" class="cell" fill="{}"/>)", x, y_ + 6, colour(share));
    }
    text(kChipPad + kChipLabel, y_ + 34, "quiet", show(low_, column.dimension));
    svg_ += fmt::format(R"(<text x="{:.0f}" y="{:.1f}" class="quiet" text-anchor="end">{}</text>)", kChipPad + kChipLabel + 62.0 * (kChipSteps + 1), y_ + 34, escaped(show(high_, column.dimension)));
    y_ += 44;
  }

  [[nodiscard]] double shade_of(std::size_t sm) const {
    if (map_.values.empty()) return 0;
    return high_ > low_ ? (map_.values[0].of[sm] - low_) / (high_ - low_) : 0;
  }
  static std::string colour(double shade) {
    const auto mixed = [&](std::size_t i) { return static_cast<int>(std::lround(kChipLight[i] + (kChipDark[i] - kChipLight[i]) * shade)); };
    return fmt::format("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2));
  }

  const ChipMap& map_;
  std::string svg_;
  double y_ = 0, low_ = 0, high_ = 0;
};

std::string table_html(const ChipMap& map) {
  std::string head = "<th scope=\"col\">multiprocessor</th>", body;
  for (const auto* columns : {&map.groups, &map.values}) {
    for (const auto& column : *columns) head += fmt::format("<th scope=\"col\">{}</th>", escaped(column.finding));
  }
  for (std::size_t sm = 0; sm < map.groups[0].of.size(); ++sm) {
    body += fmt::format("<tr><th scope=\"row\">{}</th>", sm);
    for (const auto& column : map.groups) body += fmt::format("<td>{}</td>", column.of[sm] < 0 ? "none" : fmt::format("{:.0f}", column.of[sm]));
    for (const auto& column : map.values) body += fmt::format("<td>{}</td>", escaped(show(column.of[sm], column.dimension)));
    body += "</tr>\n";
  }
  return "<details><summary>every multiprocessor</summary><div class=\"rows\"><table><thead><tr>" + head + "</tr></thead><tbody>\n" + body + "</tbody></table></div></details>";
}

}  // namespace

std::optional<ChipMap> chip_map(const result::RunResult& result) {
  const auto sms = static_cast<std::size_t>(std::max(0, result.device.sms));
  if (sms < 2 || sms > kChipMostCells) return std::nullopt;
  ChipMap map;
  for (const auto& finding : result.findings) {
    if (finding.status == Finding::Status::Undetermined) continue;
    const auto* fields = finding.value.get<Fields>();
    const auto* groups = fields && fields->count("of") && fields->count("sizes") ? fields->at("of").get<List>() : nullptr;
    const auto* list = groups ? groups : finding.value.get<List>();
    auto column = list ? column_of(finding.id, *list, sms) : std::nullopt;
    if (!column) continue;
    if (!groups) {
      map.values.push_back(std::move(*column));
      continue;
    }
    auto different = std::set<double>(column->of.begin(), column->of.end());
    different.erase(-1);
    column->groups = different.size();
    map.groups.push_back(std::move(*column));
  }
  if (map.groups.empty()) return std::nullopt;
  std::stable_sort(map.groups.begin(), map.groups.end(), [](const auto& a, const auto& b) { return a.groups < b.groups; });
  return map;
}

std::string chip_html(const ChipMap& map) {
  return fmt::format("<figure class=\"figure\" data-svg=\"multiprocessors\"><div class=\"drawing wide\">{}</div>{}</figure>", ChipDrawing(map).svg(), table_html(map));
}

}  // namespace gexp::report
