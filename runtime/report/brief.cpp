// SPDX-License-Identifier: Apache-2.0
// What a survey prints of each of its experiments.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/report/text.h"

namespace gexp::report {
namespace {

using infer::Finding;
using result::Judgement;
using result::RunResult;

constexpr std::size_t kWidth = 110;  // of a line, in bytes

std::string with_ellipsis(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  auto end = most - 4;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // no character in halves
  return text.substr(0, end) + " …";
}

/// "sets = 4, ways = 96, bits = [7, 8]": what is short first, no empty list.
std::string value_text(const Value& value) {
  const auto* fields = value.get<Fields>();
  if (!fields) return show(value);
  std::string text;
  for (const bool lists : {false, true}) {
    for (const auto& [key, field] : *fields) {
      const auto* list = field.get<List>();
      if (!field.known() || (list != nullptr) != lists || (list && list->empty())) continue;
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, with_ellipsis(show(field), 40));
    }
  }
  return text;
}

std::string finding_line(const Finding& finding, std::size_t width, bool colour) {
  const auto name = fmt::format("  {:<{}}  ", finding.id, width);
  if (finding.status == Finding::Status::Undetermined)
    return name + (colour ? "\033[33mundetermined\033[0m" : "undetermined") + ": " + with_ellipsis(finding.why, kWidth - name.size() - 14) + "\n";
  const auto sure = fmt::format("  {:.4g} %", finding.confidence * 100);
  const auto value = with_ellipsis(value_text(finding.value), kWidth - name.size() - sure.size());
  return name + (colour ? "\033[1m" + value + "\033[0m" : value) + sure + "\n";
}

}  // namespace

std::string brief(const compiler::Program& program, const RunResult& result, bool colour) {
  auto text = fmt::format("{}{}{}  ({:.1f} s)\n", result.experiment, program.doc.empty() ? "" : ": ", program.doc, result.seconds);
  std::size_t width = 8;
  for (const auto& finding : result.findings) width = std::max(width, finding.id.size());
  for (const auto& finding : result.findings) text += finding_line(finding, width, colour);
  for (const auto& judged : result.expectations) {
    if (judged.status == Judgement::Status::Fail || judged.status == Judgement::Status::UnexpectedPass) text += fmt::format("  {}: {} ({})\n", word(judged.status), judged.text, judged.observed);
  }
  for (const auto& kept : kept_notes(result)) text += "  " + kept + "\n";
  for (const auto& stage : result.stages) {
    if (stage.status == result::StageResult::Status::Stopped) text += fmt::format("  {} was stopped: {}\n", stage.name, stage.why);
    const auto lost = std::count_if(stage.table.points.begin(), stage.table.points.end(), [](const auto& point) { return !point.outcome.done(); });
    if (lost > 0) text += fmt::format("  {} lost {} of {} points\n", stage.name, lost, stage.table.points.size());
    if (!stage.clocks.empty()) text += fmt::format("  {}: {}\n", stage.name, stage.clocks);
  }
  return text;
}

std::string time_table(const std::vector<const RunResult*>& results, double seconds) {
  std::string text = fmt::format("{:<32}{:>8}{:>8}{:>10}{:>11}{:>11}{:>11}{:>11}{:>11}\n", "where the time went, seconds", "all", "points", "launches", "compiling", "launching", "(device)",
                                 "copying", "inference");
  const auto line = [&](const std::string& name, double all, std::size_t points, const result::TimeSpent& effort, double answering) {
    text += fmt::format("{:<32}{:>8.2f}{:>8}{:>10}{:>11.2f}{:>11.2f}{:>11.2f}{:>11.2f}{:>11.2f}\n", name, all, points, effort.launches, effort.compiling, effort.launching, effort.on_device,
                        effort.measuring - effort.launching - effort.compiling, answering);
  };
  result::TimeSpent of_all;
  double answering = 0;
  std::size_t points = 0;
  for (const auto* result : results) {
    for (const auto& stage : result->stages) {
      line("  " + result->experiment + "." + stage.name + (stage.kept ? " (kept)" : ""), stage.seconds + stage.answering, stage.table.points.size(), stage.effort, stage.answering);
      of_all += stage.effort;
      answering += stage.answering;
      points += stage.table.points.size();
    }
  }
  line("together", seconds, points, of_all, answering);
  return text;
}

}  // namespace gexp::report
