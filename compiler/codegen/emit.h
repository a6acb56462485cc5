// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "compiler/codegen/template.h"
#include "compiler/program.h"
#include "ptx/soft_l1.h"

namespace gexp::compiler {

/// One kernel: a template and what fills it. Sweep values are kernel arguments, so all points of a sweep share a shape.
struct Shape {
  const KernelTemplate* made_from = nullptr;
  Holes holes;       ///< without `name`: equal shapes are equal kernels
  Span span;         ///< the chase that it was made for; of a kernel of a file what names it
  std::shared_ptr<const Source> text = nullptr;  ///< of kFileKernel: the file, whose hash is a hole
  std::optional<ptx::SoftL1> soft_l1 = {};       ///< of kFileKernel: the cache that its PTX is given
  std::uint32_t registers = 0;                    ///< that its threads take; 0: what the compiler gives them
  std::uint32_t threads = 0;                      ///< of a block: each takes no more registers than so many can have; 0: any number
  /// Moves each text into its hole.
  void take(std::initializer_list<std::pair<const char*, std::string*>> texts) {
    for (const auto& [hole, made] : texts) holes[hole] = std::move(*made);
  }
  [[nodiscard]] bool of_file() const { return made_from == &kFileKernel; }
  [[nodiscard]] std::string file() const { return of_file() ? holes.at("file") : made_from ? std::string(made_from->file) : std::string(); }
  friend bool operator==(const Shape& a, const Shape& b) { return a.made_from == b.made_from && a.holes == b.holes && a.soft_l1 == b.soft_l1 && a.registers == b.registers && a.threads == b.threads; }
  friend bool operator<(const Shape& a, const Shape& b) {
    if (a.made_from != b.made_from) return a.made_from->file < b.made_from->file;
    return std::tie(a.holes, a.soft_l1, a.registers, a.threads) < std::tie(b.holes, b.soft_l1, b.registers, b.threads);
  }
};

/// Of a kernel that chooses its multiprocessors (`launch … sm`, `sms`): more blocks are launched than are to run, and all but the first one
/// on a chosen multiprocessor leave. Its last parameters are the first multiprocessor, how many, the launch's number, and a word a
/// multiprocessor that says in which launch it last ran a block. What each writes is behind what the one before it writes.
struct Placing {
  std::string parameters;  ///< hole `placing`
  std::string leave;       ///< hole `leave`
};
/// `words`: what a multiprocessor's block writes, by pointer parameter: "ticks" and 3584 words. `dynamic`: the block has many threads,
/// which learn from this array of shared memory whether they stay; empty: it has one. Without `chosen`, empty texts.
Placing placing(const std::vector<std::pair<std::string, std::string>>& words, const std::string& dynamic = {});

/// Name of every kernel's entry.
inline constexpr const char* kEntry = "gexp_kernel";

/// Bytes of shared memory that hold one window of ticks in `each.cu`, 2 a tick. With the 1 KiB that Hopper reserves for a
/// block it fits the smallest carve-out that a block can have there (8 KiB), so that the trace costs the L1 nothing.
inline constexpr std::int64_t kTraceBytes = 7168;

/// The shape of a stage that times one chase and warms with none or one through the same memory and path: each.cu for one thread
/// through global memory, total.cu for one block through shared memory; nullopt for any other stage, which is made from body.cu.
std::optional<Shape> chase_template(const Program& program, const Stage& stage, std::uint32_t grid, std::uint32_t block, int width);

/// CUDA text of a shape; of a kernel of a file that file's. `template_folder` replaces the built-in templates where it is not empty.
Result<std::string> emit_cuda(const Shape& shape, const std::string& template_folder = {});

}  // namespace gexp::compiler
