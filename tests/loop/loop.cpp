// SPDX-License-Identifier: Apache-2.0
#include "tests/loop/loop.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "compiler/pipeline.h"
#include "runtime/device/facts.h"
#include "runtime/jit/compiler.h"
#include "runtime/sim/sim.h"

namespace gexp::test {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(path);
  REQUIRE_MESSAGE(in.good(), path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

const infer::Finding* find(const result::RunResult& result, const std::string& id) {
  for (const auto& finding : result.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

}  // namespace

result::RunResult run_loop(const std::string& experiment, const std::string& model, const std::vector<Edit>& edits, std::uint64_t seed) {
  return run_text(read(std::string(GEXP_SOURCE_DIR) + "/experiments/" + experiment), model, edits, seed);
}

result::RunResult run_text(const std::string& spec, const std::string& model, const std::vector<Edit>& edits, std::uint64_t seed,
                            const measure::SessionOptions& session) {
  auto text = read(std::string(GEXP_SOURCE_DIR) + "/runtime/sim/models/" + model + ".toml");
  for (const auto& edit : edits) {
    const auto at = text.find(edit.from);
    REQUIRE_MESSAGE(at != std::string::npos, "the model has no `" << edit.from << "`");
    text.replace(at, edit.from.size(), edit.to);
  }
  const Source source(model + ".toml", text);
  sim::Options options;
  options.seed = seed;
  auto backend = sim::open(source, "sim:" + model, options);
  REQUIRE_MESSAGE(backend.ok(), (backend.ok() ? std::string() : render(backend.error(), &source)));
  return run_on(spec, **backend, session);
}

result::RunResult run_on(const std::string& spec_text, device::Backend& backend, const measure::SessionOptions& options) {
  const Source spec("spec.gexp", spec_text);
  Diagnostics diagnostics;
  auto program = compiler::compile(spec, {}, diagnostics);
  std::string said;
  for (const auto& diagnostic : diagnostics.sorted()) said += render(diagnostic, &spec);
  REQUIRE_MESSAGE(program, said);
  auto compiler = jit::Compiler::open();
  REQUIRE_MESSAGE(compiler.ok(), "NVRTC is missing");

  measure::Kernels kernels(*compiler, {}, backend.target());
  result::RunResult result;
  result.device = backend.device();
  program->device = device::device_facts(result.device);
  measure::Progress silent;
  const auto done = measure::run_session(*program, backend, kernels, options, silent, result);
  REQUIRE_MESSAGE(done.ok(), (done.ok() ? std::string() : render(done.error(), &spec)));
  return result;
}

std::string found(const result::RunResult& result, const std::string& id, const std::string& field) {
  const auto* finding = find(result, id);
  if (!finding) return "no such finding";
  if (finding->status != infer::Finding::Status::Found) return "undetermined: " + finding->why;
  if (field.empty()) return show(finding->value);
  const auto* fields = finding->value.get<Fields>();
  const auto at = fields ? fields->find(field) : Fields::const_iterator{};
  return fields && at != fields->end() ? show(at->second) : "no such field";
}

std::vector<double> numbers(const result::RunResult& result, const std::string& id, const std::string& field) {
  std::vector<double> all;
  const auto* finding = find(result, id);
  const auto* fields = finding ? finding->value.get<Fields>() : nullptr;
  const auto at = fields ? fields->find(field) : Fields::const_iterator{};
  const auto* list = fields && at != fields->end() ? at->second.get<List>() : nullptr;
  REQUIRE_MESSAGE(list, found(result, id));
  for (const auto& item : *list) all.push_back(item.get<Number>()->number);
  return all;
}

int count(const result::RunResult& result, result::Judgement::Status status) {
  int n = 0;
  for (const auto& judged : result.expectations) n += judged.status == status ? 1 : 0;
  return n;
}

}  // namespace gexp::test
