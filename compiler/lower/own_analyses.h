// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "compiler/program.h"
#include "lang/ast.h"
#include "lang/base/diagnostic.h"
#include "lang/use.h"

namespace gexp::compiler {

/// Where the analyses stand that a `find` may ask: in the file, and in those that it uses.
struct OwnAnalyses {
  const lang::File& file;
  const lang::Uses& uses;
};

/// A `find` of one of them: a question for each analysis of the language that it is composed of, then the one that combines their answers.
/// `asked` has its name, type, need and place. E0238 where it is too large when written out.
std::vector<Question> lower_own_analysis(const Formula& call, const OwnAnalyses& among, const Question& asked, Diagnostics& diagnostics);

}  // namespace gexp::compiler
