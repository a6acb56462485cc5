// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "compiler/program.h"
#include "compiler/template_text.h"

namespace gexp::compiler {

/// One kernel: a template and what fills it. Sweep values are kernel arguments, so all points of a sweep share a shape.
struct Shape {
  std::string file;  ///< template, "each.cu"
  Holes holes;       ///< without `name`: equal shapes are equal kernels
  Span span;         ///< the chase that it was made for
  friend bool operator==(const Shape& a, const Shape& b) { return a.file == b.file && a.holes == b.holes; }
  friend bool operator<(const Shape& a, const Shape& b) { return std::tie(a.file, a.holes) < std::tie(b.file, b.holes); }
};

/// Name of every kernel's entry.
inline constexpr const char* kEntry = "gexp_kernel";

/// Bytes of shared memory that hold one window of ticks in `each.cu`, 2 a tick. With the 1 KiB that Hopper reserves for a
/// block it fits the smallest carve-out that a block can have there (8 KiB), so that the trace costs the L1 nothing.
inline constexpr std::int64_t kTraceBytes = 7168;

/// The shape of a stage's kernel for one load width (bytes).
Result<Shape> shape_of(const Program& program, const Stage& stage, int width);

/// Every shape of a stage: one for each width that its sweeps reach. `scope` holds params, lets and earlier findings.
Result<std::vector<Shape>> stage_shapes(const Program& program, const Stage& stage, const Scope& scope);

/// CUDA text of a shape. `template_folder` replaces the built-in templates where it is not empty.
Result<std::string> emit_cuda(const Shape& shape, const std::string& template_folder = {});

}  // namespace gexp::compiler
