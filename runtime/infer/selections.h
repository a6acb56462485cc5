// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "runtime/infer/analysis.h"

namespace gexp::infer {

/// A question and what it is asked of.
struct Asked {
  const compiler::Question& question;
  const PreparedRecords& prepared;
  const compiler::Stage& stage;
  const compiler::Scope& outer;
  const MeasuredStages& earlier;
};

/// An analysis' answer over the points, and the parts of their records, that the question's `where` keeps; or, where it has no
/// meaning of its own for `by`, a list of its answers: one for each value, in the order in which they come.
Finding answer_selected(Analysis analysis, const Asked& asked);

}  // namespace gexp::infer
