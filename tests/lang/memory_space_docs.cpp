// SPDX-License-Identifier: Apache-2.0
// The documents' table of memory spaces is made of lang/memory_spaces.def. GEXP_BLESS=1 writes it anew.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lang/memory_spaces.h"
#include "tests/lang/generated_docs.h"

using namespace gexp;
using namespace gexp::test;

TEST_CASE("docs/language/memory.md has a row for each memory space") {
  std::string wanted = "|---|---|---|\n";
  for (const auto& space : lang::memory_spaces()) wanted += fmt::format("| `{}` | {} | {} |\n", space.word, space.access, space.limits);
  CHECK_MESSAGE(block_of("docs/language/memory.md", "| space | an access becomes |", wanted) == wanted, "./dev bless lang");
}
