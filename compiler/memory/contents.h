// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <vector>

#include "compiler/formula/thread_range.h"
#include "compiler/program.h"

/// What `memory … holds LIST` puts into a memory. Nothing writes to it afterwards, so that what a load gives is known before it runs.
namespace gexp::compiler {

/// The elements, one after the other; behind the last one zeros. E0131: more than the memory has, or a number that no element can be.
Result<std::vector<std::byte>> memory_contents(const Memory& memory, const Scope& scope);

/// What an element can be. E0131 as above.
Result<Range> contents_range(const Memory& memory, const Scope& scope);

}  // namespace gexp::compiler
