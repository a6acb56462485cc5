// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compiler/codegen/needs.h"
#include "compiler/lower/ops.h"
#include "compiler/memory/memory_space.h"
#include "compiler/plan/access.h"
#include "compiler/plan/expand.h"
#include "compiler/plan/plan.h"
#include "lang/base/budget.h"
#include "lang/base/host_memory.h"
#include "runtime/measure/session.h"

namespace gexp::measure {
namespace {

/// What the kernels of a stage need and the device lacks, as far as their texts are known before it runs.
std::optional<Diagnostic> what_text_lacks(const compiler::Program& program, const compiler::Stage& stage, const compiler::Scope& scope) {
  bool depends = false;  // what else a body does, every device can
  compiler::for_each_op(stage, [&](const compiler::Op& op) { depends = depends || compiler::needs_looking_at(op); });
  if (!depends) return std::nullopt;
  const Budget::Work work(kCompileUnits);
  const auto shapes = compiler::stage_shapes(program, stage, scope);
  return shapes || shapes.error().code != "E0501" ? std::nullopt : std::optional(shapes.error());
}

/// Pinned memory, and pages that a GPU has not got, are taken from everything else that runs here: no budget of a file allows more.
void check_host_memories(const compiler::Program& program, double bytes, Diagnostics& diagnostics) {
  const auto free = static_cast<double>(free_host_memory());
  if (bytes <= kHostMemoryShare * free) return;
  constexpr double kMiB = 1 << 20;
  const auto first = std::find_if(program.memories.begin(), program.memories.end(), [](const auto& memory) { return memory.space->takes_host_memory(); });
  diagnostics.error("E0446", first->span,
                    fmt::format("the memories in host and managed take {}, more than {:.0f} % of the {} that this machine has free", show(bytes, kBytes), 100 * kHostMemoryShare,
                                show(std::floor(free / kMiB) * kMiB, kBytes)),
                    "make them shorter");
}

/// Where a stage's blocks are to run. Those in the GPC of the stage beside it are of that one's cluster.
void check_place(const compiler::Stage& stage, const device::Backend& backend, Diagnostics& diagnostics) {
  using Need = device::Requirement::Kind;
  const auto& place = stage.launch.place;
  if (place.empty() || place == "any") return;
  const bool gpc = place == "gpc" && stage.leader, pairs = place == "tpc" || place == "other_tpc";
  if (stage.leader && !gpc && !pairs) return;
  using device::Requirement;
  auto accepted = backend.accepts(gpc ? Requirement{Need::Cluster, "", compiler::kGpcCluster, stage.launch.span}
                                      : Requirement{Need::Place, place, stage.leader ? 1u : 0u, stage.launch.span});
  if (accepted) return;
  auto problem = accepted.error();
  if (gpc) problem.message = "`place gpc` needs clusters: " + problem.message;
  diagnostics.add(std::move(problem));
}

}  // namespace

void check_requirements(const compiler::Program& program, const device::Backend& backend, Diagnostics& diagnostics) {
  const auto need = [&](device::Requirement requirement) {
    if (auto accepted = backend.accepts(requirement); !accepted) diagnostics.add(accepted.error());
  };
  auto scope = compiler::file_scope(program);
  if (!scope) return diagnostics.add(scope.error());
  using Home = compiler::MemorySpace::Home;
  double total = 0, of_device = 0, of_host = 0;
  for (const auto& memory : program.memories) {
    auto bytes = compiler::memory_bytes(memory, *scope);
    if (!bytes) {
      diagnostics.add(bytes.error());
      continue;
    }
    if (!memory.space->everywhere) need({device::Requirement::Kind::Space, std::string(memory.space->word), 0, memory.span});
    const auto home = memory.space->home;
    if (home != Home::Block) total += static_cast<double>(*bytes);
    if (memory.space->takes_device_memory()) of_device += static_cast<double>(*bytes);
    if (memory.space->takes_host_memory()) of_host += static_cast<double>(*bytes);
    if (memory.space->takes_device_memory() || home == Home::Block) need({home == Home::Block ? device::Requirement::Kind::SharedBytes : device::Requirement::Kind::MemoryBytes, "", *bytes, memory.span});
  }
  check_host_memories(program, of_host, diagnostics);
  if (program.budget_memory) {
    auto budget = compiler::evaluate(*program.budget_memory, *scope);
    const auto* n = budget ? budget->get<Number>() : nullptr;
    if (n && total > n->number) {
      diagnostics.error("E0427", program.budget_memory->span,
                        fmt::format("the memories take {}, the budget is {}", show(total, kBytes), show(n->number, kBytes)));
    }
  } else if (const auto whole = static_cast<double>(backend.device().memory_bytes); whole > 0 && of_device > kDefaultMemoryShare * whole && !diagnostics.has_errors()) {
    diagnostics.error("E0442", program.memories.front().span,
                      fmt::format("the memories take {}, more than {:.0f} % of the {} that {} has", show(of_device, kBytes), 100 * kDefaultMemoryShare,
                                  show(whole, kBytes), backend.device().id),
                      "a file that means to take more says so with `budget memory`");
  }
  for (const auto& stage : program.stages) {
    if (auto lacks = what_text_lacks(program, stage, *scope)) diagnostics.add(std::move(*lacks));
    compiler::for_each_op(stage, [&](const compiler::Op& op) {
      const auto memory = std::find_if(program.memories.begin(), program.memories.end(), [&](const auto& m) { return m.name == op.memory; });
      if (memory == program.memories.end() || !memory->space->chooses_path) return;
      const auto path = compiler::path_of(*memory, op.via);
      const std::string via = compiler::word(path);
      if (!via.empty() && path <= compiler::Via::Tex && op.kind != compiler::Op::Kind::Atomic) need({device::Requirement::Kind::LoadPath, via, 0, op.span});
    });
    for (const auto& flush : stage.flushes) need({device::Requirement::Kind::Flush, flush.level, 0, flush.span});
    check_place(stage, backend, diagnostics);
    const auto number = [&](const compiler::FormulaPtr& formula) -> std::optional<double> {
      if (!formula) return std::nullopt;
      compiler::Names names(&*scope);
      for (const auto& sweep : stage.sweeps) {  // the largest value of each sweep
        auto values = compiler::sweep_values(sweep, names);
        if (!values) return std::nullopt;
        compiler::bind_sweep(sweep, values->back(), names);
      }
      for (const auto& binding : stage.bindings) {  // what reads threads or findings has no value yet
        auto bound = binding.kind == compiler::Binding::Kind::Let ? compiler::evaluate(*binding.formula, names) : Result<Value>(Value());
        if (bound) names.set(binding.name, std::move(*bound));
      }
      auto value = compiler::evaluate(*formula, names);
      const auto* n = value ? value->get<Number>() : nullptr;
      return n ? std::optional(n->number) : std::nullopt;
    };
    if (const auto cluster = number(stage.launch.cluster)) {
      need({device::Requirement::Kind::Cluster, "", static_cast<std::uint64_t>(*cluster), stage.launch.span});
    }
    if (const auto bank = number(stage.launch.bank)) {
      need({device::Requirement::Kind::BankWidth, "", static_cast<std::uint64_t>(*bank), stage.launch.span});
    }
    if (const auto block = number(stage.launch.block)) {
      need({device::Requirement::Kind::Threads, "", static_cast<std::uint64_t>(*block), stage.launch.span});
    }
    for (const auto& warm : stage.warm_launches) {
      if (const auto block = number(warm.block)) need({device::Requirement::Kind::Threads, "", static_cast<std::uint64_t>(*block), warm.block->span});
    }
    if (const auto grid = number(stage.launch.grid)) {
      need({device::Requirement::Kind::Blocks, "", static_cast<std::uint64_t>(*grid), stage.launch.span});
    }
  }
}

}  // namespace gexp::measure
