// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string_view>
#include <vector>

#include "compiler/program.h"
#include "lang/ast.h"
#include "lang/kernel_file.h"

/// Kernels of files: from the tree.
namespace gexp::compiler {

/// Gives the operation its kernel. `A by ring` becomes a chase in its body, which nothing runs: what makes the links of a chase makes
/// these.
void lower_kernel(const lang::Op& op, int element_bytes, Op& lowered);

/// Tells arguments that name a memory, or the record, from values. `own`: what the stage declares, which hides names of the file.
void name_arguments(Stage& stage, const std::vector<Memory>& memories, const std::set<std::string_view>& own);

/// Gives every kernel of the program its file.
void take_texts(Program& program, const lang::KernelFiles& files);

}  // namespace gexp::compiler
