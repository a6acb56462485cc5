// SPDX-License-Identifier: Apache-2.0
#include "lang/vocabulary.h"

#include <algorithm>

#include "lang/memory_spaces.h"

namespace gexp::lang {
namespace {

using Subject = Callable::Subject;
using Answer = Callable::Answer;
using Clause = Callable::Clause;
using Parts = Callable::Parts;

constexpr int kMany = 1000000;
constexpr Label kAbove{"above", Takes::Cycles, true};
constexpr Label kLine{"line", Takes::Bytes};

constexpr Callable analysis(std::string_view name, std::string_view question, Parts parts, Subject subject, Answer answer, Clause over, std::string_view usage,
                            std::array<Label, 6> labels = {}, Clause by = Clause::Never, Clause where = Clause::May) {
  Callable c;
  c.name = name;
  c.kind = Callable::Kind::Analysis;
  c.subject = subject;
  c.answer = answer;
  c.labels = labels;
  c.over = over;
  c.by = by;
  c.where = where;
  c.parts = parts;
  c.usage = usage;
  c.purpose = question;
  return c;
}

constexpr Callable plain_call(std::string_view name, Callable::Kind kind, Subject subject, int least, int most, Answer answer,
                              std::string_view usage, std::string_view purpose, std::array<Label, 6> labels = {}) {
  Callable c;
  c.name = name;
  c.kind = kind;
  c.subject = subject;
  c.least = least;
  c.most = most;
  c.answer = answer;
  c.labels = labels;
  c.usage = usage;
  c.purpose = purpose;
  return c;
}

/// A function of a record's values that can be asked about some of them.
constexpr Callable of_parts(Callable c) {
  c.where = Clause::May;
  c.parts = Parts::Values;
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
    of_parts(plain_call("median", Callable::Kind::Column, Subject::Value, 1, 1, Answer::Subject, "median(lat)",
               "The median of the values of all runs of a point")),
    of_parts(plain_call("mean", Callable::Kind::Column, Subject::Value, 1, 1, Answer::Subject, "mean(lat)",
               "The mean of the values of all runs of a point")),
    of_parts(plain_call("stddev", Callable::Kind::Column, Subject::Value, 1, 1, Answer::Subject, "stddev(lat)",
               "The standard deviation of the values of all runs of a point")),
    plain_call("elapsed", Callable::Kind::Column, Subject::Value, 1, 1, Answer::Subject, "elapsed(t)",
               "The time from the first begin to the last end on one multiprocessor, the median over runs"),
    plain_call("ci", Callable::Kind::Column, Subject::Value, 1, 1, Answer::Plain, "ci(median(lat))",
               "The half-width of the 95 % confidence interval over runs, relative to the mean"),
    plain_call("stable", Callable::Kind::Column, Subject::Value, 1, 1, Answer::Condition, "stable(misses(lat))",
               "Whether the last run left the value as it was"),
    of_parts(plain_call("misses", Callable::Kind::Column, Subject::Record, 1, 1, Answer::Plain, "misses(lat)",
               "Accesses of a run that are slower than the fastest latency class", {kAbove})),
    of_parts(plain_call("missed", Callable::Kind::Column, Subject::Record, 1, 1, Answer::Plain, "missed(lat)",
               "The share of the pattern's positions that miss", {kAbove})),
    plain_call("missed_ever", Callable::Kind::Column, Subject::Record, 1, 1, Answer::Plain, "missed_ever(lat)",
               "The share of the stage's addresses that have missed at some point so far", {kAbove}),
    plain_call("missed_once", Callable::Kind::Column, Subject::Record, 1, 1, Answer::Plain, "missed_once(lat)",
               "The share of the stage's addresses that have missed at one point so far and at no other", {kAbove}),
    of_parts(plain_call("slower", Callable::Kind::Column, Subject::Record, 1, 1, Answer::Plain, "slower(lat, above: 400cycles)",
               "The share of all values above so many cycles", {Label{"above", Takes::Cycles}})),
    plain_call("excess", Callable::Kind::Column, Subject::Record, 1, 1, Answer::Cycles, "excess(lat)",
               "What the first of two visits in a row to a sector takes beyond the second, on average"),
    plain_call("moved", Callable::Kind::Column, Subject::Record, 1, 1, Answer::Bytes, "moved(run)",
               "Bytes that the timed operations read and write, over all threads"),
    plain_call("overhead", Callable::Kind::Column, Subject::Record, 1, 1, Answer::Cycles, "overhead(t)",
               "Cycles that the timed region costs besides what it times; already subtracted"),
    plain_call("sm", Callable::Kind::Column, Subject::Record, 1, 1, Answer::PlainList, "sm(t)",
               "The multiprocessor that each warp of the last run was on; of a stage in a launch of several"),
    plain_call("begin", Callable::Kind::Column, Subject::Record, 1, 1, Answer::CyclesList, "begin(t)",
               "What each warp of the last run read from its multiprocessor's clock before the region"),
    plain_call("end", Callable::Kind::Column, Subject::Record, 1, 1, Answer::CyclesList, "end(t)",
               "What each warp of the last run read from its multiprocessor's clock after the region"),
    plain_call("unique", Callable::Kind::Column, Subject::Number, 1, 1, Answer::Plain, "unique(slot)",
               "How many different values the threads of the launch have"),

    // Of values. min and max also take a record.
    of_parts(plain_call("min", Callable::Kind::Function, Subject::Anything, 1, kMany, Answer::Subject, "min(a, b)",
               "The least of several values, of a list or of a record")),
    of_parts(plain_call("max", Callable::Kind::Function, Subject::Anything, 1, kMany, Answer::Subject, "max(a, b)",
               "The largest of several values, of a list or of a record")),
    plain_call("abs", Callable::Kind::Function, Subject::Number, 1, 1, Answer::Subject, "abs(x)",
               "The value without its sign"),
    plain_call("floor", Callable::Kind::Function, Subject::Number, 1, 1, Answer::Subject, "floor(x)",
               "The value rounded down"),
    plain_call("ceil", Callable::Kind::Function, Subject::Number, 1, 1, Answer::Subject, "ceil(x)",
               "The value rounded up"),
    plain_call("round", Callable::Kind::Function, Subject::Number, 1, 1, Answer::Subject, "round(x)",
               "The value rounded to the nearest whole number"),
    plain_call("log2", Callable::Kind::Function, Subject::Number, 1, 1, Answer::Plain, "log2(x)",
               "The logarithm to the base 2"),
    plain_call("gcd", Callable::Kind::Function, Subject::Number, 2, 2, Answer::Subject, "gcd(s, 32)",
               "The greatest common divisor"),
    plain_call("lcm", Callable::Kind::Function, Subject::Number, 2, 2, Answer::Subject, "lcm(s, 32)",
               "The least common multiple"),
    plain_call("popcount", Callable::Kind::Function, Subject::Number, 1, 1, Answer::Plain, "popcount(i)",
               "How many bits of a whole number are 1"),
    plain_call("needs", Callable::Kind::Function, Subject::Text, 1, 1, Answer::Plain, "needs(op)",
               "The oldest compute capability that has an instruction of `alu`, times ten, as `device.compute` is"),
    plain_call("item", Callable::Kind::Function, Subject::Pattern, 2, 2, Answer::Bytes, "item(p, tid)",
               "The offset at this place of a pattern, counted from 0"),
    plain_call("count", Callable::Kind::Function, Subject::List, 1, 1, Answer::Plain, "count(list)",
               "The length of a list or a pattern"),

    // Patterns.
    plain_call("uniform", Callable::Kind::Pattern, Subject::None, 0, 0, Answer::Pattern, "uniform(stride: 32B, span: n)",
               "The offsets 0, stride, twice the stride, … below the span",
               {Label{"stride", Takes::Bytes}, Label{"span", Takes::Bytes}}),
    free_labels(plain_call("nonuniform", Callable::Kind::Pattern, Subject::None, 0, 0, Answer::Pattern, "nonuniform(low: P, high: Q)",
               "Its parts in turn; the label of an access is the column `seg`")),
    plain_call("visits", Callable::Kind::Pattern, Subject::None, 0, 0, Answer::Pattern, "visits(names: \"A B A\", lines: [0B, 4KiB])",
               "Named lines in this order, each visit at the next word of its line; the name of an access is the column `seg`",
               {Label{"names", Takes::Text}, Label{"lines", Takes::BytesList}, Label{"word", Takes::Bytes, true}, Label{"begin", Takes::Bytes, true}}),
    plain_call("bank", Callable::Kind::Pattern, Subject::None, 0, 0, Answer::Pattern, "bank(stride: 2, word: 4B)",
               "An offset for each of 32 lanes, `lane * stride * word`: words of shared memory",
               {Label{"stride", Takes::Plain}, Label{"word", Takes::Bytes}}),
    plain_call("shuffle", Callable::Kind::Pattern, Subject::Pattern, 2, 2, Answer::Pattern, "shuffle(P, 7)",
               "The same offsets in a random order that the seed fixes"),
    plain_call("repeat", Callable::Kind::Pattern, Subject::Pattern, 2, 2, Answer::Pattern, "repeat(P, 4)",
               "The pattern so many times"),
    plain_call("merger", Callable::Kind::Pattern, Subject::Number, 1, 1, Answer::Plain, "merger(2, of: threads)",
               "A slot number that so many neighbouring threads share", {Label{"of", Takes::Neighbours}}),
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
    if ((c.kind == Callable::Kind::Analysis) == analyses) names.push_back(c.name);
  }
  return names;
}

std::span<const PartName> part_names() {
  static constexpr auto kParts = std::to_array<PartName>({
#define GEXP_PART(name, within_trace, about) {#name, within_trace, about},
#include "lang/parts.def"
#undef GEXP_PART
  });
  return kParts;
}

const PartName* find_part(std::string_view name) {
  const auto parts = part_names();
  const auto found = std::find_if(parts.begin(), parts.end(), [&](const PartName& part) { return part.name == name; });
  return found == parts.end() ? nullptr : &*found;
}

bool Words::has(std::string_view word) const { return std::find(words.begin(), words.end(), word) != words.end(); }

const Words& element_words() {
  static const Words words{"an element type", {"u8", "s8", "u16", "s16", "f16", "bf16", "u32", "s32", "f32", "u64", "s64", "f64"}};
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
  static const Words words{"a path", {"ca", "cg", "cv", "nc", "tex", "cs", "lu", "ldu", "volatile", "bulk", "wb", "wt"}};
  return words;
}
const Words& hint_words() {
  static const Words words{"a hint", {"evict_first", "evict_last", "evict_normal", "evict_unchanged", "no_allocate", "l2_evict_first",
                                      "l2_evict_last", "l2_evict_normal", "l2_evict_unchanged"}};
  return words;
}
const Words& level_words() {
  static const Words words{"a level to prefetch to", {"l1", "l2"}};
  return words;
}
const Words& scope_words() {
  static const Words words{"a scope", {"cta", "cluster", "gpu", "sys"}};
  return words;
}
const Words& flush_words() {
  static const Words words{"a level to flush", {"l1", "l2", "tlb", "managed"}};
  return words;
}
const Words& timing_words() {
  static const Words words{"a way of timing", {"each", "total", "wall", "values"}};
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
  static const Words words{"a placement", {"any", "sm", "tpc", "gpc", "other_sm", "other_tpc", "block"}};
  return words;
}

const Words& drawing_words() {
  static const Words words{"a way of drawing", {"curves", "heatmap"}};
  return words;
}

const Words& variable_words() {
  static const Words words{"the type of a variable", {"u8", "s8", "u16", "s16", "u32", "s32", "u64", "s64", "f32", "f64"}};
  return words;
}

int element_size(std::string_view element) {
  if (!element_words().has(element)) return 0;
  if (element.ends_with("16")) return 2;
  return element.ends_with("32") ? 4 : element.ends_with("64") ? 8 : 1;
}

}  // namespace gexp::lang
