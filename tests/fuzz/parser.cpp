// SPDX-License-Identifier: Apache-2.0
// Any bytes: parsed, checked, every diagnostic rendered, and what parses put in house form; the same as the text of a kernel.
#include <cstdint>

#include "lang/base/result.h"
#include "lang/check.h"
#include "lang/format.h"
#include "lang/kernel_file.h"
#include "lang/parse.h"

using namespace gexp;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Source source("fuzz.gexp", std::string(reinterpret_cast<const char*>(data), size));
  Diagnostics diagnostics;
  const auto file = lang::parse(source, diagnostics);
  const bool parsed = !diagnostics.has_errors();
  if (parsed) lang::check(file, source, diagnostics);
  for (const auto& diagnostic : diagnostics.sorted()) {
    GEXP_CHECK(diagnostic.code.size() == 5 && !diagnostic.message.empty());
    GEXP_CHECK(diagnostic.span.begin <= diagnostic.span.end && diagnostic.span.end <= size);
    GEXP_CHECK(!render(diagnostic, &source, true).empty());
  }
  for (const auto& span : lang::reads_of_files(source.text())) GEXP_CHECK(span.begin < span.end && span.end <= size);
  Diagnostics problems;
  const auto once = lang::format(source, problems);
  GEXP_CHECK(once.has_value() == parsed);
  if (!once) return 0;
  const Source formatted("formatted.gexp", *once);
  const auto twice = lang::format(formatted, problems);
  GEXP_CHECK(twice && *twice == *once);
  return 0;
}
