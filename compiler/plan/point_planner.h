// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/plan/links.h"
#include "compiler/plan/plan.h"

/// Plans one point of a stage. Only the files that define its parts know this class; others call plan_point.
namespace gexp::compiler {

/// Makes a point's names, then its patterns, links and kernel.
class PointPlanner {
 public:
  PointPlanner(const Program& program, const Stage& stage, const Coordinates& at, const Scope& outer);

  Result<PointPlan> run(bool& skipped);
  /// The one shape where it can be told without patterns and without values that only earlier findings give.
  std::optional<Shape> early_shape();

 private:
  using Problem = std::optional<Diagnostic>;

  // plan.cpp: names and the kernel
  static Diagnostic error(std::string code, Span span, std::string message, std::string hint = {});
  static Result<std::int64_t> whole(const FormulaPtr& formula, const Scope& scope, std::int64_t low, std::int64_t high, const char* what);
  [[nodiscard]] const Memory* find_memory(const std::string& name) const;
  Problem bind();
  Result<bool> skips();
  Problem require();
  Problem shape();
  Problem own_shape(const BodyPlace& body);

  // plan_roles.cpp: stages of one launch
  /// Its own body, then those of the stages beside it, and the kernel that holds them all.
  Problem roles(const BodyPlace& body);
  Problem refuse_of_roles() const;
  /// Where the role's blocks are to be; of a stage beside another, relative to that one's.
  Problem where();
  /// The blocks, their threads, and what lies where.
  Problem lay_out();
  Problem all_resident() const;

  // plan_launch.cpp
  /// A clause of a launch: a whole number of the range, or what it is where it is not written.
  Result<std::int64_t> number(const FormulaPtr& formula, std::int64_t otherwise, std::int64_t low, std::int64_t high, const char* what) const;
  Result<std::int64_t> grid_of(const FormulaPtr& grid) const { return number(grid, 1, 1, 1 << 30, "the grid"); }
  Result<std::int64_t> block_of(const FormulaPtr& block) const { return number(block, 1, 1, 1024, "the block"); }
  /// Whether the multiprocessors that are chosen are there, and one block is all that they run.
  Problem chosen(std::int64_t first, std::int64_t count, std::int64_t grid) const;
  Problem launch();
  /// The warm-ups that are launches of their own.
  Problem launches_before();
  Problem launch_before(const Body& warm, std::uint32_t grid, std::uint32_t block);

  // plan_kernel.cpp
  /// The kernel of a file: what it is given, and how it is compiled.
  Problem kernel(const FileKernel& kernel, std::uint64_t threads, Shape& shape, KernelPlan& plan) const;
  Problem kernel_argument(const FileKernel::Argument& argument, std::uint64_t threads, KernelPlan& plan) const;
  Result<std::string> kernel_text(const FormulaPtr& formula) const;
  Problem timed_kernel(const FileKernel& kernel);
  [[nodiscard]] ptx::Multiprocessor multiprocessor() const;
  Problem soft_cache(const FileKernel& kernel, const SoftCache& cache);

  // count_unique.cpp
  /// `unique(x)`: the different values that the threads of the launch have, under its own text as a name.
  Problem count(const Formula& formula);
  Problem count_unique();

  // plan_chases.cpp
  Result<std::shared_ptr<const Pattern>> pattern_of(const Op& chase);
  Result<std::int64_t> steps_of(const Op& chase, const Pattern& pattern);
  Problem chases();
  Problem follow(const Op& op, const std::shared_ptr<const Pattern>& pattern);

  const Program& program_;
  const Stage& stage_;
  const Scope& outer_;
  Names names_;
  ThreadLets lets_;
  PointPlan plan_;
  std::vector<Chased> chased_;
  std::map<std::string, Linker> linkers_;
};

}  // namespace gexp::compiler
