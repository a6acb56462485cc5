// SPDX-License-Identifier: Apache-2.0
#include "compiler/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "compiler/expand.h"
#include "lang/base/embedded.h"

namespace gexp::compiler {
namespace {

Diagnostic error(std::string code, Span span, std::string message, std::string hint = {}) {
  Diagnostic diagnostic = failure(std::move(code), std::move(message), std::move(hint));
  diagnostic.span = span;
  return diagnostic;
}

Result<Shape> each_shape(const Memory& memory, const Chase& chase, int width) {
  if (memory.space != Space::Global) {
    return error("E0502", chase.span, "`timed … each` of shared memory cannot be run yet", "`timed … total` can");
  }
  if (width != memory.element_bytes || (width != 4 && width != 8)) {
    return error("E0502", chase.span, fmt::format("a chase of {}-byte links through elements of {} bytes cannot be run yet", width, memory.element_bytes),
                 "u32 and u64 memories can, read as their element");
  }
  const std::string via = word(chase.via);
  const bool wide = width == 8;
  return Shape{"each.cu",
               {{"element", wide ? "unsigned long long" : "unsigned int"},
                {"bytes", std::to_string(width)},
                {"load", fmt::format("ld.global{}{}.u{}", via.empty() ? "" : ".", via, width * 8)},
                {"chained", fmt::format("ld.global{}{}.u64 %0, [%0];", via.empty() ? "" : ".", via)},
                {"letter", wide ? "l" : "r"},
                {"address", wide ? "mad.lo.u64" : "mad.wide.u32"}},
               chase.span};
}

Result<Shape> total_shape(const Memory& memory, const Chase& chase, int width) {
  if (memory.space != Space::Shared) {
    return error("E0502", chase.span, "`timed … total` of global memory cannot be run yet", "`timed … each` can");
  }
  if (chase.via != Via::Default) return error("E0504", chase.span, "shared memory has no load path to choose", "leave `via` out");
  std::string load;
  if (width == 4) load = "ld.shared.u32 %0, [%0];";
  if (width == 8) load = "{ .reg .u32 b; ld.shared.v2.u32 {%0, b}, [%0]; }";
  if (width == 16) load = "{ .reg .u32 b, c, d; ld.shared.v4.u32 {%0, b, c, d}, [%0]; }";
  if (load.empty()) return error("E0417", chase.span, fmt::format("a load is 4, 8 or 16 bytes wide, not {}", width));
  return Shape{"total.cu", {{"load", load}}, chase.span};
}

Result<std::string> template_file(const std::string& name, const std::string& folder) {
  if (!folder.empty()) {
    std::ifstream in(folder + "/" + name);
    if (!in) return failure("E0506", fmt::format("cannot read template {}/{}", folder, name), "--templates names a folder with every template");
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }
  for (const auto& file : embedded::compiler_templates()) {
    if (file.name == name) return file.text;
  }
  return failure("E0506", fmt::format("there is no template {}", name));
}

}  // namespace

Result<Shape> shape_of(const Program& program, const Stage& stage, int width) {
  const auto memory = std::find_if(program.memories.begin(), program.memories.end(),
                                   [&](const Memory& m) { return m.name == stage.timed.memory; });
  GEXP_CHECK(memory != program.memories.end());
  return stage.timing == Timing::Each ? each_shape(*memory, stage.timed, width)
                                      : total_shape(*memory, stage.timed, width);
}

Result<std::vector<Shape>> stage_shapes(const Program& program, const Stage& stage, const Scope& scope) {
  // Only the sweeps that the width reads can make a difference.
  std::vector<std::string> wanted;
  if (stage.timed.width) wanted = free_names(*stage.timed.width);
  std::vector<Names> scopes{Names(&scope)};
  for (const auto& sweep : stage.sweeps) {
    const bool matters = std::any_of(sweep.names.begin(), sweep.names.end(), [&](const std::string& name) {
      return std::find(wanted.begin(), wanted.end(), name) != wanted.end();
    });
    if (!matters) continue;
    std::vector<Names> more;
    for (const auto& names : scopes) {
      auto values = sweep_values(sweep, names);
      if (!values) return values.error();
      for (const auto& value : *values) {
        more.push_back(names);
        bind_sweep(sweep, value, more.back());
      }
    }
    scopes = std::move(more);
  }
  std::vector<Shape> shapes;
  for (const auto& names : scopes) {
    auto width = chase_width(program, stage.timed, names);
    if (!width) return width.error();
    auto shape = shape_of(program, stage, *width);
    if (!shape) return shape.error();
    if (std::find(shapes.begin(), shapes.end(), *shape) == shapes.end()) shapes.push_back(std::move(*shape));
  }
  return shapes;
}

Result<std::string> emit_cuda(const Shape& shape, const std::string& template_folder) {
  auto text = template_file(shape.file, template_folder);
  if (!text) return text;
  auto holes = shape.holes;
  holes["name"] = kEntry;
  // The template's head describes holes to its readers; the emitted text needs only the code.
  std::size_t code = 0;
  while (text->compare(code, 2, "//") == 0) code = text->find('\n', code) + 1;
  auto filled = fill_template(shape.file, text->substr(code), holes);
  if (!filled) return filled;
  return fmt::format("// gexp: {}\n{}", shape.file, *filled);
}

}  // namespace gexp::compiler
