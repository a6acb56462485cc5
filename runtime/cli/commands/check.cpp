// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "compiler/pipeline.h"
#include "runtime/cli/app.h"
#include "runtime/cli/command.h"
#include "runtime/cli/json.h"
#include "runtime/cli/output.h"
#include "runtime/cli/shared_options.h"
#include "runtime/cli/use.h"
#include "runtime/sim/sim.h"

namespace gexp::cli {
namespace {

/// A span as editors count: lines and columns from 1, all 0 where it is about no place.
void put_place(Json& into, const Source& source, Span span) {
  const bool nowhere = span.empty() && span.begin == 0;
  const auto begin = nowhere ? Position{0, 0} : source.position(span.begin), end = nowhere ? begin : source.position(span.end);
  into["line"] = begin.line, into["column"] = begin.column, into["end_line"] = end.line, into["end_column"] = end.column;
}

Json diagnostic_json(const Diagnostic& diagnostic, const Source& whole) {
  const auto& source = diagnostic.in ? *diagnostic.in : whole;
  Json made = {{"file", source.path()}, {"code", diagnostic.code},
                                 {"severity", diagnostic.severity == Severity::Error ? "error" : "warning"}, {"message", diagnostic.message}};
  put_place(made, source, diagnostic.span);
  made["hint"] = diagnostic.hint;
  made["notes"] = Json::array();
  for (const auto& note : diagnostic.notes) {
    const auto& in = note.in ? *note.in : whole;
    Json told = {{"message", note.message}, {"file", in.path()}};
    put_place(told, in, note.span);
    made["notes"].push_back(std::move(told));
  }
  return made;
}

int check(const std::vector<std::string>& files, const std::vector<std::string>& allow, bool json) {
  allow_kernels(allow);
  int exit = kDone;
  auto list = Json::array();
  for (const auto& file : files) {
    const auto path = find_experiment(file);
    auto text = read_spec_file(path);
    if (!text) {
      if (json) list.push_back(diagnostic_json(text.error(), Source(path, "")));
      else print(text.error(), nullptr);
      exit = kSpec;
      continue;
    }
    const Source source(path, std::move(*text));
    Diagnostics diagnostics;
    compiler::Options options;
    options.models = sim::names();
    options.load = load_used;
    options.outside = kernel_allowed;
    if (!compiler::compile(source, options, diagnostics)) exit = kSpec;
    for (const auto& diagnostic : diagnostics.sorted()) {
      if (json) list.push_back(diagnostic_json(diagnostic, source));
      else print(diagnostic, &source);
    }
    if (!json && !diagnostics.has_errors()) print_out("{}: fine\n", path);
  }
  // A path may be no UTF-8; JSON is.
  if (json) print_out("{}\n", list.text());
  return exit;
}


class Check final : public Command {
 public:
  void declare(Options& options) override {
    options.add("files", &files_, "the .gexp files").must_be_given().offers(Offers::Experiments);
    add_allow(options, allow_);
    options.add("--json", &json_, "diagnostics as JSON");
  }
  int run() override { return check(files_, allow_, json_); }

 private:
  std::vector<std::string> files_, allow_;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Command> new_check() { return std::make_unique<Check>(); }

}  // namespace gexp::cli
