// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "runtime/infer/infer.h"
#include "runtime/result/compare.h"
#include "runtime/result/point_table.h"

// Curves are compared where both were measured, by their repetitions: the runs of a point are independent of each other, the ticks of a run
// are not.
namespace gexp::result {
namespace {

constexpr double kNought = 0.01;  // of a curve's largest count or share: what scatters nearer to zero is as good as zero

/// What one side measured at a point.
struct MeasuredCurve {
  Value all;                 ///< over all runs
  std::vector<double> runs;  ///< by each run; empty where one has no number
};

/// A stage of one side.
class Records {
 public:
  Records(const ComparedResult& side, const compiler::Stage& stage, const StageResult& kept, compiler::Names scope) : side_(side), stage_(stage), prepared_(kept.table), scope_(std::move(scope)) {
    const auto& points = prepared_.table().points;
    for (std::size_t i = 0; i < points.size(); ++i) by_coordinates_.emplace(key(points[i]), i);
  }

  [[nodiscard]] const records::Table& table() const { return prepared_.table(); }
  [[nodiscard]] const std::string& name() const { return side_.name; }
  /// The point at the same coordinates.
  [[nodiscard]] std::optional<std::size_t> at(const records::Point& point) const {
    const auto found = by_coordinates_.find(key(point));
    return found == by_coordinates_.end() ? std::nullopt : std::optional(found->second);
  }

  [[nodiscard]] Result<MeasuredCurve> measured(const compiler::Formula& formula, std::size_t point) const {
    MeasuredCurve here;
    if (table().points[point].runs.empty()) return here;
    auto all = infer::at_point(formula, table(), prepared_.classes(), point, stage_, scope_);
    if (!all) return all.error();
    auto runs = infer::at_point_by_run(formula, table(), prepared_.classes(), point, stage_, scope_);
    if (!runs) return runs.error();
    for (const auto& run : *runs) {
      if (const auto* n = run.get<Number>()) here.runs.push_back(n->number);
      else if (const auto* flag = run.get<bool>()) here.runs.push_back(*flag ? 1 : 0);
    }
    if (here.runs.size() != runs->size()) here.runs.clear();
    here.all = std::move(*all);
    return here;
  }

 private:
  [[nodiscard]] std::string key(const records::Point& point) const {
    std::string text;
    for (const auto& column : prepared_.table().columns) {
      const auto& value = point.at.at(column);
      const auto* n = value.get<Number>();
      text += (n ? fmt::format("{}", n->number) : show(value)) + ";";
    }
    return text;
  }

  const ComparedResult& side_;
  const compiler::Stage& stage_;
  const infer::PreparedRecords prepared_;
  const compiler::Names scope_;
  std::map<std::string, std::size_t> by_coordinates_;
};

/// How far apart two values are, in the margins that would be nothing.
double in_margins(const infer::Difference& difference) { return std::fabs(difference.b - difference.a) / std::max(difference.margin, 1e-300); }

class Curve {
 public:
  Curve(const Records& a, const Records& b, ComparedCurve& curve) : a_(a), b_(b), curve_(curve) {}

  Result<> compare(const compiler::Formula& in_a, const compiler::Formula& in_b, double margin) {
    std::vector<infer::Pair> pairs;
    std::vector<std::string> labels;
    for (std::size_t i = 0; i < a_.table().points.size(); ++i) {
      const auto& point = a_.table().points[i];
      const auto other = b_.at(point);
      if (!other) {
        ++curve_.only_in_a;
        continue;
      }
      auto x = a_.measured(in_a, i), y = b_.measured(in_b, *other);
      if (!x) return x.error();
      if (!y) return y.error();
      ++curve_.points;
      const auto where = records::coordinates_text(a_.table(), point);
      if (!x->runs.empty() && !y->runs.empty()) {
        if (const auto* n = x->all.get<Number>()) curve_.dimension = n->dimension;
        pairs.push_back({std::move(x->runs), std::move(y->runs)});
        labels.push_back(where);
      } else {
        without_numbers(x->all, y->all, where);
      }
    }
    curve_.only_in_b = b_.table().points.size() - curve_.points;
    const bool each = a_.table().timing == records::Table::Timing::Each;
    const infer::Tolerance tolerance{margin, each && curve_.dimension == kCycles ? 1.0 : 0.0, curve_.dimension.none() ? kNought : 0, kCurveChance};
    const auto all = infer::differences(pairs, tolerance);
    for (std::size_t i = 0; i < all.size(); ++i) count(all[i].agreement, {labels[i], all[i], all[i].repetitions < 2 ? "too few repetitions" : ""});
    if (curve_.points == 0) curve_.agreement = Agreement::Ambiguous, curve_.why = "no point in common";
    return Ok{};
  }

 private:
  /// Where a repetition alone has no number: a name, or a value that only all of them give.
  void without_numbers(const Value& x, const Value& y, const std::string& where) {
    const auto agreement = !x.known() && !y.known() ? Agreement::Undetermined : x == y ? Agreement::Same : x.known() && y.known() && !x.get<Number>() ? Agreement::Different : Agreement::Ambiguous;
    const auto why = !x.known() ? "no value on " + a_.name() : !y.known() ? "no value on " + b_.name() : fmt::format("{} and {}, by all repetitions together", show(x), show(y));
    count(agreement, {where, {}, why});
  }

  void count(Agreement agreement, ComparedPoint here) {
    if (agreement == Agreement::Different) ++curve_.different;
    if (agreement == Agreement::Ambiguous) ++curve_.ambiguous;
    if (agreement == Agreement::Undetermined) ++curve_.undetermined;
    if (agreement < Agreement::Ambiguous || agreement < curve_.agreement) return;
    if (agreement == curve_.agreement && in_margins(here.difference) <= in_margins(curve_.worst->difference)) return;
    curve_.agreement = agreement;
    curve_.worst = std::move(here);
  }

  const Records &a_, &b_;
  ComparedCurve& curve_;
};

const StageResult* records_of(const RunResult& result, const std::string& name) {
  const auto found = std::find_if(result.stages.begin(), result.stages.end(), [&](const auto& kept) { return kept.name == name && !kept.table.points.empty(); });
  return found == result.stages.end() ? nullptr : &*found;
}

/// The columns of a stage; where nothing is derived, the median of its record too.
std::vector<Column> columns_with_median(const compiler::Stage& stage) {
  auto columns = columns_of(stage);
  if (!stage.derives.empty()) return columns;
  compiler::Formula record;
  record.kind = compiler::Formula::Kind::Name;
  record.text = stage.timed_name;
  const auto median = compiler::call_of("median", record);
  const auto name = compiler::show(median);
  if (std::none_of(columns.begin(), columns.end(), [&](const Column& other) { return other.name == name; })) columns.push_back({name, std::make_shared<const compiler::Formula>(median)});
  return columns;
}

}  // namespace

Result<std::vector<ComparedCurve>> compare_curves(const ComparedResult& a, const ComparedResult& b, double margin) {
  std::vector<ComparedCurve> curves;
  for (const auto& stage : a.program.stages) {
    const auto other = std::find_if(b.program.stages.begin(), b.program.stages.end(), [&](const auto& s) { return s.name == stage.name; });
    if (other == b.program.stages.end()) continue;
    const auto *x = records_of(a.result, stage.name), *y = records_of(b.result, stage.name);
    const auto columns = columns_with_median(stage), others = columns_with_median(*other);
    std::optional<Records> of_a, of_b;
    for (const auto& column : columns) {
      const auto same = std::find_if(others.begin(), others.end(), [&](const Column& own) { return own.name == column.name; });
      if (same == others.end()) continue;
      ComparedCurve curve;
      curve.stage = stage.name;
      curve.column = column.name;
      if (!x || !y) {
        curve.agreement = x || y ? Agreement::Ambiguous : Agreement::Undetermined;
        curve.why = "no records on " + (x ? b.name : y ? a.name : "either");
      } else if (x->table.columns != y->table.columns) {
        curve.agreement = Agreement::Ambiguous;
        curve.why = "another sweep";
      } else {
        for (auto [side, kept, of, records] : {std::tuple{&a, x, &stage, &of_a}, {&b, y, &*other, &of_b}}) {
          if (*records) continue;
          auto scope = scope_of(side->program, *kept);
          if (!scope) return scope.error();
          records->emplace(*side, *of, *kept, std::move(*scope));
        }
        if (auto done = Curve(*of_a, *of_b, curve).compare(*column.formula, *same->formula, margin); !done) return done.error();
      }
      curves.push_back(std::move(curve));
    }
  }
  return curves;
}

}  // namespace gexp::result
