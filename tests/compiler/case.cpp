// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/case.h"

#include <algorithm>
#include <regex>
#include <set>

#include "compiler/pipeline.h"
#include "compiler/plan/expand.h"
#include "compiler/plan/plan.h"
#include "tests/lang/support.h"

namespace gexp::test {
namespace fs = std::filesystem;
namespace {

std::vector<std::pair<std::string, std::string>> settings_in(const std::string& text) {
  static const std::regex line("# --set ([^=\n]+)=([^\n]*)");
  std::vector<std::pair<std::string, std::string>> found;
  for (std::sregex_iterator i(text.begin(), text.end(), line), end; i != end; ++i) found.emplace_back((*i)[1], (*i)[2]);
  return found;
}

/// The first mistake of the points that agree with `at` in the sweeps before `sweep`.
std::optional<Diagnostic> plan_from(const compiler::Program& program, const compiler::Stage& stage, std::size_t sweep, const compiler::Names& names,
                                    const compiler::Coordinates& at, const compiler::Names& outer) {
  if (sweep == stage.sweeps.size()) {
    bool skipped = false;
    const auto plan = compiler::plan_point(program, stage, at, outer, skipped);
    return plan ? std::nullopt : std::optional(plan.error());
  }
  const auto values = compiler::sweep_values(stage.sweeps[sweep], names);
  if (!values) return values.error();
  for (const auto& value : *values) {
    auto inner = names;
    compiler::bind_sweep(stage.sweeps[sweep], value, inner);
    auto further = at;
    for (const auto& name : stage.sweeps[sweep].names) further.emplace_back(name, *inner.lookup(name));
    if (auto problem = plan_from(program, stage, sweep + 1, inner, further, outer)) return problem;
  }
  return std::nullopt;
}

}  // namespace

std::vector<fs::path> wrong_specs() {
  auto files = files_under("tests/cases/diagnostics", ".gexp");
  std::erase_if(files, [](const fs::path& file) { return file.stem() != file.parent_path().filename(); });
  return files;
}

Told::Told(const fs::path& spec) : source(spec.filename().string(), read(spec)) {
  compiler::Options options;
  options.load = files_of(spec.parent_path());
  options.settings = settings_in(source.text());
  options.models = {"gtx560ti", "gtx780", "gtx980"};
  const auto program = compiler::compile(source, options, diagnostics);
  if (!program) return;
  const auto outer = compiler::file_scope(*program);
  if (!outer) {
    diagnostics.add(outer.error());
    return;
  }
  for (const auto& stage : program->stages) {
    if (!stage.after.empty()) continue;
    if (auto problem = plan_from(*program, stage, 0, compiler::Names(&*outer), {}, *outer)) diagnostics.add(std::move(*problem));
  }
}

std::string Told::text() const {
  std::string all;
  for (const auto& diagnostic : diagnostics.sorted()) all += render(diagnostic, &source);
  return all;
}

std::string sources_of(const std::vector<std::string>& folders) {
  std::string all;
  for (const auto& folder : folders) {
    for (const char* extension : {".cpp", ".h"}) {
      for (const auto& file : files_under(folder, extension)) {
        if (file.filename() != "codes.h") all += read(file);
      }
    }
  }
  return all;
}

std::vector<std::string> quoted_codes(const std::string& text) {
  static const std::regex code("\"(E0[0-9]{3})\"");
  std::set<std::string> found;
  for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) found.insert((*i)[1]);
  return {found.begin(), found.end()};
}

}  // namespace gexp::test
