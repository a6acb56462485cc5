// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "lang/base/result.h"
#include "ptx/tree.h"
#include "runtime/sim/ptx.h"
#include "runtime/sim/ptx_names.h"

namespace gexp::sim {

using ptx::Operand;
using ptx::Statement;
using ptx::Token;
using ptx::literal;
using ptx::ptx_error;
using ptx::type_named;

/// The one or few interpreter instructions that a PTX instruction becomes; what they list goes into `kernel`. A branch's label is left
/// to the caller.
Result<std::vector<Instruction>> decode(const Statement& statement, Names& names, Kernel& kernel);

}  // namespace gexp::sim
