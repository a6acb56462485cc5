// SPDX-License-Identifier: Apache-2.0
// Every analysis, by the parts of a record: each is refused by the check, or its answer is that of a table which holds these values
// alone. The analyses come from the vocabulary, so that a new one is asked here without a word.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lang/vocabulary.h"
#include "tests/infer/table.h"

using namespace gexp;
using lang::Callable;

namespace {

constexpr std::int64_t kSteps = 8, kLaps = 4, kRuns = 3, kWarps = 2;
constexpr const char* kOfWarps =
    "  sweep g in 0..1\n  sweep n in 256B..2KiB step 256B\n  pattern ring = nonuniform(first: uniform(stride: 32B, span: 128B), again: [128B, 160B, 192B, 224B])\n"
    "  launch grid 1 block 64\n  timed lat each { chase A by ring laps 4 }\n";

/// What an access takes: warps miss from different sizes on, and parts of a walk in different numbers. Where warps do not agree in
/// what a hit takes, a warp's own levels are others than those of all warps, and analyses that count misses may tell.
std::uint32_t ticks(bool alike, double n, std::int64_t warp, std::int64_t lap, std::int64_t step, std::int64_t run) {
  const bool misses = n > 1024 + 256 * static_cast<double>(warp) && (step + lap + warp) % 4 != 0;
  return static_cast<std::uint32_t>((misses ? 300 + (alike ? 0 : 20 * warp) : 100 + (alike ? 0 : 10 * warp)) + (step + run) % 2);
}

/// Which values a table holds: of all, those of which this holds.
using Keep = std::function<bool(std::int64_t warp, std::int64_t lap, std::int64_t step)>;

records::Point point(double n, const Keep& keep, bool alike) {
  auto made = test::point(n, kSteps, kLaps, 0, nullptr);
  made.at["g"] = Value(0.0);
  Pattern walk;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const auto any = [&] {
      for (std::int64_t w = 0; w < kWarps; ++w) {
        for (std::int64_t lap = 0; lap < kLaps; ++lap) {
          if (keep(w, lap, step)) return true;
        }
      }
      return false;
    };
    if (!any()) continue;
    const std::string label = step < kSteps / 2 ? "first" : "again";
    if (walk.segments.empty() || walk.segments.back().label != label) walk.segments.push_back({label, walk.steps});
    walk.offsets.push_back(32 * step), ++walk.steps;
  }
  made.walk = std::make_shared<const Pattern>(walk);
  for (std::int64_t run = 0; run < kRuns; ++run) {
    records::Run values;
    std::int64_t traces = 0;
    for (std::int64_t warp = 0; warp < kWarps; ++warp) {
      const auto before = values.ticks.size();
      for (std::int64_t lap = 0; lap < kLaps; ++lap) {
        for (std::int64_t step = 0; step < kSteps; ++step) {
          if (keep(warp, lap, step)) values.ticks.push_back(ticks(alike, n, warp, lap, step, run));
        }
      }
      traces += values.ticks.size() > before ? 1 : 0;
    }
    made.steps = static_cast<std::int64_t>(values.ticks.size()) / std::max<std::int64_t>(traces, 1);
    made.runs.push_back(std::move(values));
  }
  made.moved = -1;
  return made;
}

records::Table table(const Keep& keep, bool alike = false) {
  std::vector<records::Point> points;
  for (double n = 256; n <= 2048; n += 256) points.push_back(point(n, keep, alike));
  auto made = test::table(std::move(points));
  made.columns = {"g", "n"};
  return made;
}
records::Table whole(bool alike = false) {
  return table([](auto, auto, auto) { return true; }, alike);
}

struct Part {
  const char* where;
  Keep keep;
};
const std::vector<Part>& parts_of(std::string_view name) {
  static const std::map<std::string_view, std::vector<Part>> parts{
      {"step", {{"step < 4", [](auto, auto, auto step) { return step < 4; }}, {"step mod 2 == 0", [](auto, auto, auto step) { return step % 2 == 0; }}}},
      {"lap", {{"lap > 1", [](auto, auto lap, auto) { return lap > 1; }}, {"lap == 0", [](auto, auto lap, auto) { return lap == 0; }}}},
      {"seg", {{"seg == \"again\"", [](auto, auto, auto step) { return step >= 4; }}}},
      {"warp", {{"warp == 0", [](auto warp, auto, auto) { return warp == 0; }}, {"warp == 1", [](auto warp, auto, auto) { return warp == 1; }}}},
      {"tid", {{"tid == 32", [](auto warp, auto, auto) { return warp == 1; }}}},
      {"gtid", {{"gtid < 32", [](auto warp, auto, auto) { return warp == 0; }}}},
      {"cta", {{"cta == 0", [](auto, auto, auto) { return true; }}}},
  };
  static const std::vector<Part> none;
  const auto found = parts.find(name);
  return found == parts.end() ? none : found->second;
}

/// A call with what it needs, and `clauses` after its first argument. Where an answer hangs on how many miss, and not only on whether any
/// do, it is asked of the median: warps do not agree in what a miss is.
std::string call_of(const Callable& callable, const std::string& clauses) {
  const bool of_misses = callable.answer == Callable::Answer::Over && callable.name != "highest_at";
  std::string text = fmt::format("{}({}", callable.name, callable.subject == Callable::Subject::Record ? "lat" : of_misses ? "misses(lat)" : "median(lat)");
  if (callable.over == Callable::Clause::Must) text += callable.over_finding ? " over jumps" : " over n";
  text += clauses;
  for (const auto& label : callable.labels) {
    if (label.name == "members") text += ", members: [0B, 32B, 64B, 96B, 128B, 160B, 192B, 224B]";
    if (label.name.empty() || label.optional) continue;
    text += fmt::format(", {}: {}", label.name, label.takes == lang::Takes::Bytes ? "32B" : label.takes == lang::Takes::Cycles ? "100cycles" : "1");
  }
  if (callable.free_labels) text += ", n: 2KiB";
  return text + ")";
}

/// Compiles the question; the codes of what is wrong with it, once a type fits.
struct Compiled {
  std::string codes;
  std::optional<compiler::Program> program;
};
Compiled compiled(const std::string& call) {
  Compiled made;
  for (const char* type : {"list", "B", "count", "cycles", "structure", "line"}) {
    const auto source = std::make_shared<Source>("t.gexp", std::string("gexp 1\nexperiment t\nmemory A: u32[1MiB] in global\nstage s {\n") + kOfWarps +
                                                               "  find jumps: list = spikes(median(lat) over n)\n  find f: " + type + " = " + call + "\n}\n");
    Diagnostics diagnostics;
    auto program = compiler::compile(*source, {}, diagnostics);
    std::string codes;
    for (const auto& each : diagnostics.sorted()) codes += (codes.empty() ? "" : " ") + each.code;
    if (codes.find("E0214") != std::string::npos) continue;
    made.codes = codes;
    if (program) made.program = std::move(*program);
    return made;
  }
  made.codes = "E0214";
  return made;
}

infer::Finding answered(const std::string& call, const records::Table& table) {
  auto made = compiled(call);
  CAPTURE(call);
  REQUIRE(made.codes == "");
  const compiler::Names nothing;
  return infer::answer(made.program->stages[0].finds[1], table, made.program->stages[0], nothing);
}

std::string told(const infer::Finding& finding) {
  return fmt::format("{} {} {:.6f}", finding.status == infer::Finding::Status::Found ? "found" : "undetermined", show(finding.value), finding.confidence);
}

std::size_t count_of(const infer::Finding& finding) {
  const auto* list = finding.value.get<List>();
  return list ? list->size() : 0;
}

}  // namespace

TEST_CASE("every analysis honours every part of a record that the check lets through") {
  std::size_t asked = 0, refused = 0, differ = 0;
  for (const auto& callable : lang::vocabulary()) {
    if (callable.kind != Callable::Kind::Analysis) continue;
    const bool alike = callable.parts == Callable::Parts::Traces;
    for (const auto& name : lang::part_names()) {
      CAPTURE(callable.name);
      CAPTURE(name.name);
      REQUIRE(!parts_of(name.name).empty());  // a new part needs a table of its own here
      const bool may = callable.parts == Callable::Parts::Values || (callable.parts == Callable::Parts::Traces && !name.within_trace);
      for (const auto& part : parts_of(name.name)) {
        const auto call = call_of(callable, std::string(" where ") + part.where);
        if (!may) {
          CHECK(compiled(call).codes == "E0234");
          ++refused;
          continue;
        }
        const auto selected = answered(call, whole(alike)), alone = answered(call_of(callable, ""), table(part.keep, alike));
        CHECK(told(selected) == told(alone));
        const auto all = answered(call_of(callable, ""), whole(alike));
        differ += told(selected) != told(all) || selected.why != all.why ? 1 : 0;
        ++asked;
      }
    }
  }
  CHECK(asked > 150);
  CHECK(refused > 50);
  CHECK(differ > 40);  // a selection that were ignored would give the same
}

TEST_CASE("every analysis answers each value after `by`, or takes them as curves of one answer") {
  std::size_t answers = 0, joint = 0;
  for (const auto& callable : lang::vocabulary()) {
    if (callable.kind != Callable::Kind::Analysis) continue;
    CAPTURE(callable.name);
    const auto call = call_of(callable, " by warp");
    if (callable.parts == Callable::Parts::None) {
      CHECK(compiled(call).codes == (callable.over_finding ? "E0222" : "E0234"));
      continue;
    }
    const auto finding = answered(call, whole());
    if (callable.by == Callable::Clause::Never) {
      const auto one = answered(call_of(callable, " where warp == 0"), whole()), other = answered(call_of(callable, " where warp == 1"), whole());
      const bool both = one.value.known() && other.value.known();
      CHECK(finding.value.known() == both);
      if (!both) {
        CHECK(finding.why.find("answers are missing; warp = ") != std::string::npos);
        continue;
      }
      CHECK(show(finding.value) == show(Value(List{one.value, other.value})));
      CHECK(finding.confidence == std::min(one.confidence, other.confidence));
      ++answers;
    } else {  // as if the warp were a sweep
      records::Table split = table([](auto warp, auto, auto) { return warp == 0; });
      for (auto& point : table([](auto warp, auto, auto) { return warp == 1; }).points) {
        point.at["g"] = Value(1.0);
        split.points.push_back(std::move(point));
      }
      if (callable.name == "clusters") CHECK(told(finding) == told(answered(call_of(callable, ""), split)));
      else if (callable.name == "spikes") CHECK(count_of(finding) == count_of(answered(call_of(callable, " by g"), split)));  // each names its curve
      else CHECK(told(finding) == told(answered(call_of(callable, " by g"), split)));
      ++joint;
    }
  }
  CHECK(answers >= 7);
  CHECK(joint >= 4);
}

TEST_CASE("by a sweep: an answer for each of its values") {
  CHECK(show(answered("slowest(lat by n where n > 1536B)", whole()).value) == "[310 cycles, 310 cycles]");
  const auto one = answered("slowest(lat by n where n == 2KiB)", whole());
  CHECK(one.why == "`n` has one value, 2 KiB");
}

TEST_CASE("an empty selection is undetermined, and says so") {
  for (const char* call : {"slowest(lat where lap > 9)", "slowest(lat by warp where lap > 9)", "linear(median(lat) over n where step == 99)"}) {
    const auto finding = answered(call, whole());
    CAPTURE(call);
    CHECK(test::undetermined(finding));
    CHECK(finding.confidence == 0);
    CHECK(finding.why == "`where` keeps none of the record's values at any of the 8 points; a condition that some of them meet would decide");
  }
  const auto inner = answered("linear(median(lat where lap > 9) over n)", whole());
  CHECK(test::undetermined(inner));
  const auto why = "`where lap > 9` keeps no value at any of its points; a condition that some values meet would decide";
  CHECK(inner.why == why);
  // A list of which an item is not known, and what is derived of it, tell the same.
  CHECK(answered("value([median(lat where lap > 9), 3cycles], n: 2KiB)", whole()).why == why);
  const auto derived = test::ask_in("  sweep n in 32B..64KiB times 2\n  pattern ring = uniform(stride: 32B, span: n)\n  launch grid 1 block 64\n"
                                    "  timed lat each { chase A by ring laps 4 }\n  derive late: list = [misses(lat where lap > 9)]\n  derive same: list = late\n",
                                    whole(), "list", "value(same, n: 2KiB)");
  CHECK(derived.why == why);
}

TEST_CASE("functions of a record are told of parts of it") {
  const auto value = [](const std::string& call) { return show(answered("value(" + call + ", n: 2KiB)", whole()).value); };
  CHECK(value("median(lat where warp == 1)") == "310 cycles");
  CHECK(value("max(lat where warp == 0 and lap == 1)") == "291 cycles");
  CHECK(value("misses(lat where warp == 0)") == "24");
  CHECK(value("misses(lat where seg == \"first\" and warp == 0)") == "12");
  CHECK(value("missed(lat where warp == 0 and lap == 0)") == "0.75");
  CHECK(value("count(median(lat by lap))") == "4");
  CHECK(value("max(median(lat by warp)) - min(median(lat by warp))") == "20 cycles");
  CHECK(value("misses(lat where n > 4KiB)") == "unknown");
  // A `where` reads the variables of a list around it.
  CHECK(value("max([median(lat where warp == w) for w in 0..1])") == "310 cycles");
  CHECK(value("count([w for w in 0..1 for far in 1..min(1, floor(median(lat where warp == w) / 300cycles))])") == "1");
}

TEST_CASE("what a record does not tell is unknown, with the reason") {
  auto uneven = whole();
  for (auto& point : uneven.points) {
    for (auto& run : point.runs) run.ticks.pop_back();
  }
  const auto finding = answered("slowest(lat where warp == 0)", uneven);
  CHECK(test::undetermined(finding));
  CHECK(finding.why == "`warp` is not known: warps recorded different numbers of accesses, so which value is whose is not known");
}

TEST_CASE("what threads kept is told apart by threads and by its number, where all kept equally much") {
  // Thread t keeps 100 t, 100 t + 1 and 100 t + 2.
  records::Point point;
  point.runs.emplace_back();
  for (std::uint32_t thread = 0; thread < 128; ++thread) {
    for (std::uint32_t k = 0; k < 3; ++k) point.runs[0].ticks.push_back(100 * thread + k);
  }
  auto kept = test::table({point});
  kept.timing = records::Table::Timing::Values, kept.columns = {};
  const auto ask = [&](const std::string& body, const std::string& column, const std::string& type = "count") {
    return test::ask_in("  launch grid 2 block 64\n  timed lat values { " + body + " }\n  derive d: " + type + " = " + column + "\n", kept, type, "value(d)");
  };
  const std::string even = "loop i in 0..2 { keep tid }";
  CHECK(show(ask(even, "median(lat where gtid == 70 and step == 2)").value) == "7002");
  CHECK(show(ask(even, "max(lat where cta == 1 and tid == 6)").value) == "7002");
  CHECK(show(ask(even, "min(lat where cta == 1 and warp == 1 and step == 1)").value) == "9601");
  CHECK(show(ask(even, "count(median(lat by gtid where step == 0))").value) == "128");
  CHECK(show(ask(even, "max(median(lat by tid where step == 0 and cta == 0))").value) == "6300");
  for (const char* const uneven : {"keep tid branch tid < 64 { keep tid keep tid }", "var x: u32 = 0 loop while x < 3 laps 9 { keep x assign x = x + 1 }"}) {
    CHECK(test::undetermined(ask(uneven, "median(lat where step == 0)")));
    const auto unknown = test::ask_in(std::string("  launch grid 2 block 64\n  timed lat values { ") + uneven + " }\n", kept, "list", "values(median(lat) over tid)");
    CHECK_MESSAGE(unknown.why.find("may give threads different numbers") != std::string::npos, unknown.why);
  }
}
