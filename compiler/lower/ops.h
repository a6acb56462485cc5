// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "compiler/program.h"
#include "lang/ast.h"

/// Operations: from the tree, and what can be said of a body without running it.
namespace gexp::compiler {

/// One checked operation with those inside it.
Op lower_op(const lang::Op& op, int element_bytes);

/// Every operation of a body, outer ones before those inside them.
template <class Visit> void for_each_op(const Body& body, const Visit& visit) {
  for (const auto& op : body) {
    visit(op);
    for_each_op(op.body, visit);
    for_each_op(op.otherwise, visit);
  }
}
/// Those of the warm-ups, then those of the timed region.
template <class Visit> void for_each_op(const Stage& stage, const Visit& visit) {
  for (const auto& launch : stage.warm_launches) for_each_op(launch.body, visit);
  for_each_op(stage.warm, visit);
  for_each_op(stage.timed, visit);
}

/// Whether an operation may change what its memory holds.
bool writes(const Op& op);

/// Whether a stage launches a kernel that gexp did not write.
bool launches_files(const Program& program);
/// Whether it names what a load gives: then memories are cleared before, so that it finds nothing that others left there.
bool reads_contents(const Program& program);

/// Whether its kernel is made of roles (codegen/roles.h): other stages run in its launch, it in that of another, or its threads use flags.
bool shares_launch(const Stage& stage);

/// Whether an expect of the stage asks if its launches hang: then threads may wait for what never comes.
bool may_hang(const Stage& stage);

/// The operation when a body is one chase and, besides signals and waits, nothing else; null otherwise.
const Op* only_chase(const Body& body);

/// The kernel of a file when a body is one; null otherwise.
const FileKernel* only_kernel(const Body& body);

/// "chase A by ring via ca; barrier" for a reader of the IR.
std::string show(const Body& body);

}  // namespace gexp::compiler
