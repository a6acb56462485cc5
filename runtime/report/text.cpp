// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/report/counters_text.h"

namespace gexp::report {
namespace {

using infer::Finding;
using result::Judgement;
using result::RunResult;

constexpr std::size_t kMaxValue = 72;  // a longer list is cut; the result file has it whole
constexpr std::size_t kColumns = 100;  // of a line of text; a longer one goes on below

struct Paint {
  bool on;
  std::string operator()(const char* code, const std::string& text) const {
    return on && code ? fmt::format("\033[{}m{}\033[0m", code, text) : text;
  }
};

std::string shortened(const std::string& text) {
  return text.size() <= kMaxValue ? text : text.substr(0, kMaxValue - 2) + " …";
}

/// Text of many words as lines of at most kColumns, each behind the same indent; a longer word stays whole.
std::string lines_of(const std::string& text, std::size_t indent, const Paint& paint, const char* code) {
  std::string out, line;
  std::size_t columns = indent;
  const auto end_line = [&] {
    while (line.ends_with(' ')) line.pop_back();
    if (!line.empty()) out += std::string(indent, ' ') + paint(code, line) + "\n";
    line.clear(), columns = indent;
  };
  for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find(' ', at), text.size());
    const auto word = text.substr(at, end - at);
    const auto word_columns = static_cast<std::size_t>(std::count_if(word.begin(), word.end(), [](char c) { return (c & 0xc0) != 0x80; }));
    if (!line.empty() && columns + 1 + word_columns > kColumns) end_line();
    columns += word_columns + (line.empty() ? 0 : 1);
    line += (line.empty() ? "" : " ") + word;
  }
  end_line();
  return out;
}

std::string head(const RunResult& result, const Paint& paint) {
  const auto& device = result.device;
  if (device.kind == "simulated") {
    return paint("1;35", fmt::format("SIMULATED: {} ({}), a model of the device, not a measurement", device.name, device.id)) + "\n";
  }
  return fmt::format("{} ({}, driver {}, SM {:.0f} MHz, ECC {}, MIG {})\n", device.name, device.id, device.driver,
                     device.sm_clock_hz / 1e6, device.ecc ? "on" : "off", device.mig ? "on" : "off");
}

/// The lines of `slopes`, one a row: at what, and how much y for one x. Empty for any other value.
std::string slopes_text(const Value& value, std::size_t indent, const Paint& paint) {
  const auto* list = value.get<List>();
  std::vector<std::pair<std::string, std::string>> rows;
  std::size_t width = 0;
  for (const auto& item : list ? *list : List()) {
    const auto* fields = item.get<Fields>();
    if (!fields || !fields->contains("slope") || !fields->contains("at")) return "";
    rows.emplace_back(show(fields->at("at")), show(fields->at("slope")));
    width = std::max(width, rows.back().first.size());
  }
  std::string text;
  for (const auto& [at, slope] : rows) text += fmt::format("{:<{}}{:<{}}  {}\n", "", indent, at, width, paint("1", slope));
  return text;
}

/// One finding: its value on one line, its fields below it where it has some, then why.
std::string finding_text(const Finding& finding, std::size_t width, const Paint& paint) {
  std::string text;
  const auto name = fmt::format("  {:<{}}  ", finding.id, width);
  if (finding.status == Finding::Status::Undetermined) {
    text += name + paint("33", "undetermined") + "\n";
  } else if (const auto* fields = finding.value.get<Fields>()) {
    text += name + fmt::format("confidence {:.2f} %\n", finding.confidence * 100);
    for (const auto& [key, value] : *fields) {
      if (value.known()) text += fmt::format("  {:<{}}    {} = {}\n", "", width, key, paint("1", shortened(show(value))));
    }
  } else if (const auto rows = slopes_text(finding.value, width + 6, paint); !rows.empty()) {
    text += name + fmt::format("confidence {:.2f} %\n", finding.confidence * 100) + rows;
  } else {
    std::string interval;
    if (finding.interval && finding.interval->first != finding.interval->second) {
      interval = fmt::format(" [{:g}, {:g}]", finding.interval->first, finding.interval->second);
    }
    text += name + paint("1", shortened(show(finding.value))) +
            fmt::format("{}  confidence {:.2f} %{}\n", interval, finding.confidence * 100,
                        finding.status == Finding::Status::Assumed ? "  ASSUMED" : "");
  }
  return text + lines_of(finding.why, width + 6, paint, "2") + lines_of(finding.evidence, width + 6, paint, "2");
}

std::string judgement_text(const Judgement& judged, const Paint& paint) {
  const char* colour = judged.status == Judgement::Status::Pass   ? "32"
                       : judged.status == Judgement::Status::Fail ? "31"
                                                                  : "33";
  constexpr std::size_t kIndent = 11;
  const auto said = lines_of(judged.text + (judged.from.empty() ? "" : fmt::format("  ({})", judged.from)), kIndent, paint, nullptr);
  auto text = fmt::format("  {}  {}", paint(colour, fmt::format("{:<7}", word(judged.status))), said.substr(kIndent));
  if (judged.status != Judgement::Status::Pass) text += lines_of(judged.observed, kIndent, paint, nullptr);
  return text;
}

/// "23 of 512 points, 1.1 of 412 million timed accesses of the full sweep"
std::string spent_text(const result::RefinementCost& spent) {
  const auto& full = spent.full;
  double scale = 1;
  const char* name = "";
  for (const auto& [size, word] : {std::pair{1e9, " billion"}, {1e6, " million"}, {1e3, " thousand"}}) {
    if (full.accesses < size) continue;
    scale = size, name = word;
    break;
  }
  const auto short_of = [&](double number) { return number >= 100 ? fmt::format("{:.0f}", number) : fmt::format("{:.2g}", number); };
  return fmt::format("{:.0f} of {}{:.0f} points, {} of {}{}{} timed accesses of the full sweep", spent.points, full.about ? "about " : "", full.points, short_of(spent.accesses / scale),
                     full.at_least ? "at least " : full.about ? "about " : "", short_of(full.accesses / scale), name);
}

/// Who else computed on the device, and when it was seen.
std::vector<std::string> others_of(const RunResult& result) {
  std::map<std::uint32_t, std::pair<std::uint64_t, std::vector<std::string>>> others;  // by process: most memory, when
  for (const auto& seen : result.seen) {
    for (const auto& process : seen.condition.others) {
      auto& [bytes, when] = others[process.pid];
      bytes = std::max(bytes, process.bytes);
      when.push_back(seen.when);
    }
  }
  std::vector<std::string> said;
  for (const auto& [pid, what] : others) {
    said.push_back(fmt::format("another process computed on {} (process {}{}), seen at {}{}: it may have changed times and rates", result.device.id, pid,
                               what.first ? ", " + show(static_cast<double>(what.first), kBytes) : "", what.second.front(),
                               what.second.size() > 1 ? fmt::format(" and {} times more", what.second.size() - 1) : ""));
  }
  if (said.empty() && !result.seen.empty() && result.seen.front().condition.busy > 25) {
    said.push_back(fmt::format("{} was busy before the run's first kernel ({} % of the time): something else may have changed times and rates", result.device.id,
                               result.seen.front().condition.busy));
  }
  return said;
}

constexpr std::size_t kMostEndsTold = 4;  // limit: points of a stage; an experiment may ask which launches fail

std::string ended_text(device::Outcome::Status status) {
  return status == device::Outcome::Status::Unplaced ? "did not run as it was to" : fmt::format("ended by {}", word(status));
}

/// The stage's only point has no coordinates.
std::string place_text(const records::Table& table, const records::Point& point) {
  const auto where = records::coordinates_text(table, point);
  return where.empty() ? "of the stage" : where;
}

}  // namespace

std::string device_line(const RunResult& result, bool colour) { return head(result, Paint{colour}); }

std::string text(const compiler::Program& program, const RunResult& result, bool colour) {
  const Paint paint{colour};
  std::string out = head(result, paint);
  out += fmt::format("{}{}{}\n", result.experiment, program.doc.empty() ? "" : ": ", program.doc);
  std::size_t width = 8;
  for (const auto& finding : result.findings) width = std::max(width, finding.id.size());
  std::size_t found = 0, points = 0, unconverged = 0;
  out += "\nfindings\n";
  for (const auto& finding : result.findings) {
    out += finding_text(finding, width, paint);
    found += finding.status == Finding::Status::Found ? 1 : 0;
  }
  std::string expectations;
  std::size_t pass = 0, judged = 0;
  for (const auto& judgement : result.expectations) {
    if (judgement.status == Judgement::Status::NotHere) continue;
    expectations += judgement_text(judgement, paint);
    pass += judgement.status == Judgement::Status::Pass || judgement.status == Judgement::Status::ExpectedFail ? 1 : 0;
    ++judged;
  }
  if (!expectations.empty()) out += "\nexpectations\n" + expectations;
  std::string refined;
  for (const auto& stage : result.stages) {
    if (stage.spent) refined += fmt::format("  {:<{}}  {}\n", stage.name, width, spent_text(*stage.spent));
  }
  if (!refined.empty()) out += "\nrefined\n" + refined;
  out += counters_text(result, CountsOf::Stages);
  const auto note = [&](const std::string& said) { out += "\n" + lines_of(said, 0, paint, nullptr); };
  for (const auto& kept : kept_notes(result)) note(kept);
  for (const auto& stage : result.stages) {
    points += stage.table.points.size();
    std::size_t failed = 0;
    for (const auto& point : stage.table.points) {
      unconverged += point.converged ? 0 : 1;
      if (!point.outcome.done() && ++failed <= kMostEndsTold) note(fmt::format("{}: the point {} {}: {}", stage.name, place_text(stage.table, point), ended_text(point.outcome.status), point.outcome.what));
    }
    if (failed > kMostEndsTold) note(fmt::format("{}: {} further points of {} did not end well", stage.name, failed - kMostEndsTold, stage.table.points.size()));
    if (stage.no_room > 0) note(fmt::format("{}: {} points were left out for want of memory: {}", stage.name, stage.no_room, stage.why_no_room));
    if (!stage.clocks.empty()) note(fmt::format("{}: {}", stage.name, stage.clocks));
    if (stage.status != result::StageResult::Status::Done) note(fmt::format("{}: {}", stage.name, stage.why));
  }
  for (const auto& other : others_of(result)) out += "\n" + lines_of(other, 0, paint, "33");
  out += fmt::format("\n{} of {} findings found, {} of {} expectations held, {} points", found, result.findings.size(), pass, judged, points);
  if (unconverged) out += fmt::format(" ({} unconverged)", unconverged);
  out += fmt::format(", {:.1f} s", result.seconds);
  const bool to_the_end = std::all_of(result.stages.begin(), result.stages.end(), [](const auto& stage) { return stage.status == result::StageResult::Status::Done; });
  if (result.end != RunResult::End::Complete) out += fmt::format("; {}: {}", to_the_end ? "WITH POINTS LOST" : "ENDED EARLY", word(result.end));
  return out + "\n";
}

}  // namespace gexp::report
