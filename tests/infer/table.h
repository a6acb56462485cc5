// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>

#include "compiler/pipeline.h"
#include "runtime/infer/infer.h"

namespace gexp::test {

/// Records made by hand: points of one sweep `n`, a ring of `steps` lines of 32 B each, ticks by (run, access).
using Ticks = std::function<std::uint32_t(std::size_t run, std::size_t access)>;

inline records::Point point(double n, std::int64_t steps, std::int64_t laps, std::size_t runs, const Ticks& ticks) {
  records::Point made;
  made.at["n"] = Value(n, kBytes);
  Pattern ring;
  ring.steps = steps;
  for (std::int64_t i = 0; i < steps; ++i) ring.offsets.push_back(32 * i);
  made.walk = std::make_shared<const Pattern>(std::move(ring));
  made.steps = steps * laps;
  made.overhead = 10;
  for (std::size_t r = 0; r < runs; ++r) {
    records::Run run;
    for (std::size_t a = 0; a < static_cast<std::size_t>(made.steps); ++a) run.ticks.push_back(ticks(r, a));
    made.runs.push_back(std::move(run));
  }
  return made;
}

inline records::Table table(std::vector<records::Point> points) {
  records::Table made;
  made.stage = "s";
  made.timed = "lat";
  made.columns = {"n"};
  made.points = std::move(points);
  return made;
}

/// Asks one question of a table; `stage` is what a stage says before its find.
inline infer::Finding ask_in(const std::string& stage, const records::Table& table, const std::string& type, const std::string& analysis) {
  const Source source("t.gexp", "gexp 1\nexperiment t\nmemory A: u32[1MiB] in global\nstage s {\n" + stage + "  find f: " + type + " = " + analysis + "\n}\n");
  Diagnostics diagnostics;
  const auto program = compiler::compile(source, {}, diagnostics);
  if (!program) {
    infer::Finding wrong;
    for (const auto& diagnostic : diagnostics.sorted()) wrong.why += render(diagnostic, &source);
    return wrong;
  }
  const compiler::Names nothing;
  return infer::answer(program->stages[0].finds[0], table, program->stages[0], nothing);
}

/// The same of a table of walks over a ring.
inline infer::Finding ask(const records::Table& table, const std::string& type, const std::string& analysis) {
  return ask_in("  sweep n in 32B..64KiB times 2\n  pattern ring = uniform(stride: 32B, span: n)\n  launch grid 1 block 1\n"
                "  timed lat each { chase A by ring laps 2 }\n", table, type, analysis);
}

/// A point without a walk: its values, and one run that says nothing.
inline records::Point point_of(std::map<std::string, Value> at) {
  records::Point made;
  made.at = std::move(at);
  made.runs.push_back({{100}, {0}, 0});
  return made;
}

/// Noise that is the same on every machine: the sum of twelve uniform numbers is nearly normal.
class Noise {
 public:
  explicit Noise(std::uint64_t seed) : engine_(seed) {}
  double operator()() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(engine_() >> 11) * 0x1p-53;
    return sum;
  }

 private:
  std::mt19937_64 engine_;
};

inline bool undetermined(const infer::Finding& finding) { return finding.status == infer::Finding::Status::Undetermined && !finding.value.known(); }

inline bool mentions(const infer::Finding& finding, const std::string& words) { return finding.why.find(words) != std::string::npos; }
/// Undetermined, with these words as part of the reason.
inline bool says(const infer::Finding& finding, const std::string& words) {
  CAPTURE(finding.why);
  return undetermined(finding) && mentions(finding, words);
}
inline double number(const infer::Finding& finding) {
  REQUIRE_MESSAGE(finding.status == infer::Finding::Status::Found, finding.why);
  return finding.value.get<Number>()->number;
}

/// A number by chance of each number.
inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL, x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
  return x ^ x >> 31;
}

/// A field's number; not a number when there is none.
inline double field(const infer::Finding& finding, const std::string& name) {
  const auto* fields = finding.value.get<Fields>();
  const auto at = fields ? fields->find(name) : Fields::const_iterator{};
  const auto* n = fields && at != fields->end() ? at->second.get<Number>() : nullptr;
  return n ? n->number : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace gexp::test
