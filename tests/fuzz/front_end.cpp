// SPDX-License-Identifier: Apache-2.0
// Any bytes: compiled, and what compiles planned and emitted as `gexp emit --cuda` does it. Lines `#file` begin further files,
// which the first can use: "1.gexp", "2.gexp", …
#include <cstdint>
#include <vector>

#include "compiler/codegen/emit.h"
#include "compiler/pipeline.h"
#include "compiler/plan/plan.h"

using namespace gexp;

namespace {

// Instrumented code is ten times slower. The experiments of the repository need less (tests/compiler/hostile_test.cpp).
constexpr std::int64_t kUnits = kCompileUnits / 64;

void look_at(const Diagnostic& diagnostic, const Source& source) {
  GEXP_CHECK(diagnostic.code.size() == 5 && !diagnostic.message.empty());
  GEXP_CHECK(!render(diagnostic, &source).empty());
}

std::vector<std::string> files(const std::string& text) {
  static const std::string kMark = "#file\n";
  std::vector<std::string> found;
  std::size_t begin = 0;
  for (std::size_t at; (at = text.find(kMark, begin)) != std::string::npos; begin = at + kMark.size()) found.push_back(text.substr(begin, at - begin));
  found.push_back(text.substr(begin));
  return found;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto texts = files(std::string(reinterpret_cast<const char*>(data), size));
  const Source source("fuzz.gexp", texts[0]);
  compiler::Options options;
  options.budget = kUnits;
  options.load = [&](const std::string& path, const std::string&) -> Result<lang::LoadedText> {
    for (std::size_t i = 1; i < texts.size(); ++i) {
      if (path == std::to_string(i) + ".gexp") return lang::LoadedText{path, texts[i]};
    }
    return failure("E0122", "there is no such file");
  };
  Diagnostics diagnostics;
  const auto program = compiler::compile(source, options, diagnostics);
  GEXP_CHECK(program.has_value() != diagnostics.has_errors());
  for (const auto& diagnostic : diagnostics.sorted()) look_at(diagnostic, source);
  if (!program) return 0;
  const Budget::Work budget(kUnits);
  const auto scope = compiler::file_scope(*program);
  if (!scope) {
    look_at(scope.error(), source);
    return 0;
  }
  for (const auto& stage : program->stages) {
    const auto shapes = compiler::stage_shapes(*program, stage, *scope);
    if (!shapes) {
      look_at(shapes.error(), source);
      continue;
    }
    for (const auto& shape : *shapes) {
      const auto text = compiler::emit_cuda(shape);
      GEXP_CHECK(text.ok());  // a hole that nothing fills is a mistake of ours
    }
  }
  return 0;
}
