// SPDX-License-Identifier: Apache-2.0
#include "runtime/infer/analysis.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "lang/base/budget.h"
#include "runtime/infer/confounders.h"
#include "runtime/infer/cut_short.h"
#include "runtime/infer/infer.h"
#include "runtime/infer/model/evidence.h"
#include "runtime/infer/selections.h"

namespace gexp::infer {
namespace {

struct Entry {
  const char* name;
  Analysis analysis;
};
constexpr auto kAnalyses = std::to_array<Entry>({  // fact: what there is
#define GEXP_ANALYSIS(name, ...) {#name, name},
#include "lang/analyses.def"
#undef GEXP_ANALYSIS
});

}  // namespace

Analysis find_analysis(const std::string& name) {
  const auto found = std::find_if(kAnalyses.begin(), kAnalyses.end(), [&](const Entry& entry) { return name == entry.name; });
  return found == kAnalyses.end() ? nullptr : found->analysis;
}

Finding undetermined(const compiler::Question& question, std::string why) {
  Finding finding;
  finding.id = question.id;
  finding.unit = question.type;
  finding.why = std::move(why);
  return finding;
}

Finding undetermined(const Context& context, std::string why) { return undetermined(context.question, std::move(why)); }

std::string below_need(double confidence, double need) {
  int digits = 2;
  while (digits < 9 && std::round(confidence * std::pow(10, digits + 2)) >= need * std::pow(10, digits + 2)) ++digits;
  return fmt::format("its confidence of {:.{}f} % is below the {:.6g} % that is needed", confidence * 100, digits, need * 100);
}

Finding found(const Context& context, Value value, double confidence, std::string why, std::string evidence, const char* decides) {
  auto finding = undetermined(context.question, std::move(why));
  finding.evidence = std::move(evidence);
  finding.confidence = confidence;
  if (confidence < context.question.need) {
    finding.why = fmt::format("{} looks likely, but {}; {} ({})", show(value), below_need(confidence, context.question.need),
                              decides ? std::string(decides) + " would decide" : fmt::format("`{}` is never surer", context.question.analysis), finding.why);
    return finding;
  }
  finding.value = std::move(value);
  finding.status = Finding::Status::Found;
  return finding;
}

const compiler::Formula::Argument* labelled(const compiler::Question& question, const std::string& label) {
  for (const auto& each : question.arguments) {
    if (each.label == label) return &each;
  }
  return nullptr;
}

std::optional<double> number_of(const compiler::Question& question, const std::string& label, const compiler::Scope& scope) {
  const auto* given = labelled(question, label);
  const auto value = given ? compiler::evaluate(*given->value, scope) : Result<Value>(Value());
  const auto* n = value ? value->get<Number>() : nullptr;
  return n ? std::optional(n->number) : std::nullopt;
}

const compiler::Formula::Argument* argument(const Context& context, const std::string& label) { return labelled(context.question, label); }

Value argument_value(const Context& context, const std::string& label) {
  const auto* given = argument(context, label);
  if (!given) return {};
  auto value = compiler::evaluate(*given->value, context.outer);
  return value ? *value : Value();
}

std::optional<double> above_of(const Context& context) {
  const auto value = argument_value(context, "above");
  const auto* n = value.get<Number>();
  return n ? std::optional(n->number) : std::nullopt;
}

PointScope scope_at(const Context& context, std::size_t point) {
  return {context.table, context.classes, point, context.stage, context.outer, OneClass::Unknown};
}

namespace {

/// The first `where` of a function that a formula applies to a record, derived values that it reads included; null where there is none.
/// A derived value reads those above it, the first `above` of the stage.
const compiler::Formula* inner_where(const compiler::Formula& formula, const std::vector<compiler::Binding>& derives, std::size_t above) {
  for (std::size_t i = 0; i < above && formula.kind == compiler::Formula::Kind::Name; ++i) {
    if (derives[i].name == formula.text) return inner_where(*derives[i].formula, derives, i);
  }
  for (const auto& operand : formula.operands) {
    if (const auto* where = inner_where(*operand, derives, above)) return where;
  }
  for (const auto& inner : formula.arguments) {
    if (inner.where) return inner.where.get();
    if (const auto* where = inner_where(*inner.value, derives, above)) return where;
  }
  return nullptr;
}

/// Adds the findings of earlier stages that a formula reads and that have no value. It may read them through names of its stage.
void add_missing(const compiler::Formula& formula, const Context& context, std::vector<std::string>& missing) {
  const auto reads = [&](const std::vector<compiler::Binding>& bindings, const std::string& name) {
    const auto named = std::find_if(bindings.begin(), bindings.end(), [&](const auto& each) { return each.name == name; });
    if (named != bindings.end() && named->formula) add_missing(*named->formula, context, missing);
  };
  for (const auto& name : compiler::dotted_names(formula)) {
    reads(context.stage.bindings, name), reads(context.stage.derives, name);
    const auto dot = name.find('.');
    const auto* stage = dot == std::string::npos ? nullptr : context.outer.lookup(name.substr(0, dot));
    const auto* fields = stage ? stage->get<Fields>() : nullptr;
    if (!fields) continue;
    const auto field = fields->find(name.substr(dot + 1));
    const bool known = field != fields->end() && field->second.known();
    if (!known && std::find(missing.begin(), missing.end(), name) == missing.end()) missing.push_back(name);
  }
}

}  // namespace

std::string not_found(const std::vector<std::string>& findings) {
  return fmt::format("it needs {}, which {} not found", fmt::join(findings, ", "), findings.size() == 1 ? "was" : "were");
}

std::string why_unknown(const Context& context) {
  const auto* data = argument(context);
  const auto& derives = context.stage.derives;
  std::vector<std::string> missing;
  if (data) add_missing(*data->value, context, missing);
  if (!missing.empty()) return not_found(missing);
  if (const auto* where = data ? inner_where(*data->value, derives, derives.size()) : nullptr) {
    return fmt::format("`where {}` keeps no value at any of its points; a condition that some values meet would decide", compiler::show(*where));
  }
  const bool each = context.table.timing == records::Table::Timing::Each;
  const bool one_class = each && data && miss_call(context.stage, *data->value) && !miss_range(context.table, context.classes);
  return one_class ? "all latencies are of one class: all accesses may hit, and all may miss; points that show another "
                     "latency, or `above: L` with a latency that is known, would decide"
                   : "the value is not known at any of its points";
}

std::optional<Number> number_at(const Context& context, const compiler::Formula& formula, std::size_t point) {
  const auto value = compiler::evaluate(formula, scope_at(context, point));
  const auto* n = value ? value->get<Number>() : nullptr;
  return n ? std::optional(*n) : std::nullopt;
}

Result<Curve> curve(const Context& context) {
  Curve made;
  const auto* first = argument(context);
  if (!first) return failure("E0403", "the analysis has no data");
  const bool of_outcomes = reads_outcome(context.stage, *first->value);  // else a point that failed has no y
  for (std::size_t i = 0; i < context.table.points.size(); ++i) {
    if (context.table.points[i].runs.empty() && !of_outcomes) continue;
    work();
    const auto scope = scope_at(context, i);
    auto y = compiler::evaluate(*first->value, scope);
    if (!y) return y.error();
    Curve::Sample sample{i, static_cast<double>(i), 0};
    if (const auto* n = y->get<Number>()) {
      sample.y = n->number;
      made.y_dimension = n->dimension;
    } else if (const auto* flag = y->get<bool>()) {
      sample.y = *flag ? 1 : 0;
      made.is_condition = true;
    } else {
      continue;
    }
    if (first->over) {
      auto x = compiler::evaluate(*first->over, scope);
      if (!x) return x.error();
      const auto* n = x->get<Number>();
      if (!n) continue;
      sample.x = n->number;
      made.x_dimension = n->dimension;
    }
    made.samples.push_back(sample);
  }
  if (made.samples.empty()) return failure("E0403", why_unknown(context));
  std::stable_sort(made.samples.begin(), made.samples.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  return made;
}

std::vector<std::uint32_t> misses_by_step(const records::Point& point, const MissRange& range) {
  std::vector<std::uint32_t> counts(point.walk ? static_cast<std::size_t>(point.walk->steps) : 0);
  if (counts.empty()) return counts;
  const Misses missed(range, point);
  for (const auto& run : point.runs) {
    std::size_t step = 0;
    for (const auto tick : run.ticks) {
      counts[step] += missed(step, tick) ? 1 : 0;
      if (++step == counts.size()) step = 0;
    }
  }
  return counts;
}

namespace {

/// A finding from records of a drifting clock says so: what lies nearer to a class than the clock slid was not told from it.
Finding with_drift(const compiler::Question& question, double drift, Finding finding) {
  const auto slid = fmt::format("the clock drifted by {:.1f} % from run to run, every run was brought to one pace, and a class so near to another cannot be told from it; locked clocks would decide",
                                100 * drift);
  finding.why += (finding.why.empty() ? "" : "; ") + slid;
  if (finding.status != Finding::Status::Found) return finding;
  finding.confidence = std::min(finding.confidence, model::kUntested);
  if (finding.confidence >= question.need) return finding;
  auto less = undetermined(question, fmt::format("{} looks likely, but {} ({})", show(finding.value), below_need(finding.confidence, question.need), finding.why));
  less.confidence = finding.confidence;
  less.evidence = finding.evidence;
  return less;
}

}  // namespace

Finding answer(const compiler::Question& question, const records::Table& table, const compiler::Stage& stage, const compiler::Scope& outer) {
  return answer(question, PreparedRecords(table), stage, outer);
}

Finding answer(const compiler::Question& question, const PreparedRecords& prepared, const compiler::Stage& stage, const compiler::Scope& outer,
               const MeasuredStages& earlier) {
  const auto& table = prepared.table();
  const auto analysis = find_analysis(question.analysis);
  if (!analysis) return undetermined(question, fmt::format("the analysis `{}` is not built yet", question.analysis));
  const bool any = std::any_of(table.points.begin(), table.points.end(), [](const records::Point& point) { return !point.runs.empty(); });
  if (!any) {
    for (const auto& point : table.points) {
      if (!point.outcome.done()) return undetermined(question, "no point of the stage was measured: " + point.outcome.what);
    }
    return undetermined(question, "no point of the stage was measured");
  }
  if (prepared.classes().cut_short) return undetermined(question, why_cut_short());
  const auto refusals = Budget::refusals();
  Finding finding;
  try {
    finding = answer_selected(analysis, {question, prepared, stage, outer, earlier});
  } catch (const CutShort&) {}  // the budget has counted it
  if (Budget::refusals() != refusals) return undetermined(question, why_cut_short());
  if (prepared.drift() > 0) finding = with_drift(question, prepared.drift(), std::move(finding));
  if (const auto* fields = finding.value.get<Fields>(); fields && question.type == "name" && fields->contains("name")) {
    finding.value = Value(fields->at("name"));  // declared as the name alone
  }
  return finding;
}

}  // namespace gexp::infer
