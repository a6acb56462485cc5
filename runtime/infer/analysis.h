// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "compiler/formula/formula.h"
#include "compiler/program.h"
#include "runtime/infer/classes.h"
#include "runtime/infer/finding.h"
#include "runtime/infer/prepared_records.h"
#include "runtime/infer/record_functions.h"
#include "runtime/records/table.h"

/// What every analysis is given and gives. An analysis is a pure function.
namespace gexp::infer {

struct Context {
  const compiler::Question& question;
  const records::Table& table;   ///< the points that the question's `where` keeps; all of them without one
  const compiler::Stage& stage;
  const compiler::Scope& outer;  ///< params, lets, earlier findings
  const Classes& classes;        ///< of all points of the stage: what a hit and a miss are
  const Classes& own_classes;    ///< of `table` alone: which latencies the question is about
  double drift = 0;              ///< PreparedRecords::drift
  const MeasuredStages* earlier = nullptr;  ///< of the same file; null where there are none
  const records::Table* whole = nullptr;    ///< all points of the stage; null where `table` has them
};

using Analysis = Finding (*)(const Context&);

/// By name; null when there is none.
Analysis find_analysis(const std::string& name);

/// The analyses, named in lang/analyses.def. Each .cpp head says why its method works and what makes it abstain.
#define GEXP_ANALYSIS(name, ...) Finding name(const Context& context);
#include "lang/analyses.def"
#undef GEXP_ANALYSIS

/// An undetermined finding of this question, with the reason and what would decide it.
Finding undetermined(const compiler::Question& question, std::string why);
Finding undetermined(const Context& context, std::string why);
/// For `found`, where the method gives no more confidence than this, however much is measured.
inline constexpr const char* kNothingMore = nullptr;
/// A found one; below the question's `need` it becomes undetermined and says so, and that `decides` would decide.
Finding found(const Context& context, Value value, double confidence, std::string why, std::string evidence = {}, const char* decides = "more repetitions");

/// The argument of a question labelled `label`, or the first unlabelled one when `label` is empty; null when absent.
const compiler::Formula::Argument* labelled(const compiler::Question& question, const std::string& label);
/// Its number, in its own unit; none when absent, unknown or no number.
std::optional<double> number_of(const compiler::Question& question, const std::string& label, const compiler::Scope& scope);

/// The same of the context's question.
const compiler::Formula::Argument* argument(const Context& context, const std::string& label = {});
/// The value of a labelled argument in the outer scope (a param, an earlier finding); unknown when absent or unknown.
Value argument_value(const Context& context, const std::string& label);
/// Cycles after `above:`; nullopt without it.
std::optional<double> above_of(const Context& context);

/// The records of one point (index into the context's table), as a question sees them.
PointScope scope_at(const Context& context, std::size_t point);
/// "its confidence of 99.00 % is below the 99.95 % that is needed": never rounded to the same.
std::string below_need(double confidence, double need);
/// "it needs a.x, b.y, which were not found".
std::string not_found(const std::vector<std::string>& findings);
/// Why the question's data has no value where everything was measured.
std::string why_unknown(const Context& context);
/// A formula's number at one point of the table; nullopt where it has none.
std::optional<Number> number_at(const Context& context, const compiler::Formula& formula, std::size_t point);

/// The first argument's formula at every point (that its `where` keeps), with its `over` coordinate: for `misses(lat) over n`.
struct Curve {
  struct Sample {
    std::size_t point = 0;  ///< index into the table
    double x = 0, y = 0;
  };
  std::vector<Sample> samples;  ///< in order of x
  Dimension x_dimension, y_dimension;
  bool is_condition = false;  ///< y is 1 where it holds, and 0 where not
};
Result<Curve> curve(const Context& context);

/// How often each step of a point's walk missed, over its laps and runs; empty where nothing is chased.
std::vector<std::uint32_t> misses_by_step(const records::Point& point, const MissRange& range);

}  // namespace gexp::infer
