// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/report/escape.h"
#include "runtime/report/hierarchy.h"
#include "runtime/report/highlight.h"
#include "runtime/report/html.h"
#include "runtime/report/plot_text.h"
#include "runtime/report/thin.h"
#include "tests/report/texts.h"

using namespace gexp;
using namespace gexp::report;
using namespace gexp::test;
using result::Dot;

namespace {

result::Figure staircase() {
  result::Figure figure{"capacity", {"n", kBytes, true}, {"median(lat)", kCycles, false}, {{"", {}}}, {{"capacity.C", "12 KiB", 12288, {}, false}}};
  for (double n = 1024; n <= 65536; n *= 2) figure.series[0].dots.push_back({n, n > 12288 ? 220.0 : 110.0, true});
  return figure;
}

/// The width in characters of each line of a text in UTF-8.
std::size_t widest(const std::string& text) {
  std::size_t most = 0, now = 0;
  for (const char c : text) {
    if (c == '\n') most = std::max(most, now), now = 0;
    else if ((c & 0xc0) != 0x80) ++now;
  }
  return most;
}

}  // namespace

TEST_CASE("few dots are drawn whole") {
  const std::vector<Dot> dots = {{1, 5}, {2, 3}, {3, 9}};
  CHECK(thin(dots, 3).size() == 3);
  CHECK(thin({}, 3).empty());
}

TEST_CASE("of many dots, whatever stands out stays") {
  std::vector<Dot> dots;
  for (int i = 0; i < 100'000; ++i) dots.push_back({static_cast<double>(i), static_cast<double>(100 + i % 7)});
  dots[54'321].y = 9000;
  dots[77'777].y = 1;
  dots[12'345].converged = false;
  const auto thinned = thin(dots, 1000);
  CHECK(thinned.size() <= 1000);
  CHECK(thinned.size() > 400);
  const auto kept = [&](double x) { return std::any_of(thinned.begin(), thinned.end(), [&](const Dot& dot) { return dot.x == x; }); };
  CHECK(kept(0));
  CHECK(kept(99'999));
  CHECK(kept(54'321));
  CHECK(kept(77'777));
  CHECK(kept(12'345));
  CHECK(std::is_sorted(thinned.begin(), thinned.end(), [](const Dot& a, const Dot& b) { return a.x < b.x; }));
  CHECK(thin(dots, 1).size() <= 5);
}

TEST_CASE("text is escaped for where it stands") {
  CHECK(escaped("<b a='1' c=\"2\">&") == "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
  CHECK(in_script("{\"a\":\"</script><!--\"}") == "{\"a\":\"\\u003c/script>\\u003c!--\"}");
  CHECK(json_text("a\"\\\n") == "\"a\\\"\\\\\\n\"");
  CHECK_NOTHROW((void)json_text("\xff\xfe"));
}

TEST_CASE("a page keeps to itself whatever its names are") {
  compiler::Program program;
  program.experiment = "x";
  program.doc = "</title><script>alert(1)</script>{{data}}";
  result::RunResult result;
  result.experiment = "x";
  result.device.kind = "simulated";
  result.device.name = "\"><script>alert(2)</script>";
  result.spec_text = "# </pre></code><script>alert(3)</script>\ngexp 1";
  result.findings.push_back({.id = "s.<i>", .value = Value("<img src=x>"), .unit = "name", .interval = {}, .confidence = 0.99, .status = infer::Finding::Status::Found, .why = "</td>", .evidence = "a & b"});
  result::Figures figures;
  figures.plots.push_back(staircase());
  figures.plots[0].series[0].name = "</script><script>alert(4)</script>";
  const auto page = html(program, result, figures);
  CHECK(!has(page, "<script>alert("));
  CHECK(!has(page, "<img src=x"));
  CHECK(has(page, "&lt;/title&gt;&lt;script&gt;alert(1)"));
  CHECK(has(page, "\\u003c/script>\\u003cscript>alert(4)"));
  CHECK(has(page, "class=\"simulated\""));
  CHECK(has(page, "default-src 'none'"));
  result.device.kind = "cuda";
  CHECK(!has(html(program, result, figures), "class=\"simulated\""));
}

TEST_CASE("a spec is highlighted, and one that does not parse is shown as it is") {
  const auto text = highlighted("x.gexp", "gexp 1  # one < two\nexperiment x\n");
  CHECK(has(text, "<span class=\"word\">gexp</span> <span class=\"number\">1</span>  <span class=\"comment\"># one &lt; two</span>"));
  CHECK(highlighted("x.gexp", "<nothing>") == "&lt;nothing&gt;");
}

TEST_CASE("a plot fits its terminal") {
  const auto figure = staircase();
  for (const std::size_t columns : {40, 80, 200}) {
    const auto text = plot_text(figure, columns, false);
    CAPTURE(text);
    CHECK(widest(text) <= columns);
    CHECK(has(text, "median(lat) over n (log)"));
    CHECK(has(text, "220 cycles"));
    CHECK(has(text, "64 KiB"));
    CHECK(has(text, "┊ capacity.C = 12 KiB"));
    CHECK(!has(text, "\033"));
  }
  CHECK(plot_text(figure, 12, false).empty());
  CHECK(plot_text({"s", {}, {}, {}, {}}, 80, false).empty());
  CHECK(has(plot_text(figure, 80, true), "\033[34m"));
}

TEST_CASE("series are told apart by colour, or by letters without it") {
  auto figure = staircase();
  figure.series[0].name = "k = 1";
  figure.series.push_back({"k = 2", {{1024, 50, true}, {65536, 60, false}}});
  CHECK(has(plot_text(figure, 80, false), "a k = 1, b k = 2"));
  CHECK(has(plot_text(figure, 80, true), "\033[33m━\033[0m k = 2"));
  CHECK(has(plot_text(figure, 80, false), "o 1 not converged"));
}

TEST_CASE("one point, and a value below zero, are drawn") {
  result::Figure figure{"s", {"n", {}, true}, {"y", {}, true}, {{"", {{-1, -5, true}}}}, {}};
  CHECK(has(plot_text(figure, 80, false), "y over n\n"));
}

TEST_CASE("the hierarchy holds what was found and nothing else") {
  compiler::Program program;
  const auto stage = [&](const char* name, const char* question, const char* analysis, std::vector<std::size_t> after) {
    compiler::Stage made;
    made.name = name;
    made.after = std::move(after);
    compiler::Question asked;
    asked.id = question;
    asked.analysis = analysis;
    made.finds.push_back(asked);
    program.stages.push_back(made);
  };
  stage("far", "far.C", "last_flat", {});
  stage("near", "near.C", "last_flat", {});
  stage("line", "line.b", "first_flat", {1});
  stage("other", "other.b", "first_flat", {});
  result::RunResult result;
  CHECK(hierarchy_svg(memory_levels(program, result)).empty());
  const auto found = [&](const char* id, double bytes) { result.findings.push_back({id, Value(bytes, kBytes), "B", {}, true, 0.99, infer::Finding::Status::Found, "", ""}); };
  found("far.C", 65536);
  found("near.C", 4096);
  found("line.b", 32);
  found("other.b", 64);
  const auto levels = memory_levels(program, result);
  REQUIRE(levels.size() == 2);
  CHECK(levels[0].size->id == "near.C");
  REQUIRE(levels[0].others.size() == 1);
  CHECK(levels[0].others[0]->id == "line.b");
  CHECK(levels[1].size->id == "far.C");
  CHECK(levels[1].others.empty());
  const auto svg = hierarchy_svg(levels);
  CHECK(has(svg, "4 KiB"));
  CHECK(!has(svg, "other.b"));
  result.findings[1].status = infer::Finding::Status::Undetermined;
  CHECK(memory_levels(program, result).size() == 1);
}
