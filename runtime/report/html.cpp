// SPDX-License-Identifier: Apache-2.0
#include "runtime/report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "lang/base/embedded.h"
#include "runtime/report/chip.h"
#include "runtime/report/counters_text.h"
#include "runtime/report/escape.h"
#include "runtime/report/heat.h"
#include "runtime/report/hierarchy.h"
#include "runtime/report/highlight.h"
#include "runtime/report/timeline_svg.h"

namespace gexp::report {
namespace {

using infer::Finding;
using result::Judgement;
using result::RunResult;

constexpr std::size_t kMostItems = 24;  // of a list that is a finding; the result file has it whole

const std::string& file(const std::vector<embedded::File>& files, std::string_view name) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const auto& each) { return each.name == name; });
  GEXP_CHECK(found != files.end());
  return found->text;
}

std::string value_html(const Value& value) {
  if (const auto* list = value.get<List>(); list && list->size() > kMostItems) {
    return fmt::format("{} … <span class=\"quiet\">({} in all)</span>", escaped(show(List(list->begin(), list->begin() + kMostItems))), list->size());
  }
  if (const auto* fields = value.get<Fields>()) {
    std::string text = "<dl class=\"fields\">";
    for (const auto& [key, inner] : *fields) {
      if (inner.known()) text += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>", escaped(key), value_html(inner));
    }
    return text + "</dl>";
  }
  return escaped(show(value));
}

std::string finding_html(const Finding& finding) {
  const bool undetermined = finding.status == Finding::Status::Undetermined;
  std::string value = undetermined ? "<span class=\"chip open\">undetermined</span>" : value_html(finding.value);
  if (finding.status == Finding::Status::Assumed) value += " <span class=\"chip open\">assumed</span>";
  if (finding.interval && finding.interval->first != finding.interval->second) {
    value += fmt::format("<div class=\"quiet\">between {:g} and {:g} {}</div>", finding.interval->first, finding.interval->second, escaped(finding.unit));
  }
  const auto sure = undetermined ? std::string("<span class=\"quiet\">none</span>")
                                 : fmt::format("<span class=\"sure\">{:.2f} %</span><span class=\"meter\" aria-hidden=\"true\"><i style=\"width:{:.1f}%\"></i></span>", finding.confidence * 100, finding.confidence * 100);
  std::string why;
  if (!finding.why.empty()) why += fmt::format("<p>{}</p>", escaped(finding.why));
  if (!finding.evidence.empty()) why += fmt::format("<p class=\"quiet\">{}</p>", escaped(finding.evidence));
  return fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td class=\"value\" data-head=\"value\">{}</td><td data-head=\"confidence\">{}</td><td data-head=\"evidence\">{}</td></tr>\n", escaped(finding.id),
                     value, sure, why);
}

std::string findings_html(const RunResult& result) {
  if (result.findings.empty()) return "<p>The experiment asks for nothing.</p>";
  std::string rows;
  for (const auto& finding : result.findings) rows += finding_html(finding);
  return "<table class=\"findings\"><thead><tr><th scope=\"col\">finding</th><th scope=\"col\">value</th><th scope=\"col\">confidence</th><th scope=\"col\">how it is known</th></tr></thead><tbody>\n" + rows +
         "</tbody></table>";
}

std::string expectations_html(const RunResult& result) {
  std::string rows;
  for (const auto& judged : result.expectations) {
    if (judged.status == Judgement::Status::NotHere) continue;
    const bool good = judged.status == Judgement::Status::Pass || judged.status == Judgement::Status::ExpectedFail;
    const char* look = good ? "good" : judged.status == Judgement::Status::Unknown ? "open" : "bad";
    rows += fmt::format("<tr><td><span class=\"chip {}\">{}</span></td><td data-head=\"expected\"><code>{}</code>{}</td><td data-head=\"source\">{}</td></tr>\n", look, word(judged.status),
                        escaped(judged.text), good ? "" : fmt::format("<p class=\"quiet\">{}</p>", escaped(judged.observed)), escaped(judged.from));
  }
  if (rows.empty()) return {};
  return "<section aria-labelledby=\"expectations\"><h2 id=\"expectations\">Expectations</h2><table class=\"expectations\"><thead><tr><th scope=\"col\"></th><th scope=\"col\">expected</th><th "
         "scope=\"col\">source</th></tr></thead><tbody>\n" +
         rows + "</tbody></table></section>";
}

/// Counts in words, a row a subject.
std::string counter_rows_html(const device::Counters& counts, double clock_hz) {
  std::string rows;
  for (const auto& [name, what] : counter_lines(counts, clock_hz))
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escaped(name), escaped(what));
  return "<table class=\"provenance\"><tbody>\n" + rows + "</tbody></table>";
}

/// What warps did when, and the counters of the same launches.
std::string timeline_html(const RunResult& result) {
  const auto svg = result.timeline ? timeline_svg(*result.timeline) : "";
  if (svg.empty()) return {};
  return fmt::format("<section aria-labelledby=\"timeline\"><h2 id=\"timeline\">Timeline</h2><p class=\"lead\">{}</p>"
                     "<figure class=\"figure\" data-svg=\"timeline\"><div class=\"drawing wide\">{}</div></figure>"
                     "<h3>What the same launches did, warm-ups included</h3>{}</section>",
                     escaped(timeline_words(*result.timeline)), svg,
                     counter_rows_html(result.timeline->counters, result.device.sm_clock_hz));
}

/// What the launches of each stage did, where they were counted.
std::string counters_html(const RunResult& result) {
  std::string stages;
  for (const auto& stage : result.stages) {
    if (stage.counters.empty()) continue;
    const auto counts = stage.counted();
    std::string all;
    for (const auto& [name, count] : counts) {
      const auto* row = device::counter_row(name);
      if (count > 0)
        all +=
            fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td class=\"number\">{}</td><td>{}</td><td>{}</td></tr>\n",
                        escaped(name), grouped(count), row ? escaped(row->unit) : "", row ? escaped(row->meaning) : "");
    }
    stages += fmt::format(
        "<h3>{}</h3>{}"
        "<details><summary>every counter that is not 0, and what it means</summary><table class=\"counters\"><thead><tr><th "
        "scope=\"col\">counter</th>"
        "<th scope=\"col\">count</th><th scope=\"col\">unit</th><th "
        "scope=\"col\">meaning</th></tr></thead><tbody>\n{}</tbody></table></details>",
        escaped(stage.name), counter_rows_html(counts, result.device.sm_clock_hz), all);
  }
  if (stages.empty()) return {};
  return "<section aria-labelledby=\"counters\"><h2 id=\"counters\">Counters</h2><p class=\"lead\">What the launches of each "
         "stage did on the simulated device: "
         "all its points and repetitions, warm-ups included. No finding reads this.</p>" +
         stages + "</section>";
}

/// What a reader must know before trusting the rest.
std::string notes_html(const RunResult& result) {
  std::string notes;
  const auto note = [&](const std::string& text) { notes += fmt::format("<li>{}</li>\n", escaped(text)); };
  if (result.end != RunResult::End::Complete) note(fmt::format("The run did not measure everything: {}.", word(result.end)));
  std::map<std::uint32_t, int> others;
  for (const auto& seen : result.seen) {
    for (const auto& process : seen.condition.others) ++others[process.pid];
  }
  if (!others.empty()) note(fmt::format("{} other process{} computed on the device: times and rates may be its doing.", others.size(), others.size() == 1 ? "" : "es"));
  for (const auto& kept : kept_notes(result)) note(kept);
  for (const auto& stage : result.stages) {
    const auto& points = stage.table.points;
    const auto rough = std::count_if(points.begin(), points.end(), [](const auto& point) { return !point.converged; });
    const auto lost = std::count_if(points.begin(), points.end(), [](const auto& point) { return !point.outcome.done(); });
    if (rough) note(fmt::format("{}: {} of {} points did not converge before the stopping rule's bound.", stage.name, rough, points.size()));
    if (lost) note(fmt::format("{}: {} of {} points ended by a fault or a timeout.", stage.name, lost, points.size()));
    if (stage.no_room > 0) note(fmt::format("{}: {} points were left out for want of memory: {}", stage.name, stage.no_room, stage.why_no_room));
    if (!stage.clocks.empty()) note(fmt::format("{}: {}", stage.name, stage.clocks));
    if (stage.status != result::StageResult::Status::Done) note(fmt::format("{}: {}", stage.name, stage.why));
  }
  return notes.empty() ? "" : "<ul class=\"notes\">\n" + notes + "</ul>";
}

std::string summary_html(const RunResult& result) {
  std::size_t found = 0, held = 0, judged = 0, points = 0;
  for (const auto& finding : result.findings) found += finding.status == Finding::Status::Found ? 1 : 0;
  for (const auto& each : result.expectations) {
    judged += each.status == Judgement::Status::NotHere ? 0 : 1;
    held += each.status == Judgement::Status::Pass || each.status == Judgement::Status::ExpectedFail ? 1 : 0;
  }
  for (const auto& stage : result.stages) points += stage.table.points.size();
  auto text = fmt::format("<b>{} of {}</b> findings found", found, result.findings.size());
  if (judged) text += fmt::format(", <b>{} of {}</b> expectations held", held, judged);
  return text + fmt::format(", {} points measured", points);
}

std::string provenance_html(const RunResult& result) {
  std::string rows;
  const auto row = [&](const char* what, const std::string& text) {
    if (!text.empty()) rows += fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", what, text);
  };
  const auto hertz = [](double hz) { return hz > 0 ? fmt::format("{:.0f} MHz", hz / 1e6) : std::string(); };
  const auto& device = result.device;
  const bool simulated = device.kind == "simulated";
  row("device", escaped(fmt::format("{} ({}){}", device.name, device.id, simulated ? ", SIMULATED" : "")));
  row("model file", device.model_sha256.empty() ? "" : fmt::format("<code>sha256 {}</code>", escaped(device.model_sha256)));
  row("multiprocessors", device.sms ? fmt::format("{}, compute capability {}.{}", device.sms, device.compute_major, device.compute_minor) : "");
  row("SM clock", hertz(device.sm_clock_hz));
  row("memory clock", hertz(device.memory_clock_hz));
  if (!simulated) {
    row("driver", escaped(device.driver));
    row("state", fmt::format("ECC {}, MIG {}, persistence {}", device.ecc ? "on" : "off", device.mig ? "on" : "off", device.persistence ? "on" : "off"));
    row("UUID", escaped(device.uuid));
  }
  row("spec", fmt::format("{}<br><code>sha256 {}</code>", escaped(result.spec_path), escaped(result.spec_sha256)));
  std::string used, parameters, kernels;
  for (const auto& each : result.used) used += fmt::format("{}<br><code>sha256 {}</code><br>", escaped(each.path), escaped(each.sha256));
  row("uses", used);
  for (const auto& [name, value] : result.parameters) {
    const bool given = std::any_of(result.settings.begin(), result.settings.end(), [&, &key = name](const auto& setting) { return setting.first == key; });
    parameters += fmt::format("{}{} = {}{}", parameters.empty() ? "" : ", ", escaped(name), escaped(show(value)), given ? " (set)" : "");
  }
  row("parameters", parameters);
  row("seed", fmt::format("{}", result.seed));
  row("gexp", escaped(result.gexp_version));
  row("NVRTC", escaped(result.nvrtc));
  for (const auto& kernel : result.kernels) kernels += fmt::format("<li>{} <code>{}</code></li>", escaped(kernel.file), escaped(kernel.key));
  if (!kernels.empty()) row("kernels", fmt::format("<details><summary>{}, by template and hash</summary><ul>{}</ul></details>", result.kernels.size(), kernels));
  row("measured", fmt::format("{}, in {:.1f} s", escaped(result.date), result.seconds));
  return "<table class=\"provenance\"><tbody>\n" + rows + "</tbody></table>";
}

std::string heat_maps_html(const result::Figures& figures) {
  std::string maps;
  for (const auto& figure : figures.plots) {
    if (figure.heatmap) maps += heat_html(figure);
  }
  return maps.empty() ? maps : "<section aria-labelledby=\"heat\"><h2 id=\"heat\">Heat maps</h2>" + maps + "</section>";
}

std::string multiprocessors_html(const RunResult& result) {
  const auto map = chip_map(result);
  if (!map) return {};
  return "<section aria-labelledby=\"multiprocessors\"><h2 id=\"multiprocessors\">Multiprocessors as found</h2><p class=\"lead\">A cell is a multiprocessor. Those of one "
         "group lie together; where on the chip a group lies is not known. Point at a cell to read what was found of it.</p>" +
         chip_html(*map) + "</section>";
}

/// "2026-11-22T02:56:13Z" as people read it.
std::string moment(const std::string& date) { return date.size() == 20 ? fmt::format("{} {} UTC", date.substr(0, 10), date.substr(11, 5)) : date; }

/// Fills `{{name}}` holes; what is filled in is not looked at again.
std::string filled(std::string_view page, const std::map<std::string_view, std::string>& holes) {
  std::string out;
  for (std::size_t at = 0;;) {
    const auto begin = page.find("{{", at), end = page.find("}}", begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) return out += page.substr(at);
    out += page.substr(at, begin - at);
    const auto hole = holes.find(page.substr(begin + 2, end - begin - 2));
    GEXP_CHECK(hole != holes.end());
    out += hole->second;
    at = end + 2;
  }
}

}  // namespace

std::string html(const compiler::Program& program, const RunResult& result, const result::Figures& figures) {
  const auto& page = embedded::report_page();
  const auto& device = result.device;
  const bool simulated = device.kind == "simulated";
  const auto svg = hierarchy_svg(memory_levels(program, result));
  std::string docs = "{";  // of the stages, for the headings of their figures
  for (const auto& stage : program.stages) docs += fmt::format("{}{}:{}", docs.size() > 1 ? "," : "", json_text(stage.name), json_text(stage.doc));
  docs += "}";
  return filled(
      file(page, "report.html"),
      {{"title", escaped(fmt::format("{} on {}", result.experiment, device.name))},
       {"style", file(page, "report.css")},
       {"simulated",
        simulated ? "<div class=\"simulated\" role=\"note\"><b>SIMULATED</b> A model of the device, not a measurement</div>"
                  : ""},
       {"experiment", escaped(result.experiment)},
       {"doc", program.doc.empty() ? "" : fmt::format("<p class=\"doc\">{}</p>", escaped(program.doc))},
       {"device", escaped(device.name)},
       {"device_id", escaped(device.id)},
       {"date", escaped(moment(result.date))},
       {"summary", summary_html(result)},
       {"notes", notes_html(result)},
       {"findings", findings_html(result)},
       {"hierarchy", svg.empty() ? ""
                                 : "<section aria-labelledby=\"hierarchy\"><h2 id=\"hierarchy\">Memory hierarchy as "
                                   "found</h2><figure class=\"figure\" data-svg=\"hierarchy\"><div class=\"drawing\">" +
                                       svg + "</div></figure></section>"},
       {"multiprocessors", multiprocessors_html(result)},
       {"heat", heat_maps_html(figures)},
       {"expectations", expectations_html(result)},
       {"timeline", timeline_html(result)},
       {"counters", counters_html(result)},
       {"spec", highlighted(result.spec_path, result.spec_text)},
       {"provenance", provenance_html(result)},
       {"docs", in_script(docs)},
       {"data", in_script(figures_json(figures))},
       {"charts", file(embedded::report_charts(), "echarts.common.min.js")},
       {"script", file(page, "report.js")}});
}

}  // namespace gexp::report
