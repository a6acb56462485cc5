// SPDX-License-Identifier: Apache-2.0
#include "lang/vocabulary.h"

#include <algorithm>

#include "lang/memory_spaces.h"

namespace gexp::lang {
namespace {

using Kind = Callable::Kind;
using Subject = Callable::Subject;
using Answer = Callable::Answer;
using Clause = Callable::Clause;

constexpr int kMany = 1000000;
constexpr Label kAbove{"above", Takes::Cycles, true};
constexpr Label kLine{"line", Takes::Bytes};

constexpr Callable analysis(std::string_view name, Subject subject, Answer answer, Clause over, std::string_view usage,
                            std::array<Label, 6> labels = {}, Clause by = Clause::Never, Clause where = Clause::May) {
  Callable c;
  c.name = name;
  c.kind = Kind::Analysis;
  c.subject = subject;
  c.answer = answer;
  c.labels = labels;
  c.over = over;
  c.by = by;
  c.where = where;
  c.usage = usage;
  return c;
}

constexpr Callable plain_call(std::string_view name, Kind kind, Subject subject, int least, int most, Answer answer,
                              std::string_view usage, std::array<Label, 6> labels = {}) {
  Callable c;
  c.name = name;
  c.kind = kind;
  c.subject = subject;
  c.least = least;
  c.most = most;
  c.answer = answer;
  c.labels = labels;
  c.usage = usage;
  return c;
}

constexpr Callable labelled(Callable c) { return c; }

constexpr Callable free_labels(Callable c) {
  c.free_labels = true;
  return c;
}

constexpr Callable over_finding(Callable c) {
  c.over_finding = true;
  return c;
}

constexpr auto kVocabulary = std::to_array<Callable>({
    // Analyses: functions of runtime/infer.
#define GEXP_ANALYSIS(name, labels, ...) labels(analysis(#name, __VA_ARGS__)),
#include "lang/analyses.def"
#undef GEXP_ANALYSIS

    // Of a record, at one point.
    plain_call("median", Kind::Column, Subject::Value, 1, 1, Answer::Subject, "median(lat)"),
    plain_call("mean", Kind::Column, Subject::Value, 1, 1, Answer::Subject, "mean(lat)"),
    plain_call("stddev", Kind::Column, Subject::Value, 1, 1, Answer::Subject, "stddev(lat)"),
    plain_call("elapsed", Kind::Column, Subject::Value, 1, 1, Answer::Subject, "elapsed(t)"),
    plain_call("ci", Kind::Column, Subject::Value, 1, 1, Answer::Plain, "ci(median(lat))"),
    plain_call("stable", Kind::Column, Subject::Value, 1, 1, Answer::Condition, "stable(misses(lat))"),
    plain_call("misses", Kind::Column, Subject::Record, 1, 1, Answer::Plain, "misses(lat)", {kAbove}),
    plain_call("missed", Kind::Column, Subject::Record, 1, 1, Answer::Plain, "missed(lat)", {kAbove}),
    plain_call("missed_ever", Kind::Column, Subject::Record, 1, 1, Answer::Plain, "missed_ever(lat)", {kAbove}),
    plain_call("slower", Kind::Column, Subject::Record, 1, 1, Answer::Plain, "slower(lat, above: 400cycles)", {Label{"above", Takes::Cycles}}),
    plain_call("moved", Kind::Column, Subject::Record, 1, 1, Answer::Bytes, "moved(run)"),
    plain_call("overhead", Kind::Column, Subject::Record, 1, 1, Answer::Cycles, "overhead(t)"),
    plain_call("unique", Kind::Column, Subject::Number, 1, 1, Answer::Plain, "unique(slot)"),

    // Of values. min and max also take a record.
    plain_call("min", Kind::Function, Subject::Anything, 1, kMany, Answer::Subject, "min(a, b)"),
    plain_call("max", Kind::Function, Subject::Anything, 1, kMany, Answer::Subject, "max(a, b)"),
    plain_call("abs", Kind::Function, Subject::Number, 1, 1, Answer::Subject, "abs(x)"),
    plain_call("floor", Kind::Function, Subject::Number, 1, 1, Answer::Subject, "floor(x)"),
    plain_call("ceil", Kind::Function, Subject::Number, 1, 1, Answer::Subject, "ceil(x)"),
    plain_call("round", Kind::Function, Subject::Number, 1, 1, Answer::Subject, "round(x)"),
    plain_call("log2", Kind::Function, Subject::Number, 1, 1, Answer::Plain, "log2(x)"),
    plain_call("gcd", Kind::Function, Subject::Number, 2, 2, Answer::Subject, "gcd(s, 32)"),
    plain_call("lcm", Kind::Function, Subject::Number, 2, 2, Answer::Subject, "lcm(s, 32)"),
    plain_call("count", Kind::Function, Subject::List, 1, 1, Answer::Plain, "count(list)"),

    // Patterns.
    plain_call("uniform", Kind::Pattern, Subject::None, 0, 0, Answer::Pattern, "uniform(stride: 32B, span: n)",
               {Label{"stride", Takes::Bytes}, Label{"span", Takes::Bytes}}),
    free_labels(plain_call("nonuniform", Kind::Pattern, Subject::None, 0, 0, Answer::Pattern, "nonuniform(low: P, high: Q)")),
    plain_call("bank", Kind::Pattern, Subject::None, 0, 0, Answer::Pattern, "bank(stride: 2, word: 4B)",
               {Label{"stride", Takes::Plain}, Label{"word", Takes::Bytes}}),
    plain_call("shuffle", Kind::Pattern, Subject::Pattern, 2, 2, Answer::Pattern, "shuffle(P, 7)"),
    plain_call("repeat", Kind::Pattern, Subject::Pattern, 2, 2, Answer::Pattern, "repeat(P, 4)"),
    plain_call("merger", Kind::Pattern, Subject::Number, 1, 1, Answer::Plain, "merger(2, of: threads)", {Label{"of", Takes::Neighbours}}),
});

}  // namespace

std::span<const Callable> vocabulary() { return kVocabulary; }

const Callable* find_callable(std::string_view name) {
  const auto found = std::find_if(kVocabulary.begin(), kVocabulary.end(), [&](const Callable& c) { return c.name == name; });
  return found == kVocabulary.end() ? nullptr : &*found;
}

std::vector<std::string_view> callable_names(bool analyses) {
  std::vector<std::string_view> names;
  for (const auto& c : kVocabulary) {
    if ((c.kind == Kind::Analysis) == analyses) names.push_back(c.name);
  }
  return names;
}

bool Words::has(std::string_view word) const { return std::find(words.begin(), words.end(), word) != words.end(); }

const Words& element_words() {
  static const Words words{"an element type", {"u8", "u32", "u64", "f32", "f64"}};
  return words;
}
const Words& space_words() {
  static const Words words = [] {
    Words made{"a memory space", {}};
    for (const auto& space : memory_spaces()) made.words.push_back(space.word);
    return made;
  }();
  return words;
}
const Words& via_words() {
  static const Words words{"a path", {"ca", "cg", "cv", "nc", "tex"}};
  return words;
}
const Words& flush_words() {
  static const Words words{"a level to flush", {"l1", "l2", "tlb"}};
  return words;
}
const Words& timing_words() {
  static const Words words{"a way of timing", {"each", "total", "wall"}};
  return words;
}
const Words& keep_words() {
  static const Words words{"a way of keeping a record", {"raw", "summary", "histogram"}};
  return words;
}
const Words& neighbour_words() {
  static const Words words{"what shares an address", {"threads", "warps"}};
  return words;
}
const Words& place_words() {
  static const Words words{"a placement", {"any", "sm", "tpc", "gpc"}};
  return words;
}

int element_size(std::string_view element) {
  if (element == "u8") return 1;
  if (element == "u32" || element == "f32") return 4;
  if (element == "u64" || element == "f64") return 8;
  return 0;
}

}  // namespace gexp::lang
