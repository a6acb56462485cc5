// SPDX-License-Identifier: Apache-2.0
// A result of a stranger, from its bytes to its report, as `gexp infer`, `report` and `compare` go about it.
#include "tests/hostile/targets.h"

#include "compiler/pipeline.h"
#include "runtime/device/facts.h"
#include "runtime/measure/session.h"
#include "runtime/report/html.h"
#include "runtime/report/plot_text.h"
#include "runtime/report/text.h"
#include "runtime/result/compare.h"
#include "runtime/result/figures.h"
#include "runtime/result/lockfile.h"
#include "runtime/result/point_table.h"
#include "runtime/result/result_json.h"
#include "runtime/result/shape.h"

namespace gexp::hostile {

bool try_result(const std::string& text) {
  auto result = result::from_json(text, "hostile.json");
  if (!result) return false;
  Diagnostics diagnostics;
  compiler::Options options;
  options.settings = result->settings;
  options.measured = true;
  options.load = [](const std::string&, const std::string&) -> Result<lang::LoadedText> { return failure("E0122", "the result does not hold it"); };
  auto program = compiler::compile(Source(result->spec_path, result->spec_text), options, diagnostics);
  if (!program || !result::check_shape(*program, *result, "hostile.json")) return false;
  program->device = device::device_facts(result->device);
  if (!measure::infer_again(*program, *result)) return false;
  (void)report::text(*program, *result, true);
  const auto figures = result::figures(*program, *result, report::kHtmlCells);
  if (figures) {
    (void)report::html(*program, *result, *figures);
    for (const auto& figure : figures->plots) (void)report::plot_text(figure, 80, false);
  }
  for (const auto& stage : result->stages) {
    if (const auto table = result::point_table(*program, *result, stage.name)) (void)result::csv(*table);
  }
  const result::ComparedResult a{*program, *result, "A"}, b{*program, *result, "B"};
  (void)result::compare({a, b});
  (void)result::compare_curves(a, b);
  (void)result::lockfile(*result);
  return true;
}

}  // namespace gexp::hostile
